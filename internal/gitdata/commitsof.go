package gitdata

import (
	"context"

	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// CommitOf is a commit of a repository.
type CommitOf struct {
	In  *repo.Access
	SHA git.SHA
}

// ShowCommits renders commits of several repositories as lists of commits do, in their order, and
// gives their messages; its one query is for the people. A commit that is not there any more is nil.
func (api *API) ShowCommits(
	ctx context.Context, out *web.Output, list []CommitOf,
) (shown []any, messages []string, err error) {
	found, err := api.readCommits(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	var all []*git.Commit
	for _, c := range found {
		if err := reserve(out, sizeOf(c)); err != nil {
			return nil, nil, err
		}
		all = append(all, c)
	}
	known, err := api.people(ctx, all...)
	if err != nil {
		return nil, nil, err
	}
	shown, messages = make([]any, len(list)), make([]string, len(list))
	for n, of := range list {
		if c := found[commitKey{of.In.ID, of.SHA}]; c != nil {
			shown[n], messages[n] = newPlace(ctx, of.In).commit(known.view(of.In, c)), message(c)
		}
	}
	return shown, messages, nil
}

type commitKey struct {
	repo repo.ID
	sha  git.SHA
}

// readCommits reads commits, one repository after another.
func (api *API) readCommits(ctx context.Context, list []CommitOf) (map[commitKey]*git.Commit, error) {
	of, found := map[repo.ID][]git.SHA{}, map[commitKey]*git.Commit{}
	for _, c := range list {
		of[c.In.ID] = append(of[c.In.ID], c.SHA)
	}
	for _, c := range list {
		shas := of[c.In.ID]
		if delete(of, c.In.ID); shas == nil {
			continue
		}
		objects, release, err := api.repos.Git(ctx, c.In)
		if err != nil {
			return nil, err
		}
		err = objects.EachCommits(ctx, shas, func(part []*git.Commit) error {
			for _, commit := range part {
				found[commitKey{c.In.ID, commit.SHA}] = commit
			}
			return nil
		})
		release()
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
