package code

import (
	"net/http"
	"time"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// commitsPerPage is how many commits a page of a history lists.
const commitsPerPage = 35

type commitsView struct {
	at
	Days []day
}

// day is the commits of a day, by when they were committed.
type day struct {
	Date    time.Time
	Commits []commit
}

// commit is a commit of a list.
type commit struct {
	page.Commit
	Mark *mark
	Page string // its address
	Tree string // the address of the files then
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
		return page.Absent(err)
	}
	return p.history(w, r, a, v)
}

func (p *Pages) history(w http.ResponseWriter, r *http.Request, a *repo.Access, place at) error {
	v := &commitsView{at: place}
	var list []page.Commit
	more, err := p.kit.Get(r, of(a, "/commits"),
		page.Part(r, commitsPerPage, "sha", string(v.At.SHA), "path", v.At.Path), &list)
	if err != nil {
		return page.Absent(err)
	}
	marked, err := p.marked(r, a, list)
	if err != nil {
		return err
	}
	v.Days = byDay(marked)
	v.Pages = page.PagesOf(r, more)
	v.Title = "Commits"
	if v.At.Path != "" {
		v.Title = "History of " + v.At.Path
	}
	return p.t.Page(w, r, "commits.html", v)
}

// marked adds what checks say of commits.
func (p *Pages) marked(r *http.Request, a *repo.Access, list []page.Commit) ([]commit, error) {
	shas := make([]string, len(list))
	for n := range list {
		shas[n] = list[n].SHA
	}
	marks, err := p.marks(r, a, shas)
	if err != nil {
		return nil, err
	}
	out := make([]commit, len(list))
	for n, c := range list {
		out[n] = commit{c, marks[c.SHA], of(a, "/commit/", c.SHA)[len("/repos"):],
			of(a, "/tree/", c.SHA)[len("/repos"):]}
	}
	return out, nil
}

// byDay groups commits that follow each other.
func byDay(list []commit) (days []day) {
	for _, c := range list {
		date := c.Commit.Commit.Committer.Date.UTC().Truncate(24 * time.Hour)
		if len(days) == 0 || !days[len(days)-1].Date.Equal(date) {
			days = append(days, day{Date: date})
		}
		last := &days[len(days)-1]
		last.Commits = append(last.Commits, c)
	}
	return days
}
