package people

import (
	"html/template"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/follow"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/star"
	"arbor/internal/web"
)

// perList is how many entries a page of a list shows.
const perList = 30

// profile is what profile.html and org.html show. The tab that is open is Frame.Tab.
type profile struct {
	page.Frame
	Who       shown
	Self      bool  // the viewer looks at the own profile
	Count     int64 // of repositories: the public ones, and all of the own
	Follows   bool  // the viewer follows
	CanFollow bool
	Orgs      []page.User
	Members   []page.User // of an organization that its page shows
	MoreFaces bool
	Role      string // of the viewer in the organization: admin, member or empty
	Repos     []page.Repository
	Pinned    []page.Repository // on the overview
	Popular   []page.Repository // on the overview of an organization that pinned nothing
	Readme    template.HTML     // on the overview; empty: none
	CanPin    bool
	Filter    filter
	Events    []*page.Group
	Users     []page.User
}

// Path is the address of the profile.
func (v *profile) Path() string { return web.Path(v.Who.Login) }

// GET /{owner}
//
// Profile answers the page of a person or an organization, as the viewer sees it; the query's tab chooses a
// part. Error: 404.
func (p *Pages) Profile(w http.ResponseWriter, r *http.Request) error {
	who, err := p.of.Accounts.Get(r.Context(), caller(r), web.Param(r, "owner"))
	if err != nil {
		return err
	}
	v := &profile{Who: newShown(who)}
	if v.Frame, err = p.kit.Frame(r, title(&v.Who)); err != nil {
		return err
	}
	v.Self = v.Viewer != nil && v.Viewer.ID == v.Who.ID
	if v.Count = who.PublicRepos; v.Self {
		v.Count += who.PrivateRepos
	}
	if v.CanFollow = v.Viewer != nil && !v.Self; v.CanFollow {
		if v.Follows, err = p.of.Follows.Follows(r.Context(), v.Viewer.Login, v.Who.Login); err != nil {
			return err
		}
	}
	if v.Who.IsOrg() {
		return p.org(w, r, v)
	}
	orgs, _, err := p.of.Accounts.OrgsOf(r.Context(), caller(r), v.Who.Login, page.First(perList))
	if err != nil {
		return err
	}
	for _, m := range orgs {
		v.Orgs = append(v.Orgs, *page.NewUser(m.Org))
	}
	return p.t.Show(w, r, "profile.html", v, p.tab(r, v))
}

func caller(r *http.Request) *account.Caller { return account.CallerFrom(r.Context()) }

func title(who *shown) string {
	if who.Name != "" {
		return who.Login + " (" + who.Name + ")"
	}
	return who.Login
}

// tab reads what the open tab shows.
func (p *Pages) tab(r *http.Request, v *profile) (err error) {
	switch v.Tab = web.QueryOf(r).Get("tab"); v.Tab {
	case "repositories":
		return p.repositories(r, v)
	case "stars":
		return p.stars(r, v)
	case "followers":
		return p.follows(r, v, follow.Followers)
	case "following":
		return p.follows(r, v, follow.Following)
	}
	v.Tab, v.CanPin = "overview", v.Self
	return p.overview(r, v)
}

// stars reads what the person starred.
func (p *Pages) stars(r *http.Request, v *profile) error {
	at := page.At(r, perList)
	found, total, err := p.of.Stars.Repos(r.Context(), page.Reader(r), v.Who.Login, star.Star, star.Order{Desc: true}, at)
	for _, m := range found {
		v.Repos = append(v.Repos, page.NewRepository(m.Access))
	}
	v.Pages = page.PagerOf(r, at, total)
	return err
}

// follows reads who follows the account, or whom it follows.
func (p *Pages) follows(r *http.Request, v *profile, side follow.Side) error {
	at := page.At(r, perList)
	found, total, err := p.of.Follows.List(r.Context(), v.Who.Login, side, at)
	v.Users, v.Pages = page.NewUsers(found), page.PagerOf(r, at, total)
	return err
}

// org answers the page of an organization.
func (p *Pages) org(w http.ResponseWriter, r *http.Request, v *profile) error {
	_, may, err := p.of.Accounts.Org(r.Context(), caller(r), v.Who.Login)
	if err != nil {
		return err
	}
	v.Role = roleOf(r, may)
	at := page.First(perList)
	faces, total, err := p.of.Accounts.Members(r.Context(), caller(r), v.Who.Login, "all", false, at)
	if err != nil {
		return err
	}
	for _, m := range faces {
		v.Members = append(v.Members, *page.NewUser(m.User))
	}
	v.MoreFaces = total > perList
	switch v.Tab = web.QueryOf(r).Get("tab"); v.Tab {
	case "followers":
		err = p.follows(r, v, follow.Followers)
	case "repositories":
		err = p.repositories(r, v)
	default:
		v.CanPin, v.Tab = v.Role == "admin", "overview"
		err = p.orgOverview(r, v)
	}
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "org.html", v)
}

// roleOf is what the viewer may do in an organization: admin, as site administrators may, member, or empty for
// those who are neither or whose token does not tell.
func roleOf(r *http.Request, may account.OrgAccess) string {
	switch viewer := page.ViewerOf(r); {
	case viewer != nil && viewer.SiteAdmin, may.Owner:
		return "admin"
	case may.Member:
		return "member"
	}
	return ""
}

// POST /{owner}
//
// Follow follows or unfollows an account, as the form says. Errors: 404, 422.
func (p *Pages) Follow(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	login, follows := web.Param(r, "owner"), form.Get("action") == "follow"
	if !follows && form.Get("action") != "unfollow" {
		return errs.New(errs.Invalid, "the form says neither follow nor unfollow")
	}
	open := p.kit.DeleteOwn
	if follows {
		open = p.kit.WriteOwn
	}
	ctx, err := open(r, scope.FollowUsers, false)
	if err != nil {
		return err
	}
	if err := p.of.Follows.Follow(ctx, caller(r), login, follows); err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"), web.Path(login)))
}
