package issue

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// templateDir is where a repository keeps what new issues begin with, as at GitHub.
const templateDir = ".github/ISSUE_TEMPLATE"

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
		if v.Templates, err = p.templates(r, v.Repo.Path); err != nil {
			return err
		}
		v.Blank = len(v.Templates) == 0
	case name != "" && name != "blank":
		if err := p.fill(r, v, name); err != nil {
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
func (p *Pages) templates(r *http.Request, path string) (list []template, err error) {
	var files []struct{ Name, Type string }
	if _, err = p.kit.Get(r, "/repos"+path+"/contents/"+templateDir, nil, &files); err != nil {
		return nil, none(err)
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name, ".md"); ok && f.Type == "file" && len(list) < maxTemplates {
			name = strings.NewReplacer("_", " ", "-", " ").Replace(name)
			list = append(list, template{f.Name,
				strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]})
		}
	}
	return list, nil
}

// none makes an empty list where the path is missing or no directory.
func none(err error) error {
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) ||
		errs.Is(err, errs.Forbidden) {
		return nil
	}
	return err
}

// fill fills the form from a template. One that is not there fills nothing.
func (p *Pages) fill(r *http.Request, v *newView, name string) error {
	var file struct{ Type, Content string }
	if strings.ContainsAny(name, "/\\") {
		return nil
	}
	if _, err := p.kit.Get(r, "/repos"+v.Repo.Path+"/contents/"+templateDir+web.Path(name), nil,
		&file); err != nil {
		return none(err)
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(file.Content, "\n", ""))
	if err != nil || file.Type != "file" {
		return nil
	}
	head, body := frontMatter(page.Clip(strings.ToValidUTF8(string(data), "�"), maxTemplate).Text)
	v.Text = body
	if v.Name == "" {
		v.Name = head["title"]
	}
	for _, name := range listed(head["labels"] + "," + head["assignees"]) {
		v.Choose.On[unquote(name)] = true
	}
	return nil
}

const maxTemplate = 64 << 10 // bytes

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
func (p *Pages) choices(r *http.Request, h *page.Head, c *chosen, milestone string) error {
	if !h.CanTriage() {
		return nil
	}
	many := page.Query("per_page", strconv.Itoa(atOnce))
	for of, into := range map[string]any{"/labels": &c.Labels, "/assignees": &c.People,
		"/milestones": &c.Stones} {
		if _, err := p.kit.Get(r, "/repos"+h.Path+of, many, into); err != nil {
			return err
		}
	}
	for _, m := range c.Stones {
		if number := strconv.FormatInt(m.Number, 10); milestone != "" && (m.Title == milestone ||
			number == milestone) {
			c.On["#"+number] = true
		}
	}
	return nil
}

// POST /{owner}/{repo}/issues
//
// Create makes an issue, and leads to it.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	body := map[string]any{"title": f.Text("title"), "body": f.Get("body")}
	if labels := f.List("label"); len(labels) > 0 {
		body["labels"] = labels
	}
	if people := f.List("assignee"); len(people) > 0 {
		body["assignees"] = people
	}
	if n, err := strconv.ParseInt(f.Get("milestone"), 10, 64); err == nil {
		body["milestone"] = n
	}
	var made page.Issue
	path := web.Path("repos", a.Owner.Login, a.Name, "issues")
	if err = p.kit.Change(r, http.MethodPost, path, body, &made); err == nil {
		return page.SeeOther(w, r, made.Path())
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
