package issue

import (
	"context"
	"encoding/json"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListIssues is GET /repos/{owner}/{repo}/issues without pull requests, for GraphQL. Errors: 410, 422.
func (api *API) ListIssues(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := Enabled(a.Repo, nil); err != nil {
		return err
	}
	c, err := readChoice(r)
	if err != nil {
		return err
	}
	c.where = append(c.where, posting.Not{Expr: posting.HasOne(posting.ByPull.Of(0))})
	return web.Answer(w, r, http.StatusOK, api.listing(w, r, a, c))
}

// ListPinnedNumbers returns the numbers of the pinned issues, open and closed, for GraphQL. Error: 410.
func (api *API) ListPinnedNumbers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := Enabled(a.Repo, nil); err != nil {
		return err
	}
	numbers := []int64{}
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		list, err := PinnedIn(tx, a.ID)
		for _, i := range list {
			numbers = append(numbers, i.Number)
		}
		return err
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, numbers)
}

// Numbered loads issues by number, as GET /repos/{owner}/{repo}/issues/{number} returns them. Pull requests
// and unknown numbers are missing. Error: 410.
func (api *API) Numbered(
	ctx context.Context, a *repo.Access, numbers []int64,
) (map[int64]json.Marshaler, error) {
	if err := Enabled(a.Repo, nil); err != nil {
		return nil, err
	}
	var p *Page
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		p = NewPage(ctx, a)
		p.Full()
		found, err := Numbered(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		for _, i := range found {
			if !i.Pull {
				p.Add(i)
			}
		}
		return p.Load(tx)
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), api.s)
	}
	if err != nil {
		return nil, err
	}
	out := map[int64]json.Marshaler{}
	for _, i := range p.Issues() {
		out[i.Number] = p.Issue(i)
	}
	return out, nil
}
