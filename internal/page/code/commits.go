package code

import (
	"net/http"

	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// commitsPerPage is how many commits a page of a history lists.
const commitsPerPage = 35

type commitsView struct {
	at
	Days []page.CommitDay
}

// GET /{owner}/{repo}/commits
//
// Commits answers the history of the default branch. Error: 404.
func (p *Pages) Commits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.commits(w, r, a, "")
}

// GET /{owner}/{repo}/commits/{path...}
//
// CommitsOf answers the history of a branch, a tag or a SHA, and of a path in it, the newest first. Error:
// 404.
func (p *Pages) CommitsOf(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.commits(w, r, a, web.Param(r, "path"))
}

func (p *Pages) commits(w http.ResponseWriter, r *http.Request, a *repo.Access, text string) error {
	v, err := p.locate(r, a, "commits", text)
	if err != nil {
		return p.with.Git.Renamed(r.Context(), a, page.Absent(err), "path", text, true)
	}
	return p.history(w, r, a, v)
}

func (p *Pages) history(w http.ResponseWriter, r *http.Request, a *repo.Access, place at) error {
	v := &commitsView{at: place}
	list, err := p.with.Git.History(r.Context(), a, gitdata.History{From: string(v.At.SHA), Path: v.At.Path},
		web.Page{Number: web.ReadPage(r).Number, Size: commitsPerPage})
	if err != nil {
		return page.Absent(err)
	}
	if v.Days, err = p.days(r, a, list.Rows); err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, list.More)
	v.Title = "Commits"
	if v.At.Path != "" {
		v.Title = "History of " + v.At.Path
	}
	return p.t.Page(w, r, "commits.html", v)
}

// days groups commits by day, with what checks say of them.
func (p *Pages) days(r *http.Request, a *repo.Access, list []*gitdata.CommitView) ([]page.CommitDay, error) {
	shas := make([]git.SHA, len(list))
	for n, c := range list {
		shas[n] = c.SHA
	}
	marks, err := p.marks(r.Context(), a, shas...)
	if err != nil {
		return nil, err
	}
	out := make([]page.ListedCommit, len(list))
	for n, c := range list {
		out[n] = page.Listed(page.RepoPath(a), page.NewCommit(c), marks[c.SHA])
	}
	return page.CommitDays(r, out), nil
}
