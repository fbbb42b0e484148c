package talk

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// atOnce is how many labels, people or milestones a form offers; a field takes the names of others.
const atOnce = 100

// offered is the part of a list that a form offers.
func offered() web.Page { return web.Page{Number: 1, Size: atOnce} }

// choice is a form with boxes to check.
type choice struct {
	target
	What   string // labels, assignees, milestone
	Labels []page.Label
	People []page.User
	Stones []page.Milestone
	Chosen map[string]bool // names, logins or numbers
	More   bool            // there are more than the form offers
}

// GET /{owner}/{repo}/issues/{number}/labels
//
// Labels shows the form that sets the labels of an issue or pull request. Errors: 404, 410.
func (p *Pages) Labels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.choice(r, a, "labels", "Labels")
	if err != nil {
		return err
	}
	labels, total, err := p.Services.Labels.List(r.Context(), a, offered())
	if err != nil {
		return err
	}
	v.Labels, v.More = page.NewLabels(labels), total > atOnce
	for _, l := range v.Issue.Labels {
		v.Chosen[l.Name] = true
		if !slices.ContainsFunc(v.Labels, func(o page.Label) bool { return o.Name == l.Name }) {
			v.Labels = append(v.Labels, l)
		}
	}
	return p.t.Page(w, r, "choose.html", v)
}

func (p *Pages) choice(r *http.Request, a *repo.Access, what, title string) (*choice, error) {
	t, err := p.target(r, a, title)
	return &choice{target: t, What: what, Chosen: map[string]bool{}}, err
}

// POST /{owner}/{repo}/issues/{number}/labels
//
// SetLabels sets the labels.
func (p *Pages) SetLabels(ctx context.Context, a *repo.Access, i *issue.Issue, f page.Form) error {
	_, err := p.Issues.SetLabels(ctx, a, i.Number, append(f.List("label"), listed(f.Get("more"))...))
	return err
}

// listed are the names in a field where commas part them.
func listed(text string) (list []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// GET /{owner}/{repo}/issues/{number}/assignees
//
// Assignees shows the form that sets who is assigned to an issue or pull request. Errors: 404, 410.
func (p *Pages) Assignees(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.choice(r, a, "assignees", "Assignees")
	if err != nil {
		return err
	}
	people, total, err := p.Issues.Assignable(r.Context(), a, offered())
	if err != nil {
		return err
	}
	v.People, v.More = page.NewUsers(people), total > atOnce
	for _, u := range v.Issue.Assignees {
		v.Chosen[u.Login] = true
		if !slices.ContainsFunc(v.People, func(o page.User) bool { return o.ID == u.ID }) {
			v.People = append(v.People, u)
		}
	}
	return p.t.Page(w, r, "choose.html", v)
}

// POST /{owner}/{repo}/issues/{number}/assignees
//
// SetAssignees sets who is assigned; me=1 adds the viewer to them.
func (p *Pages) SetAssignees(ctx context.Context, a *repo.Access, i *issue.Issue, f page.Form) (err error) {
	if !f.Checked("me") {
		logins := append(f.List("assignee"), listed(f.Get("more"))...)
		_, err = p.Issues.Update(ctx, a, i, issue.Edit{Assignees: web.Some(logins)})
	} else if err = a.Require(account.Triage); err == nil {
		_, err = p.Issues.Assign(ctx, a, i.Number, []string{a.Caller.Login})
	}
	return err
}

// GET /{owner}/{repo}/issues/{number}/milestone
//
// Milestone shows the form that puts an issue or pull request into a milestone. Errors: 404, 410.
func (p *Pages) Milestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.choice(r, a, "milestone", "Milestone")
	if err != nil {
		return err
	}
	stones, total, err := p.Milestones.List(r.Context(), a, milestone.Order{State: issuekit.Open}, offered())
	if err != nil {
		return err
	}
	v.Stones, v.More = page.NewMilestones(stones), total > atOnce
	if m := v.Issue.Milestone; m != nil {
		v.Chosen[strconv.FormatInt(m.Number, 10)] = true
		if !slices.ContainsFunc(v.Stones, func(o page.Milestone) bool { return o.Number == m.Number }) {
			v.Stones = append(v.Stones, *m)
		}
	}
	return p.t.Page(w, r, "choose.html", v)
}

// POST /{owner}/{repo}/issues/{number}/milestone
//
// SetMilestone sets the milestone; an empty one takes the issue out of it.
func (p *Pages) SetMilestone(ctx context.Context, a *repo.Access, i *issue.Issue, f page.Form) error {
	to := web.Opt[int64]{Set: true, Null: true}
	if number, err := strconv.ParseInt(f.Get("milestone"), 10, 64); err == nil {
		to = web.Some(number)
	}
	_, err := p.Issues.Update(ctx, a, i, issue.Edit{Milestone: to})
	return err
}
