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
func (api *API) Fixed(ctx context.Context, pulls []repo.Of[int64]) (map[repo.Of[int64]][]int64, error) {
	out := map[repo.Of[int64]][]int64{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(out)
		found, err := Numbered(tx, pulls)
		if err != nil {
			return err
		}
		named := map[repo.Of[int64]][]int64{}
		var all []repo.Of[int64]
		for of, i := range found {
			if of.In.HasIssues {
				named[of] = fixes(of.In, of.Key, i.Body)
				all = append(all, repo.AllOf(of.In, named[of])...)
			}
		}
		there, err := issuesAmong(tx, all)
		for of, list := range named {
			for _, fixed := range list {
				if there[repo.Of[int64]{In: of.In, Key: fixed}] {
					out[of] = append(out[of], fixed)
				}
			}
		}
		return err
	})
	return out, err
}

// Fixing returns for each issue the pull requests of the repository that fix it and are open or merged, or
// also closed ones if closed is true, oldest first; with byState open ones come first, then merged ones. If many refer
// to one issue, it reads the last ones.
func (api *API) Fixing(
	ctx context.Context, issues []repo.Of[int64], closed, byState bool,
) (map[repo.Of[int64]][]int64, error) {
	out := map[repo.Of[int64]][]int64{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(out)
		return naming(tx, issues, closed, byState, func(fixed repo.Of[int64], by int64, body *string) {
			for _, n := range fixes(fixed.In, by, body) {
				if n == fixed.Key {
					out[fixed] = append(out[fixed], by)
				}
			}
		})
	})
	return out, err
}

// maxLinked is the number of issues or pull requests that Linked returns.
const maxLinked = 30

// Linked returns the issues of the repository that a merge of a pull request closes; or for an issue the pull
// requests that close it and are open or merged. It takes at most two statements.
func (s *Service) Linked(ctx context.Context, a *repo.Access, i *issue.Issue) (list []*issue.View, err error) {
	if !a.HasIssues {
		return nil, nil
	}
	var numbers []int64
	if i.Pull {
		numbers = fixes(a, i.Number, i.Body)
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list = nil
		if !i.Pull {
			numbers = nil
			err := naming(tx, []repo.Of[int64]{{In: a, Key: i.Number}}, false, false, func(_ repo.Of[int64], by int64, body *string) {
				if slices.Contains(fixes(a, by, body), i.Number) {
					numbers = append(numbers, by)
				}
			})
			if err != nil {
				return err
			}
		}
		numbers = numbers[:min(len(numbers), maxLinked)]
		found, err := issue.Numbered(tx, repo.AllOf(a, numbers))
		for _, n := range numbers {
			if other := found[repo.Of[int64]{In: a, Key: n}]; other != nil && other.Pull != i.Pull {
				list = append(list, &issue.View{Issue: other, Access: a})
			}
		}
		return err
	})
	return list, err
}
