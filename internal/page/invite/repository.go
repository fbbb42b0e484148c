package invite

import (
	"net/http"
	"time"

	"arbor/internal/account"
	"arbor/internal/invitation"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// repoView is what repository.html shows. Of a private repository the page shows its name only.
type repoView struct {
	page.Frame
	Inviter  *page.User
	FullName string
	Path     string // of this page
	Role     string // as role_name of payloads
	Expires  time.Time
}

// GET /{owner}/{repo}/invitations
//
// ToRepo shows the caller's open invitation to the repository. Errors: 401, 403, 404.
func (p *Pages) ToRepo(w http.ResponseWriter, r *http.Request) error {
	_, v, err := p.toRepo(r)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "repository.html", v)
}

func (p *Pages) toRepo(r *http.Request) (*invitation.Invitation, *repoView, error) {
	caller := account.CallerFrom(r.Context())
	if err := caller.Allows(scope.RepoInvite, false); err != nil {
		return nil, nil, err
	}
	i, err := p.invites.To(r.Context(), caller, web.Param(r, "owner"), web.Param(r, "repo"))
	if err != nil {
		return nil, nil, err
	}
	v := &repoView{Inviter: page.NewUser(i.Inviter), FullName: i.Repo.FullName(),
		Path: invitation.Path(i.Repo.Repo),
		Role: i.Role.Name(), Expires: page.Moment(i.ExpiresAt())}
	v.Frame, err = p.kit.Frame(r, "Invitation to "+v.FullName)
	return i, v, err
}

// POST /{owner}/{repo}/invitations
//
// AnswerToRepo accepts or declines the invitation, as the form says. Errors: 401, 403, 404.
func (p *Pages) AnswerToRepo(w http.ResponseWriter, r *http.Request) error {
	i, v, err := p.toRepo(r)
	if err != nil {
		return err
	}
	accepts, err := answerOf(r)
	if err != nil {
		return err
	}
	caller, answer, open := account.CallerFrom(r.Context()), p.invites.Decline, p.kit.DeleteOwn
	if accepts {
		answer, open = p.invites.Accept, p.kit.WriteOwn
	}
	ctx, err := open(r, scope.RepoInvite, false)
	if err == nil {
		err = answer(ctx, caller, i.ID)
	}
	switch {
	case err == nil && accepts:
		return page.Done(w, r, web.Path(i.Repo.Owner.Login, i.Repo.Name), "You are a collaborator now.")
	case err == nil:
		return page.Done(w, r, "/", "You declined the invitation to "+v.FullName+".")
	}
	return p.t.Refuse(w, r, "repository.html", err, v)
}
