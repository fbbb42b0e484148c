package pull

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// newView is the page of a new pull request.
type newView struct {
	page.Frame
	Base, Head string // branches; Head may be OWNER:BRANCH
	Title      string
	Text       string
	Draft      bool
	Modify     bool // maintainers may push to the head

	Branches []string // of this repository, for the fields
	Heads    []string // of the viewer's fork, as OWNER:BRANCH

	Comparison *comparison // nil: the branches are not chosen, or cannot be compared
	Diff       *diff.View
	Existing   *pull  // one of these branches that is open already
	Why        string // nothing can be proposed

	Labels    []page.Label
	People    []page.User
	Chosen    map[string]bool // names of labels; logins after assignee: and reviewer:
	MayLabel  bool
	Across    bool // the head is in another repository
	CanCreate bool
}

type comparison struct {
	Status  string
	Ahead   int64 `json:"ahead_by"`
	Total   int64 `json:"total_commits"`
	Commits []page.Commit
	Files   []page.ChangedFile
}

// GET /{owner}/{repo}/pulls/new
//
// New shows the form of a new pull request of ?head= into ?base=, with what it would bring: /compare leads
// here. title and body may be given, too. Error: 404.
func (p *Pages) New(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := web.QueryOf(r)
	v := &newView{Base: q.Get("base"), Head: q.Get("head"), Title: q.Get("title"), Text: q.Get("body"),
		Modify: true, Chosen: map[string]bool{}}
	if v.Base == "" {
		v.Base = a.DefaultBranch
	}
	if err := p.fill(r, a, v); err != nil {
		return err
	}
	if !r.URL.Query().Has("title") {
		if err := p.suggestText(r, a, v); err != nil {
			return err
		}
	}
	return p.t.Page(w, r, "new.html", v)
}

// fill reads what the form offers, and compares the branches.
func (p *Pages) fill(r *http.Request, a *repo.Access, v *newView) (err error) {
	if v.Frame, err = p.kit.RepoFrame(r, a, "pulls", "New pull request"); err != nil {
		return err
	}
	v.Across = strings.Contains(v.Head, ":") &&
		!strings.HasPrefix(strings.ToLower(v.Head), strings.ToLower(a.Owner.Login)+":")
	v.CanCreate = v.Repo.CanWrite()
	v.MayLabel = v.Repo.CanTriage()
	base := web.Path("repos", a.Owner.Login, a.Name)
	if v.Branches, err = p.branches(r, base, ""); err != nil {
		return err
	}
	if v.Viewer != nil && !strings.EqualFold(v.Viewer.Login, a.Owner.Login) {
		v.Heads, err = p.branches(r, web.Path("repos", v.Viewer.Login, a.Name), v.Viewer.Login+":")
		if orEmpty(err) != nil && !errs.Is(err, errs.Forbidden) {
			return err
		}
	}
	if v.MayLabel {
		if _, err := p.kit.Get(r, base+"/labels", page.Query("per_page", "50"), &v.Labels); err != nil {
			return err
		}
		if _, err := p.kit.Get(r, base+"/assignees", page.Query("per_page", "50"), &v.People); err != nil {
			return err
		}
	}
	if v.Head == "" {
		return nil
	}
	return p.compare(r, a, v)
}

func (p *Pages) branches(r *http.Request, base, before string) ([]string, error) {
	var list []struct{ Name string }
	_, err := p.kit.Get(r, base+"/branches", page.Query("per_page", "100"), &list)
	names := make([]string, len(list))
	for n, b := range list {
		names[n] = before + b.Name
	}
	return names, err
}

// compare finds out what a pull request of the two branches would bring, and whether there is one.
func (p *Pages) compare(r *http.Request, a *repo.Access, v *newView) error {
	base := web.Path("repos", a.Owner.Login, a.Name)
	spec := url.PathEscape(v.Base + "..." + v.Head)
	c := &comparison{}
	_, err := p.kit.Get(r, base+"/compare/"+strings.ReplaceAll(spec, "%2F", "/"),
		page.Query("per_page", "100"), c)
	switch {
	case errs.Is(err, errs.NotFound), errs.Is(err, errs.Invalid), errs.Is(err, errs.Conflict):
		v.Why = "These two cannot be compared: one of the branches is not there, or they have no history in common."
		return nil
	case err != nil:
		return err
	case c.Ahead == 0:
		v.Why = "There is nothing to compare: " + v.Base + " has all commits of " + v.Head + "."
		return nil
	}
	v.Comparison = c
	v.Diff = diff.New(r, c.Files, diff.Options{})
	head := v.Head
	if !strings.Contains(head, ":") {
		head = a.Owner.Login + ":" + head
	}
	var open []*pull
	q := page.Query("state", "open", "base", v.Base, "head", head, "per_page", "1")
	_, err = p.kit.Read(r, inside.Request{Path: base + "/pulls", Query: q, Media: "raw"}, &open)
	if err != nil && !errs.Is(err, errs.Invalid) {
		return err
	}
	if len(open) > 0 {
		v.Existing = open[0]
	}
	return nil
}

// templates are where a repository has the text that a new pull request begins with, in GitHub's order.
var templates = [...]string{".github/pull_request_template.md", ".github/PULL_REQUEST_TEMPLATE.md",
	"pull_request_template.md",
	"PULL_REQUEST_TEMPLATE.md", "docs/pull_request_template.md", "docs/PULL_REQUEST_TEMPLATE.md"}

const maxTemplate = 64 << 10 // bytes

// suggestText returns the title and the text that the form begins with: those of the only commit, else the
// branch's name and the repository's template.
func (p *Pages) suggestText(r *http.Request, a *repo.Access, v *newView) error {
	if v.Comparison == nil || v.Existing != nil {
		return nil
	}
	if c := v.Comparison.Commits; len(c) == 1 {
		v.Title = c[0].Subject()
		v.Text = c[0].Rest()
	} else {
		_, name, _ := cutLast(v.Head, ":")
		if name == "" {
			name = v.Head
		}
		v.Title = titled(name)
	}
	for _, path := range templates {
		var file struct{ Content string }
		at := web.Path("repos", a.Owner.Login, a.Name, "contents") + web.Path(strings.Split(path, "/")...)
		_, err := p.kit.Get(r, at, page.Query("ref", v.Base), &file)
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Forbidden) || errs.Is(err, errs.Invalid) {
			continue
		}
		if err != nil {
			return err
		}
		text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(file.Content, "\n", ""))
		if err == nil && len(text) > 0 && len(text) <= maxTemplate {
			v.Text = strings.TrimSpace(v.Text + "\n\n" + strings.ToValidUTF8(string(text), "\uFFFD"))
		}
		return nil
	}
	return nil
}

// titled derives a title from a branch's name.
func titled(name string) string {
	words := []rune(strings.NewReplacer("-", " ", "_", " ").Replace(name))
	if len(words) > 0 {
		words[0] = unicode.ToUpper(words[0])
	}
	return string(words)
}

// POST /{owner}/{repo}/pulls/new
//
// Create creates the pull request, with the labels, assignees and reviewers that were chosen, and redirects
// to it.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v := &newView{Base: f.Text("base"), Head: f.Text("head"), Title: f.Text("title"), Text: f.Get("body"),
		Draft: f.Checked("draft"), Modify: f.Checked("modify"), Chosen: map[string]bool{}}
	body := map[string]any{"base": v.Base, "head": v.Head, "title": v.Title, "body": v.Text, "draft": v.Draft,
		"maintainer_can_modify": v.Modify}
	var made pull
	err = p.kit.Change(r, http.MethodPost, web.Path("repos", a.Owner.Login, a.Name, "pulls"), body, &made)
	if err == nil {
		return p.setRelations(w, r, a, f, web.Path(a.Owner.Login, a.Name, "pull",
			strconv.FormatInt(made.Number, 10)),
			made.Number)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	for kind, names := range map[string][]string{"": f.List("label"), "assignee:": f.List("assignee"),
		"reviewer:": f.List("reviewer")} {
		for _, name := range names {
			v.Chosen[kind+name] = true
		}
	}
	if err := p.fill(r, a, v); err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "new.html", problem, v)
}

// setRelations adds to a new pull request what was chosen. It is there already: what the API does not take is left
// out, and the page says what.
func (p *Pages) setRelations(
	w http.ResponseWriter, r *http.Request, a *repo.Access, f page.Form, to string, number int64,
) error {
	n := strconv.FormatInt(number, 10)
	ofIssue := web.Path("repos", a.Owner.Login, a.Name, "issues", n)
	var failed error
	for _, c := range []struct {
		path, name string
		list       []string
	}{
		{ofIssue + "/labels", "labels", f.List("label")},
		{ofIssue + "/assignees", "assignees", f.List("assignee")},
		{web.Path("repos", a.Owner.Login, a.Name, "pulls", n, "requested_reviewers"), "reviewers",
			f.List("reviewer")},
	} {
		if len(c.list) > 0 {
			failed = errors.Join(failed, p.kit.Change(r, http.MethodPost, c.path,
				map[string]any{c.name: c.list}, nil))
		}
	}
	if failed != nil {
		if _, err := page.ProblemOf(failed); err != nil && orEmpty(err) != nil {
			return err
		}
		return page.PartlyDone(w, r, to, "The pull request was created, but not all labels, "+
			"assignees or reviewers that you chose could be added.")
	}
	return page.SeeOther(w, r, to)
}
