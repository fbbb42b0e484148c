package deployment

import (
	"fmt"
	"strings"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// to returns the condition that deployments d are to the environments of an order, and its arguments, which begin at
// a number.
func (o Order) to(first int) (condition string, args []any) {
	if len(o.Environments) == 0 {
		return `TRUE`, nil
	}
	return `d.environment IN ` + db.ValuesFrom(first, 1, len(o.Environments)), db.Args(o.Environments)
}

func countMany(tx *db.Tx, repos []*repo.Access, o Order) (map[repo.ID]int64, error) {
	condition, args := o.to(len(repos) + 1)
	return db.QueryMap[repo.ID, int64](tx, `SELECT d.repo_id, count(*) FROM deployments d WHERE d.repo_id IN `+
		db.Values(1, len(repos))+` AND `+condition+` GROUP BY d.repo_id`, append(db.Args(repo.IDsOf(repos)), args...)...)
}

func listMany(tx *db.Tx, repos []*repo.Access, o Order, page web.Page) ([]*Deployment, error) {
	condition, args := o.to(len(repos) + 3)
	order := map[bool]string{false: ` ORDER BY id`, true: ` ORDER BY id DESC`}[o.Desc]
	parts := make([]string, len(repos))
	for n := range repos {
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT d.id FROM deployments d WHERE d.repo_id = $%d AND %s%s
			LIMIT $1 OFFSET $2) p%d`, n+3, condition, order, n)
	}
	return db.QueryList(tx, scan, columns+`WHERE d.id IN (`+strings.Join(parts, ` UNION ALL `)+`)`+order,
		append(db.Args(repo.IDsOf(repos), page.Size, page.Offset()), args...)...)
}

func countEnvironmentsMany(tx *db.Tx, repos []*repo.Access) (map[repo.ID]int64, error) {
	return db.QueryMap[repo.ID, int64](tx, `SELECT repo_id, count(*) FROM environments WHERE repo_id IN `+
		db.Values(1, len(repos))+` GROUP BY repo_id`, db.Args(repo.IDsOf(repos))...)
}

// environmentsMany calls each with the environments of a page of each repository, by name.
func environmentsMany(tx *db.Tx, repos []*repo.Access, page web.Page, each func(of repo.ID, e *Environment)) error {
	parts := make([]string, len(repos))
	for n := range repos {
		parts[n] = fmt.Sprintf(`SELECT * FROM (SELECT repo_id, id, name, name_folded FROM environments
			WHERE repo_id = $%d ORDER BY name_folded LIMIT $1 OFFSET $2) p%d`, n+3, n)
	}
	return db.QueryEach(tx, func(row db.Scanner) error {
		var of repo.ID
		var e Environment
		err := row.Scan(&of, &e.ID, &e.Name)
		each(of, &e)
		return err
	}, `SELECT repo_id, id, name FROM (`+strings.Join(parts, ` UNION ALL `)+`) p ORDER BY name_folded`,
		db.Args(repo.IDsOf(repos), page.Size, page.Offset())...)
}

// Places returns the repositories of deployments.
func Places(tx *db.Tx, ids []int64) (map[int64]repo.ID, error) {
	return db.QueryMap[int64, repo.ID](tx, `SELECT id, repo_id FROM deployments WHERE id IN `+db.Values(1, len(ids)),
		db.Args(ids)...)
}

// EnvironmentPlaces returns the repositories of environments.
func EnvironmentPlaces(tx *db.Tx, ids []int64) (map[int64]repo.ID, error) {
	return db.QueryMap[int64, repo.ID](tx, `SELECT id, repo_id FROM environments WHERE id IN `+db.Values(1, len(ids)),
		db.Args(ids)...)
}

// byIDs reads deployments of any repositories.
func byIDs(tx *db.Tx, ids []int64) ([]*Deployment, error) {
	return db.QueryList(tx, scan, columns+`WHERE d.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// environmentsByIDs reads environments of any repositories.
func environmentsByIDs(tx *db.Tx, ids []int64) ([]*Environment, error) {
	return db.QueryList(tx, scanEnvironment, environmentColumns+`WHERE id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}
