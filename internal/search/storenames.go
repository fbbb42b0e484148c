package search

import (
	"arbor/internal/db"
	"arbor/internal/fulltext"
)

// indexNames is indexChanged for repositories and accounts.
func indexNames(tx *db.Tx, most int) error {
	repos, accounts, err := takeNotes(tx, `names_changed`, `repo_id, account_id`, most)
	if err != nil {
		return err
	}
	list, err := queryNames(tx, `SELECT id, name, COALESCE(description, ''), topics FROM repos WHERE id IN `,
		repos)
	if err == nil {
		err = fulltext.PutNames(tx, fulltext.Repos, list)
	}
	if err != nil {
		return err
	}
	list, err = queryNames(tx,
		`SELECT id, login, COALESCE(name, ''), COALESCE(email, '') FROM accounts WHERE id IN `, accounts)
	if err != nil {
		return err
	}
	return fulltext.PutNames(tx, fulltext.Accounts, list)
}

func queryNames(tx *db.Tx, query string, ids map[int64]bool) ([]fulltext.Name, error) {
	return queryAmong(tx, func(row db.Scanner) (n fulltext.Name, err error) {
		err = row.Scan(&n.ID, &n.Texts[0], &n.Texts[1], &n.Texts[2])
		return n, err
	}, query, ids)
}
