package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
)

// AddCollaborator grants a role on a repository to a user and replaces a former one.
func (f *Forge) AddCollaborator(
	tx *db.Tx, r *repo.Repo, userID account.ID, role account.Role, by account.ID,
) error {
	before, err := repo.PutCollaborator(tx, r.ID, userID, role)
	if err != nil {
		return err
	}
	// Reviews of the user may count now.
	if err := automerge.WakeRepo(tx, r.ID); err != nil {
		return err
	}
	changes, action := map[string]any{"permission": role.String()}, audit.RepoAddMember
	if before != account.None {
		changes["old_permission"], action = before.String(), audit.RepoUpdateMember
	}
	if err := recordCollaborator(tx, r, action, userID, by, changes); err != nil {
		return err
	}
	if err := tellCollaborator(tx, r, userID, before, role, by); err != nil || before != account.None {
		return err
	}
	return activity.NoteJoined(tx, r, userID, by)
}

// recordCollaborator records a change of a collaborator in the audit log. Collaborators may always leave.
func recordCollaborator(
	tx *db.Tx, r *repo.Repo, action audit.Action, userID, by account.ID, changes map[string]any,
) error {
	user, err := account.ByID(tx, userID)
	if err != nil {
		return err
	}
	e := r.Audited(action, changes)
	e.User, e.Right = user.Audited(), audit.RepoAdmin
	if userID == by {
		e.Right = audit.Self
	}
	return audit.Record(tx, e)
}

// RemoveCollaborator revokes a user's role on a repository.
func (f *Forge) RemoveCollaborator(tx *db.Tx, r *repo.Repo, userID, by account.ID) error {
	before, err := repo.DropCollaborator(tx, r.ID, userID)
	if err != nil {
		return err
	}
	if before != account.None {
		changes := map[string]any{"old_permission": before.String()}
		if err := recordCollaborator(tx, r, audit.RepoRemoveMember, userID, by, changes); err != nil {
			return err
		}
		if err := tellCollaborator(tx, r, userID, before, account.None, by); err != nil {
			return err
		}
	}
	// The user may have enabled auto-merge.
	if err := automerge.WakeRepo(tx, r.ID); err != nil {
		return err
	}
	// Close pull requests whose authors can no longer see both sides.
	return f.Pulls.FollowLoss(tx, r, by)
}

// EndSiteAdmin applies the effects of revoking site administration from a user.
func (f *Forge) EndSiteAdmin(tx *db.Tx, userID, by account.ID) error {
	if err := automerge.WakeBy(tx, userID); err != nil {
		return err
	}
	return f.Pulls.FollowDemotion(tx, userID, by)
}

// EndOrgAccess applies the effects of somebody losing access to an organization's repositories: pull
// requests whose authors can no longer see both sides are closed, and auto-merge is examined again.
func (f *Forge) EndOrgAccess(tx *db.Tx, orgID, by account.ID) error {
	if err := automerge.WakeOwner(tx, orgID); err != nil {
		return err
	}
	return f.Pulls.FollowOrgLoss(tx, orgID, by)
}
