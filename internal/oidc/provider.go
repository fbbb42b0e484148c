package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	oidclib "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"arbor/internal/errs"
	"arbor/internal/external"
)

// Bounds of what is asked of a provider.
const (
	patience  = 10 * time.Second // of one request
	pause     = 5 * time.Second  // after one that failed
	maxAnswer = 1 << 20          // bytes
	maxGroups = 1000
	skew      = 2 * time.Minute // that clocks may differ
)

// remote is a provider as discovery found it, once somebody needed it.
type remote struct {
	mu     sync.Mutex
	found  *oidclib.Provider
	failed time.Time // when it was not reached
	cause  error
	keys   keyGate
}

// client asks providers: an answer is bounded in time and size.
var client = newClient(bounded{http.DefaultTransport})

func newClient(by http.RoundTripper) *http.Client {
	return &http.Client{Timeout: patience, Transport: by,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// keyGate bounds how often the keys of a provider are read because a token is signed with none of them: anybody can
// make up logout tokens. While somebody signs in, whose token comes from the provider itself, there is no bound.
type keyGate struct {
	mu      sync.Mutex
	address string // of the keys; empty: not known yet
	read    time.Time
	signIns int
}

// keysEvery is how often keys are read for tokens that nobody vouches for.
const keysEvery = time.Minute

var errKeysWereRead = errors.New("the keys of the provider were read less than a minute ago")

// RoundTrip implements http.RoundTripper.
func (g *keyGate) RoundTrip(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	tooSoon := r.URL.String() == g.address && g.signIns == 0 && time.Since(g.read) < keysEvery
	if r.URL.String() == g.address && !tooSoon {
		g.read = time.Now()
	}
	g.mu.Unlock()
	if tooSoon {
		return nil, errKeysWereRead
	}
	return client.Transport.RoundTrip(r)
}

// open lifts the bound until the returned function is called.
func (g *keyGate) open() (end func()) {
	count := func(n int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.signIns += n
	}
	count(1)
	return func() { count(-1) }
}

type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &boundedBody{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}

type boundedBody struct {
	io.Reader
	io.Closer
}

// discover finds the addresses and keys of the provider. Its context outlives the request, since keys are read later.
func (p *Provider) discover(ctx context.Context) (*oidclib.Provider, error) {
	p.remote.mu.Lock()
	defer p.remote.mu.Unlock()
	if p.remote.found != nil {
		return p.remote.found, nil
	}
	if p.remote.cause == nil || time.Since(p.remote.failed) > pause { // others who wait do not ask one after another
		p.remote.found, p.remote.cause = oidclib.NewProvider(
			oidclib.ClientContext(context.WithoutCancel(ctx), newClient(&p.remote.keys)), p.Issuer)
		p.remote.failed = time.Now()
	}
	if p.remote.cause == nil {
		if p.remote.cause = p.checkEndpoints(p.remote.found); p.remote.cause != nil {
			p.remote.found = nil
		}
	}
	if p.remote.cause != nil {
		return nil, errs.Wrap(errs.Unavailable, p.Label+" cannot be reached at this moment. Try again later.",
			p.remote.cause)
	}
	return p.remote.found, nil
}

// checkEndpoints returns an error for addresses of a provider that are asked less securely than its issuer may be.
func (p *Provider) checkEndpoints(found *oidclib.Provider) error {
	var says struct {
		Keys string `json:"jwks_uri"`
	}
	if err := found.Claims(&says); err != nil {
		return err
	}
	at := found.Endpoint()
	for _, address := range []string{at.AuthURL, at.TokenURL, found.UserInfoEndpoint(), says.Keys} {
		if u, err := url.Parse(address); address != "" && (err != nil || !overTLS(u)) {
			return fmt.Errorf("its description names %s, which is not HTTPS", address)
		}
	}
	p.remote.keys.mu.Lock()
	defer p.remote.keys.mu.Unlock()
	p.remote.keys.address = says.Keys
	return nil
}

// Check reports why people cannot sign in with the provider: what `arbor doctor` asks.
func (p *Provider) Check(ctx context.Context) error {
	found, err := p.discover(ctx)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			return cause
		}
		return err
	}
	var says struct {
		Challenges []string `json:"code_challenge_methods_supported"`
		Keys       string   `json:"jwks_uri"`
	}
	if err := found.Claims(&says); err != nil {
		return err
	}
	if len(says.Challenges) > 0 && !slices.Contains(says.Challenges, "S256") {
		return errors.New("it does not support PKCE with S256")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, says.Keys, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("its keys at %s: %s", says.Keys, answer.Status)
	}
	return nil
}

// flow is the OAuth client for a redirect address of this site.
func (p *Provider) flow(found *oidclib.Provider, callback string) *oauth2.Config {
	return &oauth2.Config{ClientID: p.ClientID, ClientSecret: p.secret, Endpoint: found.Endpoint(),
		RedirectURL: callback, Scopes: p.Scopes}
}

// exchange redeems a code, checks the ID token and returns who signed in. Errors: 422, 503.
func (s *Service) exchange(ctx context.Context, p *Provider, callback, code string, q secrets) (*Identity, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	ctx = oidclib.ClientContext(ctx, client)
	tokens, err := p.flow(found, callback).Exchange(ctx, code, oauth2.VerifierOption(q.verifier))
	if err != nil {
		return nil, refused(p, "did not take the code", err)
	}
	text, ok := tokens.Extra("id_token").(string)
	if !ok {
		return nil, refused(p, "sent no ID token", nil)
	}
	defer p.remote.keys.open()()
	claims, subject, err := s.verify(ctx, p, found, text, q.nonce)
	if err != nil {
		return nil, err
	}
	who, _ := claims[p.SubjectClaim].(string)
	if who == "" || len(who) > external.MaxSubject {
		return nil, refused(p, "sent an ID token without a usable "+p.SubjectClaim, nil)
	}
	if claims[p.LoginClaim] == nil || claims[p.GroupsClaim] == nil {
		// Some providers tell these at the UserInfo endpoint alone.
		if err := p.addInfo(ctx, found, tokens, subject, claims); err != nil {
			return nil, err
		}
	}
	return p.identity(who, claims), nil
}

// verify checks an ID token: signature, issuer, audience, times and nonce. Error: 422.
func (s *Service) verify(
	ctx context.Context, p *Provider, found *oidclib.Provider, text, nonce string,
) (claims map[string]any, subject string, err error) {
	verifier := found.Verifier(&oidclib.Config{ClientID: p.ClientID, SkipExpiryCheck: true, Now: s.now})
	token, err := verifier.Verify(ctx, text)
	if err != nil {
		return nil, "", refused(p, "sent an ID token that does not count", err)
	}
	var party struct {
		Authorized string `json:"azp"`
	}
	if err := token.Claims(&party); err != nil {
		return nil, "", refused(p, "sent an ID token that cannot be read", err)
	}
	now := s.now()
	switch {
	case now.After(token.Expiry.Add(skew)) || now.Before(token.IssuedAt.Add(-skew)):
		return nil, "", refused(p, "sent an ID token of another time: do the clocks of both servers agree?", nil)
	case token.Nonce != nonce:
		return nil, "", refused(p, "sent an ID token for another sign-in", nil)
	case len(token.Audience) > 1 && party.Authorized != p.ClientID,
		party.Authorized != "" && party.Authorized != p.ClientID:
		return nil, "", refused(p, "sent an ID token for another program", nil)
	case token.Subject == "" || len(token.Subject) > external.MaxSubject:
		return nil, "", refused(p, "sent an ID token without a usable subject", nil)
	}
	return claims, token.Subject, token.Claims(&claims)
}

// addInfo adds what the UserInfo endpoint says, and an ID token does not. Errors: 422.
func (p *Provider) addInfo(
	ctx context.Context, found *oidclib.Provider, tokens *oauth2.Token, subject string, claims map[string]any,
) error {
	if found.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return refused(p, "did not say who signed in", err)
	}
	if info.Subject != subject {
		return refused(p, "says two things of who signed in", nil)
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return refused(p, "did not say who signed in", err)
	}
	for name, value := range more {
		if claims[name] == nil {
			claims[name] = value
		}
	}
	return nil
}

// identity reads the claims. Those of another type count as missing.
func (p *Provider) identity(subject string, claims map[string]any) *Identity {
	text := func(name string) string {
		s, _ := claims[name].(string)
		return s
	}
	i := &Identity{Identity: external.Identity{Source: &p.Source, Subject: subject, Login: text(p.LoginClaim),
		Name: text("name")}}
	if verified, _ := claims["email_verified"].(bool); verified {
		i.Email = text("email")
	}
	if sid := text("sid"); len(sid) <= maxSession {
		i.Session = sid
	}
	if at, is := claims["auth_time"].(float64); is && at > 0 && at < 1<<40 {
		i.ShownAt = time.Unix(int64(at), 0)
	}
	switch groups := claims[p.GroupsClaim].(type) {
	case string:
		i.Groups = []string{groups}
	case []any:
		for _, g := range groups[:min(len(groups), maxGroups)] {
			if name, ok := g.(string); ok {
				i.Groups = append(i.Groups, name)
			}
		}
	}
	return i
}

// refused is a 422 for what a provider sent.
func refused(p *Provider, what string, cause error) error {
	if cause == nil {
		cause = errors.New(what)
	}
	return errs.Wrap(errs.Invalid, p.Label+" "+what+". Start over, or ask an administrator.", cause)
}
