package page

import (
	"arbor/internal/db"
)

// listed is a repository in its owner's list.
type listed struct {
	name, folded string
	description  *string
	pushedAt     db.Time
}

// publicRepos reads the owner's public repositories whose folded names come
// after the given one, by name.
func publicRepos(tx *db.Tx, ownerID int64, after string, limit int) ([]listed, error) {
	rows, err := tx.Query(`SELECT name, name_folded, description, pushed_at FROM repos
		WHERE owner_id = $1 AND name_folded > $2 AND NOT private ORDER BY name_folded LIMIT $3`, ownerID, after, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []listed
	for rows.Next() {
		var l listed
		if err := rows.Scan(&l.name, &l.folded, &l.description, &l.pushedAt); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, rows.Err()
}
