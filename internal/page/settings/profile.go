package settings

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/page"
)

// profile is what people say of themselves, as the API answers and takes it.
type profile struct {
	Name     string `json:"name"`
	Bio      string `json:"bio"`
	Company  string `json:"company"`
	Location string `json:"location"`
	Blog     string `json:"blog"`
}

type profileView struct {
	view
	profile
}

// GET /settings/profile
//
// Profile shows what the caller says of itself.
func (p *Pages) Profile(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "profile", "Profile")
	if err != nil {
		return err
	}
	v := &profileView{view: f}
	if _, err := p.kit.Get(r, "/user", nil, &v.profile); err != nil {
		return err
	}
	v.Shown = page.Shown(v.profile)
	return p.t.Page(w, r, "profile.html", v)
}

// POST /settings/profile
//
// SaveProfile changes the profile.
func (p *Pages) SaveProfile(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	sent := profile{Name: f.Text("name"), Bio: f.Text("bio"), Company: f.Text("company"),
		Location: f.Text("location"),
		Blog:     f.Text("blog")}
	var now profile
	if _, err := p.kit.Get(r, "/user", nil, &now); err != nil {
		return err
	}
	fields, err := f.Edit(sent, now)
	if err == nil {
		err = p.kit.Change(r, "PATCH", "/user", fields, nil)
	}
	if err == nil {
		return page.Done(w, r, "/settings/profile", "Your profile was saved.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	frame, err := p.frame(r, "profile", "Profile")
	if err != nil {
		return err
	}
	frame.Problem, frame.Shown = problem, f.Get("shown")
	return p.t.Again(w, r, "profile.html", problem, &profileView{view: frame, profile: sent})
}

// accountView is the account as its owner sees it.
type accountView struct {
	view
	Uses []use
}

// use is how much the account has of something.
type use struct{ What, Has, Limit string }

// limit writes a bound; "" where there is none.
func limit(n *int64, write func(int64) string) string {
	if n == nil || *n == account.Unbounded {
		return ""
	}
	return write(*n)
}

// GET /settings/account
//
// Account shows what the account uses of its quotas and who can rename and delete it, and leads site
// administrators there.
func (p *Pages) Account(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "account", "Account")
	if err != nil {
		return err
	}
	q, u, err := p.accounts.QuotaFor(r.Context(), account.CallerFrom(r.Context()).ID)
	if err != nil {
		return err
	}
	q = q.Or(p.repos.Quota).Or(account.Quota{Text: &p.accounts.TextLimits.KB})
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return p.t.Page(w, r, "account.html", &accountView{view: f, Uses: []use{
		{"Repositories", number(u.Repos), limit(q.Repos, number)},
		{"Git and files", page.Bytes(u.KB << 10), limit(q.KB, account.Kibibytes)},
		{"Text, such as issues and comments", page.Bytes(u.TextKB << 10), limit(q.Text, account.Kibibytes)},
	}})
}
