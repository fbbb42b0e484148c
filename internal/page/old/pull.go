package old

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type pullView struct {
	where
	Pull         pullJSON
	Commits      []commitJSON
	Comments     []commentJSON
	Reviews      []reviewJSON
	LineComments []commentJSON
}

// GET /{owner}/{repo}/pull/{file}
//
// Pull answers the page of the pull request that {file} numbers: what it says,
// whether it merges, and a hundred each of its commits, comments, reviews and
// comments on lines, with the anchors that their html_url names. The number of
// an issue leads to the issue's page; N.diff and N.patch are what it changes
// (decision 30). Error: 404.
func (p *Pages) Pull(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	number := web.Param(r, "file")
	if strings.Contains(number, ".") {
		return p.from.Pulls.Text(w, r, a)
	}
	v := &pullView{}
	ofPull := question{handler: p.from.Pulls.Get, path: "/pulls" + web.Path(number), params: []string{"number", number}, bodies: true}
	if _, err := ask(r, a, ofPull, &v.Pull); err != nil {
		if !errs.Is(err, errs.NotFound) {
			return err
		}
		var other issueJSON
		if p.issue(r, a, number, &other) != nil || other.Pull != nil {
			return err
		}
		return lead(w, r, a, "issues", other.Number)
	}
	v.where = at(a, v.Pull.Title)
	unfinished := false
	for _, of := range []struct {
		handler repo.Handler
		path    string
		bodies  bool
		into    any
	}{
		{p.from.Pulls.ListCommits, "/commits", false, &v.Commits},
		{p.from.Comments.List, "", true, &v.Comments},
		{p.from.Reviews.List, "/reviews", true, &v.Reviews},
		{p.from.Reviews.ListComments, "/comments", true, &v.LineComments},
	} {
		q := ofPull
		q.handler, q.path, q.bodies, q.query = of.handler, ofPull.path+of.path, of.bodies, part(r, commentsPerPage)
		if of.path == "" {
			q.path = "/issues" + web.Path(number) + "/comments"
		}
		more, err := ask(r, a, q, of.into)
		if err != nil {
			return err
		}
		unfinished = unfinished || more
	}
	v.Next = next(r, unfinished)
	return p.render.page(w, r, "pull.html", v)
}
