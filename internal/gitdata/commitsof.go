package gitdata

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/signature"
)

// CommitsAcross reads commits of several repositories, in the given order, with one query for the people and two for
// the keys. A missing commit is nil.
func (s *Service) CommitsAcross(ctx context.Context, list []repo.Of[git.SHA]) ([]*CommitView, error) {
	found, err := s.readCommits(ctx, list)
	if err != nil {
		return nil, err
	}
	commits := slices.Collect(maps.Values(found))
	known, results, err := s.describe(ctx, commits...)
	if err != nil {
		return nil, err
	}
	verified := make(map[*git.Commit]signature.Verification, len(commits))
	for n, c := range commits {
		verified[c] = results[n]
	}
	shown := make([]*CommitView, len(list))
	for n, of := range list {
		if c := found[of]; c != nil {
			shown[n] = known.view(of.In, c, verified[c])
		}
	}
	return shown, nil
}

// NewCommitPayload renders a commit as lists of commits do.
func NewCommitPayload(ctx context.Context, c *CommitView) *CommitPayload {
	return newPlace(ctx, c.In).commit(c)
}

// readCommits reads commits, one repository after another, and asks for the memory of each part before the
// next.
func (s *Service) readCommits(ctx context.Context, list []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]*git.Commit, error) {
	found := map[repo.Of[git.SHA]]*git.Commit{}
	for in, shas := range repo.ByAccess(list) {
		objects, release, err := s.repos.Git(ctx, in)
		if err != nil {
			return nil, err
		}
		slices.Sort(shas)
		err = objects.EachCommits(ctx, slices.Compact(shas), func(part []*git.Commit) error {
			size := 0
			for _, c := range part {
				found[repo.Of[git.SHA]{In: in, Key: c.SHA}] = c
				size += sizeOf(c)
			}
			return hold(ctx, size)
		})
		release()
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
