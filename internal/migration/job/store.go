package job

import (
	"encoding/json"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/migration"
	"arbor/internal/repo"
)

// jobs are the imports that wait or run.
var jobs = db.Jobs{Table: "import_jobs", Key: "repo_id"}

// byRepo reads the import into a repository. Error: 404.
func byRepo(tx *db.Tx, id repo.ID) (*Job, error) {
	j := &Job{}
	var report string
	running := `j.active = TRUE AND j.tries > 0 AND j.due_at > ` + tx.Engine().Clock()
	err := tx.QueryRow(`SELECT j.repo_id, j.url, j.secret, j.people, COALESCE(j.asked_by, 0), COALESCE(a.login, ''),
			j.asked_at, j.version, j.tries, j.active, `+running+`, j.part, j.done, j.total, j.ended_at, j.problem, j.report
		FROM import_jobs j LEFT JOIN accounts a ON a.id = j.asked_by WHERE j.repo_id = $1 AND j.url <> ''`, id).
		Scan(&j.RepoID, &j.URL, &j.secret, &j.people, &j.AskedBy, &j.By, &j.AskedAt, &j.version, &j.tries, &j.Active,
			&j.Running, &j.Part, &j.Done, &j.All, &j.EndedAt, &j.Problem, &report)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	if report != "" {
		j.Report = &migration.Report{}
		err = json.Unmarshal([]byte(report), j.Report)
	}
	return j, err
}

// put stores a new import, or one that is asked for again.
func put(tx *db.Tx, j *Job) error {
	return tx.Run(`INSERT INTO import_jobs (repo_id, url, secret, people, asked_by, asked_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (repo_id) DO UPDATE SET url = excluded.url, secret = excluded.secret, people = excluded.people,
			asked_by = excluded.asked_by, asked_at = excluded.asked_at, version = import_jobs.version + 1, active = TRUE,
			due_at = 0, tries = 0, part = '', done = 0, total = 0, ended_at = NULL, problem = '', report = ''`,
		j.RepoID, j.URL, j.secret, j.people, j.AskedBy, tx.Now)
}

// countActive counts the imports that a person asked for and that have not ended.
func countActive(tx *db.Tx, by account.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM import_jobs WHERE asked_by = $1 AND active = TRUE`, by).Scan(&n)
	return n, err
}

// cancel ends an import. The lease of its run is lost.
func cancel(tx *db.Tx, id repo.ID, problem string) error {
	return tx.Run(`UPDATE import_jobs SET active = FALSE, due_at = 0, secret = '', people = '', version = version + 1,
		ended_at = $2, problem = $3 WHERE repo_id = $1`, id, tx.Now, problem)
}

// forget removes what is known of an import that has ended. How much text it brought still counts.
func forget(tx *db.Tx, id repo.ID) error {
	return tx.Run(`UPDATE import_jobs SET url = '', problem = '', report = '', asked_by = NULL WHERE repo_id = $1`, id)
}

// finish ends an import whose run has a lease. Error: db.ErrLeaseLost.
func finish(tx *db.Tx, l *db.Lease, problem, report string) error {
	n, err := tx.Exec(`UPDATE import_jobs SET active = FALSE, due_at = 0, secret = '', people = '', part = '', ended_at = $3,
		problem = $4, report = $5 WHERE repo_id = $1 AND due_at = $2 AND active = TRUE`, l.IDs[0], l.Until, tx.Now, problem,
		report)
	if err == nil && n == 0 {
		err = db.ErrLeaseLost
	}
	return err
}

// tell stores how far an import is.
func tell(tx *db.Tx, j *Job, part string, done, all int64) error {
	return tx.Run(`UPDATE import_jobs SET part = $3, done = $4, total = $5 WHERE repo_id = $1 AND version = $2
		AND active = TRUE`, j.RepoID, j.version, part, done, all)
}

// holds reports whether an import is still the one that runs.
func holds(tx *db.Tx, j *Job) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM import_jobs WHERE repo_id = $1 AND version = $2 AND active = TRUE)`,
		j.RepoID, j.version).Scan(&is)
	return is, err
}

// addText counts bytes of text that came.
func addText(tx *db.Tx, id repo.ID, bytes int64) error {
	return tx.Run(`UPDATE import_jobs SET text_bytes = text_bytes + $2 WHERE repo_id = $1`, id, bytes)
}

// candidate is an import that is due.
type candidate struct {
	id repo.ID
	by account.ID
}

// maxLooked is how many imports are looked at together.
const maxLooked = 100

// due reads imports that are due, the longest due first, but for those of people of whom one runs.
func due(tx *db.Tx) ([]candidate, error) {
	clock := tx.Engine().Clock()
	return db.QueryList(tx, func(row db.Scanner) (c candidate, err error) {
		return c, row.Scan(&c.id, &c.by)
	}, `SELECT j.repo_id, COALESCE(j.asked_by, 0) FROM import_jobs j WHERE j.active = TRUE AND j.due_at <= `+clock+`
		AND NOT EXISTS (SELECT 1 FROM import_jobs x
			WHERE x.asked_by = j.asked_by AND x.active = TRUE AND x.due_at > `+clock+`)
		ORDER BY j.due_at, j.asked_at, j.repo_id LIMIT $1`, maxLooked)
}

// stateOf reads whether an account is suspended, and a site administrator.
func stateOf(tx *db.Tx, id account.ID) (suspended, siteAdmin bool, err error) {
	err = tx.QueryRow(`SELECT suspended_at IS NOT NULL, site_admin FROM accounts WHERE id = $1`, id).
		Scan(&suspended, &siteAdmin)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return suspended, siteAdmin, err
}
