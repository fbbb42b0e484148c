package code

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/pull"
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
	Query    string // a part of names
	ByName   bool   // there are too many branches to find the newest
}

// branch is a branch with its last commit.
type branch struct {
	Name   string
	Commit page.Commit
	Mark   *mark
	Parted *history.Divergence // from the default branch; nil: nobody knows
	Pull   *pull.OfBranch      // the newest from it; nil: there is none
}

type tag struct {
	Name   string
	Commit page.Commit
	// Verified is of the annotated tag if that is signed, else of the commit.
	Verified *page.Verified
	Archive  string // the address of the files, without its end
}

// GET /{owner}/{repo}/branches
//
// Branches answers the branches with their last commits: the default branch first, then the newest. ?q= is a part of
// their names. Error: 404.
func (p *Pages) Branches(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.branches(r, a)
	return p.t.Show(w, r, "branches.html", v, err)
}

func (p *Pages) branches(r *http.Request, a *repo.Access) (*refsView, error) {
	v := &refsView{From: a.DefaultBranch}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Branches"); err != nil {
		return nil, err
	}
	ctx := r.Context()
	v.Query = page.Clip(strings.TrimSpace(web.QueryOf(r).Get("q")), 200).Text
	list, commits, err := p.sorted(r, a, v)
	if err != nil {
		return nil, err
	}
	shas := tips(list.Rows)
	marks, err := p.marks(ctx, a, shas...)
	if err != nil {
		return nil, err
	}
	far, err := p.parted(ctx, a, commits)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list.Rows))
	for n, x := range list.Rows {
		names[n] = strings.TrimPrefix(x.Name, "refs/heads/")
	}
	pulls, err := p.with.Pulls.NewestOfBranches(ctx, a, names)
	if err != nil {
		return nil, err
	}
	for n, name := range names {
		b := branch{Name: name, Mark: marks[shas[n]], Pull: pulls[name]}
		if c := commits[shas[n]]; c != nil {
			b.Commit = page.NewCommit(c)
		}
		if d, known := far[shas[n]]; known {
			b.Parted = &d
		}
		v.Branches = append(v.Branches, b)
	}
	v.Pages = page.PagesOf(r, list.More)
	return v, nil
}

// maxNewest is how many branches are sorted by their last commits. More are sorted by name.
const maxNewest = 300

// sorted returns the request's page of the branches that fit its query, and their last commits.
func (p *Pages) sorted(
	r *http.Request, a *repo.Access, v *refsView,
) (*web.List[git.Ref], map[git.SHA]*gitdata.CommitView, error) {
	all, err := p.with.Git.Branches(r.Context(), a, web.Page{Number: 1, Size: math.MaxInt32})
	if err != nil {
		return nil, nil, err
	}
	var fit []git.Ref
	for _, x := range all.Rows {
		if strings.Contains(strings.ToLower(x.Name[len("refs/heads/"):]), strings.ToLower(v.Query)) {
			fit = append(fit, x)
		}
	}
	isDefault := func(x git.Ref) int {
		if x.Name == "refs/heads/"+a.DefaultBranch {
			return 0
		}
		return 1
	}
	var commits map[git.SHA]*gitdata.CommitView
	if v.ByName = len(fit) > maxNewest; !v.ByName {
		if commits, err = p.with.Git.CommitViews(r.Context(), a, tips(fit)); err != nil {
			return nil, nil, err
		}
	}
	at := func(x git.Ref) time.Time {
		if c := commits[cmp.Or(x.Peeled, x.SHA)]; c != nil {
			return page.NewCommit(c).Commit.Committer.Date
		}
		return time.Time{}
	}
	slices.SortStableFunc(fit, func(a, b git.Ref) int {
		return cmp.Or(cmp.Compare(isDefault(a), isDefault(b)), at(b).Compare(at(a)))
	})
	list := web.CutAt(refPage(r), fit)
	if v.ByName {
		commits, err = p.with.Git.CommitViews(r.Context(), a, tips(list.Rows))
	}
	return list, commits, err
}

// parted finds how far commits have parted from the default branch, as far as that is known at once.
func (p *Pages) parted(
	ctx context.Context, a *repo.Access, commits map[git.SHA]*gitdata.CommitView,
) (map[git.SHA]history.Divergence, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	base, err := p.kit.Repos.Ref(ctx, a, "refs/heads/"+a.DefaultBranch)
	if errs.Is(err, errs.NotFound) { // it has no commits yet
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return p.with.Git.Divergences(ctx, a, base, slices.Sorted(maps.Keys(commits)))
}

// refPage is the page of branches or tags that the request asks for.
func refPage(r *http.Request) web.Page {
	return web.Page{Number: web.ReadPage(r).Number, Size: refsPerPage}
}

// tips are the objects to which refs lead.
func tips(list []git.Ref) []git.SHA {
	shas := make([]git.SHA, len(list))
	for n, ref := range list {
		shas[n] = cmp.Or(ref.Peeled, ref.SHA)
	}
	return shas
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
	list, err := p.with.Git.TagsByVersion(r.Context(), a, refPage(r))
	if err != nil {
		return err
	}
	shas := tips(list.Rows)
	commits, err := p.with.Git.CommitViews(r.Context(), a, shas)
	if err != nil {
		return err
	}
	signed, err := p.with.Git.SignedTags(r.Context(), a, list.Rows)
	if err != nil {
		return err
	}
	for n, x := range list.Rows {
		name := strings.TrimPrefix(x.Name, "refs/tags/")
		t := tag{Name: name, Archive: v.Repo.Path + "/archive/refs/tags" + segments(name)}
		if c := commits[shas[n]]; c != nil {
			t.Commit = page.NewCommit(c)
		}
		t.Verified = cmp.Or(page.NewVerified(signed[x.SHA]), t.Commit.Verified)
		v.Tags = append(v.Tags, t)
	}
	v.Pages = page.PagesOf(r, list.More)
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
		return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "tree")+segments(name),
			"The branch "+name+" was created.")
	}
	return page.RefuseWith(p.t, w, r, "branches.html", err,
		func(r *http.Request) (*refsView, error) { return p.branches(r, a) },
		func(v *refsView) { v.Typed, v.From = name, from })
}

func (p *Pages) branchFrom(r *http.Request, a *repo.Access, name, from string) error {
	found, err := p.with.Git.Locate(r.Context(), a, from)
	if errs.Is(err, errs.NotFound) {
		err = errs.Newf(errs.Invalid, "Branch, tag or commit %q not found.", errs.Clip(from))
	}
	if err != nil {
		return err
	}
	return p.makeBranch(r, a, name, found.SHA)
}

// POST /{owner}/{repo}/branches/rename
//
// RenameBranch gives the branch that the form names a new name. Errors: those of the API.
func (p *Pages) RenameBranch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	from, to := form.Text("name"), form.Text("new_name")
	ctx, err := p.kit.Write(r, a, account.Push)
	if err == nil {
		to, _, err = p.kit.Repos.RenameBranch(ctx, a, from, to)
	}
	if err == nil {
		return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "branches"), "The branch "+from+" is now called "+to+".")
	}
	return p.branchesAgain(w, r, a, err)
}

// branchesAgain answers a form of the page that could not be carried out.
func (p *Pages) branchesAgain(w http.ResponseWriter, r *http.Request, a *repo.Access, err error) error {
	return page.RefuseWith(p.t, w, r, "branches.html", err,
		func(r *http.Request) (*refsView, error) { return p.branches(r, a) }, nil)
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
	err = p.removeBranch(r, a, name)
	if err == nil {
		return page.Done(w, r, page.ReturnTo(form.Get("return_to"),
			web.Path(a.Owner.Login, a.Name, "branches")), "The branch "+name+" was deleted.")
	}
	return p.branchesAgain(w, r, a, err)
}

func (p *Pages) removeBranch(r *http.Request, a *repo.Access, name string) error {
	ctx, err := p.kit.Delete(r, a, account.Push)
	if err != nil {
		return err
	}
	return p.with.Git.RemoveRef(ctx, a, "refs/heads/"+name)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
