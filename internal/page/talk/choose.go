package talk

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// A form offers the first atOnce labels, people or milestones. Its filter finds others among the first searched;
// a field takes the names of all.
const (
	atOnce   = 100
	searched = 1000
)

// Offer is what can be chosen in a form.
type Offer struct {
	Labels []page.Label
	People []page.User
	Stones []page.Milestone
	More   bool   // there are more than the form offers
	New    string // the name of a label that would be created
}

// choice is a form with boxes to check.
type choice struct {
	target
	Offer
	What   string          // labels, assignees, milestone
	Q      string          // the filter
	Chosen map[string]bool // names, logins or numbers
}

// Offer reads what of a kind (labels, assignees, milestone) can be chosen in a repository, by a part of the name or all.
// Error: 404 for another kind.
func (p *Pages) Offer(r *http.Request, a *repo.Access, what, q string) (o Offer, err error) {
	at := web.Page{Number: 1, Size: atOnce}
	if q = strings.ToLower(strings.TrimSpace(q)); q != "" {
		at.Size = searched
	}
	var total int64
	switch what {
	case "labels":
		var list []*label.Label
		list, total, err = p.Services.Labels.List(r.Context(), a, at)
		o.Labels = page.NewLabels(matching(list, q, func(l *label.Label) string { return l.Name }))
	case "assignees":
		var list []*account.Account
		list, total, err = p.Issues.Assignable(r.Context(), a, at)
		o.People = page.NewUsers(matching(list, q, func(u *account.Account) string { return u.Login }))
	case "milestone":
		var list []*milestone.View
		list, total, err = p.Milestones.List(r.Context(), a, milestone.Order{State: issuekit.Open}, at)
		o.Stones = page.NewMilestones(matching(list, q, func(m *milestone.View) string { return m.Title }))
	default:
		err = errs.Absent()
	}
	o.More = total > at.Size
	return o, err
}

// matching returns the first items whose names have q in them.
func matching[T any](list []T, q string, name func(T) string) []T {
	list = slices.DeleteFunc(slices.Clone(list), func(one T) bool {
		return !strings.Contains(strings.ToLower(name(one)), q)
	})
	return list[:min(len(list), atOnce)]
}

// offerNew offers to create a label of the name if there is none.
func (o *Offer) offerNew(name string) {
	name = strings.TrimSpace(name)
	exists := slices.ContainsFunc(o.Labels, func(l page.Label) bool { return strings.EqualFold(l.Name, name) })
	if name != "" && !exists && utf8.RuneCountInString(name) <= label.MaxName {
		o.New = name
	}
}

// GET /{owner}/{repo}/issues/choices/{what}
//
// Choices shows what of a kind (labels, assignees, milestone) has ?q= in its name. The script adds it to forms.
// Error: 404.
func (p *Pages) Choices(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &choice{What: web.Param(r, "what"), Q: page.Clip(web.QueryOf(r).Get("q"), 100).Text,
		Chosen: map[string]bool{}}
	var err error
	if v.Offer, err = p.Offer(r, a, v.What, v.Q); err != nil {
		return err
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "Choose"); err != nil {
		return err
	}
	if v.What == "labels" && v.Repo.CanTriage() {
		v.offerNew(v.Q)
	}
	return p.t.Page(w, r, "choices.html", v)
}

// choice reads the form of a kind. ?q= filters what it offers, and ?chosen=1 says that the query has what is chosen.
func (p *Pages) choice(r *http.Request, a *repo.Access, what, title string) (*choice, error) {
	t, err := p.target(r, a, title)
	if err != nil {
		return nil, err
	}
	v := &choice{target: t, What: what, Q: page.Clip(web.QueryOf(r).Get("q"), 100).Text, Chosen: map[string]bool{}}
	if v.Offer, err = p.Offer(r, a, what, v.Q); err != nil {
		return nil, err
	}
	if web.QueryOf(r).Get("chosen") == "" {
		return v, nil
	}
	v.Issue.Labels, v.Issue.Assignees, v.Issue.Milestone = nil, nil, nil
	for _, name := range r.URL.Query()["label"] {
		v.Issue.Labels = append(v.Issue.Labels, page.Label{Name: page.Clip(name, label.MaxName).Text})
	}
	for _, login := range r.URL.Query()["assignee"] {
		v.Issue.Assignees = append(v.Issue.Assignees, page.User{Login: page.Clip(login, label.MaxName).Text})
	}
	v.Chosen[r.URL.Query().Get("milestone")] = true
	return v, nil
}

// GET /{owner}/{repo}/issues/{number}/labels
//
// Labels shows the form that sets the labels of an issue or pull request. Errors: 404, 410.
func (p *Pages) Labels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.choice(r, a, "labels", "Labels")
	if err != nil {
		return err
	}
	v.offerNew(v.Q)
	for _, l := range v.Issue.Labels {
		v.Chosen[l.Name] = true
		if !slices.ContainsFunc(v.Offer.Labels, func(o page.Label) bool { return o.Name == l.Name }) {
			v.Offer.Labels = append(v.Offer.Labels, l)
		}
	}
	return p.t.Page(w, r, "choose.html", v)
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
	for _, u := range v.Issue.Assignees {
		v.Chosen[u.Login] = true
		if !slices.ContainsFunc(v.People, func(o page.User) bool { return o.Login == u.Login }) {
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
