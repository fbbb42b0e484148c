package old

import (
	"net/http"
	"strconv"

	"arbor/internal/repo"
	"arbor/internal/web"
)

const (
	commentsPerPage = 100
	issuesPerPage   = 50
)

// where is what pages of a repository begin with.
type where struct {
	Title            string
	Owner, OwnerPath string
	Name, RepoPath   string
	HasIssues        bool
	Next             string // the address of the next page; empty when there is none
}

func at(a *repo.Access, title string) where {
	return where{Title: title, Owner: a.Owner.Login, OwnerPath: web.Path(a.Owner.Login), Name: a.Name,
		RepoPath: web.Path(a.Owner.Login, a.Name), HasIssues: a.HasIssues}
}

// issue reads an issue, or the issue of a pull request.
func (p *Pages) issue(r *http.Request, a *repo.Access, number string, into *issueJSON) error {
	_, err := ask(r, a, question{handler: p.from.Issues.Get, path: "/issues" + web.Path(number), params: []string{"number", number}, bodies: true}, into)
	return err
}

// comments reads a page of the comments on an issue or pull request.
func (p *Pages) comments(r *http.Request, a *repo.Access, number string, into *[]commentJSON) (more bool, err error) {
	return ask(r, a, question{handler: p.from.Comments.List, path: "/issues" + web.Path(number) + "/comments",
		params: []string{"number", number}, query: part(r, commentsPerPage), bodies: true}, into)
}

// lead redirects to the page of the other kind.
func lead(w http.ResponseWriter, r *http.Request, a *repo.Access, kind string, number int64) error {
	to := web.Path(a.Owner.Login, a.Name, kind, strconv.FormatInt(number, 10))
	http.Redirect(w, r, web.From(r.Context()).Page(to), http.StatusFound)
	return nil
}

type listView struct {
	where
	Issues []issueJSON
}

// GET /{owner}/{repo}/pulls
//
// PullList answers the open pull requests, the newest first, fifty at a time.
// Error: 404.
func (p *Pages) PullList(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &listView{where: at(a, "Open pull requests")}
	return p.list(w, r, a, v, question{handler: p.from.Pulls.List, path: "/pulls", query: part(r, issuesPerPage)})
}

// list fills and shows a list.
func (p *Pages) list(w http.ResponseWriter, r *http.Request, a *repo.Access, v *listView, q question) error {
	more, err := ask(r, a, q, &v.Issues)
	if err != nil {
		return err
	}
	v.Next = next(r, more)
	return p.render.page(w, r, "list.html", v)
}
