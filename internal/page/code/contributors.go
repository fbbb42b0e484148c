package code

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/repo"
)

// contributorsPerPage is how many contributors a page lists.
const contributorsPerPage = 50

type contributorsView struct {
	page.Frame
	List []contributor
}

// contributor is a person with commits on the default branch.
type contributor struct {
	User    *page.User // nil for an author without an account
	Name    string
	Commits int64
	Share   int64 // of the commits of the first one, in percent
}

// GET /{owner}/{repo}/contributors
//
// Contributors answers who wrote the default branch's commits, those with most commits first.
func (p *Pages) Contributors(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &contributorsView{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Contributors"); err != nil {
		return err
	}
	list, err := p.with.Git.Contributors(r.Context(), a, page.At(r, contributorsPerPage))
	if err != nil {
		return err
	}
	for _, c := range list.Rows {
		v.List = append(v.List, contributor{page.NewUser(c.Account), page.Valid(c.Name), c.Commits, 0})
	}
	for n := range v.List {
		v.List[n].Share = 100 * v.List[n].Commits / max(1, v.List[0].Commits)
	}
	v.Pages = page.PagesOf(r, list.More)
	return p.t.Page(w, r, "contributors.html", v)
}
