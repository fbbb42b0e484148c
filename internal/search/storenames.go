package search

import (
	"arbor/internal/db"
	"arbor/internal/fulltext"
)

// indexNames is indexChanged for repositories and accounts.
func indexNames(tx *db.Tx, most int) error {
	repos, accounts, err := takeNames(tx, most)
	if err != nil {
		return err
	}
	list, err := queryNames(tx, `SELECT id, name, COALESCE(description, ''), topics FROM repos WHERE id IN `, repos)
	if err == nil {
		err = fulltext.PutNames(tx, fulltext.Repos, list)
	}
	if err != nil {
		return err
	}
	list, err = queryNames(tx, `SELECT id, login, COALESCE(name, ''), COALESCE(email, '') FROM accounts WHERE id IN `, accounts)
	if err != nil {
		return err
	}
	return fulltext.PutNames(tx, fulltext.Accounts, list)
}

// takeNames takes the oldest notes.
func takeNames(tx *db.Tx, most int) (repos, accounts map[int64]bool, err error) {
	repos, accounts = map[int64]bool{}, map[int64]bool{}
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var repoID, accountID int64
		if err := row.Scan(&repoID, &accountID); err != nil {
			return err
		}
		if accountID == 0 {
			repos[repoID] = true
		} else {
			accounts[accountID] = true
		}
		return nil
	}, `DELETE FROM names_changed WHERE id IN (SELECT id FROM names_changed ORDER BY id LIMIT $1)
		RETURNING repo_id, account_id`, most)
	return repos, accounts, err
}

func queryNames(tx *db.Tx, query string, ids map[int64]bool) (list []fulltext.Name, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var args []any
	for id := range ids {
		args = append(args, id)
	}
	return db.QueryList(tx, func(row db.Scanner) (n fulltext.Name, err error) {
		err = row.Scan(&n.ID, &n.Texts[0], &n.Texts[1], &n.Texts[2])
		return n, err
	}, query+db.ValuesFrom(1, 1, len(args)), args...)
}
