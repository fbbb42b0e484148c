package forge

import (
	"context"

	"arbor/internal/activity"
	"arbor/internal/checkrun"
	"arbor/internal/closing"
	"arbor/internal/db"
	"arbor/internal/detect"
	"arbor/internal/hook"
	"arbor/internal/issue/branch"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo"
)

// PreparePush copies objects to where Push will name them: the new heads of pull
// requests from a fork.
func (f *Forge) PreparePush(ctx context.Context, p repo.Push) error {
	return f.Pulls.PreparePush(ctx, p)
}

// Push moves refs. All of their objects are on disk by now.
func (f *Forge) Push(tx *db.Tx, p repo.Push) (refused []error, err error) {
	// Each ref is compared with what the push expects it to be.
	landing, err := p.Check(tx)
	if err != nil {
		return nil, err
	}
	if len(landing.Moved) == 0 {
		return landing.Refused, nil
	}
	if err := landing.WriteRefs(tx); err != nil {
		return nil, err
	}
	// Perhaps no ref leads to the old values now: callers who may push still find them.
	if err := landing.NoteUnreached(tx); err != nil {
		return nil, err
	}
	// The time of the push, the repository's size, its default branch.
	if err := landing.UpdateRepo(tx); err != nil {
		return nil, err
	}
	// Work for package detect: languages and license of the default branch.
	if err := detect.Note(tx, p.RepoID); err != nil {
		return nil, err
	}
	// Work for package closing: commits that name issues, and close them.
	if err := closing.NotePush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	if err := activity.NotePush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	if err := hook.NotePush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// Open pull requests get new heads, or are closed with their branches. Those that
	// the push merged are found after the commit.
	if err := f.Pulls.FollowPush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// Branches that were deleted are linked to no issue any more.
	if err := branch.FollowPush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// Apps are asked for their checks of new tips.
	if err := checkrun.FollowPush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// Releases whose tags were deleted are drafts again.
	if err := release.FollowPush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// The workers that read commits and make test merges begin.
	tx.OnCommit(f.Repos.RefsMoved)
	return landing.Refused, nil
}

// SetDefaultBranch makes a branch that is there the default one.
func (f *Forge) SetDefaultBranch(tx *db.Tx, id repo.ID, branch string) error {
	if err := repo.SetDefaultBranch(tx, id, branch); err != nil {
		return err
	}
	return detect.Note(tx, id)
}

// MaintainerBranches finds branches to which the caller may push without push
// access.
func (f *Forge) MaintainerBranches(tx *db.Tx, a *repo.Access, hold bool) (map[string]bool, error) {
	return pull.MaintainerBranches(tx, a, hold)
}
