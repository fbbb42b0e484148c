package forge

import (
	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
)

// Delete removes a repository, and its folder after the commit.
func (f *Forge) Delete(tx *db.Tx, r *repo.Repo, by account.ID) error {
	changes := map[string]any{"visibility": repo.Visibility(r.Private)}
	if err := audit.Record(tx, r.Audited(audit.RepoDestroy, changes)); err != nil {
		return err
	}
	// Its issues, with all that hangs on them, may take seconds. So they go before anything of other
	// repositories is locked, whose writers would wait for that.
	if err := issue.DeleteAll(tx, r.ID); err != nil {
		return err
	}
	// Pull requests from here to other repositories lose their heads and are closed.
	if err := f.Pulls.FollowDeletion(tx, r, by); err != nil {
		return err
	}
	// Its hooks go; its organization's are told.
	if err := tellDeleted(tx, r, by); err != nil {
		return err
	}
	// Its forks get another parent.
	if err := network.Leave(tx, r, true); err != nil {
		return err
	}
	if err := repo.CountForOwner(tx, r, -1); err != nil {
		return err
	}
	if err := f.Maintenance.Discard(tx, r); err != nil {
		return err
	}
	// Its files, after the commit.
	if err := f.Files.Forget(tx, r.ID); err != nil {
		return err
	}
	// The row, and all rows that belong to it: refs, stars, activities.
	return repo.DeleteRow(tx, r.ID)
}
