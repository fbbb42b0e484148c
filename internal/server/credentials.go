package server

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/audit"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/web"
)

// checkAccess returns an error if the caller may not use the route, regardless of token scopes. Errors:
// 401, and 404 if only site administrators may use it.
func (s *Server) checkAccess(
	ctx context.Context, method string, caller *account.Caller, to *endpoint,
) error {
	signsIn := to.SignsIn() || !safe(method) && signsInToChange(to)
	switch {
	case caller == nil && to.Right == route.App:
		return app.NoJWT()
	case caller == nil && signsIn:
		return errs.New(errs.Unauthenticated, "Requires authentication")
	case to.Right == route.SiteAdmin && !caller.SiteAdmin && !(to.SCIM && caller.Provisions):
		s.noteRefused(ctx, caller, to.Route)
		return errs.Absent()
	}
	return nil
}

// factorFirst leads the browser of a user who must have a second factor to where one is added. Error: 403.
func factorFirst(w http.ResponseWriter, r *http.Request) error {
	if !safe(r.Method) {
		return account.FactorNeeded()
	}
	return page.SeeOther(w, r, "/settings/security")
}

// signsInToChange reports whether the route's unsafe methods require a signed-in caller. Git's routes check
// this themselves, and the forms for signing in do not require it.
func signsInToChange(to *endpoint) bool {
	return to.Group == route.API && !to.Nobody || to.Group == route.Pages && to.Right != route.Anyone
}

// permit restricts the caller to what the token permits on the route, and returns a context with the caller.
// Errors: 403.
func (s *Server) permit(
	ctx context.Context, method string, signedIn *account.Caller, to *endpoint,
) (context.Context, error) {
	caller, err := to.need.restrict(signedIn, method, to.Route)
	if err != nil {
		s.noteRefused(ctx, signedIn, to.Route)
		return ctx, err
	}
	if to.SCIM && caller.Provisions {
		c := *caller
		c.SiteAdmin = true
		caller = &c
	}
	ctx = account.WithCaller(ctx, caller)
	if !safe(method) && (to.Group == route.API || to.Group == route.Pages) {
		ctx = audit.With(ctx, actorOf(signedIn, web.From(ctx), to.Right))
	}
	return ctx, nil
}

// withoutToken reports whether the request has no credentials, valid or not.
func withoutToken(r *http.Request) bool { return len(r.Header["Authorization"]) == 0 }

func (s *Server) authenticate(r *http.Request, g route.Group) (*account.Caller, bool, error) {
	switch {
	case withoutToken(r):
		return nil, false, nil
	case s.o.Authenticate != nil:
		c, err := s.o.Authenticate(r)
		return c, true, err
	case g == route.Plants:
		return s.forge.Tokens.AuthenticateBearer(r)
	case app.IsJWT(r.Header.Get("Authorization")):
		c, err := s.forge.Apps.AuthenticateJWT(r.Context(), r)
		return c, true, err
	default:
		return s.forge.Tokens.Authenticate(r)
	}
}

// fromOtherSite reports whether a browser sent the request for another site with credentials that it may
// have added itself: browsers remember Basic credentials and send them with any site's form. A page that
// has a token can send it as Bearer.
func fromOtherSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Basic")
}
