package code

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// refsPerPage is how many branches or tags a page lists.
const refsPerPage = 50

type refsView struct {
	page.Frame
	Branches []branch
	Tags     []tag
	Typed    string // the name of a branch that was not made
	From     string
}

// branch is a branch with its last commit.
type branch struct {
	Name   string
	Commit page.Commit
	Mark   *mark
	Parted *parted // from the default branch; nil: nobody knows
}

// parted is how far a branch and the default branch have parted.
type parted struct{ Ahead, Behind int64 }

type tag struct {
	Name    string
	Commit  page.Commit
	Archive string // the address of the files, without its end
}

// named is a branch or a tag as the API lists it.
type named struct {
	Name   string
	Commit struct{ SHA string }
}

// GET /{owner}/{repo}/branches
//
// Branches answers the branches with their last commits, by name. Error: 404.
func (p *Pages) Branches(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.branches(r, a)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "branches.html", v)
}

func (p *Pages) branches(r *http.Request, a *repo.Access) (*refsView, error) {
	v := &refsView{From: a.DefaultBranch}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Branches"); err != nil {
		return nil, err
	}
	list, commits, more, err := p.refs(r, a, "/branches")
	if err != nil {
		return nil, err
	}
	shas := make([]string, len(list))
	for n, x := range list {
		shas[n] = x.Commit.SHA
	}
	marks, err := p.marks(r, a, shas)
	if err != nil {
		return nil, err
	}
	far, err := p.parted(r, a, shas)
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		v.Branches = append(v.Branches, branch{x.Name, commits[x.Commit.SHA], marks[x.Commit.SHA],
			far[x.Commit.SHA]})
	}
	v.Pages = page.PagesOf(r, more)
	return v, nil
}

// parted finds how far commits have parted from the default branch, as far as that is known at once.
func (p *Pages) parted(r *http.Request, a *repo.Access, shas []string) (map[string]*parted, error) {
	far := map[string]*parted{}
	if len(shas) == 0 {
		return far, nil
	}
	var base named
	_, err := p.kit.Get(r, of(a, "/branches", segments(a.DefaultBranch)), nil, &base)
	if errs.Is(err, errs.NotFound) { // it has no commits yet
		return far, nil
	}
	if err == nil {
		err = p.ask(r, p.do.Divergences, of(a, "/commits"),
			page.Query("base", base.Commit.SHA, "shas", strings.Join(shas, ",")), &far)
	}
	return far, err
}

// refs lists branches or tags, with the commits that they lead to.
func (p *Pages) refs(
	r *http.Request, a *repo.Access, path string,
) (list []named, commits map[string]page.Commit, more bool, err error) {
	if more, err = p.kit.Get(r, of(a, path), page.Part(r, refsPerPage), &list); err != nil || len(list) == 0 {
		return nil, nil, more, err
	}
	shas := ""
	for _, x := range list {
		shas += x.Commit.SHA + ","
	}
	var read []page.Commit
	if err := p.ask(r, p.do.Commits, of(a, "/commits"), page.Query("shas", shas), &read); err != nil {
		return nil, nil, more, err
	}
	commits = map[string]page.Commit{}
	for _, c := range read {
		commits[c.SHA] = c
	}
	return list, commits, more, nil
}

// GET /{owner}/{repo}/tags
//
// Tags answers the tags, the newest version first. Error: 404.
func (p *Pages) Tags(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &refsView{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Tags"); err != nil {
		return err
	}
	list, commits, more, err := p.refs(r, a, "/tags")
	if err != nil {
		return err
	}
	for _, x := range list {
		v.Tags = append(v.Tags, tag{x.Name, commits[x.Commit.SHA],
			v.Repo.Path + "/archive/refs/tags" + segments(x.Name)})
	}
	v.Pages = page.PagesOf(r, more)
	return p.t.Page(w, r, "tags.html", v)
}

// POST /{owner}/{repo}/branches
//
// CreateBranch creates a branch with the form's name at from: a branch, a tag or a SHA. Errors: those of
// the API.
func (p *Pages) CreateBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	name, from := form.Text("name"), form.Text("from")
	err = p.branchFrom(r, a, name, from)
	if err == nil {
		return page.SeeOther(w, r, web.Path(a.Owner.Login, a.Name, "tree")+segments(name))
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.branches(r, a)
	if err != nil {
		return err
	}
	v.Problem, v.Typed, v.From = problem, name, from
	return p.t.Again(w, r, "branches.html", problem, v)
}

func (p *Pages) branchFrom(r *http.Request, a *repo.Access, name, from string) error {
	var found struct{ SHA string }
	if err := p.ask(r, p.do.Locate, of(a, "/contents", segments(from)), nil, &found); err != nil {
		if errs.Is(err, errs.NotFound) {
			return errs.Newf(errs.Invalid, "Branch, tag or commit %q not found.", errs.Clip(from))
		}
		return err
	}
	return p.makeBranch(r, of(a), name, found.SHA)
}

// POST /{owner}/{repo}/branches/delete
//
// DeleteBranch deletes the branch that the form names. Errors: those of the API.
func (p *Pages) DeleteBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	name := form.Text("name")
	err = p.kit.Change(r, http.MethodDelete, of(a, "/git/refs/heads", segments(name)), nil, nil)
	if err == nil {
		return page.Done(w, r, page.ReturnTo(form.Get("return_to"),
			web.Path(a.Owner.Login, a.Name, "branches")), "The branch "+name+" was deleted.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.branches(r, a)
	if err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "branches.html", problem, v)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
