package collaborator

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListPushers reads a page, by id, of the people who belong to each repository
// and may push to it, and how many they are: its owner, of an organization the
// owners and members with that right, and those to whom it was granted. Who is
// a member in secret is left out unless secret is true for the repository.
func ListPushers(
	tx *db.Tx, repos []*repo.Access, secret func(*repo.Access) bool, page web.Page,
) (map[repo.ID]*web.List[*account.Account], error) {
	from := func(a *repo.Access, p *params) string {
		return pushers(a.Repo, secret(a), p.place(a.Repo), p.add(int64(account.Push)))
	}
	ids, rows, all := make([][]account.ID, len(repos)), make([]int, len(repos)), []account.ID{}
	err := eachPage(tx, repos, page, `user_id`, from, func(row db.Scanner) error {
		var n int
		var id account.ID
		err := row.Scan(&n, &id)
		ids[n], all, rows[n] = append(ids[n], id), append(all, id), rows[n]+1
		return err
	})
	if err != nil {
		return nil, err
	}
	total, err := totals(tx, repos, page, rows, from)
	if err != nil {
		return nil, err
	}
	accounts, err := account.ByIDs(tx, all)
	out := map[repo.ID]*web.List[*account.Account]{}
	for n, a := range repos {
		l := &web.List[*account.Account]{Total: total[n], More: page.Number*page.Size < total[n]}
		for _, id := range ids[n] {
			l.Rows = append(l.Rows, accounts[id])
		}
		out[a.ID] = l
	}
	return out, err
}

// pushers selects who belongs to the repository and may push, each once. least is the placeholder of the least
// role.
func pushers(r *repo.Repo, secret bool, at place, least string) string {
	granted := ` FROM collaborators g JOIN accounts a ON a.id = g.user_id
		WHERE g.repo_id = ` + at.repo + ` AND (g.role >= ` + least + ` OR a.site_admin)`
	if r.Owner.Kind == account.User {
		return `SELECT id AS user_id FROM accounts WHERE id = ` + at.owner + `
			UNION ALL SELECT g.user_id` + granted + ` AND g.user_id <> ` + at.owner
	}
	member := `m.owner OR ` + repo.GrantedRole(at.repo, "m.user_id") + ` >= ` + least + ` OR a.site_admin`
	if r.Owner.DefaultRole >= account.Push {
		member = `TRUE`
	}
	shown := `(m.public OR c.user_id IS NOT NULL)`
	if secret {
		shown = `TRUE`
	}
	return `SELECT m.user_id FROM members m JOIN accounts a ON a.id = m.user_id
			LEFT JOIN collaborators c ON c.repo_id = ` + at.repo + ` AND c.user_id = m.user_id
			WHERE m.org_id = ` + at.owner + ` AND (` + member + `) AND ` + shown + `
		UNION ALL SELECT g.user_id` + granted + `
			AND NOT EXISTS (SELECT 1 FROM members n WHERE n.org_id = ` + at.owner + ` AND n.user_id = g.user_id)`
}
