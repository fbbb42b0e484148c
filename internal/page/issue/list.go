package issue

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/page/listing"
	"arbor/internal/repo"
)

// first is what the search box of a repository's issues begins with.
const first = "is:issue is:open"

type listView struct {
	page.Frame
	List   *listing.List
	Pinned []*page.Issue
}

// GET /{owner}/{repo}/issues
//
// List shows the issues that ?q= chooses, the open ones without it, and above those what is pinned. Errors:
// 404, 410 if the repository has no issues.
func (p *Pages) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &listView{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "issues", "Issues"); err != nil {
		return err
	}
	pinned, err := p.of.Issues.Pinned(r.Context(), a) // 410 where issues are switched off
	if err != nil {
		return err
	}
	o := listing.Options{Repo: a.Owner.Login + "/" + a.Name, Path: v.Repo.Path + "/issues", Query: first,
		Noun: "issue"}
	if v.List, err = listing.Read(p.of.Searches, r, o); err != nil {
		return err
	}
	v.List.MaySort = v.Repo.CanTriage()
	if v.List.Default && v.List.Pages.Newer == "" {
		for _, i := range pinned {
			v.Pinned = append(v.Pinned, page.NewIssue(i))
		}
	}
	return p.show(w, r, "list.html", v.List, v)
}

// show shows a list; a search that is wrong is a page with what is wrong in it.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, name string, l *listing.List, view any) error {
	if l.Problem != nil {
		return p.t.Again(w, r, name, l.Problem, view)
	}
	return p.t.Page(w, r, name, view)
}
