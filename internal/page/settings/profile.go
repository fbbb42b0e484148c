package settings

import (
	"net/http"

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

// GET /settings/account
//
// Account tells who can rename and delete the account, and leads site administrators there.
func (p *Pages) Account(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "account", "Account")
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "account.html", f)
}
