package forge

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo/deleted"
)

// DeleteAccount deletes an account that owns no repositories. Its contributions get the author ghost;
// everything else is deleted. It reads each table with contributions once.
func (f *Forge) DeleteAccount(tx *db.Tx, id, ghost, by account.ID) error {
	if err := tellOrgDeleted(tx, id, by); err != nil {
		return err
	}
	// Tell Apps that they are uninstalled.
	if err := f.Apps.Leave(tx, id, by); err != nil {
		return err
	}
	orgs, err := orgsOf(tx, id)
	if err != nil {
		return err
	}
	// Merge queues lose what it put there.
	if err := mergequeue.WakeBy(tx, id); err != nil {
		return err
	}
	// Its memberships and rights, with their counters.
	if err := dropRows(tx, id); err != nil {
		return err
	}
	// Close pull requests of this account and others that are no longer allowed, before their author
	// becomes ghost.
	for _, org := range orgs {
		if err := f.Pulls.FollowOrgLoss(tx, org, by); err != nil {
			return err
		}
	}
	if err := f.Pulls.FollowDemotion(tx, id, by); err != nil {
		return err
	}
	// Lists by branches, authors and assignees.
	if err := issue.GiveAway(tx, id, ghost); err != nil {
		return err
	}
	if err := pull.GiveAwayBranches(tx, id, ghost); err != nil {
		return err
	}
	// Its deleted repositories are removed.
	if err := deleted.Bequeath(tx, id, ghost); err != nil {
		return err
	}
	return giveRows(tx, id, ghost)
}
