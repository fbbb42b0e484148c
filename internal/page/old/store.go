package old

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// listed is a repository in a list.
type listed struct {
	owner        string // login
	name, folded string
	description  *string
	pushedAt     db.Time
}

// publicRepos reads the owner's public repositories whose folded names come
// after the given one, by name.
func publicRepos(tx *db.Tx, owner *account.Account, after string, limit int) ([]listed, error) {
	return queryListed(tx, `SELECT CAST($4 AS TEXT), name, name_folded, description, pushed_at FROM repos
		WHERE owner_id = $1 AND name_folded > $2 AND NOT private ORDER BY name_folded LIMIT $3`,
		owner.ID, after, limit, owner.Login)
}

func queryListed(tx *db.Tx, query string, args ...any) ([]listed, error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []listed
	for rows.Next() {
		var l listed
		if err := rows.Scan(&l.owner, &l.name, &l.folded, &l.description, &l.pushedAt); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, rows.Err()
}
