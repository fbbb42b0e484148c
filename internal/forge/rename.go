package forge

import (
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/issue/branch"
	"arbor/internal/mirror"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/rule"
)

// RenameBranch renames a branch by the push of n's updates. The commits stay the same and are not read again.
func (f *Forge) RenameBranch(tx *db.Tx, a *repo.Access, n *repo.BranchRename, p repo.Push) error {
	if n.Default {
		if err := f.SetDefaultBranch(tx, a.ID, n.To); err != nil {
			return err
		}
		if err := tellDefault(tx, a, n); err != nil {
			return err
		}
	}
	landing, err := n.Check(tx, p, f.judges())
	if err != nil {
		return err
	}
	// The protection of the branch itself.
	if err := rule.FollowRename(tx, a.ID, n); err != nil {
		return err
	}
	if err := landing.WriteRefs(tx); err != nil {
		return err
	}
	if err := landing.UpdateRepo(tx); err != nil {
		return err
	}
	if err := n.Redirect(tx, a.ID); err != nil {
		return err
	}
	if err := activity.NotePush(tx, a.ID, n.Updates()); err != nil {
		return err
	}
	if err := hook.NotePush(tx, a.ID, n.Updates()); err != nil {
		return err
	}
	// Open pull requests with this head or base.
	if err := f.Pulls.FollowRename(tx, a.ID, n); err != nil {
		return err
	}
	// Links from issues.
	if err := branch.FollowRename(tx, a.ID, n.From, n.To); err != nil {
		return err
	}
	// Drafts of releases whose tags are to be created there.
	if err := release.FollowRename(tx, a.ID, n.From, n.To); err != nil {
		return err
	}
	// Push mirrors copy it.
	if err := mirror.NotePush(tx, a.ID); err != nil {
		return err
	}
	// Wake the workers that make test merges.
	tx.Ring(repo.Moved)
	return nil
}

// tellDefault records the webhook event and the audit log's entry of another default branch.
func tellDefault(tx *db.Tx, a *repo.Access, n *repo.BranchRename) error {
	before, after := *a.Repo, *a.Repo
	before.DefaultBranch, after.DefaultBranch = n.From, n.To
	if err := tellEdited(tx, &before, &after, n.By); err != nil {
		return err
	}
	return audit.Record(tx, a.Audited(audit.RepoUpdate,
		map[string]any{"old_default_branch": n.From, "default_branch": n.To}))
}
