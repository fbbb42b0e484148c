package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// AddCollaborator grants a role on a repository to a user, in place of the one it
// had.
func (f *Forge) AddCollaborator(tx *db.Tx, r *repo.Repo, userID int64, role account.Role, by int64) error {
	joined, err := repo.PutCollaborator(tx, r.ID, userID, role)
	if err != nil || !joined {
		return err
	}
	return activity.NoteJoined(tx, r, userID, by)
}

// RemoveCollaborator takes away what was granted to a user on a repository.
func (f *Forge) RemoveCollaborator(tx *db.Tx, r *repo.Repo, userID, by int64) error {
	if err := repo.DropCollaborator(tx, r.ID, userID); err != nil {
		return err
	}
	// Pull requests whose authors no longer see both sides are closed.
	return f.Pulls.FollowLoss(tx, r, by)
}

// EndOrgAccess follows the end of somebody's access to repositories of an
// organization: pull requests whose authors no longer see both sides are closed.
func (f *Forge) EndOrgAccess(tx *db.Tx, orgID, by int64) error {
	return f.Pulls.FollowOrgLoss(tx, orgID, by)
}
