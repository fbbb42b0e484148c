package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// Transfer gives a repository to another owner. Its network stays as it is: forks of a
// private one whose owners do not see it any more are withdrawn by that alone.
func (f *Forge) Transfer(tx *db.Tx, r *repo.Repo, h repo.Handover, by account.ID) error {
	from := r.OwnerID
	// The row, the redirect from the old address, the counters of both owners.
	if err := repo.SetOwner(tx, r, h); err != nil {
		return err
	}
	// Who had it stays with a role, who has it needs none.
	if err := repo.FollowOwner(tx, r, h); err != nil {
		return err
	}
	// The feeds of organizations.
	if err := activity.FollowTransfer(tx, r); err != nil {
		return err
	}
	// Pull requests from its branches are found by the new owner.
	if err := pull.FollowTransfer(tx, r.ID, from, r.OwnerID); err != nil {
		return err
	}
	// Those whose authors no longer see both sides are closed.
	if err := f.Pulls.FollowLoss(tx, r, by); err != nil {
		return err
	}
	// Who may not be assigned any more is not.
	return issue.FollowTransfer(tx, r)
}
