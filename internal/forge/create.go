package forge

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/detect"
	"arbor/internal/fulltext"
	"arbor/internal/label"
	"arbor/internal/lfs"
	"arbor/internal/repo"
)

// Create inserts a repository without refs, new or, with a parent, a fork. by is nil for the operator at
// the command line.
func (f *Forge) Create(tx *db.Tx, r *repo.Repo, by *account.Caller) error {
	// The right, the row, and the role of an organization's member.
	if err := repo.Insert(tx, r, by); err != nil {
		return err
	}
	// Schedule the indexing of its name, and detection for a fork, which starts with branches.
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
	// The repository's feed, or that of a fork's parent.
	if err := activity.NoteCreated(tx, r, r.DoneBy(by)); err != nil {
		return err
	}
	if err := tellCreated(tx, r, r.DoneBy(by)); err != nil {
		return err
	}
	return repo.CountForOwner(tx, r, 1)
}

// CarryFiles prepares what a fork gets besides Git's objects: the objects of Git LFS.
func (f *Forge) CarryFiles(ctx context.Context, from repo.ID) (*repo.Carried, error) {
	return f.LFS.Carry(ctx, from)
}

// CarriedKB returns the size of what CarryFiles prepares, in KiB.
func (f *Forge) CarriedKB(tx *db.Tx, from repo.ID) (int64, error) { return lfs.KB(tx, from) }

// FollowObjects brings what commits point to that were brought into a repository: the objects of Git LFS.
func (f *Forge) FollowObjects(ctx context.Context, right db.Right, b repo.Brought) error {
	return f.LFS.Follow(ctx, right, b)
}
