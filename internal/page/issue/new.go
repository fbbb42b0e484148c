package issue

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxTemplates is how many templates the page offers.
const maxTemplates = 30

// template is a text that an issue begins with.
type template struct{ File, Name string }

// chosen is what can be put on a new issue by those who sort issues.
type chosen struct {
	Labels []page.Label
	People []page.User
	Stones []page.Milestone
	Bulk   bool            // for several issues that are there
	On     map[string]bool // names of labels, logins, and "#" before the number of a milestone
}

type newView struct {
	page.Frame
	Name, Text string // title and body
	Choose     chosen
	Templates  []template
	Blank      bool // the form is shown, not the templates
}

// GET /{owner}/{repo}/issues/new
//
// New shows the form of a new issue, or first the templates of the repository. ?template= names one of these
// (blank: none); ?title=, ?body=, ?labels=, ?assignees= and ?milestone= fill the form. Who has not signed in
// is led there. Errors: 404, 410.
func (p *Pages) New(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if a.Caller == nil {
		return page.SeeOther(w, r, page.LoginPath(r))
	}
	if !a.HasIssues {
		return errs.New(errs.Gone, "Issues are disabled for this repo")
	}
	q := web.QueryOf(r)
	v := &newView{Name: q.Get("title"), Text: q.Get("body"), Blank: true,
		Choose: chosen{On: map[string]bool{}}}
	for _, name := range listed(q.Get("labels") + "," + q.Get("assignees")) {
		v.Choose.On[name] = true
	}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "New issue"); err != nil {
		return err
	}
	switch name := q.Get("template"); {
	case name == "" && v.Name == "" && v.Text == "":
		if v.Templates, err = p.templates(r, a); err != nil {
			return err
		}
		v.Blank = len(v.Templates) == 0
	case name != "" && name != "blank":
		if err := p.fill(r, a, v, name); err != nil {
			return err
		}
	}
	if v.Blank {
		if err := p.choices(r, v.Repo, &v.Choose, q.Get("milestone")); err != nil {
			return err
		}
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

// templates lists the repository's templates by their files; none where it has none.
func (p *Pages) templates(r *http.Request, a *repo.Access) (list []template, err error) {
	files, err := p.of.Git.IssueTemplates(r.Context(), a)
	for _, file := range files[:min(len(files), maxTemplates)] {
		name := strings.NewReplacer("_", " ", "-", " ").Replace(strings.TrimSuffix(file, ".md"))
		list = append(list, template{file,
			strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]})
	}
	return list, err
}

// fill fills the form from a template. One that is not there fills nothing.
func (p *Pages) fill(r *http.Request, a *repo.Access, v *newView, name string) error {
	text, err := p.of.Git.IssueTemplate(r.Context(), a, name)
	if err != nil || text == "" {
		return err
	}
	head, body := frontMatter(text)
	v.Text = body
	if v.Name == "" {
		v.Name = head["title"]
	}
	for _, name := range listed(head["labels"] + "," + head["assignees"]) {
		v.Choose.On[unquote(name)] = true
	}
	return nil
}

// frontMatter parts a template into what stands between two lines of dashes at its beginning, as names and
// values, and the text. Lists are given with commas between their items.
func frontMatter(text string) (head map[string]string, body string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	lines, body, found := strings.Cut(rest, "\n---\n")
	if !ok || !found {
		return nil, text
	}
	head = map[string]string{}
	last := ""
	for line := range strings.SplitSeq(lines, "\n") {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && last != "" {
			head[last] += "," + unquote(item)
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		last, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if inner, ok := strings.CutPrefix(value, "["); ok {
			var items []string
			for _, item := range listed(strings.TrimSuffix(inner, "]")) {
				items = append(items, unquote(item))
			}
			value = strings.Join(items, ",")
		}
		head[last] = unquote(value)
	}
	return head, strings.TrimLeft(body, "\n")
}

// unquote takes the quotes off that stand around a value.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if last := len(s) - 1; last > 0 && s[0] == s[last] && (s[0] == '"' || s[0] == '\'') {
		return s[1:last]
	}
	return s
}

// choices reads what those who sort issues can put on one.
func (p *Pages) choices(r *http.Request, h *page.Head, c *chosen, wanted string) error {
	if !h.CanTriage() {
		return nil
	}
	labels, _, err := p.of.Services.Labels.List(r.Context(), h.Access, offered())
	if err != nil {
		return err
	}
	people, _, err := p.of.Issues.Assignable(r.Context(), h.Access, offered())
	if err != nil {
		return err
	}
	stones, _, err := p.of.Milestones.List(r.Context(), h.Access, milestone.Order{State: issuekit.Open}, offered())
	if err != nil {
		return err
	}
	c.Labels, c.People, c.Stones = page.NewLabels(labels), page.NewUsers(people), page.NewMilestones(stones)
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
// Create creates an issue and redirects to it.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	made, err := p.create(r, a, f)
	if err == nil {
		return page.SeeOther(w, r, page.IssuePath(made, a.Owner.Login, a.Name))
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v := &newView{Name: f.Get("title"), Text: f.Get("body"), Blank: true,
		Choose: chosen{On: map[string]bool{}}}
	for _, name := range slices.Concat(f.List("label"), f.List("assignee")) {
		v.Choose.On[name] = true
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "New issue"); err != nil {
		return err
	}
	v.Problem = problem
	if err := p.choices(r, v.Repo, &v.Choose, f.Get("milestone")); err != nil {
		return err
	}
	return p.t.Again(w, r, "new.html", problem, v)
}

// create creates the issue in a form. Errors: 410; those of kit.Write and issue.Service.Create.
func (p *Pages) create(r *http.Request, a *repo.Access, f page.Form) (*issue.Issue, error) {
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return nil, err
	}
	if err := issue.Enabled(a.Repo, nil); err != nil {
		return nil, err
	}
	n := issue.NewIssue{Title: f.Text("title"), Text: issue.NewText(f.Get("body")), Labels: f.List("label"),
		Assignees: f.List("assignee")}
	n.Milestone, _ = strconv.ParseInt(f.Get("milestone"), 10, 64)
	return p.of.Issues.Create(ctx, a, n)
}
