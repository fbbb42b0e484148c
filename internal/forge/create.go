package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/detect"
	"arbor/internal/fulltext"
	"arbor/internal/label"
	"arbor/internal/repo"
)

// Create adds a repository without refs: a new one, or with its parent a fork. by is
// nil for the operator at the command line.
func (f *Forge) Create(tx *db.Tx, r *repo.Repo, by *account.Caller) error {
	// The right to do so, the row, and the role of a member of an organization.
	if err := repo.Insert(tx, r, by); err != nil {
		return err
	}
	// Work for the worker that indexes names, and for package detect: a fork begins with branches.
	if err := fulltext.NoteRepo(tx, int64(r.ID)); err != nil {
		return err
	}
	if r.ParentID != 0 {
		if err := detect.Note(tx, r.ID); err != nil {
			return err
		}
	}
	changes := map[string]any{"visibility": repo.Visibility(r.Private)}
	if r.ParentID != 0 {
		changes["fork_of_id"] = r.ParentID
	}
	if err := audit.Record(tx, r.Audited(audit.RepoCreate, changes)); err != nil {
		return err
	}
	if err := label.AddDefaults(tx, r); err != nil {
		return err
	}
	// In the feed of the repository; a fork in its parent's.
	if err := activity.NoteCreated(tx, r, r.DoneBy(by)); err != nil {
		return err
	}
	if err := tellCreated(tx, r, r.DoneBy(by)); err != nil {
		return err
	}
	return repo.CountForOwner(tx, r, 1)
}
