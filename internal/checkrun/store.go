package checkrun

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const runColumns = `r.id, r.suite_id, r.repo_id, r.app_id, r.head_sha, r.name, r.latest, r.status, r.conclusion, r.external_id,
	r.details_url, r.started_at, r.completed_at, r.title, r.summary, r.body, r.images, r.actions, r.annotations, r.bytes,
	r.created_at, r.updated_at`

// scanRun reads runColumns. Error: 404 if the row does not exist.
func scanRun(row db.Scanner) (*Run, error) {
	var r Run
	err := row.Scan(&r.ID, &r.SuiteID, &r.RepoID, &r.AppID, &r.SHA, &r.Name, &r.Latest, &r.Status,
		&r.Conclusion, &r.ExternalID,
		&r.DetailsURL, &r.StartedAt, &r.CompletedAt, &r.Title, &r.Summary, &r.Text, &r.Images, &r.Actions,
		&r.Annotations,
		&r.Bytes, &r.CreatedAt, &r.UpdatedAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &r, err
}

// runByID reads a run of a repository. Error: 404.
func runByID(tx *db.Tx, repoID repo.ID, id int64) (*Run, error) {
	return scanRun(tx.QueryRow(`SELECT `+runColumns+` FROM check_runs r WHERE r.id = $1 AND r.repo_id = $2`,
		id, repoID))
}

// runsByIDs reads the runs of the ids in any repositories.
func runsByIDs(tx *db.Tx, ids []int64) ([]*Run, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.QueryList(tx, scanRun, `SELECT `+runColumns+` FROM check_runs r WHERE r.id IN `+
		db.Values(1, len(ids)), db.Args(ids)...)
}

// filter chooses among the runs of a commit.
type filter struct {
	sha    git.SHA
	app    account.AppID // 0 means all Apps
	all    bool          // include runs that are not the latest of their name
	name   string
	status Status // 0 means any
}

// where returns the condition on check_runs and its arguments.
func (f *filter) where(repoID repo.ID) (string, []any) {
	where, args := `repo_id = $1 AND head_sha = $2`, []any{repoID, string(f.sha)}
	if !f.all {
		where += ` AND latest = TRUE`
	}
	add := func(column string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(` AND %s = $%d`, column, len(args))
	}
	if f.app != 0 {
		add(`app_id`, f.app)
	}
	if f.name != "" {
		add(`name`, f.name)
	}
	if f.status != 0 {
		add(`status`, int64(f.status))
	}
	return where, args
}

// runsOf reads a page of the runs that f selects, newest first, and counts all of them. scan reads columns.
func runsOf[R any](
	tx *db.Tx, scan func(db.Scanner) (R, error), columns string, repoID repo.ID, f *filter, page web.Page,
) (list []R, total int64, err error) {
	where, args := f.where(repoID)
	list, err = db.QueryList(tx, scan, fmt.Sprintf(`SELECT %s
		FROM (SELECT id FROM check_runs WHERE %s ORDER BY id DESC LIMIT $%d OFFSET $%d) p
		JOIN check_runs r ON r.id = p.id ORDER BY r.id DESC`, columns, where, len(args)+1, len(args)+2),
		append(slices.Clone(args), page.Size, page.Offset())...)
	if err != nil {
		return nil, 0, err
	}
	total, known := page.Total(len(list))
	if !known {
		err = tx.QueryRow(`SELECT COUNT(*) FROM check_runs WHERE `+where, args...).Scan(&total)
	}
	return list, total, err
}

func insertRun(tx *db.Tx, r *Run) error {
	return tx.QueryRow(`INSERT INTO check_runs (suite_id, repo_id, app_id, head_sha, name, latest, status,
		conclusion, external_id, details_url, started_at, completed_at, title, summary, body, images, actions,
		bytes, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, TRUE, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 0, $17, $18)
		RETURNING id`,
		r.SuiteID, r.RepoID, r.AppID, string(r.SHA), r.Name, int64(r.Status), int64(r.Conclusion),
		r.ExternalID,
		r.DetailsURL, r.StartedAt, r.CompletedAt, r.Title, r.Summary, r.Text, r.Images,
		r.Actions, r.CreatedAt,
		r.UpdatedAt).Scan(&r.ID)
}

// updateRun writes all fields of a run but its name.
func updateRun(tx *db.Tx, r *Run) error {
	_, err := tx.Exec(`UPDATE check_runs SET status = $2, conclusion = $3, external_id = $4, details_url = $5,
		started_at = $6, completed_at = $7, title = $8, summary = $9, body = $10, images = $11, actions = $12,
		annotations = $13, bytes = $14,
		updated_at = $15 WHERE id = $1`, r.ID, int64(r.Status), int64(r.Conclusion), r.ExternalID, r.DetailsURL, r.StartedAt,
		r.CompletedAt, r.Title, r.Summary, r.Text, r.Images, r.Actions, r.Annotations, r.Bytes, r.UpdatedAt)
	return err
}

func setName(tx *db.Tx, id int64, name string) error {
	_, err := tx.Exec(`UPDATE check_runs SET name = $2 WHERE id = $1`, id, name)
	return err
}

func countOfName(tx *db.Tx, suiteID int64, name string) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM check_runs WHERE suite_id = $1 AND name = $2`,
		suiteID, name).Scan(&n)
	return n, err
}

// dropOldest deletes the oldest run of a name and returns its size.
func dropOldest(tx *db.Tx, suiteID int64, name string) (bytes int64, err error) {
	err = tx.QueryRow(`DELETE FROM check_runs WHERE id = (SELECT MIN(id) FROM check_runs WHERE suite_id = $1
		AND name = $2)
		RETURNING bytes`, suiteID, name).Scan(&bytes)
	return bytes, err
}

// unsetLatest clears the latest flag of all runs of a name, before a new one is inserted.
func unsetLatest(tx *db.Tx, suiteID int64, name string) error {
	_, err := tx.Exec(`UPDATE check_runs SET latest = FALSE WHERE suite_id = $1 AND name = $2 AND latest = TRUE`, suiteID, name)
	return err
}

// setLatest marks the newest run of a name as the latest.
func setLatest(tx *db.Tx, suiteID int64, name string) error {
	_, err := tx.Exec(`UPDATE check_runs SET latest = (id = (SELECT MAX(id) FROM check_runs
		WHERE suite_id = $1 AND name = $2))
		WHERE suite_id = $1 AND name = $2`, suiteID, name)
	return err
}

func insertAnnotations(tx *db.Tx, runID int64, list []Annotation) error {
	if len(list) == 0 {
		return nil
	}
	args := make([]any, 0, len(list)*10)
	for _, a := range list {
		args = append(args, runID, a.Path, a.StartLine, a.EndLine, a.StartColumn, a.EndColumn,
			int64(a.Level), a.Title, a.Message, a.RawDetails)
	}
	_, err := tx.Exec(`INSERT INTO check_annotations (run_id, path, start_line, end_line, start_column,
		end_column, level, title,
		message, raw_details) VALUES `+db.Values(len(list), 10), args...)
	return err
}

// annotationOf is an annotation of a run.
type annotationOf struct {
	run int64
	Annotation
}

// annotationsOf reads a part of the annotations of each of some runs, in the order in which they came.
func annotationsOf(tx *db.Tx, runs []int64, rows, offset int64) ([]annotationOf, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	parts := make([]string, len(runs))
	for n := range runs {
		at := strconv.Itoa(n + 3)
		parts[n] = `SELECT id FROM (SELECT id FROM check_annotations WHERE run_id = $` + at +
			` ORDER BY id LIMIT $1 OFFSET $2) p` + at
	}
	return db.QueryList(tx, func(row db.Scanner) (a annotationOf, err error) {
		err = row.Scan(&a.run, &a.Path, &a.StartLine, &a.EndLine, &a.StartColumn, &a.EndColumn, &a.Level,
			&a.Title, &a.Message, &a.RawDetails)
		return a, err
	}, `SELECT a.run_id, a.path, a.start_line, a.end_line, a.start_column, a.end_column, a.level, a.title,
		a.message, a.raw_details FROM check_annotations a WHERE a.id IN (`+strings.Join(parts, ` UNION ALL `)+`)
		ORDER BY a.id`, db.Args(runs, rows, offset)...)
}

// pullRow is an open pull request whose head is a commit of the repository itself.
type pullRow struct {
	id, number                int64
	headRef, baseRef, baseSHA string
}

// pullsOf reads up to maxPulls open pull requests within the repository that have sha as their head.
func pullsOf(tx *db.Tx, repoID repo.ID, sha git.SHA) ([]pullRow, error) {
	return db.QueryList(tx, func(row db.Scanner) (p pullRow, err error) {
		err = row.Scan(&p.id, &p.number, &p.headRef, &p.baseRef, &p.baseSHA)
		return p, err
	}, `SELECT issue_id, number, head_ref, base_ref, base_sha FROM pulls
		WHERE head_repo_id = $1 AND head_sha = $2 AND open AND repo_id = $1 ORDER BY issue_id LIMIT $3`,
		repoID, string(sha), maxPulls)
}

// pullsOfMany calls each with the open pull requests within repositories whose heads are commits there.
func pullsOfMany(tx *db.Tx, commits []repo.Of[git.SHA], each func(in repo.ID, sha git.SHA, p HeadedPull)) error {
	if len(commits) == 0 {
		return nil
	}
	with, args := repo.Pairs(commits, "TEXT")
	return db.QueryEach(tx, func(row db.Scanner) error {
		var in repo.ID
		var sha git.SHA
		var p HeadedPull
		err := row.Scan(&in, &sha, &p.Number, &p.Head, &p.Base)
		each(in, sha, p)
		return err
	}, with+`SELECT v.repo, v.key, p.number, p.head_ref, p.base_ref FROM v JOIN pulls p ON p.head_repo_id = v.repo
		AND p.head_sha = v.key AND p.open AND p.repo_id = v.repo ORDER BY p.issue_id`, args...)
}

// latestOfMany reads a page of the latest runs of each of several commits in one query, newest first. scan
// reads columns.
func latestOfMany[R any](
	tx *db.Tx, scan func(db.Scanner) (R, error), columns string, commits []repo.Of[git.SHA], page web.Page,
) ([]R, error) {
	newest, args := ofEach(commits, page, `check_runs WHERE repo_id = $%d AND head_sha = $%d AND latest = TRUE
		ORDER BY id DESC`)
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM check_runs r WHERE r.id IN (`+newest+
		`) ORDER BY r.id DESC`, args...)
}

// countOfMany returns the number of latest runs of each commit that has some.
func countOfMany(tx *db.Tx, commits []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]int64, error) {
	return countBy(tx, commits, "TEXT", `check_runs r ON r.repo_id = v.repo AND r.head_sha = v.key AND r.latest = TRUE`)
}

// countBy counts the rows of each key that has some. joined is a table with the condition that joins it to
// the pairs v of repositories and keys.
func countBy[K comparable](
	tx *db.Tx, keys []repo.Of[K], kind, joined string,
) (map[repo.Of[K]]int64, error) {
	counts := map[repo.Of[K]]int64{}
	if len(keys) == 0 {
		return counts, nil
	}
	in := repo.In(keys)
	with, args := repo.Pairs(keys, kind)
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id repo.ID
		var key K
		var n int64
		err := row.Scan(&id, &key, &n)
		counts[repo.Of[K]{In: in[id], Key: key}] = n
		return err
	}, with+`SELECT v.repo, v.key, COUNT(*) FROM v JOIN `+joined+` GROUP BY v.repo, v.key`, args...)
	return counts, err
}

// ofEach builds a query for a page of the ids of each key, and returns it with its arguments. source is the
// FROM, WHERE and ORDER BY of one key without the word FROM, with the numbers of the placeholders of the
// repository and the key.
func ofEach[K comparable](keys []repo.Of[K], page web.Page, source string) (union string, args []any) {
	parts, args := make([]string, len(keys)), []any{page.Size, page.Offset()}
	for n, of := range keys {
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT id FROM `+source+` LIMIT $1 OFFSET $2) p%d`,
			len(args)+1, len(args)+2, n)
		args = append(args, of.In.ID, of.Key)
	}
	return strings.Join(parts, ` UNION ALL `), args
}
