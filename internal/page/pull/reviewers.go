package pull

import (
	"net/http"
	"slices"
	"strings"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type reviewersView struct {
	*scene
	People []page.User
	Asked  map[string]bool // by login
	Return string
}

// GET /{owner}/{repo}/pull/{number}/reviewers
//
// Reviewers shows the form that says who is asked for a review. Error: 404.
func (p *Pages) Reviewers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := p.scene(r, a, "conversation")
	if err != nil {
		return err
	}
	v := &reviewersView{scene: s, Asked: map[string]bool{},
		Return: page.ReturnTo(web.QueryOf(r).Get("return_to"), s.Act)}
	path := web.Path("repos", a.Owner.Login, a.Name, "assignees")
	if _, err := p.kit.Get(r, path, page.Query("per_page", "100"), &v.People); err != nil {
		return err
	}
	for _, u := range s.Pull.Reviewers {
		v.Asked[u.Login] = true
		if !slices.ContainsFunc(v.People, func(o page.User) bool { return o.ID == u.ID }) {
			v.People = append(v.People, u)
		}
	}
	v.People = slices.DeleteFunc(v.People, func(u page.User) bool {
		return s.Pull.User != nil &&
			u.ID == s.Pull.User.ID
	})
	return p.t.Page(w, r, "reviewers.html", v)
}

// POST /{owner}/{repo}/pull/{number}/reviewers
//
// SetReviewers says who is asked for a review; again=LOGIN asks one more time.
func (p *Pages) SetReviewers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if login := f.Text("again"); login != "" {
		return p.led(w, r, a, f, "", p.ask(r, a, http.MethodPost, []string{login}))
	}
	var now struct{ Users []page.User }
	if _, err := p.kit.Get(r, api(r, a, "requested_reviewers"), nil, &now); err != nil {
		return err
	}
	wanted, gone := f.List("reviewer"), []string{}
	for name := range strings.SplitSeq(f.Get("more"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			wanted = append(wanted, name)
		}
	}
	for _, u := range now.Users {
		same := func(login string) bool { return strings.EqualFold(login, u.Login) }
		if !slices.ContainsFunc(wanted, same) {
			gone = append(gone, u.Login)
		}
		wanted = slices.DeleteFunc(wanted, same)
	}
	if err == nil && len(wanted) > 0 {
		err = p.ask(r, a, http.MethodPost, wanted)
	}
	if err == nil && len(gone) > 0 {
		err = p.ask(r, a, http.MethodDelete, gone)
	}
	return p.led(w, r, a, f, "", err)
}

func (p *Pages) ask(r *http.Request, a *repo.Access, method string, logins []string) error {
	return p.kit.Change(r, method, api(r, a, "requested_reviewers"), map[string]any{"reviewers": logins}, nil)
}
