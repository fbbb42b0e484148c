package reposettings

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/errs"
	"arbor/internal/invitation"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/repo/collaborator"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// person is a collaborator.
type person struct {
	page.User
	Role account.Role
}

// accessView is the people who were given a role on the repository.
type accessView struct {
	view
	People []person
	Login  string // that was typed
	Role   string // that was chosen
	Org    bool   // an organization owns the repository

	MustInvite bool // the viewer cannot add outsiders at once
	Invited    []*invitation.Invitation
	More       int64 // invitations that the page does not show
}

// Roles are those that can be granted, as [account.Role.String] and as people read them.
func (v *accessView) Roles() [][2]string {
	var list [][2]string
	for _, permission := range account.Grants() {
		list = append(list, [2]string{permission, roleTitle(permission)})
	}
	return list
}

// roleTitle returns a permission as people read it.
func roleTitle(permission string) string {
	role, _ := account.ParseRole(permission)
	name := role.Name()
	return strings.ToUpper(name[:1]) + name[1:]
}

const accessSize = 50

// GET /{owner}/{repo}/settings/access
//
// Access lists the collaborators. Errors: 401, 403.
func (p *Pages) Access(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.access(r, a)
	return p.t.Show(w, r, "access.html", v, err)
}

func (p *Pages) access(r *http.Request, a *repo.Access) (*accessView, error) {
	v := &accessView{Role: "push", Org: a.Owner.Kind == account.Organization}
	var err error
	if v.view, err = p.frame(r, a, "access", "Access"); err != nil {
		return nil, err
	}
	at := page.At(r, accessSize)
	list, total, err := p.of.Collaborators.List(r.Context(), a, collaborator.Choice{Affiliation: "direct"}, at)
	for _, c := range list {
		v.People = append(v.People, person{*page.NewUser(c.Account), c.Role})
	}
	v.Pages = page.PagerOf(r, at, total)
	if err != nil {
		return nil, err
	}
	v.MustInvite = p.of.Invitations.Requires(a.Caller)
	some := web.Page{Number: 1, Size: web.MaxPageSize}
	v.Invited, total, err = p.of.Invitations.OfRepo(r.Context(), a, some)
	v.More = total - int64(len(v.Invited))
	return v, err
}

// POST /{owner}/{repo}/settings/access
//
// ChangeAccess sets the role of the person login, with do=invite once that person accepts, or with do=remove takes it
// away; do=cancel ends an invitation. Errors: 401, 403, 404.
func (p *Pages) ChangeAccess(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayAdmin(a); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	login := strings.TrimPrefix(f.Text("login"), "@")
	self := account.Fold(login) == account.Fold(a.Caller.Login)
	done := login + " has the role " + roleTitle(f.Get("role")) + " now."
	switch {
	case f.Get("do") == "cancel":
		done = "The invitation was cancelled."
		err = p.cancelInvitation(r, a, f.Get("id"))
	case login == "":
		err = errs.New(errs.Invalid, "Whom? Type a login.")
	case f.Get("do") == "remove":
		done = login + " was removed."
		err = p.removePerson(r, a, login)
	default:
		var i *invitation.Invitation
		if i, err = p.addPerson(r, a, login, f); i != nil {
			done = i.Invitee.Login + " is invited now, for seven days."
		}
	}
	if errs.Is(err, errs.NotFound) {
		err = errs.Newf(errs.Invalid, "There is nobody with the login %q.", errs.Clip(login))
	}
	switch {
	case err == nil && self: // callers who may no longer see the settings are redirected to what they may see
		return page.SeeOther(w, r, path(a))
	case err == nil:
		return page.Done(w, r, at(a, "/access"), done)
	}
	return page.RefuseWith(p.t, w, r, "access.html", err,
		func(r *http.Request) (*accessView, error) { return p.access(r, a) },
		func(v *accessView) { v.Login, v.Role = f.Text("login"), f.Get("role") })
}

// addPerson adds or invites somebody. The invitation is nil for a person who was added.
func (p *Pages) addPerson(
	r *http.Request, a *repo.Access, login string, f page.Form,
) (*invitation.Invitation, error) {
	if err := a.Caller.Allows(scope.PublicRepo, false); err != nil {
		return nil, err
	}
	ctx, err := p.kit.Write(r, a, account.Admin)
	if err != nil {
		return nil, err
	}
	if f.Get("do") == "invite" {
		return p.of.Collaborators.Invite(ctx, a, login, f.Get("role"))
	}
	return p.of.Collaborators.Add(ctx, a, login, f.Get("role"))
}

func (p *Pages) cancelInvitation(r *http.Request, a *repo.Access, id string) error {
	if err := a.Caller.Allows(scope.PublicRepo, false); err != nil {
		return err
	}
	ctx, err := p.kit.DeleteArchived(r, a, account.Admin)
	if err != nil {
		return err
	}
	n, _ := web.ParseNumber(id)
	err = p.of.Invitations.Cancel(ctx, a, invitation.ID(n))
	if errs.Is(err, errs.NotFound) {
		err = errs.New(errs.Invalid, "This invitation is not open any more.")
	}
	return err
}

func (p *Pages) removePerson(r *http.Request, a *repo.Access, login string) error {
	if err := a.Caller.Allows(scope.PublicRepo, false); err != nil {
		return err
	}
	ctx, err := p.kit.Delete(r, a, account.Pull) // the operation asks for more, to remove others
	if err == nil {
		err = p.of.Collaborators.Remove(ctx, a, login)
	}
	return err
}

// installationsView is the Apps on the owner's account.
type installationsView struct {
	view
	Apps []*app.Installation
}

// GET /{owner}/{repo}/settings/installations
//
// Installations lists the Apps that are installed on the owner's account, as far as the viewer knows of them.
// Errors: 401, 403.
func (p *Pages) Installations(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := p.frame(r, a, "installations", "GitHub Apps")
	if err != nil {
		return err
	}
	if err := a.Caller.Allows(scope.None, false); err != nil {
		return err
	}
	known, err := p.of.Apps.Known(r.Context(), a.Caller)
	if err != nil {
		return err
	}
	v := &installationsView{view: f}
	for _, i := range known {
		if i.Account.ID == a.OwnerID {
			v.Apps = append(v.Apps, i)
		}
	}
	return p.t.Page(w, r, "installations.html", v)
}
