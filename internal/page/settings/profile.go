package settings

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// profile is what people say of themselves, by the names of the API.
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
// Profile shows the caller's profile.
func (p *Pages) Profile(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "profile", "Profile")
	if err != nil {
		return err
	}
	v := &profileView{view: f}
	if v.profile, err = p.ownProfile(r); err != nil {
		return err
	}
	v.Shown = page.Shown(v.profile)
	return p.t.Page(w, r, "profile.html", v)
}

func (p *Pages) ownProfile(r *http.Request) (profile, error) {
	me, err := p.accounts.Self(r.Context(), caller(r))
	if err != nil {
		return profile{}, err
	}
	return profile{Name: page.TextOf(me.Name), Bio: page.TextOf(me.Bio), Company: page.TextOf(me.Company), Location: page.TextOf(me.Location),
		Blog: page.TextOf(me.Blog)}, nil
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
	if err = p.saveProfile(r, f, &sent); err == nil {
		return page.Done(w, r, "/settings/profile", "Your profile was saved.")
	}
	return page.RefuseWith(p.t, w, r, "profile.html", err, func(r *http.Request) (*profileView, error) {
		frame, err := p.frame(r, "profile", "Profile")
		return &profileView{view: frame, profile: sent}, err
	}, func(v *profileView) { v.Shown = f.Get("shown") })
}

// saveProfile changes what differs from what the form showed. Errors: those of [page.Form.Edit] and of package account.
func (p *Pages) saveProfile(r *http.Request, f page.Form, sent *profile) error {
	now, err := p.ownProfile(r)
	if err != nil {
		return err
	}
	changed, err := f.Edit(sent, now)
	if err != nil {
		return err
	}
	var e account.Edit
	for name, field := range map[string]struct {
		to  *web.Opt[string]
		now string
	}{"name": {&e.Name, sent.Name}, "bio": {&e.Bio, sent.Bio}, "company": {&e.Company, sent.Company},
		"location": {&e.Location, sent.Location}, "blog": {&e.Blog, sent.Blog}} {
		if _, ok := changed[name]; ok {
			*field.to = web.Some(field.now)
		}
	}
	ctx, err := p.kit.WriteOwn(r, scope.User, false)
	if err != nil {
		return err
	}
	_, err = p.accounts.EditSelf(ctx, caller(r), e)
	return err
}
