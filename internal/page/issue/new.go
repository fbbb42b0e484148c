package issue

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/issue/form"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// chosen is what can be put on a new issue by those who sort issues.
type chosen struct {
	Labels []page.Label
	People []page.User
	Stones []page.Milestone
	Bulk   bool            // for several issues that are there
	On     map[string]bool // names of labels, logins, and "#" before the number of a milestone
	Find   string          // the address below which others are found
}

type newView struct {
	page.Frame
	Name, Text string // title and body
	Choose     chosen
	Offer      *gitdata.Templates // what is offered before the form; nil: the form is shown
	MayBlank   bool               // without a template
	File       string             // the template that was chosen
	Fields     []field            // of its form; nil: it has none
}

// GET /{owner}/{repo}/issues/new
//
// New shows the form of a new issue, or first the templates of the repository. ?template= names one of these
// (blank: none); ?title=, ?body=, ?labels=, ?assignees= and ?milestone= fill the form, and the ids of a
// template's fields fill these. Who has not signed in is led there. Errors: 404, 410.
func (p *Pages) New(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if a.Caller == nil {
		return page.SeeOther(w, r, page.LoginPath(r))
	}
	if err := issue.Enabled(a.Repo, nil); err != nil {
		return err
	}
	q := web.QueryOf(r)
	v := &newView{Name: q.Get("title"), Text: q.Get("body"), Choose: chosen{On: map[string]bool{}}}
	for _, name := range listed(q.Get("labels") + "," + q.Get("assignees")) {
		v.Choose.On[name] = true
	}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "New issue"); err != nil {
		return err
	}
	all, err := p.templates(r, a)
	if err != nil {
		return err
	}
	if err := p.begin(r, v, all, q.Get("template")); err != nil {
		return err
	}
	if v.Offer != nil {
		return p.t.Page(w, r, "choosetemplate.html", v)
	}
	if err := p.choices(r, v.Repo, &v.Choose, q.Get("milestone")); err != nil {
		return err
	}
	return p.t.Page(w, r, "new.html", v)
}

// listed are the names in a text where commas part them.
func listed(text string) (list []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// choices reads what those who sort issues can put on one.
func (p *Pages) choices(r *http.Request, h *page.Head, c *chosen, wanted string) error {
	if !h.CanTriage() {
		return nil
	}
	c.Find = h.Path + "/issues/choices"
	for _, what := range []string{"labels", "assignees", "milestone"} {
		o, err := p.of.Offer(r, h.Access, what, "")
		if err != nil {
			return err
		}
		c.Labels, c.People, c.Stones = append(c.Labels, o.Labels...), append(c.People, o.People...),
			append(c.Stones, o.Stones...)
	}
	for _, m := range c.Stones {
		if number := strconv.FormatInt(m.Number, 10); wanted != "" && (m.Title == wanted ||
			number == wanted) {
			c.On["#"+number] = true
		}
	}
	return nil
}

// POST /{owner}/{repo}/issues
//
// Create creates an issue and redirects to it. The answers to the form of a template become its text.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &newView{Name: f.Get("title"), Text: f.Get("body"), File: f.Get("template"),
		Choose: chosen{On: map[string]bool{}}}
	t, err := p.answered(r, a, v, f)
	if err != nil {
		return err
	}
	var made *issue.Issue
	if v.Problem == nil {
		if made, err = p.create(r, a, f, v.Text, t); err == nil {
			return page.SeeOther(w, r, page.IssuePath(made, a.Owner.Login, a.Name))
		}
		if v.Problem, err = page.ProblemOf(err); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(f.List("label"), f.List("assignee")) {
		v.Choose.On[name] = true
	}
	problem := v.Problem
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "New issue"); err != nil {
		return err
	}
	v.Problem = problem
	if err := p.choices(r, v.Repo, &v.Choose, f.Get("milestone")); err != nil {
		return err
	}
	return p.t.Again(w, r, "new.html", problem, v)
}

// create creates the issue in a form, of a template or of none. Errors: 410; those of kit.Write and
// issue.Service.Create.
func (p *Pages) create(
	r *http.Request, a *repo.Access, f page.Form, text string, t *form.Template,
) (*issue.Issue, error) {
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return nil, err
	}
	if err := issue.Enabled(a.Repo, nil); err != nil {
		return nil, err
	}
	n := issue.NewIssue{Title: f.Text("title"), Text: issue.NewText(text), Labels: f.List("label"),
		Assignees: f.List("assignee"), From: t}
	n.Milestone, _ = strconv.ParseInt(f.Get("milestone"), 10, 64)
	return p.of.Issues.Create(ctx, a, n)
}
