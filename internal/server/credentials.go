package server

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/web"
)

// checkAccess returns an error if the caller may not use the route, whatever its token may. Errors: 401, and
// 404 where only site administrators may go.
func (s *Server) checkAccess(r *http.Request, caller *account.Caller, info *web.Info, to *endpoint) error {
	signsIn := to.SignsIn() || !safe(r.Method) && signsInToChange(to)
	switch {
	case caller == nil && to.Right == route.App:
		return app.NoJWT()
	case caller == nil && signsIn:
		return errs.New(errs.Unauthenticated, "Requires authentication")
	case to.Right == route.SiteAdmin && !caller.SiteAdmin:
		s.noteRefused(r, caller, info, to.Route)
		return errs.Absent()
	}
	return nil
}

// signsInToChange reports a route whose unsafe methods are only for callers who signed in: not git's, which
// checks that itself, nor the forms with which people sign in.
func signsInToChange(to *endpoint) bool {
	return to.Group == route.API && !to.Nobody || to.Group == route.Pages && to.Right != route.Anyone
}

// permit gives the request as its caller's token lets it use the route. Each transaction of an unsafe request
// asks again whether the token holds. Errors: 403.
func (s *Server) permit(
	r *http.Request, signedIn *account.Caller, info *web.Info, to *endpoint,
) (*http.Request, error) {
	caller, err := to.need.restrict(signedIn, r.Method, to.Route)
	if err != nil {
		s.noteRefused(r, signedIn, info, to.Route)
		return r, err
	}
	ctx := account.WithCaller(r.Context(), caller)
	// Pushes check their rights themselves; repo.With adds the check of a repository's routes.
	if !safe(r.Method) && to.Group != route.Git {
		ctx = db.WithCheck(ctx, signedIn.Holds)
	}
	if !safe(r.Method) && (to.Group == route.API || to.Group == route.Pages) {
		ctx = audit.With(ctx, actorOf(signedIn, info, to.Right))
	}
	return r.WithContext(ctx), nil
}

// withoutToken reports a request that brings no credentials, right or wrong, and is
// not this process's own.
func withoutToken(r *http.Request) bool {
	return len(r.Header["Authorization"]) == 0 && account.CallerFrom(r.Context()) == nil
}

func (s *Server) authenticate(r *http.Request, g route.Group) (*account.Caller, bool, error) {
	switch {
	case len(r.Header["Authorization"]) == 0:
		// Nobody, unless code of this process asks for somebody: no request
		// from outside comes with a caller.
		return account.CallerFrom(r.Context()), false, nil
	case g == route.Plants:
		return s.accounts.AuthenticateBearer(r)
	case app.IsJWT(r.Header.Get("Authorization")):
		c, err := s.forge.Apps.AuthenticateJWT(r.Context(), r)
		return c, true, err
	default:
		return s.accounts.Authenticate(r)
	}
}

// fromOtherSite reports a browser's request on behalf of another site with
// credentials that may be the browser's own: it remembers Basic ones, and sends
// them along with any site's form. A page that has a token itself can send it
// as Bearer.
func fromOtherSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Basic")
}
