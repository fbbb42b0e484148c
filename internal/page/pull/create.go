package pull

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/pull"
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
	Existing   *issue.Issue // one of these branches that is open already
	Templates  []string     // files among which one can choose
	Why        string       // nothing can be proposed

	Labels    []page.Label
	People    []page.User
	Chosen    map[string]bool // names of labels; logins after assignee: and reviewer:
	MayLabel  bool
	Across    bool // the head is in another repository
	CanCreate bool
}

type comparison struct {
	Total   int
	Commits []page.Commit
	Days    []page.CommitDay // the same by day
}

// GET /{owner}/{repo}/pulls/new
//
// New shows the form of a new pull request of ?head= into ?base=, with what it would bring: /compare leads
// here. ?title=, ?body=, ?template=, ?labels= and ?assignees= fill the form, too. Error: 404.
func (p *Pages) New(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := web.QueryOf(r)
	v := &newView{Base: q.Get("base"), Head: q.Get("head"), Title: q.Get("title"), Text: q.Get("body"),
		Draft: q.Get("draft") == "1", Modify: true, Chosen: map[string]bool{}}
	for _, name := range strings.Split(q.Get("labels"), ",") {
		v.Chosen[strings.TrimSpace(name)] = true
	}
	for _, login := range strings.Split(q.Get("assignees"), ",") {
		v.Chosen["assignee:"+strings.TrimSpace(login)] = true
	}
	if v.Base == "" {
		v.Base = a.DefaultBranch
	}
	if err := p.fill(r, a, v); err != nil {
		return err
	}
	return p.t.Show(w, r, "new.html", v, p.suggestText(r, a, v))
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
	ctx := r.Context()
	if v.Branches, err = p.branches(ctx, a, ""); err != nil {
		return err
	}
	if v.Viewer != nil && !strings.EqualFold(v.Viewer.Login, a.Owner.Login) {
		if v.Heads, err = p.branchesOfFork(ctx, a, v.Viewer.Login); err != nil {
			return err
		}
	}
	if v.MayLabel {
		labels, err := p.talk.Offer(r, a, "labels", "")
		if err != nil {
			return err
		}
		people, err := p.talk.Offer(r, a, "assignees", "")
		if err != nil {
			return err
		}
		v.Labels, v.People = labels.Labels, people.People
	}
	if v.Head == "" {
		return nil
	}
	return p.compare(r, a, v)
}

// branches lists the first branches of a repository, each with a text before it.
func (p *Pages) branches(ctx context.Context, a *repo.Access, before string) ([]string, error) {
	list, err := p.of.Git.Branches(ctx, a, web.Page{Number: 1, Size: perPage})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list.Rows))
	for n, b := range list.Rows {
		names[n] = before + strings.TrimPrefix(b.Name, "refs/heads/")
	}
	return names, nil
}

// branchesOfFork lists the branches of the viewer's repository of the same name; none if there is no such one.
func (p *Pages) branchesOfFork(ctx context.Context, a *repo.Access, login string) ([]string, error) {
	fork, err := p.kit.Repos.Find(ctx, a.Caller, login, a.Name)
	if err != nil || fork.Moved {
		return nil, orEmpty(err)
	}
	return p.branches(ctx, &fork.Access, login+":")
}

// compare finds out what a pull request of the two branches would bring, and whether there is one.
func (p *Pages) compare(r *http.Request, a *repo.Access, v *newView) error {
	c, err := p.of.Git.Compared(r.Context(), a, v.Base+"..."+v.Head, web.Page{Number: 1, Size: perPage},
		gitdata.PagePatches)
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
	commits := page.NewCommits(c.Commits)
	v.Comparison = &comparison{c.Ahead, commits, page.CommitDaysOf(r, page.RepoPath(c.Changes.In), commits)}
	v.Diff = diff.New(r, page.NewChangedFiles(c.Changes), diff.Options{})
	head := v.Head
	if !strings.Contains(head, ":") {
		head = a.Owner.Login + ":" + head
	}
	v.Existing, err = p.of.Pulls.Between(r.Context(), a, v.Base, head)
	return orEmpty(err)
}

// suggestText returns the title and the text that the form begins with: those of the only commit, else the
// branch's name; and the repository's template, or that of ?template=. A title that the address has stays.
func (p *Pages) suggestText(r *http.Request, a *repo.Access, v *newView) error {
	if v.Comparison == nil || v.Existing != nil {
		return nil
	}
	q := r.URL.Query()
	if c := v.Comparison.Commits; q.Has("title") {
		v.Text = q.Get("body")
	} else if len(c) == 1 {
		v.Title, v.Text = c[0].Subject(), c[0].Rest()
	} else {
		_, name, _ := cutLast(v.Head)
		if name == "" {
			name = v.Head
		}
		v.Title = titled(name)
	}
	if q.Has("body") {
		v.Text = q.Get("body")
		return nil
	}
	all, err := p.of.Git.Templates(r.Context(), []*repo.Access{a})
	if err != nil {
		return err
	}
	body, found := "", false
	for _, t := range all[a.ID].Pulls {
		if t.Chosen {
			v.Templates = append(v.Templates, t.Filename)
		}
		if name := q.Get("template"); name == t.Filename || !t.Chosen && !found && name == "" {
			body, found = t.Body, true
		}
	}
	v.Text = strings.TrimSpace(v.Text + "\n\n" + page.Valid(body))
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
	made, err := p.create(r, a, v)
	if err == nil {
		return p.setRelations(w, r, a, f, made.Number)
	}
	for kind, names := range map[string][]string{"": f.List("label"), "assignee:": f.List("assignee"),
		"reviewer:": f.List("reviewer")} {
		for _, name := range names {
			v.Chosen[kind+name] = true
		}
	}
	return page.RefuseWith(p.t, w, r, "new.html", err,
		func(r *http.Request) (*newView, error) { return v, p.fill(r, a, v) }, nil)
}

func (p *Pages) create(r *http.Request, a *repo.Access, v *newView) (*pull.Pull, error) {
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return nil, err
	}
	return p.of.Pulls.Create(ctx, a, pull.NewPull{Title: v.Title, Text: issue.NewText(v.Text), Head: v.Head,
		Base: v.Base, Draft: v.Draft, Modifiable: v.Modify})
}

// setRelations adds to a new pull request what was chosen. It is there already: what is not accepted is left out, and
// the page says so.
func (p *Pages) setRelations(
	w http.ResponseWriter, r *http.Request, a *repo.Access, f page.Form, number int64,
) error {
	to := web.Path(a.Owner.Login, a.Name, "pull", strconv.FormatInt(number, 10))
	failed := errors.Join(
		p.relate(r, a, account.Triage, f.List("label"), func(ctx context.Context, names []string) error {
			_, err := p.talk.Issues.AddLabels(ctx, a, number, names)
			return err
		}),
		p.relate(r, a, account.Triage, f.List("assignee"), func(ctx context.Context, logins []string) error {
			_, err := p.talk.Issues.Assign(ctx, a, number, logins)
			return err
		}),
		p.relate(r, a, account.Pull, f.List("reviewer"), func(ctx context.Context, logins []string) error {
			return p.of.Pulls.RequestReviews(ctx, a, number, logins)
		}))
	if failed != nil {
		if _, err := page.ProblemOf(failed); err != nil && orEmpty(err) != nil {
			return err
		}
		return page.PartlyDone(w, r, to, "The pull request was created, but not all labels, "+
			"assignees or reviewers that you chose could be added.")
	}
	return page.SeeOther(w, r, to)
}

// relate adds what a form names to a pull request, if it names anything and the caller has the role.
func (p *Pages) relate(r *http.Request, a *repo.Access, need account.Role, names []string,
	add func(ctx context.Context, names []string) error) error {
	if len(names) == 0 {
		return nil
	}
	ctx, err := p.kit.Write(r, a, need)
	if err != nil {
		return err
	}
	return add(ctx, names)
}
