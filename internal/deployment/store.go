package deployment

import (
	"errors"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const columns = `SELECT d.id, d.repo_id, d.sha, d.ref, d.task, d.environment, d.original_environment, d.payload,
	d.description, d.transient, d.production, d.creator_id, d.state, d.statuses, d.created_at, d.updated_at
	FROM deployments d `

func scan(row db.Scanner) (*Deployment, error) {
	var d Deployment
	err := row.Scan(&d.ID, &d.RepoID, &d.SHA, &d.Ref, &d.Task, &d.Environment, &d.Original, &d.Payload,
		&d.Description, &d.Transient, &d.Production, &d.CreatorID, &d.State, &d.Statuses, &d.CreatedAt, &d.UpdatedAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &d, err
}

// byID reads a deployment of a repository. Error: 404.
func byID(tx *db.Tx, repoID repo.ID, id int64) (*Deployment, error) {
	return scan(tx.QueryRow(columns+`WHERE d.repo_id = $1 AND d.id = $2`, repoID, id))
}

// Filter selects deployments of a repository. An empty value selects all.
type Filter struct{ SHA, Ref, Task, Environment string }

// where returns the condition for deployments d, and its arguments.
func (f Filter) where(repoID repo.ID) (string, []any) {
	text, args := `WHERE d.repo_id = $1`, []any{repoID}
	for _, one := range [...]struct{ column, value string }{{"sha", f.SHA}, {"ref", f.Ref}, {"task", f.Task},
		{"environment", f.Environment}} {
		if one.value != "" {
			args = append(args, one.value)
			text += ` AND d.` + one.column + ` = $` + strconv.Itoa(len(args))
		}
	}
	return text, args
}

// list reads a page of deployments, the newest first, and counts them.
func list(tx *db.Tx, repoID repo.ID, f Filter, page web.Page) (list []*Deployment, total int64, err error) {
	where, args := f.where(repoID)
	if err := tx.QueryRow(`SELECT count(*) FROM deployments d `+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	n := strconv.Itoa(len(args) + 1)
	list, err = db.QueryList(tx, scan, columns+where+` ORDER BY d.id DESC LIMIT $`+n+` OFFSET $`+
		strconv.Itoa(len(args)+2), append(args, page.Size, page.Offset())...)
	return list, total, err
}

// hasOthers reports whether the repository has other deployments.
func hasOthers(tx *db.Tx, d *Deployment) (others bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM deployments WHERE repo_id = $1 AND id <> $2)`, d.RepoID, d.ID).
		Scan(&others)
	return others, err
}

// earlier reads the successful deployments to the same environment that a later one replaces, the newest first.
func earlier(tx *db.Tx, d *Deployment) ([]*Deployment, error) {
	return db.QueryList(tx, scan, columns+`WHERE d.repo_id = $1 AND d.environment = $2 AND d.id < $3 AND d.state = $4
		AND d.statuses < $5 AND d.transient = FALSE AND d.production = FALSE ORDER BY d.id DESC LIMIT $6`,
		d.RepoID, d.Environment, d.ID, int64(Success), maxStatuses, maxInactive)
}

func insert(tx *db.Tx, d *Deployment) (id int64, err error) {
	err = tx.QueryRow(`INSERT INTO deployments (repo_id, sha, ref, task, environment, original_environment, payload,
		description, transient, production, creator_id, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id`, d.RepoID, string(d.SHA), d.Ref,
		d.Task, d.Environment, d.Original, d.Payload, d.Description, d.Transient, d.Production, d.CreatorID,
		d.CreatedAt, d.UpdatedAt).Scan(&id)
	return id, err
}

// update writes what a status changes.
func update(tx *db.Tx, d *Deployment) error {
	return tx.Run(`UPDATE deployments SET state = $2, environment = $3, statuses = $4, updated_at = $5 WHERE id = $1`,
		d.ID, int64(d.State), d.Environment, d.Statuses, d.UpdatedAt)
}

func remove(tx *db.Tx, d *Deployment) error {
	return tx.Run(`DELETE FROM deployments WHERE id = $1`, d.ID)
}

const statusColumns = `SELECT s.id, s.deployment_id, s.state, s.environment, s.description, s.log_url,
	s.environment_url, s.creator_id, s.created_at FROM deployment_statuses s `

func scanStatus(row db.Scanner) (*Status, error) {
	var s Status
	err := row.Scan(&s.ID, &s.DeploymentID, &s.State, &s.Environment, &s.Description, &s.LogURL, &s.URL, &s.CreatorID,
		&s.CreatedAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &s, err
}

func statusByID(tx *db.Tx, repoID repo.ID, id int64) (*Status, error) {
	return scanStatus(tx.QueryRow(statusColumns+`WHERE s.repo_id = $1 AND s.id = $2`, repoID, id))
}

// statusesOf reads a page of a deployment's statuses, the newest first.
func statusesOf(tx *db.Tx, deployment int64, page web.Page) ([]*Status, error) {
	return db.QueryList(tx, scanStatus, statusColumns+`WHERE s.deployment_id = $1 ORDER BY s.id DESC
		LIMIT $2 OFFSET $3`, deployment, page.Size, page.Offset())
}

// latestStatuses reads the latest status of each deployment.
func latestStatuses(tx *db.Tx, deployments []int64) (map[int64]*Status, error) {
	found := map[int64]*Status{}
	if len(deployments) == 0 {
		return found, nil
	}
	list, err := db.QueryList(tx, scanStatus, statusColumns+`WHERE s.id IN (SELECT MAX(x.id) FROM deployment_statuses x
		WHERE x.deployment_id IN `+db.Values(1, len(deployments))+` GROUP BY x.deployment_id)`, db.Args(deployments)...)
	for _, s := range list {
		found[s.DeploymentID] = s
	}
	return found, err
}

func insertStatus(tx *db.Tx, repoID repo.ID, s *Status) (id int64, err error) {
	err = tx.QueryRow(`INSERT INTO deployment_statuses (repo_id, deployment_id, state, environment, description,
		log_url, environment_url, creator_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
		repoID, s.DeploymentID, int64(s.State), s.Environment, s.Description, s.LogURL, s.URL, s.CreatorID,
		s.CreatedAt).Scan(&id)
	return id, err
}

const environmentFields = `id, name, wait_timer, prevent_self_review, reviewers, branches, created_at, updated_at`

const environmentColumns = `SELECT ` + environmentFields + ` FROM environments `

func anEnvironment(row db.Scanner) (*Environment, error) { return scanEnvironment(row) }

// scanEnvironment reads environmentFields, and then more columns of the query. Error: 404.
func scanEnvironment(row db.Scanner, more ...any) (*Environment, error) {
	var e Environment
	var reviewers string
	err := row.Scan(append([]any{&e.ID, &e.Name, &e.WaitTimer, &e.PreventSelfReview, &reviewers, &e.Branches,
		&e.CreatedAt, &e.UpdatedAt}, more...)...)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	for text := range strings.SplitSeq(reviewers, ",") {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			e.Reviewers = append(e.Reviewers, account.ID(id))
		}
	}
	return &e, err
}

// environmentNamed reads an environment; case does not matter. Error: 404.
func environmentNamed(tx *db.Tx, id repo.ID, name string) (*Environment, error) {
	return scanEnvironment(tx.QueryRow(environmentColumns+`WHERE repo_id = $1 AND name_folded = $2`, id,
		strings.ToLower(name)))
}

func environmentByID(tx *db.Tx, in repo.ID, id int64) (*Environment, error) {
	return scanEnvironment(tx.QueryRow(environmentColumns+`WHERE repo_id = $1 AND id = $2`, in, id))
}

func environmentsOf(tx *db.Tx, id repo.ID, page web.Page) ([]*Environment, error) {
	return db.QueryList(tx, anEnvironment, environmentColumns+`WHERE repo_id = $1 ORDER BY name_folded
		LIMIT $2 OFFSET $3`, id, page.Size, page.Offset())
}

func countEnvironments(tx *db.Tx, id repo.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM environments WHERE repo_id = $1`, id).Scan(&n)
	return n, err
}

func insertEnvironment(tx *db.Tx, id repo.ID, e *Environment) error {
	return tx.Run(`INSERT INTO environments (repo_id, name, name_folded, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5)`, id, e.Name, strings.ToLower(e.Name), e.CreatedAt, e.UpdatedAt)
}

// updateEnvironment writes the rules of an environment.
func updateEnvironment(tx *db.Tx, e *Environment) error {
	reviewers := make([]string, len(e.Reviewers))
	for n, id := range e.Reviewers {
		reviewers[n] = id.String()
	}
	return tx.Run(`UPDATE environments SET wait_timer = $2, prevent_self_review = $3, reviewers = $4, branches = $5,
		updated_at = $6 WHERE id = $1`, e.ID, e.WaitTimer, e.PreventSelfReview, strings.Join(reviewers, ","),
		int64(e.Branches), e.UpdatedAt)
}

func removeEnvironment(tx *db.Tx, id int64) error {
	return tx.Run(`DELETE FROM environments WHERE id = $1`, id)
}

// current reads the latest deployment to each environment of a page of environments by name.
func current(tx *db.Tx, id repo.ID, page web.Page) ([]*Deployment, error) {
	return db.QueryList(tx, scan, columns+`WHERE d.id IN (SELECT (SELECT MAX(x.id) FROM deployments x
		WHERE x.repo_id = e.repo_id AND x.environment = e.name) FROM (SELECT repo_id, name FROM environments
		WHERE repo_id = $1 ORDER BY name_folded LIMIT $2 OFFSET $3) e) ORDER BY d.environment`, id, page.Size,
		page.Offset())
}

// ofCommit reads deployments of a commit that are successes, the newest first, so many at most.
func ofCommit(tx *db.Tx, id repo.ID, sha git.SHA, most int64) ([]*Deployment, error) {
	return db.QueryList(tx, scan, columns+`WHERE d.repo_id = $1 AND d.sha = $2 AND d.state = $3
		ORDER BY d.id DESC LIMIT $4`, id, string(sha), int64(Success), most)
}
