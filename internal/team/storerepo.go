package team

import (
	"strconv"

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

// inherited selects the ids and the roles of the repositories of the team of an id, an expression, also of those that
// it has through teams above.
func inherited(id string) string {
	return `SELECT tr.repo_id AS id, max(tr.role) AS role FROM team_repos tr WHERE tr.team_id IN (
		WITH RECURSIVE up (id, parent_id, depth) AS (SELECT x.id, x.parent_id, 0 FROM teams x WHERE x.id = ` + id + `
			UNION ALL SELECT x.id, x.parent_id, up.depth + 1 FROM teams x JOIN up ON x.id = up.parent_id
				WHERE up.depth < ` + strconv.Itoa(maxDepth) + `)
		SELECT id FROM up) GROUP BY tr.repo_id`
}

// listRepos reads a page of the repositories of each team that the caller may see, with three statements at most.
func listRepos(
	tx *db.Tx, caller *account.Caller, of []ID, c RepoChoice, page web.Page,
) (map[ID]*web.List[Repo], error) {
	args, where := []any{account.IDOf(caller)}, ""
	if c.Text != "" {
		args, where = append(args, containing(c.Text)), ` AND r.name_folded LIKE $2 ESCAPE '!'`
	}
	l := db.Lists[ID]{Columns: `r.id, f.role`, Order: c.order(), From: func(_ ID, param string) string {
		return repo.FromVisibleIn(inherited(param), caller) + where
	}}
	found, err := db.PageOfEach[ID, repo.ID](tx, of, l, page.Offset(), page.Size, args...)
	if err != nil {
		return nil, err
	}
	repos, err := repo.ByIDs(tx, caller, db.ListedIDs(found))
	return web.ListOfEach(page, found, func(r db.ListRow[repo.ID]) (Repo, bool) {
		return Repo{repos[r.ID], account.Role(r.Number)}, repos[r.ID] != nil
	}), err
}

// roleOn returns the role of a team on a repository, also through teams above, or None.
func roleOn(tx *db.Tx, id ID, repoID repo.ID) (role account.Role, err error) {
	err = tx.QueryRow(`SELECT COALESCE(max(f.role), 0) FROM (`+inherited("$1")+`) f WHERE f.id = $2`, id, repoID).Scan(&role)
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
