package talk

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// atOnce is how many labels, people or milestones a form offers; a field takes the names of others.
const atOnce = 100

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
	if err := p.offer(r, a, v, "labels", &v.Labels); err != nil {
		return err
	}
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

// offer reads what a form offers.
func (p *Pages) offer(r *http.Request, a *repo.Access, v *choice, of string, into any) (err error) {
	v.More, err = p.kit.Get(r, web.Path("repos", a.Owner.Login, a.Name, of),
		page.Query("per_page", strconv.Itoa(atOnce)), into)
	return err
}

// POST /{owner}/{repo}/issues/{number}/labels
//
// SetLabels sets the labels.
func (p *Pages) SetLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	names := append(f.List("label"), listed(f.Get("more"))...)
	if err := p.kit.Change(r, http.MethodPut, p.api(r, a, "labels"), map[string]any{"labels": names},
		nil); err != nil {
		return err
	}
	return back(w, r, a, f, "")
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
	if err := p.offer(r, a, v, "assignees", &v.People); err != nil {
		return err
	}
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
func (p *Pages) SetAssignees(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if f.Checked("me") {
		body := map[string]any{"assignees": []string{a.Caller.Login}}
		err = p.kit.Change(r, http.MethodPost, p.api(r, a, "assignees"), body, nil)
	} else {
		logins := append(f.List("assignee"), listed(f.Get("more"))...)
		err = p.kit.Change(r, http.MethodPatch, p.api(r, a), map[string]any{"assignees": logins}, nil)
	}
	if err != nil {
		return err
	}
	return back(w, r, a, f, "")
}

// GET /{owner}/{repo}/issues/{number}/milestone
//
// Milestone shows the form that puts an issue or pull request into a milestone. Errors: 404, 410.
func (p *Pages) Milestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.choice(r, a, "milestone", "Milestone")
	if err != nil {
		return err
	}
	if err := p.offer(r, a, v, "milestones", &v.Stones); err != nil {
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
func (p *Pages) SetMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	change := map[string]any{"milestone": nil}
	if number, err := strconv.ParseInt(f.Get("milestone"), 10, 64); err == nil {
		change["milestone"] = number
	}
	if err := p.kit.Change(r, http.MethodPatch, p.api(r, a), change, nil); err != nil {
		return err
	}
	return back(w, r, a, f, "")
}
