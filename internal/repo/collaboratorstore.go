package repo

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// grantee is a user with a role on a repository.
type grantee struct {
	account *account.Account
	role    account.Role
}

func putCollaborator(tx *db.Tx, repoID, userID int64, role account.Role) error {
	_, err := tx.Exec(`INSERT INTO collaborators (repo_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (repo_id, user_id) DO UPDATE SET role = excluded.role`, repoID, userID, int64(role), tx.Now)
	return err
}

func dropCollaborator(tx *db.Tx, repoID, userID int64) error {
	_, err := tx.Exec(`DELETE FROM collaborators WHERE repo_id = $1 AND user_id = $2`, repoID, userID)
	return err
}

// hasRole returns 404 unless a role on the repository was granted to the user.
func hasRole(tx *db.Tx, repoID, userID int64) error {
	var role int64
	err := tx.QueryRow(`SELECT role FROM collaborators WHERE repo_id = $1 AND user_id = $2`, repoID, userID).Scan(&role)
	if errors.Is(err, db.ErrNoRows) {
		return errs.Absent()
	}
	return err
}

// listCollaborators reads a page of the owner, when it is a person, and of all
// to whom a role was granted, by id; and how many they are.
func listCollaborators(tx *db.Tx, r *Repo, page web.Page) ([]grantee, int64, error) {
	owner := int64(0)
	if r.Owner.Kind == account.User {
		owner = r.OwnerID
	}
	const all = ` FROM (SELECT user_id, role FROM collaborators WHERE repo_id = $1 AND user_id <> $2
		UNION ALL SELECT id, 3 FROM accounts WHERE id = $2) people`
	var total int64
	if err := tx.QueryRow(`SELECT count(*)`+all, r.ID, owner).Scan(&total); err != nil {
		return nil, 0, err
	}
	rows, err := tx.Query(`SELECT user_id, role`+all+` ORDER BY user_id LIMIT $3 OFFSET $4`, r.ID, owner, page.Size, page.Offset())
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var people []grantee
	var ids []int64
	for rows.Next() {
		var id, role int64
		if err := rows.Scan(&id, &role); err != nil {
			return nil, 0, err
		}
		ids = append(ids, id)
		people = append(people, grantee{role: account.Role(role)})
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err
	}
	rows.Close()
	accounts, err := account.ByIDs(tx, ids)
	for i, id := range ids {
		if err == nil {
			people[i].account = accounts[id]
		}
	}
	return people, total, err
}
