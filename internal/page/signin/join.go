package signin

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/signup"
	"arbor/internal/web"
)

// joinView is what join.html shows: a field for the address to which a link is mailed, then that the mail is on its way;
// or the form of an account, by a link or where none is needed, then perhaps that it waits for approval.
type joinView struct {
	page.Frame
	State  *signup.State
	Link   *signup.Link // nil: opened without one that holds
	Secret string       // of the link

	Address, Login, Name, Reason string // as sent

	Asked bool // a mail is on its way
	Waits bool // an administrator decides
}

// ByMail reports whether the page asks for the address to which a link is mailed.
func (v *joinView) ByMail() bool { return v.Link == nil && v.State.ByMail() }

// Approved reports whether an administrator must approve the account.
func (v *joinView) Approved() bool {
	return v.State.Mode == signup.Approval && (v.Link == nil || v.Link.Asked)
}

// GET /join
//
// JoinForm answers the page where people begin an account, as the site's setting says; with link, the secret of one, by
// that link. It changes nothing. Errors: 404 where accounts do not begin so; the page again, with 404 for a link that does
// not hold.
func (p *Pages) JoinForm(w http.ResponseWriter, r *http.Request) error {
	link := web.QueryOf(r).Get("link")
	if link == "" && account.CallerFrom(r.Context()) != nil {
		return page.SeeOther(w, r, "/")
	}
	v, err := p.joinView(r, link)
	if err != nil {
		return err
	}
	if v.Problem != nil {
		return p.t.Again(w, r, "join.html", v.Problem, v)
	}
	return p.t.Secret(w, r, "join.html", v)
}

// joinView finds how people begin an account. For a link that does not hold, the view has a problem. Error: 404.
func (p *Pages) joinView(r *http.Request, link string) (*joinView, error) {
	state, err := p.of.Signup.State(r.Context())
	if err != nil {
		return nil, err
	}
	if state.Mode == signup.Closed || link == "" && !state.Public() {
		return nil, errs.Absent()
	}
	frame, err := p.kit.Frame(r, "Create an account")
	v := &joinView{Frame: frame, State: state, Secret: link}
	if err != nil || link == "" {
		return v, err
	}
	v.Link, err = p.of.Signup.Link(r.Context(), link)
	if errs.Is(err, errs.NotFound) {
		v.Secret, v.Problem, err = "", &page.Problem{Status: http.StatusNotFound,
			Message: "This link has expired, was used or was revoked."}, nil
		v.Link = nil
	}
	return v, err
}

// POST /join
//
// Join mails a link to address, and says the same whether somebody has it; or creates the account, with link by that, and
// signs in, or has it wait for approval. Errors: 404; the page again, with 404, 409, 422, 429 and 503.
func (p *Pages) Join(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.joinView(r, f.Get("link"))
	if err != nil {
		return err
	}
	v.Address, v.Login, v.Name, v.Reason = f.Text("address"), f.Text("login"), f.Text("name"), f.Text("reason")
	var session string
	switch {
	case v.Problem != nil:
		return p.t.Again(w, r, "join.html", v.Problem, v)
	case v.ByMail():
		err = p.of.Signup.AskLink(r.Context(), v.Address, page.Origin(r))
		v.Asked = err == nil
	case f.Get("password") != f.Get("again"):
		err = errs.New(errs.Invalid, "The password is not the same in both fields.")
	default:
		session, err = p.of.Signup.Join(r.Context(), signup.Person{Secret: v.Secret, Login: v.Login, Name: v.Name,
			Address: v.Address, Password: f.Get("password"), Reason: v.Reason}, page.Origin(r))
		v.Waits = err == nil && session == ""
	}
	switch {
	case err == nil && session != "":
		return p.welcome(w, r, v.Login, session)
	case err == nil:
		return p.t.Page(w, r, "join.html", v)
	}
	return p.t.Refuse(w, r, "join.html", err, v)
}

// welcome signs the browser in to a new account.
func (p *Pages) welcome(w http.ResponseWriter, r *http.Request, login, session string) error {
	browser, err := p.sessions.KnownBrowser(r.Context(), login)
	if err != nil {
		return err
	}
	page.SetSession(w, r, session)
	page.SetBrowser(w, r, browser)
	return page.SeeOther(w, r, "/")
}
