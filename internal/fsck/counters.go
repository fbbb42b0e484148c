package fsck

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// derived is a column of a table that other rows tell: a number of rows, or a copy.
type derived struct {
	table  string
	column string
	keys   []string // of the table: which row is meant
	means  string   // what it should be, for people

	// right selects the keys and the right value, for each row that is not 0.
	right string
	flag  bool // a boolean, which is 0 or 1 here
	// made says that a row with the keys is there only when there is something to count;
	// rest are its other columns, which begin with 0.
	made bool
	rest []string
	drop bool // a row with nothing to count is deleted
	// also is set with the column.
	also string
	repo string   // the key, or an expression on t, that is a repository's id; empty: none
	lock []string // the tables locked against writes during the repair
}

// columns lists what is derived in SQL alone, after what it is derived from. The index of
// issues is in postings.go.
var columns = []derived{
	{table: "accounts", column: "public_repos", keys: []string{"id"}, means: "public repositories",
		right: `SELECT owner_id AS id, COUNT(*) AS n FROM repos WHERE private = FALSE GROUP BY owner_id`,
		lock:  []string{"accounts", "repos"}},
	{table: "accounts", column: "private_repos", keys: []string{"id"}, means: "private repositories",
		right: `SELECT owner_id AS id, COUNT(*) AS n FROM repos WHERE private = TRUE GROUP BY owner_id`,
		lock:  []string{"accounts", "repos"}},
	{table: "accounts", column: "followers", keys: []string{"id"}, means: "followers",
		right: `SELECT target_id AS id, COUNT(*) AS n FROM followers GROUP BY target_id`,
		lock:  []string{"accounts", "followers"}},
	{table: "accounts", column: "following", keys: []string{"id"}, means: "followed accounts",
		right: `SELECT user_id AS id, COUNT(*) AS n FROM followers GROUP BY user_id`,
		lock:  []string{"accounts", "followers"}},

	{table: "accounts", column: "ruled", keys: []string{"id"}, means: "whether it has rulesets", flag: true,
		right: `SELECT DISTINCT org_id AS id, 1 AS n FROM rulesets WHERE org_id IS NOT NULL`,
		lock:  []string{"accounts", "rulesets"}},
	{table: "repos", column: "ruled", keys: []string{"id"}, means: "whether it has rulesets", repo: "id", flag: true,
		right: `SELECT DISTINCT repo_id AS id, 1 AS n FROM rulesets WHERE repo_id IS NOT NULL`,
		lock:  []string{"repos", "rulesets"}},

	texts(),

	{table: "team_members", column: "role", keys: []string{"team_id", "user_id"}, made: true, drop: true,
		rest: []string{"created_at"}, means: "the role in the team",
		right: `WITH RECURSIVE down (top, id) AS (SELECT id, id FROM teams
				UNION SELECT down.top, t.id FROM teams t JOIN down ON t.parent_id = down.id)
			SELECT down.top AS team_id, x.user_id,
				max(CASE WHEN down.top = down.id THEN x.role ELSE 1 END) AS n
			FROM down JOIN team_members x ON x.team_id = down.id AND x.role > 1 GROUP BY down.top, x.user_id`,
		lock: []string{"accounts", "teams", "team_members"}},

	{table: "repos", column: "open_issues", keys: []string{"id"},
		means: "open issues and pull requests", repo: "id",
		right: `SELECT repo_id AS id, COUNT(*) AS n FROM issues WHERE state = 1 GROUP BY repo_id`,
		lock:  []string{"repos", "issues"}},
	{table: "repos", column: "forks_count", keys: []string{"id"}, means: "forks", repo: "id",
		right: `SELECT parent_id AS id, COUNT(*) AS n FROM repos WHERE parent_id IS NOT NULL GROUP BY parent_id`,
		lock:  []string{"repos"}},
	{table: "repos", column: "network_count", keys: []string{"id"}, means: "forks in the network", repo: "id",
		right: `SELECT root_id AS id, COUNT(*) AS n FROM repos WHERE root_id IS NOT NULL GROUP BY root_id`,
		lock:  []string{"repos"}},
	{table: "repos", column: "stars", keys: []string{"id"}, means: "stars", repo: "id",
		right: `SELECT repo_id AS id, COUNT(*) AS n FROM stars GROUP BY repo_id`,
		lock:  []string{"repos", "stars"}},
	{table: "repos", column: "files_kb", keys: []string{"id"}, means: "KiB of files", repo: "id",
		right: `SELECT repo_id AS id, CAST(SUM((size + 1023) / 1024) AS BIGINT) AS n FROM files
			WHERE payer_id IS NULL GROUP BY repo_id`,
		lock: []string{"repos", "files"}},
	{table: "repos", column: "watchers", keys: []string{"id"}, means: "watches", repo: "id",
		right: `SELECT repo_id AS id, COUNT(*) AS n FROM watches GROUP BY repo_id`,
		lock:  []string{"repos", "watches"}},

	copied("stars", "private", []string{"user_id", "repo_id"}, "whether the repository is private",
		`SELECT s.user_id, s.repo_id, 1 AS n FROM stars s JOIN repos r ON r.id = s.repo_id WHERE r.private = TRUE`),
	copied("watches", "private", []string{"user_id", "repo_id"}, "whether the repository is private",
		`SELECT s.user_id, s.repo_id, 1 AS n FROM watches s JOIN repos r ON r.id = s.repo_id WHERE r.private = TRUE`),
	marks("public", "private", "FALSE"),
	marks("private", "public", "TRUE"),
	copied("activities", "public", []string{"id"}, "whether everybody may see it",
		`SELECT x.id, 1 AS n FROM activities x JOIN repos r ON r.id = x.repo_id
		WHERE r.private = FALSE AND x.was_public = TRUE`),
	copied("pulls", "open", []string{"issue_id"}, "whether its issue is open",
		`SELECT i.id AS issue_id, 1 AS n FROM issues i WHERE i.pull = TRUE AND i.state = 1`),

	{table: "issues", column: "comments", keys: []string{"id"}, means: "comments", repo: "repo_id",
		right: `SELECT issue_id AS id, COUNT(*) AS n FROM issue_comments GROUP BY issue_id`,
		lock:  []string{"repos", "issues", "issue_comments"}},
	{table: "pulls", column: "review_comments", keys: []string{"issue_id"}, means: "review comments",
		repo:  "repo_id",
		right: `SELECT issue_id, COUNT(*) AS n FROM review_comments WHERE pending = FALSE GROUP BY issue_id`,
		lock:  []string{"repos", "pulls", "review_comments"}},
	statuses("total", "COUNT(*)", `statuses`),
	statuses("contexts", "COUNT(*)", `status_contexts`),
	statuses("failed", "COUNT(*)", `status_contexts WHERE state IN (1, 2)`),
	statuses("pending", "COUNT(*)", `status_contexts WHERE state = 3`),
	suites("runs", "TRUE"),
	suites("waiting", "status < 3"),
	suites("failing", "status = 3 AND conclusion <= 4"),
	{table: "check_runs", column: "annotations", keys: []string{"id"}, means: "annotations", repo: "repo_id",
		right: `SELECT run_id AS id, COUNT(*) AS n FROM check_annotations GROUP BY run_id`,
		lock:  []string{"check_totals", "check_runs", "check_annotations"}},
	{table: "deployments", column: "statuses", keys: []string{"id"}, means: "statuses", repo: "repo_id",
		right: `SELECT deployment_id AS id, COUNT(*) AS n FROM deployment_statuses GROUP BY deployment_id`,
		lock:  []string{"deployments", "deployment_statuses"}},
	{table: "check_totals", column: "bytes", keys: []string{"repo_id"}, means: "bytes of checks",
		repo:  "repo_id",
		right: `SELECT repo_id, CAST(SUM(bytes) AS BIGINT) AS n FROM check_suites GROUP BY repo_id`,
		lock:  []string{"check_totals", "check_suites"}},
	{table: "posting_counts", column: "n", keys: []string{"repo_id", "kind", "value", "state"}, made: true,
		means: "issues of that kind", repo: "repo_id",
		right: `SELECT repo_id, kind, value, state, COUNT(*) AS n FROM postings GROUP BY repo_id, kind, value,
			state
			UNION ALL SELECT repo_id, 9, 0, 0, COUNT(*) FROM issue_comments GROUP BY repo_id`,
		lock: []string{"repos", "postings", "posting_counts", "issue_comments"}},
}

// texts counts what accounts have written.
func texts() derived {
	d := derived{table: "text_counts", column: "bytes", keys: []string{"account_id"}, made: true,
		rest: []string{"hour", "hour_bytes"}, means: "bytes of text", lock: []string{"text_counts"}}
	var each []string
	for _, t := range account.Texts {
		each = append(each, `SELECT `+t.Account+` AS account_id, `+t.Bytes+` AS n FROM `+t.Table)
		d.lock = append(d.lock, t.Table)
	}
	d.right = `SELECT account_id, CAST(SUM(n) AS BIGINT) AS n FROM (` + strings.Join(each, ` UNION ALL `) +
		`) AS x GROUP BY account_id`
	return d
}

// marks counts the stars and watches of users.
func marks(column, other, private string) derived {
	return derived{table: "mark_counts", column: column, keys: []string{"user_id", "kind"}, made: true,
		rest:  []string{other},
		means: column + " stars or watches",
		right: `SELECT user_id, 0 AS kind, COUNT(*) AS n FROM stars WHERE private = ` + private +
			` GROUP BY user_id
			UNION ALL SELECT user_id, 1, COUNT(*) FROM watches WHERE private = ` + private + ` GROUP BY user_id`,
		lock: []string{"mark_counts", "stars", "watches"}}
}

// copied is a flag that each row has of another table.
func copied(table, column string, keys []string, means, right string) derived {
	return derived{table: table, column: column, keys: keys, means: means, right: right, flag: true,
		repo: "repo_id", lock: []string{table, "repos", "issues"}}
}

// statuses sums up what builds say of a commit.
func statuses(column, sum, from string) derived {
	return derived{table: "status_commits", column: column, keys: []string{"repo_id", "sha"},
		means: "statuses",
		right: `SELECT repo_id, sha, ` + sum + ` AS n FROM ` + from + ` GROUP BY repo_id, sha`,
		repo:  "repo_id",
		lock:  []string{"status_commits", "status_contexts", "statuses"}}
}

// suites counts the latest runs of suites for which a condition holds.
func suites(column, where string) derived {
	return derived{table: "check_suites", column: column, keys: []string{"id"}, means: "check runs",
		repo: "repo_id",
		right: `SELECT suite_id AS id, COUNT(*) AS n FROM check_runs WHERE latest = TRUE AND ` +
			where + ` GROUP BY suite_id`,
		lock: []string{"check_totals", "check_suites", "check_runs"}}
}

// wrong is a row whose column is not what it should be.
type wrong struct {
	keys       []string // as text
	has, right int64
	repo       repo.ID // 0: none
}

// query finds the rows whose column is not right: keys, both values, and the repository.
func (d *derived) query() string {
	var keys, same []string
	for _, k := range d.keys {
		keys = append(keys, "CAST(COALESCE(t."+k+", c."+k+") AS TEXT)")
		same = append(same, "t."+k+" = c."+k)
	}
	has := "t." + d.column
	if d.flag {
		has = "CASE WHEN t." + d.column + " THEN 1 ELSE 0 END"
	}
	join, repo, lasts := "LEFT JOIN", "0", ""
	if d.made {
		join = "FULL JOIN"
	}
	if d.repo != "" {
		repo = "t." + d.repo
		if d.made {
			repo = "COALESCE(t." + d.repo + ", c." + d.repo + ")"
		}
		// While the rows of a deleted repository go, its counters stay.
		lasts = ` AND NOT EXISTS (SELECT 1 FROM deleted_repos x WHERE x.repo_id = ` + repo + `)`
	}
	return `SELECT ` + strings.Join(keys, ", ") + `, COALESCE(` + has + `, 0), COALESCE(c.n, 0), ` + repo +
		` FROM ` + d.table + ` t ` + join + ` (` + d.right + `) c ON ` + strings.Join(same, " AND ") +
		` WHERE COALESCE(` + has + `, 0) <> COALESCE(c.n, 0)` + lasts
}

// atOnce bounds the rows that are repaired in one transaction, and that are kept in memory.
const atOnce = 10_000

func (d *derived) find(tx *db.Tx) (list []wrong, all int64, err error) {
	rows, err := tx.Query(d.query())
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for ; rows.Next(); all++ {
		if len(list) == atOnce {
			continue
		}
		w := wrong{keys: make([]string, len(d.keys))}
		into := make([]any, 0, len(d.keys)+3)
		for i := range w.keys {
			into = append(into, &w.keys[i])
		}
		if err := rows.Scan(append(into, &w.has, &w.right, &w.repo)...); err != nil {
			return nil, 0, err
		}
		list = append(list, w)
	}
	return list, all, rows.Err()
}

// repair writes the right values of some rows, and returns how many there were. Writers of
// the counted tables wait for it: on PostgreSQL by a lock, and SQLite has one writer
// anyway.
func (d *derived) repair(tx *db.Tx) (list []wrong, all int64, err error) {
	if tx.Engine() == db.PostgreSQL {
		if _, err := tx.Exec(`LOCK TABLE ` + strings.Join(d.lock,
			", ") + ` IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return nil, 0, err
		}
	}
	if list, all, err = d.find(tx); err != nil {
		return nil, 0, err
	}
	for _, w := range list {
		if w.repo != 0 { // servers that run hold nothing of before
			_, err := tx.Exec(`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id = $1`, w.repo)
			if err != nil {
				return nil, 0, err
			}
		}
		if err := d.write(tx, w); err != nil {
			return nil, 0, err
		}
	}
	return list, all, nil
}

// write sets the column of one row, or makes the row.
func (d *derived) write(tx *db.Tx, w wrong) error {
	var value any = w.right
	if d.flag {
		value = w.right != 0
	}
	names, args := append([]string{d.column}, d.keys...), []any{value}
	where := make([]string, len(d.keys))
	for i, k := range d.keys {
		args = append(args, keyValue(k, w.keys[i]))
		where[i] = fmt.Sprintf("%s = $%d", k, i+2)
	}
	if d.drop && w.right == 0 {
		args[0] = w.has
		return tx.Run(`DELETE FROM `+d.table+` WHERE `+d.column+` = $1 AND `+strings.Join(where, " AND "),
			args...)
	}
	n, err := tx.Exec(`UPDATE `+d.table+` SET `+d.column+` = $1`+d.also+` WHERE `+strings.Join(where,
		" AND "), args...)
	if err != nil || n > 0 || !d.made {
		return err
	}
	for _, other := range d.rest {
		names, args = append(names, other), append(args, int64(0))
	}
	_, err = tx.Exec(`INSERT INTO `+d.table+` (`+strings.Join(names, ", ")+`) VALUES `+db.Values(1,
		len(args)), args...)
	return err
}

// keyValue is a key as its column has it: all but names of objects are numbers.
func keyValue(column, text string) any {
	if column == "sha" {
		return text
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// counters compares each column with what it is derived from.
func (c *checker) counters(ctx context.Context) error {
	for i := range columns {
		d := &columns[i]
		c.Progress("counters", int64(i), int64(len(columns)))
		var list []wrong
		var found int64
		err := c.DB.ReadLong(ctx, func(tx *db.Tx) (err error) {
			list, found, err = d.find(tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s.%s: %w", d.table, d.column, err)
		}
		for rest := found; c.Repair && rest > 0; {
			err := c.DB.Write(ctx, func(tx *db.Tx) error {
				done, all, err := d.repair(tx)
				rest = all - int64(len(done))
				return err
			})
			if err != nil {
				return fmt.Errorf("repair %s.%s: %w", d.table, d.column, err)
			}
		}
		if err := c.tell(ctx, d, list, found); err != nil {
			return err
		}
	}
	return nil
}

// told is how many rows of a column are named one by one.
const told = 100

func (c *checker) tell(ctx context.Context, d *derived, list []wrong, found int64) error {
	list = list[:min(len(list), told)]
	var ids []repo.ID
	for _, w := range list {
		if w.repo != 0 {
			ids = append(ids, w.repo)
		}
	}
	slices.Sort(ids)
	names, err := c.names(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	for _, w := range list {
		row := make([]string, len(w.keys))
		for i, k := range w.keys {
			row[i] = d.keys[i] + " " + k
		}
		c.find(Finding{Part: "counters", Repository: names[w.repo], Repairable: true, Repaired: c.Repair,
			Problem: fmt.Sprintf("%s.%s (%s) of %s is %d, and %d is right",
				d.table, d.column, d.means, strings.Join(row, ", "), w.has, w.right)})
	}
	if rest := found - int64(len(list)); rest > 0 {
		c.find(Finding{Part: "counters", Repairable: true, Repaired: c.Repair,
			Problem: fmt.Sprintf("%s.%s is wrong in %d other rows", d.table, d.column, rest)})
	}
	return nil
}
