package repo

import (
	"context"
	"errors"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Grant grants a user a role on a repository and replaces a former one, for the operator. Errors: those of
// [HoldForGrant].
func (s *Service) Grant(ctx context.Context, repoID ID, login string, role account.Role) error {
	return s.db.WriteAs(ctx, nil, func(tx *db.Tx) error {
		a, user, err := HoldForGrant(tx, repoID, login)
		if err != nil {
			return err
		}
		return s.GrantIn(tx, a.Repo, user.ID, role, a.DoneBy(nil))
	})
}

// HoldForGrant locks a repository and finds a user who may be its collaborator. Errors: 404 for an unknown user or
// repository, 422 for the owner and for an organization.
func HoldForGrant(tx *db.Tx, repoID ID, login string) (*Access, *account.Account, error) {
	user, err := account.ByLogin(tx, login)
	if err != nil {
		return nil, nil, err
	}
	if err := Lock(tx, repoID); err != nil {
		return nil, nil, err
	}
	if err := tx.Check(); err != nil { // now, because the role to change may be the caller's own
		return nil, nil, err
	}
	a, err := ByID(tx, nil, repoID)
	switch {
	case err != nil:
		return nil, nil, err
	case user.Kind != account.User:
		return nil, nil, collaboratorError("an organization cannot be a collaborator")
	case user.ID == a.OwnerID:
		return nil, nil, collaboratorError("Repository owner cannot be a collaborator")
	}
	return a, user, nil
}

// GrantIn grants a role in a transaction that has locked the repository.
func (s *Service) GrantIn(tx *db.Tx, r *Repo, userID account.ID, role account.Role, by account.ID) error {
	return s.forge.AddCollaborator(tx, r, userID, role, by)
}

func collaboratorError(message string) error {
	return errs.Validation(errs.Field{Resource: "Collaborator", Field: "username", Code: errs.Custom,
		Message: message})
}

// Revoke revokes a user's role on the repository. A caller who is not an administrator may remove only
// itself: 403. Error: 404.
func (s *Service) Revoke(ctx context.Context, a *Access, login string) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		user, err := account.UserByLogin(tx, login)
		if err != nil {
			return err
		}
		if user.ID != a.Caller.ID {
			if err := a.Require(account.Admin); err != nil {
				return err
			}
		}
		if err := Lock(tx, a.ID); err != nil {
			return err
		}
		if err := tx.Check(); err != nil { // now, because the caller may be leaving
			return err
		}
		now, err := ByID(tx, nil, a.ID)
		if err != nil {
			return err
		}
		return s.forge.RemoveCollaborator(tx, now.Repo, user.ID, a.Caller.ID)
	})
}

// RevokeInOrg revokes the roles of an outside collaborator on all repositories of an organization, for owners.
// Errors: 403, 404, 422 for a member.
func (s *Service) RevokeInOrg(ctx context.Context, caller *account.Caller, orgLogin, login string) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		org, err := account.HoldOwnedOrg(tx, caller, orgLogin)
		if err != nil {
			return err
		}
		user, err := account.UserByLogin(tx, login)
		if err != nil {
			return err
		}
		member, _, err := account.OrgRole(tx, org.ID, user.ID)
		switch {
		case err != nil:
			return err
		case member:
			return errs.New(errs.Invalid,
				"You cannot specify an organization member to remove as an outside collaborator.")
		}
		return s.forge.RevokeInOrg(tx, org.ID, user.ID, caller.ID)
	})
}

// PutCollaborator grants a role to a user and returns the former one, or None.
func PutCollaborator(
	tx *db.Tx, repoID ID, userID account.ID, role account.Role,
) (before account.Role, err error) {
	if before, err = granted(tx, repoID, userID); err != nil {
		return before, err
	}
	return before, putCollaborator(tx, repoID, userID, role)
}

func putCollaborator(tx *db.Tx, repoID ID, userID account.ID, role account.Role) error {
	if err := regroup(tx, repoID); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO collaborators (repo_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (repo_id, user_id) DO UPDATE
		SET role = excluded.role`, repoID, userID, int64(role), tx.Now)
	if err != nil {
		return err
	}
	return account.BumpIfFactorsAreRequired(tx)
}

// granted returns the role granted to a user, or None.
func granted(tx *db.Tx, repoID ID, userID account.ID) (role account.Role, err error) {
	err = tx.QueryRow(`SELECT role FROM collaborators WHERE repo_id = $1 AND user_id = $2`,
		repoID, userID).Scan(&role)
	if errors.Is(err, db.ErrNoRows) {
		return account.None, nil
	}
	return role, err
}

// DropCollaborator revokes a user's role and returns it, or None.
func DropCollaborator(tx *db.Tx, repoID ID, userID account.ID) (before account.Role, err error) {
	if before, err = granted(tx, repoID, userID); err != nil {
		return before, err
	}
	if err := regroup(tx, repoID); err != nil {
		return before, err
	}
	_, err = tx.Exec(`DELETE FROM collaborators WHERE repo_id = $1 AND user_id = $2`, repoID, userID)
	return before, err
}

// DropInOrg revokes the roles of a user who is not a member on all repositories of an organization, and returns
// these with the role that it had.
func DropInOrg(tx *db.Tx, orgID, userID account.ID) ([]*Access, error) {
	const theirs = ` IN (SELECT c.repo_id FROM collaborators c JOIN repos o ON o.id = c.repo_id
		WHERE c.user_id = $1 AND o.owner_id = $2)`
	n, err := tx.Exec(`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id`+theirs, userID,
		orgID)
	if err != nil || n == 0 {
		return nil, err
	}
	had, err := withRoles(tx, `SELECT c.repo_id, c.role FROM collaborators c JOIN repos o ON o.id = c.repo_id
		WHERE c.user_id = $1 AND o.owner_id = $2`, userID, orgID)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(`DELETE FROM collaborators WHERE user_id = $1 AND repo_id`+theirs, userID, orgID)
	return had, err
}

// TeamRoles returns the repositories of an organization on which a user has a better role through teams than as a
// collaborator, each with that role.
func TeamRoles(tx *db.Tx, orgID, userID account.ID) ([]*Access, error) {
	return withRoles(tx, `SELECT gt.repo_id, max(gt.role) FROM team_members gm
		JOIN team_repos gt ON gt.team_id = gm.team_id JOIN repos o ON o.id = gt.repo_id
		LEFT JOIN collaborators c ON c.repo_id = gt.repo_id AND c.user_id = gm.user_id
		WHERE gm.user_id = $1 AND o.owner_id = $2 AND gt.role > COALESCE(c.role, 0)
		GROUP BY gt.repo_id`, userID, orgID)
}

// withRoles returns the repositories of a query, each with the role that this has besides the id.
func withRoles(tx *db.Tx, query string, args ...any) ([]*Access, error) {
	roles, err := db.QueryMap[ID, account.Role](tx, query, args...)
	if err != nil {
		return nil, err
	}
	list, err := Accesses(tx, nil, slices.Sorted(maps.Keys(roles)))
	for _, a := range list {
		a.Role = roles[a.ID]
	}
	return list, err
}

// regroup increments the issues' generation after a change of collaborators, because issues and comments
// show author associations. It locks the repository's row.
func regroup(tx *db.Tx, repoID ID) error {
	_, err := tx.Exec(`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id = $1`, repoID)
	return err
}
