package forge

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/pull"
)

// DeleteAccount removes an account that owns no repository. What it wrote becomes ghost's,
// all else goes. It reads each table of what people write once.
func (f *Forge) DeleteAccount(tx *db.Tx, id, ghost, by account.ID) error {
	if err := tellOrgDeleted(tx, id, by); err != nil {
		return err
	}
	// Apps are told that they are not installed there any more.
	if err := f.Apps.Leave(tx, id, by); err != nil {
		return err
	}
	orgs, err := orgsOf(tx, id)
	if err != nil {
		return err
	}
	// What it belongs to and may see, with the counters.
	if err := dropRows(tx, id); err != nil {
		return err
	}
	// Pull requests of it and of others that hold no more are closed, as long as they are its own.
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
	return giveRows(tx, id, ghost)
}
