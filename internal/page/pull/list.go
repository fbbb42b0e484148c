package pull

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/page/listing"
	"arbor/internal/repo"
)

// first is what the search box of a repository's pull requests begins with.
const first = "is:pr is:open"

type listView struct {
	page.Frame
	List *listing.List
}

// GET /{owner}/{repo}/pulls
//
// List shows the pull requests that ?q= chooses, the open ones without it, with the state of their checks and
// reviews. Error: 404.
func (p *Pages) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &listView{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "pulls", "Pull requests"); err != nil {
		return err
	}
	o := listing.Options{Repo: a.Owner.Login + "/" + a.Name, Path: v.Repo.Path + "/pulls", Query: first,
		Noun: "pull request", Always: "is:pr"}
	if v.List, err = listing.Read(p.talk.Searches, r, o); err != nil {
		return err
	}
	if v.List.Problem != nil {
		return p.t.Again(w, r, "list.html", v.List.Problem, v)
	}
	numbers := make([]int64, len(v.List.Issues))
	for n, i := range v.List.Issues {
		numbers[n] = i.Number
	}
	v.List.Marks, err = p.talk.Reviews.Marks(r.Context(), a, numbers)
	return p.t.Show(w, r, "list.html", v, err)
}
