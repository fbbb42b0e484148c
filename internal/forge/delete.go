package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/issue/deletion"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/star"
)

// Delete removes a repository, and its folder after the commit. One that has much in it is hidden
// at once and removed soon (package deletion), since nobody could write to SQLite meanwhile.
func (f *Forge) Delete(tx *db.Tx, r *repo.Repo, by account.ID) error {
	changes := map[string]any{"visibility": repo.Visibility(r.Private)}
	if err := audit.Record(tx, r.Audited(audit.RepoDestroy, changes)); err != nil {
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

// retire hides a repository from everybody, and leaves it to package deletion.
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
	if err := settings.Retire(tx, r); err != nil {
		return err
	}
	// Its name is another one, which searches find no more.
	if err := fulltext.NoteRepo(tx, int64(r.ID)); err != nil {
		return err
	}
	return deletion.Enqueue(tx, r.ID)
}

// FinishDeletion removes a repository that was hidden, once most of its rows are gone. Error: 404.
func (f *Forge) FinishDeletion(tx *db.Tx, id repo.ID) error {
	a, err := repo.ByID(tx, nil, id)
	if err != nil {
		return err
	}
	// Whatever was forked of it meanwhile would hold it for ever.
	if err := network.Leave(tx, a.Repo, true); err != nil {
		return err
	}
	return f.remove(tx, a.Repo)
}

// remove is the end of a repository to which nothing else refers any more.
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
