package team

import (
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Repo is a repository with the role that a team has on it.
type Repo struct {
	*repo.Access // of the caller
	Role         account.Role
}

// inherited selects the ids and the roles of the repositories of a team, also of those that it has through teams
// above.
func inherited(tx *db.Tx, id ID) (string, error) {
	list, err := above(tx, id)
	ids := make([]string, len(list))
	for n, id := range list {
		ids[n] = id.String()
	}
	return `SELECT tr.repo_id AS id, max(tr.role) AS role FROM team_repos tr
		WHERE tr.team_id IN (` + strings.Join(ids, `, `) + `) GROUP BY tr.repo_id`, err
}

// listRepos reads a page of the repositories of a team that the caller may see, and how many there are.
func listRepos(tx *db.Tx, a *Access, c RepoChoice, page web.Page) (list []Repo, total int64, err error) {
	of, err := inherited(tx, a.ID)
	if err != nil {
		return nil, 0, err
	}
	from, args := repo.FromVisibleIn(of, a.Caller), []any{account.IDOf(a.Caller)}
	if c.Text != "" {
		from, args = from+` AND r.name_folded LIKE $2 ESCAPE '!'`, append(args, containing(c.Text))
	}
	n := len(args)
	var ids []repo.ID
	roles := map[repo.ID]account.Role{}
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var id repo.ID
		var role account.Role
		err := row.Scan(&id, &role)
		ids, roles[id] = append(ids, id), role
		return err
	}, `SELECT r.id, f.role`+from+c.order()+` LIMIT `+arg(n+1)+` OFFSET `+arg(n+2),
		append(args[:n:n], page.Size, page.Offset())...)
	if err != nil {
		return nil, 0, err
	}
	found, err := repo.InOrder(tx, a.Caller, ids)
	for _, r := range found {
		list = append(list, Repo{r, roles[r.ID]})
	}
	total, known := page.Total(len(ids))
	if err == nil && !known {
		err = tx.QueryRow(`SELECT count(*)`+from, args...).Scan(&total)
	}
	return list, total, err
}

// roleOn returns the role of a team on a repository, also through teams above, or None.
func roleOn(tx *db.Tx, id ID, repoID repo.ID) (role account.Role, err error) {
	of, err := inherited(tx, id)
	if err == nil {
		err = tx.QueryRow(`SELECT COALESCE(max(f.role), 0) FROM (`+of+`) f WHERE f.id = $1`,
			repoID).Scan(&role)
	}
	return role, err
}

// HasRole holds if a team has a role on a repository, also through teams above. Both ids are expressions.
func HasRole(id, repoID string) string {
	return `EXISTS (WITH RECURSIVE up (id, depth) AS (SELECT ` + id + `, 0
			UNION ALL SELECT ht.parent_id, up.depth + 1 FROM teams ht JOIN up ON ht.id = up.id
				WHERE ht.parent_id IS NOT NULL AND up.depth < ` + strconv.Itoa(maxDepth) + `)
		SELECT 1 FROM up JOIN team_repos hr ON hr.team_id = up.id WHERE hr.repo_id = ` + repoID + `)`
}

// grantedTo returns the role that a team itself has on a repository, or None.
func grantedTo(tx *db.Tx, id ID, repoID repo.ID) (role account.Role, err error) {
	err = tx.QueryRow(`SELECT COALESCE(max(role), 0) FROM team_repos WHERE team_id = $1 AND repo_id = $2`, id,
		repoID).
		Scan(&role)
	return role, err
}

func putRepo(tx *db.Tx, id ID, repoID repo.ID, role account.Role) error {
	return tx.Run(`INSERT INTO team_repos (team_id, repo_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (team_id, repo_id) DO UPDATE SET role = excluded.role`, id, repoID, int64(role), tx.Now)
}

func dropRepo(tx *db.Tx, id ID, repoID repo.ID) error {
	return tx.Run(`DELETE FROM team_repos WHERE team_id = $1 AND repo_id = $2`, id, repoID)
}

// LeaveRepo takes a repository from all teams, because it gets another owner.
func LeaveRepo(tx *db.Tx, repoID repo.ID) error {
	if err := tx.Run(`DELETE FROM team_repos WHERE repo_id = $1`, repoID); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// rolesOn returns the roles of teams on a repository.
func rolesOn(tx *db.Tx, repoID repo.ID, list []*Team) (map[ID]account.Role, error) {
	found := map[ID]account.Role{}
	if len(list) == 0 {
		return found, nil
	}
	args := []any{repoID}
	for _, t := range list {
		args = append(args, t.ID)
	}
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var id ID
		var role account.Role
		err := row.Scan(&id, &role)
		found[id] = role
		return err
	}, `SELECT team_id, role FROM team_repos WHERE repo_id = $1 AND team_id IN `+db.ValuesFrom(2, 1,
		len(list)), args...)
}
