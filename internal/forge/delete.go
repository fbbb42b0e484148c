package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/hook"
	"arbor/internal/invitation"
	"arbor/internal/issue/deletion"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/repo/deleted"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/star"
)

// Delete deletes a repository: hides it from everyone, and keeps it for a while (package deleted) before it is
// removed. What is not kept is removed now, with its directory after the commit, or in the background if it is large
// (package deletion), since other writes to SQLite would have to wait.
func (f *Forge) Delete(tx *db.Tx, r *repo.Repo, by account.ID) error {
	changes := map[string]any{"visibility": repo.Visibility(r.Private)}
	if err := audit.Record(tx, r.Audited(audit.RepoDestroy, changes)); err != nil {
		return err
	}
	// Pull requests from here to other repositories lose their heads and are closed.
	if err := f.Pulls.FollowDeletion(tx, r, by); err != nil {
		return err
	}
	// Its webhooks stop; those of its organization get an event.
	if err := tellDeleted(tx, r, by); err != nil {
		return err
	}
	// A private fork is for those who see the root. It would come back without one, so it is not kept.
	keeps := f.Deleted.For > 0 && !(r.Private && (r.ParentID != 0 || r.NetworkID != r.ID || r.Withdrawn))
	// Its forks get another parent.
	if err := network.Leave(tx, r, true); err != nil {
		return err
	}
	if keeps {
		return f.keep(tx, r)
	}
	many, err := deletion.HasMany(tx, r.ID)
	if err != nil {
		return err
	}
	if !many {
		return f.remove(tx, r)
	}
	if err := retire(tx, r); err != nil {
		return err
	}
	return deletion.Enqueue(tx, r.ID)
}

// keep hides a repository so that it can be restored.
func (f *Forge) keep(tx *db.Tx, r *repo.Repo) error {
	name, private := r.Name, r.Private
	if err := retire(tx, r); err != nil {
		return err
	}
	quota, _, err := account.QuotaOf(tx, r.OwnerID)
	if err != nil {
		return err
	}
	mostKB := account.Unbounded
	if q := quota.Or(f.Repos.Quota); q.KB != nil {
		mostKB = *q.KB
	}
	until := tx.Now + db.Time(f.Deleted.For.Microseconds())
	return deleted.Keep(tx, r, name, private, until, mostKB)
}

// Restore shows a repository that was deleted and kept again, under a name. Error: 422 if that is taken.
func (f *Forge) Restore(tx *db.Tx, r *repo.Repo, name string, private bool, by *account.Caller) error {
	if err := settings.Restore(tx, r, name); err != nil {
		return err
	}
	if !private {
		if err := settings.SetVisibility(tx, r, false); err != nil {
			return err
		}
		if err := activity.FollowVisibility(tx, r); err != nil {
			return err
		}
		if err := star.FollowVisibility(tx, r); err != nil {
			return err
		}
	} else if err := dropLost(tx, issuekit.InRepo(r.ID), account.IDOf(by)); err != nil {
		return err
	}
	if err := fulltext.NoteRepo(tx, int64(r.ID)); err != nil {
		return err
	}
	changes := map[string]any{"visibility": repo.Visibility(private)}
	if err := audit.Record(tx, r.Audited(audit.RepoRestore, changes)); err != nil {
		return err
	}
	return tellCreated(tx, r, r.DoneBy(by))
}

// retire hides a repository from everyone.
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
	return fulltext.NoteRepo(tx, int64(r.ID))
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
	if err := hook.Forget(tx, r.ID); err != nil {
		return err
	}
	// Its files, after the commit.
	if err := f.Files.Forget(tx, r.ID); err != nil {
		return err
	}
	if err := repo.CountForOwner(tx, r, -1); err != nil {
		return err
	}
	if err := f.Maintenance.Discard(tx, r); err != nil {
		return err
	}
	// The row, and all rows that belong to it: issues, refs, stars, activities.
	return repo.DeleteRow(tx, r.ID)
}
