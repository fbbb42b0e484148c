package deployment

import (
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/git"
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

// named returns the condition that environments have one of the names, and its arguments, which begin at a number.
// Without names, all do.
func named(names []string, first int) (condition string, args []any) {
	if len(names) == 0 {
		return `TRUE`, nil
	}
	folded := make([]string, len(names))
	for n, name := range names {
		folded[n] = strings.ToLower(name)
	}
	return `name_folded IN ` + db.ValuesFrom(first, 1, len(names)), db.Args(folded)
}

func countEnvironmentsMany(tx *db.Tx, repos []*repo.Access, names []string) (map[repo.ID]int64, error) {
	condition, args := named(names, len(repos)+1)
	args = append(db.Args(repo.IDsOf(repos)), args...)
	return db.QueryMap[repo.ID, int64](tx, `SELECT repo_id, count(*) FROM environments WHERE repo_id IN `+
		db.Values(1, len(repos))+` AND `+condition+` GROUP BY repo_id`, args...)
}

// environmentsMany calls each with the environments of a page of each repository, by name.
func environmentsMany(tx *db.Tx, repos []*repo.Access, names []string, page web.Page,
	each func(of repo.ID, e *Environment)) error {
	condition, args := named(names, len(repos)+3)
	parts := make([]string, len(repos))
	for n := range repos {
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT id FROM environments WHERE repo_id = $%d AND %s
			ORDER BY name_folded LIMIT $1 OFFSET $2) p%d`, n+3, condition, n)
	}
	return db.QueryEach(tx, func(row db.Scanner) error {
		var of repo.ID
		e, err := scanEnvironment(row, &of)
		if err == nil {
			each(of, e)
		}
		return err
	}, `SELECT `+environmentFields+`, repo_id FROM environments WHERE id IN (`+strings.Join(parts, ` UNION ALL `)+
		`) ORDER BY name_folded`,
		append(db.Args(repo.IDsOf(repos), page.Size, page.Offset()), args...)...)
}

// ofCommits returns the condition of each commit for deployments d of it, and their arguments, which begin at a number.
func ofCommits(list []repo.Of[git.SHA], first int) (each []string, args []any) {
	each = make([]string, len(list))
	for n, of := range list {
		each[n] = fmt.Sprintf(`d.repo_id = $%d AND d.sha = $%d`, first+2*n, first+2*n+1)
		args = append(args, of.In.ID, string(of.Key))
	}
	return each, args
}

// countOfCommits counts the deployments of each commit that are to the environments of an order, by its place.
func countOfCommits(tx *db.Tx, list []repo.Of[git.SHA], o Order) (map[int]int64, error) {
	each, args := ofCommits(list, 1)
	condition, more := o.to(len(args) + 1)
	parts := make([]string, len(list))
	for n, of := range each {
		parts[n] = fmt.Sprintf(`SELECT %d, count(*) FROM deployments d WHERE %s AND %s`, n, of, condition)
	}
	return db.QueryMap[int, int64](tx, strings.Join(parts, ` UNION ALL `), append(args, more...)...)
}

// listOfCommits reads a page of the deployments of each commit.
func listOfCommits(tx *db.Tx, list []repo.Of[git.SHA], o Order, page web.Page) ([]*Deployment, error) {
	each, args := ofCommits(list, 3)
	condition, more := o.to(len(args) + 3)
	order := map[bool]string{false: ` ORDER BY id`, true: ` ORDER BY id DESC`}[o.Desc]
	parts := make([]string, len(list))
	for n, of := range each {
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT d.id FROM deployments d WHERE %s AND %s%s
			LIMIT $1 OFFSET $2) p%d`, of, condition, order, n)
	}
	return db.QueryList(tx, scan, columns+`WHERE d.id IN (`+strings.Join(parts, ` UNION ALL `)+`)`+order,
		slices.Concat([]any{page.Size, page.Offset()}, args, more)...)
}

// statusesOfEach reads a page of the statuses of each deployment, the newest first.
func statusesOfEach(tx *db.Tx, deployments []int64, page web.Page) ([]*Status, error) {
	parts := make([]string, len(deployments))
	for n := range deployments {
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT id FROM deployment_statuses WHERE deployment_id = $%d
			ORDER BY id DESC LIMIT $1 OFFSET $2) p%d`, n+3, n)
	}
	return db.QueryList(tx, scanStatus, statusColumns+`WHERE s.id IN (`+strings.Join(parts, ` UNION ALL `)+
		`) ORDER BY s.id DESC`, db.Args(deployments, page.Size, page.Offset())...)
}

// countStatuses counts the statuses of each deployment of the repositories that they are in.
func countStatuses(tx *db.Tx, deployments []int64) (map[int64]int64, error) {
	return db.QueryMap[int64, int64](tx, `SELECT deployment_id, count(*) FROM deployment_statuses
		WHERE deployment_id IN `+db.Values(1, len(deployments))+` GROUP BY deployment_id`, db.Args(deployments)...)
}

// completed returns the last deployment to each environment that ended, well or not. Others are missing.
func completed(tx *db.Tx, environments []int64) (map[int64]int64, error) {
	ended := fmt.Sprintf(`d.repo_id = e.repo_id AND d.environment = e.name AND d.state IN (%d, %d, %d, %d)`, Success,
		Failure, Error, Inactive)
	return db.QueryMap[int64, int64](tx, `SELECT e.id, (SELECT max(d.id) FROM deployments d WHERE `+ended+
		`) FROM environments e WHERE EXISTS (SELECT 1 FROM deployments d WHERE `+ended+`) AND e.id IN `+
		db.Values(1, len(environments)), db.Args(environments)...)
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
	return db.QueryList(tx, anEnvironment, environmentColumns+`WHERE id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// StatusPlaces returns the repositories of statuses.
func StatusPlaces(tx *db.Tx, ids []int64) (map[int64]repo.ID, error) {
	return db.QueryMap[int64, repo.ID](tx, `SELECT s.id, d.repo_id FROM deployment_statuses s
		JOIN deployments d ON d.id = s.deployment_id WHERE s.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// statusesByIDs reads statuses of any deployments.
func statusesByIDs(tx *db.Tx, ids []int64) ([]*Status, error) {
	return db.QueryList(tx, scanStatus, statusColumns+`WHERE s.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}
