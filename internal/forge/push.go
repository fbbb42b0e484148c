package forge

import (
	"context"

	"arbor/internal/activity"
	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/detect"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/issue/branch"
	"arbor/internal/keywords"
	"arbor/internal/mirror"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/rule"
)

// PreparePush copies the objects that Push will refer to: the new heads of pull requests from a fork. When Push
// has asked for it, it finds what rules and locks say about the commits.
func (f *Forge) PreparePush(ctx context.Context, p repo.Push) error {
	if p.Again {
		if err := f.Rules.Prepare(ctx, p); err != nil {
			return err
		}
		if err := f.LFS.Prepare(ctx, p); err != nil {
			return err
		}
	}
	return f.Pulls.PreparePush(ctx, p)
}

// judges say which updates of refs are refused.
func (f *Forge) judges() repo.Judges { return repo.Judges{Rules: f.Rules.Judge, Locks: f.LFS.Judge} }

// Push updates refs. All their objects must be on disk.
func (f *Forge) Push(tx *db.Tx, p repo.Push) (refused []error, err error) {
	// What the push depends on is read in one round trip: others wait for the lock.
	if err := p.Lock(tx); err != nil {
		return nil, err
	}
	followers, err := f.Pulls.SendFollowers(tx, p)
	if err != nil {
		return nil, err
	}
	// Each ref is compared with the value that the push expects, and judged by rules
	// and locks.
	landing, err := p.Check(tx, f.judges())
	if err != nil {
		return nil, err
	}
	if len(landing.Moved) == 0 {
		return landing.Refused, nil
	}
	if err := landing.WriteRefs(tx); err != nil {
		return nil, err
	}
	// Former names of branches lead nowhere if a new branch has one, or the branch is deleted.
	if err := landing.DropRenames(tx); err != nil {
		return nil, err
	}
	// The old values may have become unreachable; callers with push access can still read them.
	if err := landing.NoteUnreached(tx); err != nil {
		return nil, err
	}
	// Time of the push, size and default branch.
	if err := landing.UpdateRepo(tx); err != nil {
		return nil, err
	}
	// Schedule detection of languages and license of the default branch.
	if err := detect.Note(tx, p.RepoID); err != nil {
		return nil, err
	}
	// Schedule reading the commits for references to issues.
	// What merge queues build is shown once it is merged.
	shown := repo.WithoutQueueRefs(landing.Moved)
	if landing.Numbered() {
		if err := keywords.NotePush(tx, p.RepoID, shown); err != nil {
			return nil, err
		}
	}
	if err := activity.NotePush(tx, p.RepoID, shown); err != nil {
		return nil, err
	}
	if err := hook.NotePush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// Open pull requests get new heads, or are closed with their branches. Those merged by the push are
	// found after the commit.
	if err := f.Pulls.FollowPush(tx, p.RepoID, landing.Moved, followers); err != nil {
		return nil, err
	}
	// Unlink deleted branches from issues.
	if err := branch.FollowPush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// Request checks of new tips from Apps.
	if err := checkrun.FollowPush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// Releases whose tags were deleted become drafts.
	if err := release.FollowPush(tx, p.RepoID, landing.Moved); err != nil {
		return nil, err
	}
	// Push mirrors copy it.
	if err := mirror.NotePush(tx, p.RepoID); err != nil {
		return nil, err
	}
	// Wake the workers that read commits and make test merges.
	tx.Ring(repo.Moved)
	return landing.Refused, nil
}

// newHead dismisses approvals of a pull request whose head moves, if a rule of its base requires that.
func (f *Forge) newHead(c *issue.Change, p *pull.Pull) error {
	stale, err := rule.DismissesStale(c.Tx, p.RepoID, p.BaseRef)
	if err != nil || !stale {
		return err
	}
	return review.DismissStale(c)
}

// SetDefaultBranch sets the default branch to an existing branch.
func (f *Forge) SetDefaultBranch(tx *db.Tx, id repo.ID, branch string) error {
	if err := repo.SetDefaultBranch(tx, id, branch); err != nil {
		return err
	}
	return detect.Note(tx, id)
}

// MaintainerBranches returns branches to which the caller may push without push access.
func (f *Forge) MaintainerBranches(tx *db.Tx, a *repo.Access, hold bool) (map[string]bool, error) {
	return pull.MaintainerBranches(tx, a, hold)
}
