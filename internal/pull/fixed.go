package pull

import (
	"net/http"
	"slices"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxFixing bounds how many pull requests of one issue are looked at.
const maxFixing = 50

// fixes are the numbers of the repository's own issues that a body says its pull request fixes, as closeFixed
// reads it.
func fixes(a *repo.Access, number int64, body *string) []int64 {
	if body == nil {
		return nil
	}
	list := markdown.Parse(*body).References().Fixes(a.Owner.Login, a.Name)
	return slices.DeleteFunc(list, func(n int64) bool { return n == number })
}

// ListFixed answers for each pull request of the parameter numbers the numbers of the issues that its merge
// into the default branch closes: for GraphQL, since REST does not tell. An object of lists, by number.
func (api *API) ListFixed(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	numbers := web.ParseNumbers(web.QueryOf(r).Get("numbers"), maxNumbered)
	out := map[string][]int64{}
	if !a.HasIssues {
		return web.JSON(w, r, http.StatusOK, out)
	}
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		clear(out)
		found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		named := map[int64][]int64{}
		var all []int64
		for n, i := range found {
			if i.Pull {
				named[n] = fixes(a, n, i.Body)
				all = append(all, named[n]...)
			}
		}
		there, err := issuesAmong(tx, a.ID, db.Unique(all))
		for n, list := range named {
			for _, fixed := range list {
				if there[fixed] {
					out[strconv.FormatInt(n, 10)] = append(out[strconv.FormatInt(n, 10)], fixed)
				}
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// ListFixing is ListFixed the other way: for each issue of the parameter numbers the pull requests of the
// repository that say so and are open or merged, with closed=true all, the oldest first. Of many that name
// one issue the last ones are looked at.
func (api *API) ListFixing(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	values := web.QueryOf(r)
	numbers, closed := web.ParseNumbers(values.Get("numbers"), maxNumbered), values.Get("closed") == "true"
	out := map[string][]int64{}
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		clear(out)
		return naming(tx, a.ID, db.Unique(numbers), closed, func(fixed, by int64, body *string) {
			for _, n := range fixes(a, by, body) {
				if n == fixed {
					key := strconv.FormatInt(fixed, 10)
					out[key] = append(out[key], by)
				}
			}
		})
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, out)
}
