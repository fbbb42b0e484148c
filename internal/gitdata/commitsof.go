package gitdata

import (
	"context"

	"arbor/internal/git"
	"arbor/internal/repo"
)

// CommitOf is a commit of a repository.
type CommitOf struct {
	In  *repo.Access
	SHA git.SHA
}

// CommitsAcross reads commits of several repositories, in the given order, with one query for the people. A missing
// commit is nil.
func (api *API) CommitsAcross(ctx context.Context, list []CommitOf) ([]*CommitView, error) {
	found, err := api.readCommits(ctx, list)
	if err != nil {
		return nil, err
	}
	var all []*git.Commit
	size := 0
	for _, c := range found {
		all, size = append(all, c), size+sizeOf(c)
	}
	if err := hold(ctx, size); err != nil {
		return nil, err
	}
	known, err := api.people(ctx, all...)
	if err != nil {
		return nil, err
	}
	shown := make([]*CommitView, len(list))
	for n, of := range list {
		if c := found[commitKey{of.In.ID, of.SHA}]; c != nil {
			shown[n] = known.view(of.In, c)
		}
	}
	return shown, nil
}

// NewCommitPayload renders a commit as lists of commits do.
func NewCommitPayload(ctx context.Context, c *CommitView) *CommitPayload {
	return newPlace(ctx, c.In).commit(c)
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
