package page

import (
	"arbor/internal/db"
)

// listed is a repository in a list.
type listed struct {
	owner, name, folded string // the owner's login and the folded name only where they are read
	description         *string
	pushedAt            db.Time
}

// latelyPushed reads public repositories among the hundred that were last pushed
// to, at most twenty.
func latelyPushed(tx *db.Tx) ([]listed, error) {
	rows, err := tx.Query(`SELECT a.login, r.name, r.description, r.pushed_at
		FROM (SELECT * FROM repos ORDER BY pushed_at DESC, id DESC LIMIT 100) r JOIN accounts a ON a.id = r.owner_id
		WHERE NOT r.private ORDER BY r.pushed_at DESC, r.id DESC LIMIT 20`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []listed
	for rows.Next() {
		var l listed
		if err := rows.Scan(&l.owner, &l.name, &l.description, &l.pushedAt); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, rows.Err()
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
