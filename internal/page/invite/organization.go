package invite

import (
	"net/http"
	"time"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// orgView is what organization.html shows.
type orgView struct {
	page.Frame
	Inviter, Org *page.User
	Owner        bool
	Link         string // of the mail by which it was opened; empty: none
	Expires      time.Time
}

// GET /orgs/{org}/invitation
//
// ToOrg shows the caller's open invitation to the organization, or that of the link in a mail. Errors: 401, 403, 404.
func (p *Pages) ToOrg(w http.ResponseWriter, r *http.Request) error {
	v, err := p.toOrg(r)
	if err != nil {
		return err
	}
	return p.t.Secret(w, r, "organization.html", v)
}

func (p *Pages) toOrg(r *http.Request) (*orgView, error) {
	link := web.QueryOf(r).Get("link")
	caller := account.CallerFrom(r.Context())
	if err := caller.Allows(scope.ReadOrg, false); err != nil {
		return nil, err
	}
	i, err := p.invites.ToOrg(r.Context(), caller, web.Param(r, "org"), link)
	if err != nil {
		return nil, err
	}
	v := &orgView{Link: link, Inviter: page.NewUser(i.Inviter), Org: page.NewUser(i.Org), Owner: i.Owner,
		Expires: page.Moment(i.ExpiresAt())}
	v.Frame, err = p.kit.Frame(r, "Invitation to "+i.Org.Login)
	return v, err
}

// POST /orgs/{org}/invitation
//
// AnswerToOrg accepts or declines the invitation, as the form says. Errors: 401, 403, 404.
func (p *Pages) AnswerToOrg(w http.ResponseWriter, r *http.Request) error {
	v, err := p.toOrg(r)
	if err != nil {
		return err
	}
	accepts, err := answerOf(r)
	if err != nil {
		return err
	}
	caller, open := account.CallerFrom(r.Context()), p.kit.DeleteOwn
	if accepts {
		open = p.kit.WriteOwn
	}
	ctx, err := open(r, scope.WriteOrg, false)
	switch {
	case err != nil:
	case accepts:
		_, err = p.invites.AcceptMember(ctx, caller, v.Org.Login, v.Link)
	default:
		err = p.invites.DeclineMember(ctx, caller, v.Org.Login, v.Link)
	}
	switch {
	case err == nil && accepts:
		return page.Done(w, r, web.Path(v.Org.Login), "You are a member now.")
	case err == nil:
		return page.Done(w, r, "/", "You declined the invitation to "+v.Org.Login+".")
	}
	return p.t.Refuse(w, r, "organization.html", err, v)
}
