package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/invitation"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/pull"
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
	if err := tellCollaborator(tx, r, userID, before, role, by); err != nil {
		return err
	}
	// The invitation that brought the user, or one that is no longer needed.
	if err := invitation.Settle(tx, r, userID); err != nil {
		return err
	}
	if before != account.None {
		return invitation.FollowLoss(tx, r)
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
		if err := noteRevoked(tx, r, userID, before, by); err != nil {
			return err
		}
	}
	// The invitation of the user, and those that the user sent.
	if err := invitation.Settle(tx, r, userID); err != nil {
		return err
	}
	if err := invitation.FollowLoss(tx, r); err != nil {
		return err
	}
	// The user may have enabled auto-merge.
	if err := automerge.WakeRepo(tx, r.ID); err != nil {
		return err
	}
	// Close pull requests whose authors can no longer see both sides.
	if err := f.Pulls.FollowLoss(tx, r, by); err != nil {
		return err
	}
	return dropLost(tx, issuekit.InRepo(r.ID), by)
}

// dropLost unassigns people who have no access to repositories any more, and takes back requests of their reviews.
func dropLost(tx *db.Tx, in issuekit.Scope, by account.ID) error {
	if err := issue.FollowLoss(tx, in, by); err != nil {
		return err
	}
	return pull.FollowAccess(tx, in, by)
}

// noteRevoked tells the audit log and webhooks that a role was revoked.
func noteRevoked(tx *db.Tx, r *repo.Repo, userID account.ID, before account.Role, by account.ID) error {
	changes := map[string]any{"old_permission": before.String()}
	if err := recordCollaborator(tx, r, audit.RepoRemoveMember, userID, by, changes); err != nil {
		return err
	}
	return tellCollaborator(tx, r, userID, before, account.None, by)
}

// RevokeInOrg revokes a user's roles on all repositories of an organization.
func (f *Forge) RevokeInOrg(tx *db.Tx, orgID, userID, by account.ID) error {
	had, err := repo.DropInOrg(tx, orgID, userID)
	if err != nil {
		return err
	}
	for _, a := range had {
		if err := noteRevoked(tx, a.Repo, userID, a.Role, by); err != nil {
			return err
		}
	}
	// Invitations of the user; those that the user sent end with the access.
	if err := invitation.SettleInOrg(tx, orgID, userID); err != nil {
		return err
	}
	return f.EndOrgAccess(tx, orgID, by)
}

// KeepTeamRoles makes a user a collaborator on the repositories of an organization on which teams give a better role.
func (f *Forge) KeepTeamRoles(tx *db.Tx, orgID, userID, by account.ID) error {
	list, err := repo.TeamRoles(tx, orgID, userID)
	if err != nil {
		return err
	}
	for _, a := range list {
		if err := f.AddCollaborator(tx, a.Repo, userID, a.Role, by); err != nil {
			return err
		}
	}
	return nil
}

// EndSiteAdmin applies the effects of revoking site administration from a user.
func (f *Forge) EndSiteAdmin(tx *db.Tx, userID, by account.ID) error {
	if err := invitation.FollowDemotion(tx, userID); err != nil {
		return err
	}
	if err := automerge.WakeBy(tx, userID); err != nil {
		return err
	}
	if err := f.Pulls.FollowDemotion(tx, userID, by); err != nil {
		return err
	}
	return dropLost(tx, issuekit.AskedOf(userID), by)
}

// FollowSuspension applies the effects of suspending a user: what it put into merge queues leaves, and its auto-merge
// ends.
func (f *Forge) FollowSuspension(tx *db.Tx, userID account.ID) error {
	return automerge.WakeBy(tx, userID)
}

// BeginOrgAccess applies the effects of somebody gaining access to an organization's repositories: reviews of theirs
// may count now, so auto-merge is examined again.
func (f *Forge) BeginOrgAccess(tx *db.Tx, orgID account.ID) error {
	return automerge.WakeOwner(tx, orgID)
}

// EndOrgAccess applies the effects of somebody losing access to an organization's repositories: invitations that
// they sent end, pull requests whose authors can no longer see both sides are closed, auto-merge is examined again, and
// nobody without access is assigned or asked for a review.
func (f *Forge) EndOrgAccess(tx *db.Tx, orgID, by account.ID) error {
	if err := invitation.FollowOrgLoss(tx, orgID); err != nil {
		return err
	}
	if err := automerge.WakeOwner(tx, orgID); err != nil {
		return err
	}
	if err := f.Pulls.FollowOrgLoss(tx, orgID, by); err != nil {
		return err
	}
	return dropLost(tx, issuekit.OwnedBy(orgID), by)
}
