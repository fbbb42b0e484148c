package openid

import (
	"context"
	"net/url"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"arbor/internal/errs"
	"arbor/internal/oauth"
)

// maxHint bounds the hint of a request to sign out, in bytes: an ID token with all its groups.
const maxHint = 64 << 10

// SignOut is the request of an App that its user signs out here as well (OpenID Connect RP-Initiated Logout
// 1.0).
type SignOut struct {
	App *oauth.App // nil: the request names none
	To  string     // where the browser is led then, an address of the App with its state; empty: to the site
}

// Site is the scheme and host to which the form leads, as a source of a Content-Security-Policy; empty: to
// none.
func (o *SignOut) Site() string {
	if o.To == "" {
		return ""
	}
	return oauth.SiteOf(o.To)
}

// ReadSignOut reads a request to sign out. The user is asked in any case, and led to no address that the App
// did not register, so the hint only names the App, as client_id does, and its signature is not verified: the
// key may be gone. Errors: 404 for an App that is not known; 422 for an address that is not the App's, and
// for parameters that contradict each other.
func (s *Service) ReadSignOut(ctx context.Context, v url.Values) (*SignOut, error) {
	for _, name := range []string{"client_id", "id_token_hint", "post_logout_redirect_uri", "state"} {
		if len(v[name]) > 1 {
			return nil, errs.Newf(errs.Invalid, "The parameter %s was sent more than once.", name)
		}
	}
	client, hinted := v.Get("client_id"), audienceOf(v.Get("id_token_hint"))
	switch {
	case client == "":
		client = hinted
	case hinted != "" && hinted != client:
		return nil, errs.New(errs.Invalid, "The id_token_hint is not of the program that client_id names.")
	}
	to := v.Get("post_logout_redirect_uri")
	if client == "" {
		if to != "" {
			return nil, errs.New(errs.Invalid, "A post_logout_redirect_uri needs a client_id or an id_token_hint.")
		}
		return &SignOut{}, nil
	}
	app, to, err := s.apps.AfterSignOut(ctx, client, to, v.Get("state"))
	return &SignOut{App: app, To: to}, err
}

// audienceOf reads whom an ID token is for, without verifying it; empty: it cannot be read.
func audienceOf(hint string) string {
	if hint == "" || len(hint) > maxHint {
		return ""
	}
	parsed, err := jwt.ParseSigned(hint, []jose.SignatureAlgorithm{algorithm})
	if err != nil {
		return ""
	}
	var c jwt.Claims
	if parsed.UnsafeClaimsWithoutVerification(&c) != nil || len(c.Audience) != 1 {
		return ""
	}
	return c.Audience[0]
}
