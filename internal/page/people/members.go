package people

import (
	"cmp"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/invitation"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// members is what members.html shows.
type members struct {
	page.Frame
	Org     shown
	Role    string // of the viewer: admin, member or empty
	Public  bool   // the viewer shows the own membership
	Chosen  string // admin, member or outside: those alone; empty: all members
	Members []member
	Login   string // what was typed
	NewRole string

	MustInvite bool // the viewer cannot add people at once
	Invited    []*invitation.Invitation
	More       int64 // invitations that the page does not show
}

type member struct {
	page.User
	Owner   bool
	Outside bool // a collaborator who is not a member
	Self    bool
}

// Path is the address of the page.
func (v *members) Path() string { return web.Path("orgs", v.Org.Login, "people") }

// GET /orgs/{org}/people
//
// Members answers the members of an organization: all of them to members, to others those who show it. role=outside
// is the outside collaborators, for owners. Error: 404.
func (p *Pages) Members(w http.ResponseWriter, r *http.Request) error {
	v, err := p.members(r)
	return p.t.Show(w, r, "members.html", v, err)
}

// members reads a page of the members.
func (p *Pages) members(r *http.Request) (*members, error) {
	org, may, err := p.of.Accounts.Org(r.Context(), caller(r), web.Param(r, "org"))
	if err != nil {
		return nil, err
	}
	v := &members{Org: newOrg(org, may)}
	if v.Frame, err = p.kit.Frame(r, "People · "+v.Org.Login); err != nil {
		return nil, err
	}
	v.Tab = "people"
	if may.Member {
		v.Role = roleOf(r, may)
	}
	if role := web.QueryOf(r).Get("role"); role == "admin" || role == "member" ||
		role == "outside" && v.Role == "admin" {
		v.Chosen = role
	}
	at := page.At(r, perList)
	if v.Chosen == "outside" {
		people, total, err := p.of.Collaborators.Outsiders(r.Context(), caller(r), v.Org.Login, false, at)
		for _, u := range page.NewUsers(people) {
			v.Members = append(v.Members, member{User: u, Outside: true})
		}
		v.Pages = page.PagerOf(r, at, total)
		return v, err
	}
	list, total, err := p.of.Accounts.Members(r.Context(), caller(r), v.Org.Login, cmp.Or(v.Chosen, "all"), false, at)
	if err != nil {
		return nil, err
	}
	if may.Member {
		own, _, err := p.of.Accounts.Membership(r.Context(), caller(r), v.Org.Login, v.Viewer.Login)
		if err != nil {
			return nil, err
		}
		v.Public = own != nil && own.Public
	}
	if v.Role == "admin" {
		if err := p.invitations(r, v); err != nil {
			return nil, err
		}
	}
	for _, m := range list {
		u := *page.NewUser(m.User)
		v.Members = append(v.Members, member{User: u, Owner: m.Owner, Self: v.Viewer != nil && v.Viewer.ID == u.ID})
	}
	v.Pages = page.PagerOf(r, at, total)
	return v, nil
}

// invitations reads the open invitations for an owner.
func (p *Pages) invitations(r *http.Request, v *members) error {
	v.MustInvite = p.of.Invitations.Requires(caller(r))
	list, total, err := p.of.Invitations.OfOrg(r.Context(), caller(r), v.Org.Login,
		invitation.OrgFilter{Role: "all"},
		web.Page{Number: 1, Size: web.MaxPageSize})
	v.Invited, v.More = list, total-int64(len(list))
	return err
}

// POST /orgs/{org}/people
//
// ChangeMembers adds or invites a member, cancels an invitation, changes a role, removes a member or an outside
// collaborator, makes the one of the other, or shows or hides the caller's own membership, as the form's action says.
// Errors: 404; those of the API are shown on the page.
func (p *Pages) ChangeMembers(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	org, login := web.Param(r, "org"), form.Text("login")
	invited, err := p.changeMember(r, org, login, form)
	if err == nil {
		return page.Done(w, r, web.Path("orgs", org, "people"), memberDone(login, form, invited))
	}
	return page.RefuseWith(p.t, w, r, "members.html", nobody(err, login), p.members, func(v *members) {
		v.Login, v.NewRole = login, form.Get("role")
	})
}

// memberDone says what ChangeMembers did.
func memberDone(login string, form page.Form, invited bool) string {
	if invited {
		return login + " is invited now, for seven days."
	}
	switch form.Get("action") {
	case "cancel":
		return "The invitation of " + login + " was cancelled."
	case "remove", "remove-outside":
		return login + " was removed."
	case "convert":
		return login + " is an outside collaborator now."
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

// nobody turns a 404 into an error that the form shows: there is no user with the login.
func nobody(err error, login string) error {
	if errs.Is(err, errs.NotFound) && login != "" {
		return errs.Newf(errs.Invalid, "User %s not found.", errs.Clip(login))
	}
	return err
}

// changeMember does what the form says. Errors: those of [page.Kit.WriteOwn] and of packages account and invitation.
func (p *Pages) changeMember(r *http.Request, org, login string, form page.Form) (invited bool, err error) {
	if login == "" {
		return false, errs.Validation(errs.Field{Resource: "Membership", Field: "login",
			Code: errs.MissingField})
	}
	do, open, scopes := form.Get("action"), p.kit.WriteOwn, scope.AdminOrg
	switch do {
	case "set", "invite":
		if strings.Contains(login, "@") { // nobody is added by an address
			do = "invite"
		}
	case "remove", "remove-outside", "convert", "cancel":
		open = p.kit.DeleteOwn
	case "publicize":
		scopes = scope.WriteOrg
	case "conceal":
		open, scopes = p.kit.DeleteOwn, scope.WriteOrg
	default:
		return false, errs.New(errs.Invalid, "the form does not say what to do")
	}
	ctx, err := open(r, scopes, false)
	if err != nil {
		return false, err
	}
	switch do {
	case "remove":
		return false, p.of.Accounts.RemoveMember(ctx, caller(r), org, login)
	case "convert":
		return false, p.of.Accounts.ConvertMember(ctx, caller(r), org, login)
	case "remove-outside":
		return false, p.of.Collaborators.RemoveOutsider(ctx, caller(r), org, login)
	case "publicize", "conceal":
		return false, p.of.Accounts.SetMemberPublic(ctx, caller(r), org, login, do == "publicize")
	case "invite":
		who := invitation.Person{Login: login}
		if strings.Contains(login, "@") {
			who = invitation.Person{Email: login}
		}
		_, err := p.of.Invitations.InviteMember(ctx, caller(r), org, who, form.Get("role") == "admin", nil)
		return true, err
	case "cancel":
		id, _ := web.ParseNumber(form.Get("id"))
		return false, p.of.Invitations.CancelMember(ctx, caller(r), org, invitation.ID(id))
	}
	role := "member"
	if form.Get("role") == "admin" {
		role = "admin"
	}
	m, err := p.of.Accounts.SetMember(ctx, caller(r), org, login, role)
	return err == nil && m.Pending, err
}
