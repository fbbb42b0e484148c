package issue

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/finder"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListIssues answers what GET /repos/{owner}/{repo}/issues does, without pull requests: for GraphQL. Errors:
// 410, 422.
func (api *API) ListIssues(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := Enabled(a.Repo, nil); err != nil {
		return err
	}
	c, err := readChoice(r)
	if err != nil {
		return err
	}
	c.where = append(c.where, finder.Not{Expr: finder.HasOne(posting.ByPull.Of(0))})
	return web.Answer(w, r, http.StatusOK, api.listing(w, r, a, c))
}

// ListPinnedNumbers answers the numbers of the pinned issues, open and closed: for GraphQL. Error: 410.
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

// maxNumbered is how many issues one request asks for by their numbers.
const maxNumbered = 100

// ListNumbered answers the issues of the parameter numbers that are no pull requests, each as GET
// /repos/{owner}/{repo}/issues/{number} does: for GraphQL. Those that are not there are left out. Error: 410.
func (api *API) ListNumbered(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := Enabled(a.Repo, nil); err != nil {
		return err
	}
	numbers := db.Unique(web.ParseNumbers(web.QueryOf(r).Get("numbers"), maxNumbered))
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		var p *Page
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			p = NewPage(out.Context(), a)
			p.Full()
			found, err := Numbered(tx, a.ID, numbers)
			if err != nil {
				return err
			}
			for _, n := range numbers {
				if i := found[n]; i != nil && !i.Pull {
					p.Add(i)
				}
			}
			return p.Load(tx)
		})
		if err == nil {
			err = p.Bodies(out, api.s)
		}
		if err != nil {
			return err
		}
		return p.p.write(out)
	})
}
