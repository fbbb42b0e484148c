package site

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// personView is a person as site administrators see it.
type personView struct {
	view
	Account *account.Account
	Quota   quotaForm
	Usage   account.Usage
	Self    bool // it is the viewer
	Typed   string
	Secret  string // what was made for the person to sign in with; shown once
	What    string // password or token
}

// Size is how much the account owns.
func (v *personView) Size() string { return page.Bytes(v.Usage.KB << 10) }

// Text is how much the account has written.
func (v *personView) Text() string { return page.Bytes(v.Usage.TextKB << 10) }

// quotaForm is the quota as the form has it: a number, empty for what the server says for all, or none for no
// bound.
type quotaForm struct{ Repos, MiB, Text string }

func bound(n *int64, unit int64) string {
	switch {
	case n == nil:
		return ""
	case *n == account.Unbounded:
		return "none"
	}
	return strconv.FormatInt(*n/unit, 10)
}

// readBound reads what bound writes. Error: 422.
func readBound(text string, unit int64) (*int64, error) {
	switch text {
	case "":
		return nil, nil
	case "none":
		n := account.Unbounded
		return &n, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return nil, errs.Newf(errs.Invalid, "invalid limit %q: write a number, none, or nothing.",
			errs.Clip(text))
	}
	n *= unit
	return &n, nil
}

// GET /site/people/{login}
//
// Person shows a person's account. Error: 404.
func (p *Pages) Person(w http.ResponseWriter, r *http.Request) error {
	v, err := p.person(r, account.User, "people")
	return p.t.Show(w, r, "person.html", v, err)
}

// person reads the account of the request's address. Error: 404.
func (p *Pages) person(r *http.Request, kind account.Kind, section string) (*personView, error) {
	a, err := p.Accounts.Find(r.Context(), web.Param(r, "login"))
	if err == nil && a.Kind != kind {
		err = errs.Absent()
	}
	if err != nil {
		return nil, notFound(err)
	}
	v := &personView{Account: a, Self: a.ID == caller(r).ID}
	if v.view, err = p.frame(r, section, a.Login); err != nil {
		return nil, err
	}
	q, u, err := p.Accounts.QuotaFor(r.Context(), a.ID)
	v.Quota, v.Usage = quotaForm{bound(q.Repos, 1), bound(q.KB, 1024), bound(q.Text, 1024)}, u
	return v, notFound(err)
}

// POST /site/people/{login}
//
// ChangePerson does with the account what do says: suspend, unsuspend, promote, demote, rename, quota,
// password, token, delete. Error: 404.
func (p *Pages) ChangePerson(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.person(r, account.User, "people")
	if err != nil {
		return err
	}
	login := v.Account.Login
	to, done := leads(login), ""
	switch f.Get("do") {
	case "suspend":
		done = login + " was suspended."
		err = p.growing(r, login, p.Accounts.Suspend)
	case "unsuspend":
		done = login + " is no longer suspended."
		_, err = p.Accounts.Unsuspend(r.Context(), caller(r), login)
	case "promote":
		done = login + " is a site administrator now."
		err = p.growing(r, login, p.Accounts.Promote)
	case "demote":
		done = login + " is no longer a site administrator."
		_, err = p.Accounts.Demote(r.Context(), caller(r), login)
	case "password", "token":
		v.What = f.Get("do")
		if v.Secret, err = p.start(r, login, v.What); err == nil {
			return p.t.Secret(w, r, "person.html", v)
		}
	default:
		to, done, err = p.changeAccount(r, f, v, "/site/people")
	}
	if err == nil {
		return page.Done(w, r, to, done)
	}
	v.Typed = f.Get("confirm")
	return p.t.Refuse(w, r, "person.html", err, v)
}

// growing changes a person and needs room on the disk.
func (p *Pages) growing(r *http.Request, login string,
	change func(context.Context, *account.Caller, string) (*account.Account, error),
) error {
	ctx, err := p.kit.WriteOwn(r, scope.SiteAdmin, false)
	if err == nil {
		_, err = change(ctx, caller(r), login)
	}
	return err
}

// changeAccount does what people and organizations have in common: rename, quota, delete. It returns
// the address of the page that shows the result, and what was done.
func (p *Pages) changeAccount(
	r *http.Request, f page.Form, v *personView, list string,
) (to, done string, err error) {
	login := v.Account.Login
	to = list + web.Path(login)
	switch f.Get("do") {
	case "rename":
		next := f.Text("login")
		err = p.growing(r, login, func(ctx context.Context, by *account.Caller, login string) (*account.Account, error) {
			return p.Accounts.ChangeLogin(ctx, by, v.Account.Kind, login, next)
		})
		if err == nil {
			to, done = list+web.Path(next), login+" is "+next+" now."
		}
	case "quota":
		done = "The quota was saved."
		v.Quota = quotaForm{f.Text("repos"), f.Text("mib"), f.Text("text")}
		err = p.setQuota(r, v)
	case "delete":
		to, done = list, login+" was deleted."
		switch {
		case f.Text("confirm") != login:
			err = errs.Newf(errs.Invalid, "Nothing was done: type %s to confirm.", login)
		default:
			err = p.Accounts.Delete(r.Context(), caller(r), v.Account.Kind, login)
		}
	default:
		err = errs.New(errs.Malformed, "The form does not say what is to be done.")
	}
	return to, done, err
}

func (p *Pages) setQuota(r *http.Request, v *personView) error {
	repos, err := readBound(v.Quota.Repos, 1)
	if err != nil {
		return err
	}
	kb, err := readBound(v.Quota.MiB, 1024)
	if err != nil {
		return err
	}
	text, err := readBound(v.Quota.Text, 1024)
	if err != nil {
		return err
	}
	_, _, _, err = p.Accounts.EditQuota(r.Context(), caller(r), v.Account.Kind, v.Account.Login, func(q *account.Quota) {
		q.Repos, q.KB, q.Text = repos, kb, text
	})
	return err
}

// token creates a token for a new person.
func (p *Pages) token(r *http.Request, login string) (string, error) {
	scopes, err := scope.Parse(scope.Usual)
	if err != nil {
		return "", err
	}
	lasts, err := token.ParseExpiry(startToken, time.Now())
	if err != nil {
		return "", err
	}
	token, _, err := p.Tokens.CreateToken(r.Context(),
		token.NewToken{Login: login, Note: "made by a site administrator",
			Expires: lasts, Scopes: scopes, By: caller(r)})
	return token, err
}
