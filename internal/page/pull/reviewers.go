package pull

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/account"
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
	people, _, err := p.talk.Issues.Assignable(r.Context(), a, web.Page{Number: 1, Size: perPage})
	if err != nil {
		return err
	}
	v.People = page.NewUsers(people)
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
		return p.led(w, r, a, f, "", p.ask(r, a, []string{login}, nil))
	}
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	now, err := p.of.Pulls.AskedFor(r.Context(), a, number)
	if err != nil {
		return err
	}
	wanted, gone := f.List("reviewer"), []string{}
	for name := range strings.SplitSeq(f.Get("more"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			wanted = append(wanted, name)
		}
	}
	wanted, teams := splitTeams(wanted)
	old, err := p.of.Pulls.AskedTeams(r.Context(), a, number)
	if err != nil {
		return err
	}
	var goneTeams []string
	for _, t := range old {
		if !slices.Contains(teams, t.Slug) {
			goneTeams = append(goneTeams, t.Slug)
		}
	}
	for _, u := range now {
		same := func(login string) bool { return strings.EqualFold(login, u.Login) }
		if !slices.ContainsFunc(wanted, same) {
			gone = append(gone, u.Login)
		}
		wanted = slices.DeleteFunc(wanted, same)
	}
	if len(wanted)+len(teams) > 0 {
		err = p.ask(r, a, wanted, teams)
	}
	if err == nil && len(gone)+len(goneTeams) > 0 {
		err = p.unask(r, a, number, gone, goneTeams)
	}
	return p.led(w, r, a, f, "", err)
}

// splitTeams takes the teams, ORGANIZATION/TEAM, from a list of reviewers, and returns their slugs.
func splitTeams(list []string) (logins, teams []string) {
	for _, name := range list {
		if _, slug, ok := strings.Cut(name, "/"); ok {
			teams = append(teams, slug)
		} else {
			logins = append(logins, name)
		}
	}
	return logins, teams
}

// ask asks people and teams for a review of the request's pull request.
func (p *Pages) ask(r *http.Request, a *repo.Access, logins, teams []string) error {
	return p.change(r, a, account.Pull, func(ctx context.Context, number int64) error {
		return p.of.Pulls.RequestReviews(ctx, a, number, logins, teams...)
	})
}

func (p *Pages) unask(r *http.Request, a *repo.Access, number int64, logins, teams []string) error {
	ctx, err := p.kit.Delete(r, a, account.Pull)
	if err != nil {
		return err
	}
	return p.of.Pulls.UnrequestReviews(ctx, a, number, logins, teams...)
}
