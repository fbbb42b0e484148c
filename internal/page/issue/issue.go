package issue

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/page/talk"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type issueView struct {
	page.Frame
	Issue  *page.Issue
	Thread *talk.Thread
}

// GET /{owner}/{repo}/issues/{number}
//
// Issue shows an issue with its conversation. The number of a pull request leads to its own page. Errors:
// 404, 410 if the repository has no issues, or the issue was deleted.
func (p *Pages) Issue(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	mark, err := p.of.Live.Mark(r.Context(), a, number)
	if err != nil {
		return err
	}
	i, err := p.of.Issues.Get(r.Context(), a, number)
	if err != nil {
		return err
	}
	v := &issueView{Issue: page.NewIssue(i)}
	if v.Issue.IsPull() {
		return page.SeeOther(w, r, v.Issue.Path())
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", v.Issue.Title); err != nil {
		return err
	}
	if v.Thread, err = p.of.Read(r, &v.Frame, v.Issue); err != nil {
		return err
	}
	v.Thread.Mark, v.Thread.Pinned = mark, !i.PinnedAt.IsZero()
	return p.t.Show(w, r, "issue.html", v, p.of.Link(r, v.Thread, i.Issue))
}
