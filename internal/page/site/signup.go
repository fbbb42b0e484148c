package site

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/signup"
	"arbor/internal/web"
)

type signUpView struct {
	view
	State     *signup.State
	Modes     []modeChoice
	Domains   string // one a line
	Passwords bool   // everybody may sign in with a password; else accounts begin when people sign in

	Invited  []*signup.Link
	Requests []*signup.Request

	Address, Org, Team, Days string // of the form of an invitation, as sent
	Secret                   string // the address of a link that was made, shown once; empty: none
}

// modeChoice is a way in which accounts begin.
type modeChoice struct {
	Mode signup.Mode
	Say  string
}

// modeChoices are all ways.
var modeChoices = []modeChoice{
	{signup.Closed, "Closed: administrators create accounts"},
	{signup.Invitation, "By invitation: administrators also invite people"},
	{signup.Domain, "By domain: and whoever gets mail at an address of these domains"},
	{signup.Approval, "With approval: and everybody else asks an administrator"},
	{signup.Open, "Open: everybody"},
}

// GET /site/sign-up
//
// SignUp shows how accounts begin, the invitations that are open, and who waits for an account.
func (p *Pages) SignUp(w http.ResponseWriter, r *http.Request) error {
	v, err := p.signUp(r)
	return p.t.Show(w, r, "signup.html", v, err)
}

func (p *Pages) signUp(r *http.Request) (*signUpView, error) {
	f, err := p.frame(r, "sign-up", "Sign-up")
	if err != nil {
		return nil, err
	}
	v := &signUpView{view: f, Modes: modeChoices, Days: strconv.Itoa(signup.DefaultDays),
		Passwords: p.Sessions.PasswordsForAll()}
	if v.State, err = p.Signup.State(r.Context()); err != nil {
		return nil, err
	}
	v.Domains = strings.Join(v.State.Domains, "\n")
	if v.Invited, err = p.Signup.Invitations(r.Context()); err != nil {
		return nil, err
	}
	v.Requests, err = p.Signup.Requests(r.Context())
	return v, err
}

// POST /site/sign-up
//
// ChangeSignUp does what do says: mode stores how accounts begin, invite invites somebody, revoke ends an invitation,
// approve and decline decide about who waits. Errors: 404; the page again, with 422.
func (p *Pages) ChangeSignUp(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	done, secret, err := p.changeSignUp(r, form)
	if err == nil && secret == "" {
		return page.Done(w, r, "/site/sign-up", done)
	}
	var problem *page.Problem
	if err != nil {
		if problem, err = page.ProblemOf(err); err != nil {
			return notFound(err)
		}
	}
	v, err := p.signUp(r)
	if err != nil {
		return err
	}
	if problem == nil {
		v.Secret = web.From(r.Context()).Page("/join?link=" + secret)
		return p.t.Secret(w, r, "signup.html", v)
	}
	v.Problem = problem
	switch form.Get("do") {
	case "mode":
		v.State.Mode, v.Domains = signup.Mode(form.Get("mode")), form.Get("domains")
	case "invite":
		v.Address, v.Org, v.Team, v.Days = form.Text("address"), form.Text("org"), form.Text("team"), form.Text("days")
	}
	return p.t.Again(w, r, "signup.html", problem, v)
}

// changeSignUp does what a form says, and returns what it did, or the secret of a link.
func (p *Pages) changeSignUp(r *http.Request, form page.Form) (done, secret string, err error) {
	ctx, err := p.kit.WriteOwn(r, scope.SiteAdmin, false)
	if err != nil {
		return "", "", err
	}
	by, id := caller(r), int64(0)
	if do := form.Get("do"); slices.Contains([]string{"revoke", "approve", "decline"}, do) {
		if id, err = strconv.ParseInt(form.Get("id"), 10, 64); err != nil {
			return "", "", errs.Absent()
		}
	}
	switch form.Get("do") {
	case "mode":
		to := signup.Settings{Mode: signup.Mode(form.Get("mode")), Domains: strings.Fields(form.Get("domains"))}
		return "The settings were saved.", "", p.Signup.Change(ctx, by, to)
	case "invite":
		days, _ := strconv.Atoi(form.Text("days")) // 0 is refused
		secret, err = p.Signup.Invite(ctx, by, signup.Invite{Address: form.Text("address"), Org: form.Text("org"),
			Team: form.Text("team"), Days: days})
		return "The invitation is on its way to " + form.Text("address") + ".", secret, err
	case "revoke":
		return "The invitation was revoked.", "", p.Signup.Revoke(ctx, by, id)
	case "approve":
		a, err := p.Signup.Approve(ctx, by, id, form.Text("login"))
		if err != nil {
			return "", "", err
		}
		return a.Login + " has an account now.", "", nil
	case "decline":
		login, err := p.Signup.Decline(ctx, by, id)
		return login + " was declined.", "", err
	}
	return "", "", errs.New(errs.Invalid, "Say what to do.")
}
