package site

import (
	"crypto/rand"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

const directorySize = 50

// directoryView is a part of the list of people or organizations.
type directoryView struct {
	view
	Text string // that is searched for
	List []*account.Account
	Next string // the address of what follows; empty: nothing
}

// GET /site/people
//
// People lists everybody by login, or those with q in login or name.
func (p *Pages) People(w http.ResponseWriter, r *http.Request) error {
	v, err := p.directory(r, account.User, "people", "People")
	return p.t.Show(w, r, "people.html", v, err)
}

func (p *Pages) directory(r *http.Request, kind account.Kind, section, title string) (*directoryView, error) {
	f, err := p.frame(r, section, title)
	if err != nil {
		return nil, err
	}
	q := web.QueryOf(r)
	v := &directoryView{view: f, Text: strings.ToValidUTF8(strings.TrimSpace(page.Clip(q.Get("q"), 100).Text),
		"")}
	v.Text = strings.ReplaceAll(v.Text, "\x00", "")
	after := strings.ReplaceAll(strings.ToValidUTF8(page.Clip(q.Get("after"), 100).Text, ""), "\x00", "")
	list, more, err := p.Accounts.Directory(r.Context(),
		account.Directory{Kind: kind, Text: v.Text, After: after, Limit: directorySize})
	if err != nil {
		return nil, err
	}
	if v.List = list; more {
		v.Next = "?" + page.Query("q", v.Text, "after", list[len(list)-1].Login).Encode()
	}
	return v, nil
}

// newPersonView is the form of a new account, and what is shown of it once.
type newPersonView struct {
	view
	Login, Email string
	Admin        bool
	With         string // what the person signs in with: password, token or nothing

	Made   string // the login of the account that was made; empty: none
	Secret string // what it signs in with; empty: nothing
}

// GET /site/people/new
//
// NewPerson shows the form of a new account.
func (p *Pages) NewPerson(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "people", "New person")
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "newperson.html", &newPersonView{view: f, With: "password"})
}

// POST /site/people/new
//
// CreatePerson creates an account, with a starting password or a token that it shows only now.
func (p *Pages) CreatePerson(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	frame, err := p.frame(r, "people", "New person")
	if err != nil {
		return err
	}
	v := &newPersonView{view: frame, Login: f.Text("login"), Email: f.Text("email"),
		Admin: f.Checked("admin"),
		With:  f.Get("with")}
	err = p.createPerson(r, v)
	if err == nil {
		v.Secret, err = p.start(r, v.Made, v.With)
	}
	if err == nil {
		return p.t.Secret(w, r, "newperson.html", v)
	}
	if v.Made != "" { // the account is there, so the form would only say that
		return err
	}
	return p.t.Refuse(w, r, "newperson.html", err, v)
}

// createPerson creates the account of the form, and notes its login.
func (p *Pages) createPerson(r *http.Request, v *newPersonView) error {
	ctx, err := p.kit.WriteOwn(r, scope.SiteAdmin, false)
	if err != nil {
		return err
	}
	made, err := p.Accounts.AddUser(ctx, account.NewUser{Login: v.Login, Email: v.Email, By: caller(r)})
	if err != nil {
		return err
	}
	if v.Made = made.Login; v.Admin {
		_, err = p.Accounts.Promote(ctx, caller(r), made.Login)
	}
	return err
}

// startToken is how long a token lasts that an administrator makes for somebody.
const startToken = "90d"

// start creates a person's first credential, and returns it: a password or a token.
func (p *Pages) start(r *http.Request, login, with string) (secret string, err error) {
	switch with {
	case "password":
		secret = rand.Text()[:16]
		return secret, p.Sessions.SetPassword(r.Context(), login, secret, caller(r))
	case "token":
		return p.token(r, login)
	}
	return "", nil
}

// leads is the address of a person's page here.
func leads(login string) string { return "/site/people" + web.Path(login) }

// notFound returns a 404 page for an operation's error, which names the missing thing.
func notFound(err error) error {
	if errs.Is(err, errs.NotFound) {
		return errs.Absent()
	}
	return err
}
