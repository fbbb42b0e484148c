package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/invitation"
	"arbor/internal/issue/deletion"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/star"
)

// Delete deletes a repository, and its directory after the commit. A large one is hidden now and deleted in
// the background (package deletion), since other writes to SQLite would have to wait.
func (f *Forge) Delete(tx *db.Tx, r *repo.Repo, by account.ID) error {
	changes := map[string]any{"visibility": repo.Visibility(r.Private)}
	if err := audit.Record(tx, r.Audited(audit.RepoDestroy, changes)); err != nil {
		return err
	}
	// Pull requests from here to other repositories lose their heads and are closed.
	if err := f.Pulls.FollowDeletion(tx, r, by); err != nil {
		return err
	}
	// Its webhooks are deleted; those of its organization get an event.
	if err := tellDeleted(tx, r, by); err != nil {
		return err
	}
	// Its forks get another parent.
	if err := network.Leave(tx, r, true); err != nil {
		return err
	}
	// Its files, after the commit.
	if err := f.Files.Forget(tx, r.ID); err != nil {
		return err
	}
	many, err := deletion.HasMany(tx, r.ID)
	if err != nil {
		return err
	}
	if many {
		return retire(tx, r)
	}
	return f.remove(tx, r)
}

// retire hides a repository from everyone and leaves its deletion to package deletion.
func retire(tx *db.Tx, r *repo.Repo) error {
	if !r.Private {
		if err := settings.SetVisibility(tx, r, true); err != nil {
			return err
		}
		if err := activity.FollowVisibility(tx, r); err != nil {
			return err
		}
		if err := star.FollowVisibility(tx, r); err != nil {
			return err
		}
	}
	if err := invitation.FollowOwner(tx, r); err != nil {
		return err
	}
	if err := settings.Retire(tx, r); err != nil {
		return err
	}
	// It has a new name, so searches must no longer find the old one.
	if err := fulltext.NoteRepo(tx, int64(r.ID)); err != nil {
		return err
	}
	return deletion.Enqueue(tx, r.ID)
}

// FinishDeletion deletes a hidden repository after most of its rows were deleted. Error: 404.
func (f *Forge) FinishDeletion(tx *db.Tx, id repo.ID) error {
	a, err := repo.ByID(tx, nil, id)
	if err != nil {
		return err
	}
	// A fork created in the meantime would prevent its deletion.
	if err := network.Leave(tx, a.Repo, true); err != nil {
		return err
	}
	return f.remove(tx, a.Repo)
}

// remove deletes a repository to which nothing else refers.
func (f *Forge) remove(tx *db.Tx, r *repo.Repo) error {
	if err := repo.CountForOwner(tx, r, -1); err != nil {
		return err
	}
	if err := f.Maintenance.Discard(tx, r); err != nil {
		return err
	}
	// The row, and all rows that belong to it: issues, refs, stars, activities.
	return repo.DeleteRow(tx, r.ID)
}
