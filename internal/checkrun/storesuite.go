package checkrun

import (
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

const suiteColumns = `s.id, s.repo_id, s.app_id, s.head_sha, s.head_branch, s.before_sha, s.status, s.conclusion, s.runs, s.bytes,
	s.created_at, s.updated_at`

// scanSuite reads suiteColumns. Error: 404 if the row does not exist.
func scanSuite(row db.Scanner) (*Suite, error) {
	var s Suite
	err := row.Scan(&s.ID, &s.RepoID, &s.AppID, &s.SHA, &s.Branch, &s.Before, &s.Status,
		&s.Conclusion, &s.Runs, &s.Bytes,
		&s.CreatedAt, &s.UpdatedAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	s.counted = s.Bytes
	return &s, err
}

// suiteByID reads a suite of a repository. Error: 404.
func suiteByID(tx *db.Tx, repoID repo.ID, id int64) (*Suite, error) {
	return scanSuite(tx.QueryRow(`SELECT `+suiteColumns+
		` FROM check_suites s WHERE s.id = $1 AND s.repo_id = $2`, id, repoID))
}

// suiteOf reads the suite of an App for a commit. Error: 404.
func suiteOf(tx *db.Tx, repoID repo.ID, sha git.SHA, app account.AppID) (*Suite, error) {
	return scanSuite(tx.QueryRow(`SELECT `+suiteColumns+` FROM check_suites s
		WHERE s.repo_id = $1 AND s.head_sha = $2 AND s.app_id = $3`, repoID, string(sha), app))
}

// suiteFilter selects suites of a commit.
type suiteFilter struct {
	sha  git.SHA
	app  account.AppID // 0 means all Apps
	name string        // name of a run in the suite; "" means any
}

// suitesOf reads a page of the suites that f selects, oldest first, and counts all of them.
func suitesOf(
	tx *db.Tx, repoID repo.ID, f suiteFilter, page web.Page,
) (list []*Suite, total int64, err error) {
	const where = ` FROM check_suites s WHERE s.repo_id = $1 AND s.head_sha = $2 AND (CAST($3 AS BIGINT) = 0
		OR s.app_id = $3)
		AND (CAST($4 AS TEXT) = '' OR EXISTS (SELECT 1 FROM check_runs r WHERE r.suite_id = s.id
		AND r.name = $4))`
	args := []any{repoID, string(f.sha), f.app, f.name}
	if err = tx.QueryRow(`SELECT COUNT(*)`+where, args...).Scan(&total); err != nil ||
		page.Offset() >= total {
		return nil, total, err
	}
	list, err = db.QueryList(tx, scanSuite, `SELECT `+suiteColumns+where+` ORDER BY s.id LIMIT $5 OFFSET $6`,
		append(args, page.Size, page.Offset())...)
	return list, total, err
}

func insertSuite(tx *db.Tx, s *Suite) error {
	return tx.QueryRow(`INSERT INTO check_suites (repo_id, app_id, head_sha, head_branch, before_sha, bytes,
		created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
		RETURNING id`, s.RepoID, s.AppID, string(s.SHA), s.Branch, s.Before, s.Bytes,
		s.CreatedAt).Scan(&s.ID)
}

// updateSuite writes the state and totals of a suite.
func updateSuite(tx *db.Tx, s *Suite, sum Summary) error {
	s.UpdatedAt = tx.Now
	_, err := tx.Exec(`UPDATE check_suites SET status = $2, conclusion = $3, runs = $4, waiting = $5,
		failing = $6, bytes = $7,
		updated_at = $8 WHERE id = $1`, s.ID, int64(s.Status), int64(s.Conclusion), sum.Runs, sum.Waiting, sum.Failing, s.Bytes,
		s.UpdatedAt)
	return err
}

// reset sets a suite back to queued.
func reset(tx *db.Tx, id int64) error {
	_, err := tx.Exec(`UPDATE check_suites SET status = $2, conclusion = 0, updated_at = $3 WHERE id = $1`,
		id, int64(Queued), tx.Now)
	return err
}

// tallyOf counts the latest runs of a suite, at most maxNames.
func tallyOf(tx *db.Tx, suiteID int64) (t tally, err error) {
	err = tx.QueryRow(`SELECT COUNT(*), COALESCE(SUM(CASE WHEN status < 3 THEN 1 ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN status = 3 AND conclusion <= $2 THEN 1 ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN status = 1 THEN 1 ELSE 0 END), 0), COALESCE(MIN(CASE
		WHEN status = 3 THEN conclusion END), 0)
		FROM check_runs WHERE suite_id = $1 AND latest = TRUE`, suiteID, int64(lastFailing)).
		Scan(&t.Runs, &t.Waiting, &t.Failing, &t.queued, &t.worst)
	return t, err
}

// addUp adds the change of a suite's size to the repository's total, and returns the total.
func addUp(tx *db.Tx, s *Suite) (total int64, err error) {
	total, err = count(tx, s.RepoID, s.Bytes-s.counted)
	s.counted = s.Bytes
	return total, err
}

// dropOldestSuite deletes the oldest suite of the repository other than kept, and returns its size, or 0 if
// there is no other.
func dropOldestSuite(tx *db.Tx, kept *Suite) (bytes int64, err error) {
	err = tx.QueryRow(`DELETE FROM check_suites WHERE id = (SELECT MIN(id) FROM check_suites
		WHERE repo_id = $1 AND id <> $2)
		RETURNING bytes`, kept.RepoID, kept.ID).Scan(&bytes)
	if errors.Is(err, db.ErrNoRows) {
		return 0, nil
	}
	if err == nil {
		_, err = count(tx, kept.RepoID, -bytes)
	}
	return bytes, err
}

// Combined returns the check totals of several commits, read in one query. Commits without runs are missing
// from the map, so their Summary is zero.
func Combined(tx *db.Tx, commits []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]Summary, error) {
	found := make(map[repo.Of[git.SHA]]Summary, len(commits))
	if len(commits) == 0 {
		return found, nil
	}
	in := repo.In(commits)
	with, args := repo.Pairs(commits, "TEXT")
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id repo.ID
		var sha git.SHA
		var s Summary
		if err := row.Scan(&id, &sha, &s.Runs, &s.Waiting, &s.Failing); err != nil {
			return err
		}
		found[repo.Of[git.SHA]{In: in[id], Key: sha}] = s
		return nil
	}, with+`SELECT v.repo, v.key, CAST(SUM(s.runs) AS BIGINT), CAST(SUM(s.waiting) AS BIGINT),
		CAST(SUM(s.failing) AS BIGINT)
		FROM v JOIN check_suites s ON s.repo_id = v.repo AND s.head_sha = v.key GROUP BY v.repo, v.key`, args...)
	return found, err
}

// SummaryColumns returns SQL expressions for the check totals of a row's commit, to scan into
// [Summary.Dest]. repo and sha are the names of the columns with its repository id and SHA.
func SummaryColumns(repo, sha string) string {
	sum := func(column string) string {
		return `COALESCE((SELECT CAST(SUM(cs.` +
			column + `) AS BIGINT) FROM check_suites cs WHERE cs.repo_id = ` + repo +
			` AND cs.head_sha = ` + sha + `), 0)`
	}
	return sum("runs") + ", " + sum("waiting") + ", " + sum("failing")
}

// Dest returns the destinations for scanning SummaryColumns.
func (s *Summary) Dest() []any { return []any{&s.Runs, &s.Waiting, &s.Failing} }

// installed reports whether an App is installed for the owner of a repository.
func installed(tx *db.Tx, repoID repo.ID, app account.AppID) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM installations i JOIN repos r ON r.owner_id = i.account_id
		WHERE r.id = $1 AND i.app_id = $2)`, repoID, app).Scan(&is)
	return is, err
}

func setPreference(tx *db.Tx, repoID repo.ID, p Preference) error {
	_, err := tx.Exec(`INSERT INTO check_preferences (repo_id, app_id, auto) VALUES ($1, $2, $3)
		ON CONFLICT (repo_id, app_id) DO UPDATE SET auto = excluded.auto`, repoID, p.AppID, p.Auto)
	return err
}

// preferences lists the preferences of a repository by App id.
func preferences(tx *db.Tx, repoID repo.ID) ([]Preference, error) {
	list := []Preference{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var p Preference
		if err := row.Scan(&p.AppID, &p.Auto); err != nil {
			return err
		}
		list = append(list, p)
		return nil
	}, `SELECT app_id, auto FROM check_preferences WHERE repo_id = $1 ORDER BY app_id`, repoID)
	return list, err
}

// count adds bytes to the total size of a repository's suites, and returns the total.
func count(tx *db.Tx, repoID repo.ID, bytes int64) (total int64, err error) {
	err = tx.QueryRow(`INSERT INTO check_totals (repo_id, bytes) VALUES ($1, $2)
		ON CONFLICT (repo_id) DO UPDATE SET bytes = check_totals.bytes + excluded.bytes
		RETURNING bytes`, repoID, bytes).Scan(&total)
	return total, err
}

// sendPushed creates the suites for a push, as [db.Tx.SendEach] does. Their ids by App are then in the map.
func sendPushed(tx *db.Tx, repoID repo.ID, heads []repo.RefUpdate) (map[account.AppID][]int64, error) {
	args := []any{repoID, int64(rowBytes), tx.Now}
	rows := make([]string, len(heads))
	for n, u := range heads {
		k := len(args)
		rows[n] = fmt.Sprintf(`(CAST($%d AS TEXT), CAST($%d AS TEXT), CAST($%d AS TEXT))`, k+1, k+2, k+3)
		args = append(args, string(u.New), strings.TrimPrefix(u.Name, "refs/heads/"), string(u.Old))
	}
	ids := map[account.AppID][]int64{}
	err := tx.SendEach(func(row db.Scanner) error {
		var app account.AppID
		var id int64
		if err := row.Scan(&app, &id); err != nil {
			return err
		}
		ids[app] = append(ids[app], id)
		return nil
	}, `WITH v (sha, branch, before) AS (VALUES `+strings.Join(rows, `, `)+`)
		INSERT INTO check_suites (repo_id, app_id, head_sha, head_branch, before_sha, bytes, created_at, updated_at)
		SELECT r.id, i.app_id, v.sha, v.branch, v.before, CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($3 AS BIGINT)
		FROM v CROSS JOIN repos r JOIN installations i ON i.account_id = r.owner_id
		WHERE r.id = $1 AND i.suspended_at IS NULL AND ',' || i.permissions || ',' LIKE '%,checks=write,%'
			AND (i.every OR EXISTS (SELECT 1 FROM installation_repos x WHERE x.installation_id = i.id AND x.repo_id = r.id))
			AND NOT EXISTS (SELECT 1 FROM check_preferences p WHERE p.repo_id = r.id AND p.app_id = i.app_id AND NOT p.auto)
		ORDER BY i.app_id ON CONFLICT (repo_id, head_sha, app_id) DO NOTHING RETURNING app_id, id`, args...)
	return ids, err
}

// Places finds the repositories of runs, or with suites of suites, for GraphQL. It checks no rights
// and omits those that do not exist.
func Places(tx *db.Tx, ids []int64, suites bool) (map[int64]repo.ID, error) {
	table := `check_runs`
	if suites {
		table = `check_suites`
	}
	return db.QueryMap[int64, repo.ID](tx, `SELECT id, repo_id FROM `+table+` WHERE id IN `+db.Values(1, len(ids)),
		db.Args(ids)...)
}

// suitesOfMany reads a page of the suites of each of several commits, oldest first.
func suitesOfMany(tx *db.Tx, commits []repo.Of[git.SHA], page web.Page) ([]*Suite, error) {
	oldest, args := ofEach(commits, page, `check_suites WHERE repo_id = $%d AND head_sha = $%d ORDER BY id`)
	return db.QueryList(tx, scanSuite, `SELECT `+suiteColumns+` FROM check_suites s WHERE s.id IN (`+oldest+
		`) ORDER BY s.id`, args...)
}

// suitesByIDs reads the suites of the ids in any repositories.
func suitesByIDs(tx *db.Tx, ids []int64) ([]*Suite, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.QueryList(tx, scanSuite, `SELECT `+suiteColumns+` FROM check_suites s WHERE s.id IN `+
		db.Values(1, len(ids)), db.Args(ids)...)
}

// countSuites returns the number of suites of each commit that has some.
func countSuites(tx *db.Tx, commits []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]int64, error) {
	return countBy(tx, commits, "TEXT", `check_suites s ON s.repo_id = v.repo AND s.head_sha = v.key`)
}

// runsOfMany reads a page of the runs of each of several suites, newest first. If all is false, it reads only
// the latest run of each name.
func runsOfMany(tx *db.Tx, suites []repo.Of[int64], all bool, page web.Page) ([]*Run, error) {
	newest, args := ofEach(suites, page, `check_runs WHERE repo_id = $%d AND suite_id = $%d`+latestOnly(all)+
		` ORDER BY id DESC`)
	return db.QueryList(tx, scanRun, `SELECT `+runColumns+` FROM check_runs r WHERE r.id IN (`+newest+
		`) ORDER BY r.id DESC`, args...)
}

func latestOnly(all bool) string {
	if all {
		return ``
	}
	return ` AND latest = TRUE`
}

// countRuns returns how many runs each suite that has some has, counted as runsOfMany reads them.
func countRuns(tx *db.Tx, suites []repo.Of[int64], all bool) (map[repo.Of[int64]]int64, error) {
	return countBy(tx, suites, "BIGINT", `check_runs r ON r.repo_id = v.repo AND r.suite_id = v.key`+latestOnly(all))
}
