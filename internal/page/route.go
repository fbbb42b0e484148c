package page

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// Router builds routes of pages that share a need. The token is checked again for each request that a page
// makes to the API.
type Router struct {
	kit  *Kit
	need route.Need
}

// Router returns the Router for a need.
func (k *Kit) Router(need route.Need) Router { return Router{k, need} }

// ForPeople returns the Router of pages that every token opens except an App's.
func (k *Kit) ForPeople() Router {
	return k.Router(route.Needs(scope.None, route.None).ForApps(route.Never))
}

// ForUnlimited returns the Router of pages for tokens without limits: people change passwords and tokens
// there, and site administrators everything.
func (k *Kit) ForUnlimited() Router { return k.Router(route.Needs(scope.Whole, route.Never)) }

// Anyone is a page that everybody may open.
func (on Router) Anyone(address string, h web.Handler) route.Route {
	return on.need.Anyone(address, on.kit.inForm(h)).In(route.Pages)
}

// SignedIn returns the route of a page or form for signed-in users. Others are redirected to the sign-in
// page.
func (on Router) SignedIn(address string, h web.Handler) route.Route {
	return on.need.SignedIn(address, on.kit.inForm(h)).In(route.Pages)
}

// SiteAdmin is a page for site administrators. To others it does not exist.
func (on Router) SiteAdmin(address string, h web.Handler) route.Route {
	return on.need.SiteAdmin(address, on.kit.inForm(h)).In(route.Pages)
}

// repositoryNeed is the need of the pages of repositories and their owners.
func repositoryNeed() route.Need {
	return route.Needs(scope.PublicRepo, route.None).ForApps(route.Never)
}

// ForOwners returns the Router of the pages of owners of repositories.
func (k *Kit) ForOwners() Router { return k.Router(repositoryNeed()) }

// OnRepo returns the route of a page about the repository {owner}/{repo}, which must be visible to the
// caller. Forms require a signed-in caller; the operations check the right for the change.
func (k *Kit) OnRepo(address string, h repo.Handler) route.Route {
	visible := k.Repos.WithVisible(func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
		info := web.From(r.Context())
		info.Form = web.Form(k.repoErrors).For(r)
		err := h(w, r, a)
		var moved *repo.MovedError
		if errors.As(err, &moved) && r.Method != http.MethodGet { // no form is sent on to another repository
			return errs.Absent()
		}
		return err
	})
	return repositoryNeed().Route(route.Pull, address, k.inForm(visible)).In(route.Pages)
}

// NoCaller is the 401 for nobody, by which a browser is led to where people sign in.
func NoCaller() error { return errs.New(errs.Unauthenticated, "Requires authentication") }

// inForm answers errors as pages.
func (k *Kit) inForm(h web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		web.From(r.Context()).Form = web.Form(k.Errors).For(r)
		return h(w, r)
	}
}

// Asked reports whether a client asks for a page rather than for the API's JSON, as browsers do.
func Asked(r *http.Request) bool {
	accept := strings.Join(r.Header["Accept"], ",")
	html, json := strings.Index(accept, "text/html"), strings.Index(accept, "json")
	return html >= 0 && (json < 0 || html < json)
}

// LoginPath is the address where people sign in, and come back from to where the request was made.
func LoginPath(r *http.Request) string {
	back := "/"
	if r.Method == http.MethodGet {
		back = r.URL.RequestURI()
	} else if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host {
		back = from.RequestURI()
	}
	if back == "/" {
		return "/login"
	}
	return "/login?return_to=" + url.QueryEscape(back)
}

// ReturnTo is the page to which a form redirects, if it is an address of this site; otherwise other.
func ReturnTo(address, other string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(address, "/") ||
		strings.HasPrefix(address, "//") || strings.ContainsAny(address, "\\\r\n\t") {
		return other
	}
	return address
}

// SeeOther leads the browser to a page of this site after a form was taken.
func SeeOther(w http.ResponseWriter, r *http.Request, path string) error {
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// ViewerOf is the caller of a page; nil: nobody signed in.
func ViewerOf(r *http.Request) *Viewer { return viewer(r) }

func viewer(r *http.Request) *Viewer {
	c := account.CallerFrom(r.Context())
	if c == nil {
		return nil
	}
	return &Viewer{ID: int64(c.ID), Login: c.Login, SiteAdmin: c.SiteAdmin, Session: c.Session, Zone: c.TimeZone}
}
