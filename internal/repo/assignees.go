package repo

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// ListPushers reads a page, by id, of the people who belong to the repository
// and may push to it, and how many they are: its owner, of an organization the
// owners and members with that right, and those to whom it was granted. Who is
// a member in secret is left out unless secret is set.
func ListPushers(tx *db.Tx, r *Repo, secret bool, page web.Page) ([]*account.Account, int64, error) {
	ids, total, err := listPushers(tx, r, secret, page)
	if err != nil {
		return nil, 0, err
	}
	accounts, err := account.ByIDs(tx, ids)
	if err != nil {
		return nil, 0, err
	}
	list := make([]*account.Account, len(ids))
	for i, id := range ids {
		list[i] = accounts[id]
	}
	return list, total, nil
}
