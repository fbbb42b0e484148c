package people

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// members is what members.html shows.
type members struct {
	page.Frame
	Org     account
	Role    string // of the viewer: admin, member or empty
	Public  bool   // the viewer shows the own membership
	Chosen  string // admin or member: those alone; empty: all
	Members []member
	Login   string // what was typed
	NewRole string
}

type member struct {
	page.User
	Owner bool
	Self  bool
}

// Path is the address of the page.
func (v *members) Path() string { return web.Path("orgs", v.Org.Login, "people") }

// GET /orgs/{org}/people
//
// Members answers the members of an organization: all of them to members, to others those who show it. Error:
// 404.
func (p *Pages) Members(w http.ResponseWriter, r *http.Request) error {
	v, err := p.members(r)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "members.html", v)
}

// members reads a page of the members, and which of them are owners.
func (p *Pages) members(r *http.Request) (*members, error) {
	v, of := &members{}, web.Path("orgs", web.Param(r, "org"))
	if _, err := p.kit.Get(r, of, nil, &v.Org); err != nil {
		return nil, page.Absent(err)
	}
	var err error
	if v.Frame, err = p.kit.Frame(r, "People · "+v.Org.Login); err != nil {
		return nil, err
	}
	v.Tab = "people"
	if role := web.QueryOf(r).Get("role"); role == "admin" || role == "member" {
		v.Chosen = role
	}
	var list, owners []page.User
	more, err := p.kit.Get(r, of+"/members", page.Part(r, perList, "role", v.Chosen), &list)
	if err != nil {
		return nil, err
	}
	manyOwners, err := p.kit.Get(r, of+"/members", page.Query("role", "admin", "per_page", "100"), &owners)
	if err != nil {
		return nil, err
	}
	owns := map[int64]bool{}
	for _, u := range owners {
		owns[u.ID] = true
	}
	if err := p.readViewer(r, v, owns, manyOwners); err != nil {
		return nil, err
	}
	for _, u := range list {
		v.Members = append(v.Members, member{User: u, Owner: owns[u.ID] || v.Chosen == "admin",
			Self: v.Viewer != nil && v.Viewer.ID == u.ID})
	}
	v.Pages = page.PagesOf(r, more)
	return v, nil
}

// readViewer determines the viewer's rights here. Only members see the default permission; whether the viewer
// is an owner is found in a list, unless that is too long.
func (p *Pages) readViewer(r *http.Request, v *members, owns map[int64]bool, manyOwners bool) (err error) {
	switch {
	case v.Viewer == nil || v.Org.Permission == "":
		return nil
	case owns[v.Viewer.ID] || v.Viewer.SiteAdmin:
		v.Role = "admin"
	case manyOwners:
		if v.Role, err = p.role(r, v.Org.Login, v.Viewer); err != nil {
			return err
		}
	default:
		v.Role = "member"
	}
	v.Public, err = p.kit.Holds(r, web.Path("orgs", v.Org.Login, "public_members", v.Viewer.Login))
	return err
}

// POST /orgs/{org}/people
//
// ChangeMembers adds a member, changes a role, removes a member, or shows or hides the caller's own
// membership, as the form's action says. Errors: 404; those of the API are shown on the page.
func (p *Pages) ChangeMembers(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	org, login := web.Param(r, "org"), form.Text("login")
	err = p.changeMember(r, org, login, form)
	if err == nil {
		return page.Done(w, r, web.Path("orgs", org, "people"), memberDone(login, form))
	}
	problem, err := problemWithMember(err, login)
	if err != nil {
		return err
	}
	v, err := p.members(r)
	if err != nil {
		return err
	}
	v.Problem, v.Login, v.NewRole = problem, login, form.Get("role")
	return p.t.Again(w, r, "members.html", problem, v)
}

// memberDone says what ChangeMembers did.
func memberDone(login string, form page.Form) string {
	switch form.Get("action") {
	case "remove":
		return login + " was removed."
	case "publicize":
		return "Your membership is public now."
	case "conceal":
		return "Your membership is hidden now."
	}
	if form.Get("role") == "admin" {
		return login + " is an owner now."
	}
	return login + " is a member now."
}

// problemWithMember also says of a login that nobody has it.
func problemWithMember(err error, login string) (*page.Problem, error) {
	if errs.Is(err, errs.NotFound) && login != "" {
		return &page.Problem{Status: http.StatusUnprocessableEntity,
			Message: "User " + errs.Clip(login) + " not found."}, nil
	}
	return page.ProblemOf(err)
}

func (p *Pages) changeMember(r *http.Request, org, login string, form page.Form) error {
	of := func(list string) string { return web.Path("orgs", org, list, login) }
	if login == "" {
		return errs.Validation(errs.Field{Resource: "Membership", Field: "login", Code: errs.MissingField})
	}
	switch form.Get("action") {
	case "set":
		role := "member"
		if form.Get("role") == "admin" {
			role = "admin"
		}
		return p.kit.Change(r, http.MethodPut, of("memberships"), map[string]string{"role": role}, nil)
	case "remove":
		return p.kit.Change(r, http.MethodDelete, of("memberships"), nil, nil)
	case "publicize":
		return p.kit.Change(r, http.MethodPut, of("public_members"), nil, nil)
	case "conceal":
		return p.kit.Change(r, http.MethodDelete, of("public_members"), nil, nil)
	}
	return errs.New(errs.Invalid, "the form does not say what to do")
}
