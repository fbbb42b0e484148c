package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// AddCollaborator grants a role on a repository to a user, in place of the one it
// had.
func (f *Forge) AddCollaborator(tx *db.Tx, r *repo.Repo, userID account.ID, role account.Role, by account.ID) error {
	joined, err := repo.PutCollaborator(tx, r.ID, userID, role)
	if err != nil || !joined {
		return err
	}
	return activity.NoteJoined(tx, r, userID, by)
}

// RemoveCollaborator takes away what was granted to a user on a repository.
func (f *Forge) RemoveCollaborator(tx *db.Tx, r *repo.Repo, userID, by account.ID) error {
	if err := repo.DropCollaborator(tx, r.ID, userID); err != nil {
		return err
	}
	// Pull requests whose authors no longer see both sides are closed.
	return f.Pulls.FollowLoss(tx, r, by)
}

// EndSiteAdmin follows the end of a site administrator: what it saw as one, it sees no more.
func (f *Forge) EndSiteAdmin(tx *db.Tx, userID, by account.ID) error {
	return f.Pulls.FollowDemotion(tx, userID, by)
}

// EndOrgAccess follows the end of somebody's access to repositories of an
// organization: pull requests whose authors no longer see both sides are closed.
func (f *Forge) EndOrgAccess(tx *db.Tx, orgID, by account.ID) error {
	return f.Pulls.FollowOrgLoss(tx, orgID, by)
}
