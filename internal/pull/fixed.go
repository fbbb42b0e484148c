package pull

import (
	"context"
	"slices"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/markdown"
	"arbor/internal/repo"
)

// maxFixing is the number of pull requests read for one issue.
const maxFixing = 50

// fixes returns the numbers of the repository's own issues that a body says its pull request fixes, as
// closeFixed does.
func fixes(a *repo.Access, number int64, body *string) []int64 {
	if body == nil {
		return nil
	}
	list := markdown.Parse(*body).References().Fixes(a.Owner.Login, a.Name)
	return slices.DeleteFunc(list, func(n int64) bool { return n == number })
}

// Fixed returns for each pull request the numbers of the issues that its merge into the default branch
// closes. REST does not show them.
func (api *API) Fixed(ctx context.Context, a *repo.Access, numbers []int64) (map[int64][]int64, error) {
	out := map[int64][]int64{}
	if !a.HasIssues {
		return out, nil
	}
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
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
					out[n] = append(out[n], fixed)
				}
			}
		}
		return err
	})
	return out, err
}

// Fixing returns for each issue the pull requests of the repository that fix it and are open or merged, or
// also closed ones if closed is true, oldest first. If many refer to one issue, it reads the last ones.
func (api *API) Fixing(
	ctx context.Context, a *repo.Access, numbers []int64, closed bool,
) (map[int64][]int64, error) {
	out := map[int64][]int64{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(out)
		return naming(tx, a.ID, db.Unique(numbers), closed, func(fixed, by int64, body *string) {
			for _, n := range fixes(a, by, body) {
				if n == fixed {
					out[fixed] = append(out[fixed], by)
				}
			}
		})
	})
	return out, err
}
