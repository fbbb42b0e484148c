package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// recordSuites stores what rules said, and drops the oldest suites of the repository beyond a bound.
func recordSuites(tx *db.Tx, j *judgement) error {
	list := j.suites()
	if len(list) == 0 {
		return nil
	}
	args := make([]any, 0, 9*len(list))
	for _, s := range list {
		evaluations, err := json.Marshal(s.Evaluations)
		if err != nil {
			return err
		}
		args = append(args, s.RepoID, s.Actor, s.Ref, string(s.Before), string(s.After), int64(s.Result),
			int64(s.Evaluated), string(evaluations), tx.Now)
	}
	_, err := tx.Exec(`INSERT INTO rule_suites (repo_id, actor_id, ref, before_sha, after_sha, result, evaluated,
		evaluations, pushed_at) VALUES `+db.Values(len(list), 9), args...)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`DELETE FROM rule_suites WHERE repo_id = $1 AND id < (SELECT MIN(id) FROM (
		SELECT id FROM rule_suites WHERE repo_id = $1 ORDER BY id DESC LIMIT $2) newest)`, j.push.RepoID,
		int64(maxSuites))
	return err
}

const suiteColumns = `s.id, s.repo_id, s.actor_id, s.ref, s.before_sha, s.after_sha, s.result, s.evaluated,
	s.evaluations, s.pushed_at, r.name`

// suitesOf returns the tables of the suites of a repository, or of all that an organization owns, and the condition
// with $1.
func suitesOf(o owner) (from string, id any) {
	from = ` FROM rule_suites s JOIN repos r ON r.id = s.repo_id WHERE `
	if o.org != 0 {
		return from + `r.owner_id = $1 AND ` + repo.NotDeleted("r"), o.org
	}
	return from + `s.repo_id = $1`, o.repo
}

// scanSuite reads suiteColumns. Error: 404.
func scanSuite(row db.Scanner) (*Suite, error) {
	var s Suite
	var evaluations string
	err := row.Scan(&s.ID, &s.RepoID, &s.Actor, &s.Ref, &s.Before, &s.After, &s.Result, &s.Evaluated, &evaluations,
		&s.PushedAt, &s.RepoName)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	if err == nil {
		err = json.Unmarshal([]byte(evaluations), &s.Evaluations)
	}
	return &s, err
}

// suiteByID reads a suite. Error: 404.
func suiteByID(tx *db.Tx, o owner, id int64) (*Suite, error) {
	from, of := suitesOf(o)
	return scanSuite(tx.QueryRow(`SELECT `+suiteColumns+from+` AND s.id = $2`, of, id))
}

// readSuites reads a page of suites, the newest first, and how many there are.
func readSuites(tx *db.Tx, o owner, f suiteFilter, page web.Page) (list []*Suite, total int64, err error) {
	where, of := suitesOf(o)
	where += ` AND s.pushed_at >= $2`
	args := []any{of, int64(tx.Now) - f.period.Microseconds()}
	add := func(condition string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(condition, len(args))
	}
	if f.ref != "" {
		ref := f.ref
		if !strings.HasPrefix(ref, "refs/") {
			ref = git.Heads + ref
		}
		add(` AND s.ref = $%d`, ref)
	}
	if f.repo != "" {
		add(` AND r.name_folded = $%d`, account.Fold(f.repo))
	}
	if f.actor != "" {
		add(` AND s.actor_id = (SELECT a.id FROM accounts a WHERE a.login_folded = $%d)`, account.Fold(f.actor))
	}
	if f.result != 0 {
		add(` AND s.result = $%d`, int64(f.result))
	}
	if err := tx.QueryRow(`SELECT COUNT(*)`+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	add(` ORDER BY s.id DESC LIMIT $%d`, page.Size)
	add(` OFFSET $%d`, page.Offset())
	list, err = db.QueryList(tx, scanSuite, `SELECT `+suiteColumns+where, args...)
	return list, total, err
}
