package settings

import (
	"net/http"
	"strconv"

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

// accountView is the account as its owner sees it.
type accountView struct {
	view
	Uses []use
}

// use is how much the account has of something.
type use struct{ What, Has, Limit string }

// limit writes a bound; "" if there is none.
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
