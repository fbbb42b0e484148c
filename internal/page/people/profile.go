package people

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// perList is how many entries a page of a list shows.
const perList = 30

// profile is what profile.html and org.html show. The tab that is open is Frame.Tab.
type profile struct {
	page.Frame
	Who       account
	Self      bool // the viewer looks at the own profile
	Follows   bool // the viewer follows
	CanFollow bool
	Orgs      []page.User
	Members   []page.User // of an organization that its page shows
	MoreFaces bool
	Role      string // of the viewer in the organization: admin, member or empty
	Repos     []page.Repository
	Filter    filter
	Events    []page.Line
	Users     []page.User
}

// Path is the address of the profile.
func (v *profile) Path() string { return web.Path(v.Who.Login) }

// GET /{owner}
//
// Profile answers the page of a person or an organization, as the viewer sees it; the query's tab chooses a
// part. Error: 404.
func (p *Pages) Profile(w http.ResponseWriter, r *http.Request) error {
	v := &profile{}
	login := web.Param(r, "owner")
	if _, err := p.kit.Get(r, web.Path("users", login), nil, &v.Who); err != nil {
		return page.Absent(err)
	}
	var err error
	if v.Frame, err = p.kit.Frame(r, title(&v.Who)); err != nil {
		return err
	}
	v.Self = v.Viewer != nil && v.Viewer.ID == v.Who.ID
	if v.CanFollow = v.Viewer != nil && !v.Self; v.CanFollow {
		if v.Follows, err = p.kit.Holds(r, web.Path("user", "following", v.Who.Login)); err != nil {
			return err
		}
	}
	if v.Who.IsOrg() {
		return p.org(w, r, v)
	}
	if _, err := p.kit.Get(r, web.Path("users", v.Who.Login, "orgs"), page.Query("per_page", "30"),
		&v.Orgs); err != nil &&
		!errs.Is(err, errs.Forbidden) {
		return err
	}
	if err := p.tab(r, v); err != nil {
		return err
	}
	return p.t.Page(w, r, "profile.html", v)
}

func title(who *account) string {
	if who.Name != "" {
		return who.Login + " (" + who.Name + ")"
	}
	return who.Login
}

// tab reads what the open tab shows.
func (p *Pages) tab(r *http.Request, v *profile) (err error) {
	more, at := false, func(of string) string { return web.Path("users", v.Who.Login, of) }
	switch v.Tab = web.QueryOf(r).Get("tab"); v.Tab {
	case "repositories":
		return p.repositories(r, v)
	case "stars":
		more, err = p.kit.Get(r, at("starred"), page.Part(r, perList), &v.Repos)
	case "followers", "following":
		more, err = p.kit.Get(r, at(v.Tab), page.Part(r, perList), &v.Users)
	default:
		v.Tab = "overview"
		return p.overview(r, v)
	}
	v.Pages = page.PagesOf(r, more)
	return err
}

// overview reads the repositories that were pushed to last, and what everybody may know that happened.
func (p *Pages) overview(r *http.Request, v *profile) error {
	_, err := p.kit.Get(r, web.Path("users", v.Who.Login, "repos"),
		page.Query("sort", "pushed", "per_page", "6"), &v.Repos)
	if err != nil {
		return err
	}
	var events []page.Event
	_, err = p.kit.Get(r, web.Path("users", v.Who.Login, "events", "public"),
		page.Query("per_page", "15"), &events)
	v.Events = page.Lines(events)
	return err
}

// org answers the page of an organization.
func (p *Pages) org(w http.ResponseWriter, r *http.Request, v *profile) error {
	of := web.Path("orgs", v.Who.Login)
	var err error
	if v.Role, err = p.role(r, v.Who.Login, v.Viewer); err != nil {
		return err
	}
	if v.MoreFaces, err = p.kit.Get(r, of+"/members", page.Query("per_page", "30"), &v.Members); err != nil {
		return err
	}
	if web.QueryOf(r).Get("tab") == "followers" {
		v.Tab = "followers"
		more, err := p.kit.Get(r, web.Path("users", v.Who.Login, "followers"),
			page.Part(r, perList), &v.Users)
		if err != nil {
			return err
		}
		v.Pages = page.PagesOf(r, more)
		return p.t.Page(w, r, "org.html", v)
	}
	v.Tab = "repositories"
	if err := p.repositories(r, v); err != nil {
		return err
	}
	return p.t.Page(w, r, "org.html", v)
}

// role is what the viewer may do in an organization: admin, as site administrators may, member, or empty for
// those who are neither or whose token does not tell.
func (p *Pages) role(r *http.Request, org string, viewer *page.Viewer) (string, error) {
	if viewer == nil {
		return "", nil
	}
	if viewer.SiteAdmin {
		return "admin", nil
	}
	var membership struct{ Role string }
	_, err := p.kit.Get(r, web.Path("orgs", org, "memberships", viewer.Login), nil, &membership)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Forbidden) {
		return "", nil
	}
	return membership.Role, err
}

// POST /{owner}
//
// Follow follows or unfollows an account, as the form says. Errors: 404, 422.
func (p *Pages) Follow(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	login, method := web.Param(r, "owner"), http.MethodPut
	switch form.Get("action") {
	case "follow":
	case "unfollow":
		method = http.MethodDelete
	default:
		return errs.New(errs.Invalid, "the form says neither follow nor unfollow")
	}
	if err := p.kit.Change(r, method, web.Path("user", "following", login), nil, nil); err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"), web.Path(login)))
}
