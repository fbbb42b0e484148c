package repo

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// pushers selects who belongs to the repository and may push, each once. $1 is
// the repository, $2 its owner, $3 the least role.
func (r *Repo) pushers(secret bool) string {
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
func listPushers(tx *db.Tx, r *Repo, secret bool, page web.Page) (ids []account.ID, total int64, err error) {
	args := []any{r.ID, r.OwnerID, int64(account.Push)}
	people := r.pushers(secret)
	if err := tx.QueryRow(`SELECT count(*) FROM (`+people+`) p`, args...).Scan(&total); err != nil || page.Offset() >= total {
		return nil, total, err
	}
	ids, err = db.QueryIDs[account.ID](tx, people+` ORDER BY user_id LIMIT $4 OFFSET $5`, append(args, page.Size, page.Offset())...)
	return ids, total, err
}
