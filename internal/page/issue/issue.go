package issue

import (
	"net/http"
	"slices"

	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/page/talk"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type issueView struct {
	page.Frame
	Issue  page.Issue
	Thread *talk.Thread
}

// GET /{owner}/{repo}/issues/{number}
//
// Issue shows an issue with its conversation. The number of a pull request leads to its own page. Errors:
// 404, 410 where the repository has no issues, or the issue was deleted.
func (p *Pages) Issue(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &issueView{}
	said, unsaid := talk.Ask(p.kit, r, a, web.Param(r, "number"))
	_, err := p.kit.Get(r, web.Path("repos", a.Owner.Login, a.Name, "issues", web.Param(r, "number")),
		nil, &v.Issue)
	if err != nil {
		return err
	}
	if unsaid != nil {
		return unsaid
	}
	if v.Issue.IsPull() {
		return page.SeeOther(w, r, v.Issue.Path())
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", v.Issue.Title); err != nil {
		return err
	}
	if v.Thread, err = talk.Read(p.kit, r, &v.Frame, &v.Issue, said); err != nil {
		return err
	}
	if v.Thread.MaySort {
		var numbers []int64
		q := inside.Request{Path: "/repos" + v.Repo.Path + "/issues", Handler: p.with.Numbers}
		if _, err := p.kit.Read(r, q, &numbers); err != nil {
			return err
		}
		v.Thread.Pinned = slices.Contains(numbers, v.Issue.Number)
	}
	return p.t.Page(w, r, "issue.html", v)
}
