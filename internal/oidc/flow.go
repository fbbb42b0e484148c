package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strconv"

	oidclib "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/errs"
)

// maxCode bounds the code of a provider, in bytes.
const maxCode = 4096

// secrets are what a request of a browser has, and its answer must match.
type secrets struct{ state, nonce, verifier string }

// secretsOf derives them from the secret in the browser's cookie: for one provider, and the account to which an
// identity will be linked; 0: to sign in.
func secretsOf(secret string, p *Provider, link account.ID) secrets {
	derive := func(what string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(what + "\x00" + p.Name + "\x00" + p.Issuer + "\x00" + link.String()))
		return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	return secrets{derive("state"), derive("nonce"), derive("verifier")}
}

// Begin returns the address of a provider to which a browser is led, and the secret that its cookie keeps. link is the
// account to which the identity will be linked; 0: to sign in. Who signs in again must show to the provider who it is,
// even with a session there. Errors: 404, 503.
func (s *Service) Begin(
	ctx context.Context, name, callback string, link account.ID, again bool,
) (to, secret string, err error) {
	p := s.provider(name)
	if p == nil {
		return "", "", errs.Absent()
	}
	found, err := p.discover(ctx)
	if err != nil {
		return "", "", err
	}
	secret = rand.Text()
	q := secretsOf(secret, p, link)
	// With a max_age a provider tells when the user showed who it is (auth_time).
	age := strconv.Itoa(int(session.Age.Seconds()))
	options := []oauth2.AuthCodeOption{oidclib.Nonce(q.nonce), oauth2.S256ChallengeOption(q.verifier)}
	if again {
		age, options = "0", append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	options = append(options, oauth2.SetAuthURLParam("max_age", age))
	return p.flow(found, callback).AuthCodeURL(q.state, options...), secret, nil
}

// Finish returns who signed in at a provider, from the parameters with which the browser came back and the secret of
// its cookie. Errors: 404; 422 for an answer that is not one to this browser's request; 503.
func (s *Service) Finish(
	ctx context.Context, name, callback, secret string, link account.ID, answer url.Values,
) (*Identity, error) {
	p := s.provider(name)
	if p == nil {
		return nil, errs.Absent()
	}
	for _, param := range []string{"state", "code", "error", "iss"} {
		if len(answer[param]) > 1 {
			return nil, refused(p, "sent "+param+" more than once", nil)
		}
	}
	q := secretsOf(secret, p, link)
	if secret == "" || !hmac.Equal([]byte(answer.Get("state")), []byte(q.state)) {
		return nil, errs.New(errs.Invalid, "Signing in was begun in another browser, or took too long. Start over.")
	}
	if iss := answer.Get("iss"); iss != "" && iss != p.Issuer { // RFC 9207
		return nil, refused(p, "is not who answered", nil)
	}
	if answer.Get("error") == "access_denied" {
		return nil, errs.Newf(errs.Invalid, "You did not sign in at %s.", p.Label)
	}
	code := answer.Get("code")
	if answer.Get("error") != "" || code == "" || len(code) > maxCode {
		return nil, refused(p, "could not sign you in", errs.New(errs.Invalid, errs.Clip(answer.Get("error"))))
	}
	return s.exchange(ctx, p, callback, code, q)
}
