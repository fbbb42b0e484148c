package invitation

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// Settle ends the invitation of a user who got a role on the repository, or lost it.
func Settle(tx *db.Tx, r *repo.Repo, userID account.ID) error {
	return endWhere(tx, `repo_id = $1 AND invitee_id = $2`, r.ID, userID)
}

// SettleInOrg is Settle for all repositories of an organization.
func SettleInOrg(tx *db.Tx, orgID, userID account.ID) error {
	return endWhere(tx, `invitee_id = $2 AND repo_id IN (SELECT id FROM repos WHERE owner_id = $1)`, orgID, userID)
}

// FollowOwner ends all invitations to a repository that is transferred or deleted.
func FollowOwner(tx *db.Tx, r *repo.Repo) error { return endWhere(tx, `repo_id = $1`, r.ID) }

// FollowLoss ends the invitations to a repository whose inviters do not administer it any more.
func FollowLoss(tx *db.Tx, r *repo.Repo) error {
	inviters, err := db.QueryIDs[account.ID](tx,
		`SELECT DISTINCT inviter_id FROM invitations WHERE repo_id = $1 AND ended_at IS NULL`, r.ID)
	if err != nil {
		return err
	}
	people, err := repo.PeopleByID(tx, r, inviters)
	if err != nil {
		return err
	}
	for _, id := range inviters {
		if people[id].Role >= account.Admin {
			continue
		}
		if err := endWhere(tx, `repo_id = $1 AND inviter_id = $2`, r.ID, id); err != nil {
			return err
		}
	}
	return nil
}

// SettleMember ends the invitation of a user who joined the organization.
func SettleMember(tx *db.Tx, org, user *account.Account) error {
	return endInOrg(tx, `org_id = $1 AND (invitee_id = $2 OR id IN (SELECT x.invitation_id FROM invited_addresses x
		JOIN emails e ON e.address = x.address WHERE e.account_id = $2 AND e.verified = TRUE))`, org.ID, user.ID)
}

// ownsNot holds for an invitation to an organization whose inviter neither owns it nor administers the site.
const ownsNot = ` AND NOT EXISTS (SELECT 1 FROM members m WHERE m.org_id = invitations.org_id
		AND m.user_id = invitations.inviter_id AND m.owner = TRUE)
	AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = invitations.inviter_id AND a.site_admin = TRUE)`

// FollowOrgLoss is FollowLoss for an organization and all its repositories, after somebody lost rights there.
func FollowOrgLoss(tx *db.Tx, orgID account.ID) error {
	if err := endInOrg(tx, `org_id = $1`+ownsNot, orgID); err != nil {
		return err
	}
	return followLosses(tx, `SELECT DISTINCT i.repo_id FROM invitations i JOIN repos r ON r.id = i.repo_id
		WHERE r.owner_id = $1 AND i.ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM members m
			WHERE m.org_id = $1 AND m.user_id = i.inviter_id AND m.owner = TRUE)`, orgID)
}

// FollowDemotion is FollowLoss for all that a former site administrator invited people to.
func FollowDemotion(tx *db.Tx, userID account.ID) error {
	if err := endInOrg(tx, `inviter_id = $1 AND org_id IS NOT NULL`+ownsNot, userID); err != nil {
		return err
	}
	return followLosses(tx, `SELECT DISTINCT repo_id FROM invitations
		WHERE inviter_id = $1 AND repo_id IS NOT NULL AND ended_at IS NULL`, userID)
}

func followLosses(tx *db.Tx, repos string, arg any) error {
	ids, err := db.QueryIDs[repo.ID](tx, repos, arg)
	if err != nil {
		return err
	}
	list, err := repo.Accesses(tx, nil, ids)
	if err != nil {
		return err
	}
	for _, a := range list {
		if err := FollowLoss(tx, a.Repo); err != nil {
			return err
		}
	}
	return nil
}
