package collaborator

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListPushers reads a page, by id, of the people who belong to the repository
// and may push to it, and how many they are: its owner, of an organization the
// owners and members with that right, and those to whom it was granted. Who is
// a member in secret is left out unless secret is set.
func ListPushers(tx *db.Tx, r *repo.Repo, secret bool, page web.Page) ([]*account.Account, int64, error) {
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

// pushers selects who belongs to the repository and may push, each once. $1 is
// the repository, $2 its owner, $3 the least role.
func pushers(r *repo.Repo, secret bool) string {
	granted := ` FROM collaborators g JOIN accounts a ON a.id = g.user_id
		WHERE g.repo_id = $1 AND (g.role >= $3 OR a.site_admin)`
	if r.Owner.Kind == account.User {
		return `SELECT id AS user_id FROM accounts WHERE id = $2
			UNION ALL SELECT g.user_id` + granted + ` AND g.user_id <> $2`
	}
	member := `m.owner OR c.role >= $3 OR a.site_admin`
	if r.Owner.DefaultRole >= account.Push {
		member = `TRUE`
	}
	shown := `(m.public OR c.user_id IS NOT NULL)`
	if secret {
		shown = `TRUE`
	}
	return `SELECT m.user_id FROM members m JOIN accounts a ON a.id = m.user_id
			LEFT JOIN collaborators c ON c.repo_id = $1 AND c.user_id = m.user_id
			WHERE m.org_id = $2 AND (` + member + `) AND ` + shown + `
		UNION ALL SELECT g.user_id` + granted + `
			AND NOT EXISTS (SELECT 1 FROM members n WHERE n.org_id = $2 AND n.user_id = g.user_id)`
}

// listPushers reads a page of ids, and how many there are.
func listPushers(
	tx *db.Tx, r *repo.Repo, secret bool, page web.Page,
) (ids []account.ID, total int64, err error) {
	args := []any{r.ID, r.OwnerID, int64(account.Push)}
	people := pushers(r, secret)
	ids, err = db.QueryIDs[account.ID](tx, people+` ORDER BY user_id LIMIT $4 OFFSET $5`,
		append(args, page.Size, page.Offset())...)
	if err != nil {
		return nil, 0, err
	}
	total, known := page.Total(len(ids))
	if !known {
		err = tx.QueryRow(`SELECT count(*) FROM (`+people+`) p`, args[:3]...).Scan(&total)
	}
	return ids, total, err
}
