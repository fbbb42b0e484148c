package issuetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// counter names a row of posting_counts.
type counter struct {
	repo  repo.ID
	by    posting.Property
	state issue.State
}

// ofComments is the kind of counter that counts a repository's comments.
const ofComments posting.Kind = 9

// bulk tables are those whose indexes are built after their rows.
var bulk = [...]string{"postings", "issue_comments", "issue_events"}

// dropIndexes drops the indexes of the bulk tables, and returns a function that creates them
// again: sorting once is several times as fast as keeping them sorted.
func dropIndexes(ctx context.Context, d *db.DB) (rebuild func(context.Context) error, err error) {
	query := `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = $1 AND sql IS NOT NULL ORDER BY name`
	if d.Engine() == db.PostgreSQL {
		query = `SELECT x.indexname, x.indexdef FROM pg_indexes x WHERE x.schemaname = current_schema()
			AND x.tablename = $1
			AND x.indexname NOT IN (SELECT conname FROM pg_constraint) ORDER BY x.indexname`
	}
	var definitions []string
	err = d.Write(ctx, func(tx *db.Tx) error {
		definitions = nil
		for _, table := range bulk {
			list, err := twoTexts(tx, query, table)
			if err != nil {
				return err
			}
			for _, x := range list {
				if err := tx.Run(`DROP INDEX ` + x[0]); err != nil {
					return err
				}
				definitions = append(definitions, x[1])
			}
		}
		return nil
	})
	return func(ctx context.Context) error {
		for _, definition := range definitions {
			if err := execOne(ctx, d, definition); err != nil {
				return err
			}
		}
		if d.Engine() == db.PostgreSQL { // which does that by itself, some time later
			return execOne(ctx, d, `ANALYZE`)
		}
		return nil
	}, err
}

func execOne(ctx context.Context, d *db.DB, statement string) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		err := tx.Run(statement)
		return err
	})
}

func twoTexts(tx *db.Tx, query string, args ...any) ([][2]string, error) {
	return db.QueryList(tx, func(row db.Scanner) (x [2]string, err error) {
		err = row.Scan(&x[0], &x[1])
		return x, err
	}, query, args...)
}

// firstLabels reads up to n labels of a repository.
func firstLabels(tx *db.Tx, repoID repo.ID, n int) ([]*label.Label, error) {
	return db.QueryList(tx, func(row db.Scanner) (*label.Label, error) {
		l := &label.Label{RepoID: repoID}
		return l, row.Scan(&l.ID, &l.Name, &l.Color)
	}, `SELECT id, name, color FROM labels WHERE repo_id = $1 ORDER BY id LIMIT $2`, repoID, n)
}

// perStatement is how many values an INSERT has: as many almost always, so that
// it is prepared once. SQLite's driver looks for each value's name among those
// before it, PostgreSQL answers each statement over a connection.
func perStatement(e db.Engine) int {
	if e == db.PostgreSQL {
		return 2000
	}
	return 120
}

// insert adds rows in statements of many. start is the statement up to VALUES.
func (f *filler) insert(tx *db.Tx, start string, columns int, args []any) error {
	for chunk := range slices.Chunk(args, perStatement(f.d.Engine())/columns*columns) {
		if err := tx.Run(start+db.Values(len(chunk)/columns, columns), chunk...); err != nil {
			return err
		}
	}
	return nil
}

// add adds issues with their postings, and what happened up to the last of them.
func (f *filler) add(ctx context.Context, list []*drawn) error {
	err := f.d.Write(ctx, func(tx *db.Tx) error {
		for chunk := range slices.Chunk(list, perStatement(f.d.Engine())/issueColumns) {
			if err := addIssues(tx, chunk); err != nil {
				return err
			}
		}
		if f.o.Texts {
			texts := make([]fulltext.Text, len(list))
			for n, d := range list {
				texts[n] = fulltext.Text{Issue: int64(d.ID), Repo: int64(d.RepoID), Title: d.Title,
					Body: *d.Body}
			}
			if err := fulltext.Put(tx, texts); err != nil {
				return err
			}
		}
		var args []any
		for _, d := range list {
			for _, p := range d.has {
				args = append(args, d.ID, int64(p.Kind), p.Value, d.RepoID, int64(d.State),
					d.UpdatedAt, d.Comments)
			}
		}
		return f.insert(tx, `INSERT INTO postings (issue_id, kind, value, repo_id, state, updated_at, comments) VALUES `, 7, args)
	})
	if err != nil {
		return err
	}
	return f.addHappened(ctx, f.later.until(list[len(list)-1].CreatedAt))
}

// issueColumns is how many columns addIssues writes.
const issueColumns = 16

// addIssues adds the rows of some issues and sets their ids.
func addIssues(tx *db.Tx, list []*drawn) error {
	args := make([]any, 0, issueColumns*len(list))
	for _, d := range list {
		args = append(args, d.RepoID, d.Number, d.Title, d.Body, d.AuthorID, int64(d.State),
			int64(d.StateReason), db.OrNull(d.MilestoneID),
			joined(d.Labels), joined(d.Assignees), d.Comments, d.CreatedAt, d.UpdatedAt, d.ClosedAt,
			db.OrNull(d.ClosedBy), false)
	}
	rows, err := tx.Query(`INSERT INTO issues (repo_id, number, title, body, author_id, state, state_reason,
		milestone_id,
		labels, assignees, comments, created_at, updated_at, closed_at, closed_by, pull) VALUES `+
		db.Values(len(list), issueColumns)+` RETURNING id, repo_id, number`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var id issue.ID
		var repoID repo.ID
		var number int64
		if err := rows.Scan(&id, &repoID, &number); err != nil {
			return err
		}
		if d := list[n]; d.RepoID != repoID || d.Number != number {
			return errors.New("issuetest: rows do not come back in the order in which they were given")
		}
		list[n].ID = id
	}
	return rows.Err()
}

// addHappened adds comments and events.
func (f *filler) addHappened(ctx context.Context, list []*happened) error {
	for chunk := range slices.Chunk(list, 5*batch) {
		var comments, events []any
		for _, h := range chunk {
			i := h.issue
			if h.body != "" {
				comments = append(comments, i.RepoID, i.ID, h.event.ActorID, h.body, h.at, h.at)
				continue
			}
			var detail any
			if h.event.Detail != (issue.Detail{}) {
				b, err := json.Marshal(&h.event.Detail)
				if err != nil {
					return err
				}
				detail = string(b)
			}
			events = append(events, i.RepoID, i.ID, h.event.ActorID, int64(h.event.Kind),
				db.OrNull(h.event.UserID), detail, h.at)
		}
		err := f.d.Write(ctx, func(tx *db.Tx) error {
			if err := f.insert(tx,
				`INSERT INTO issue_comments (repo_id, issue_id, author_id, body, created_at, updated_at) VALUES `, 6, comments); err != nil {
				return err
			}
			return f.insert(tx, `INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, user_id, detail, created_at) VALUES `, 7, events)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish writes the counters.
func (f *filler) finish(ctx context.Context) error {
	return f.d.Write(ctx, func(tx *db.Tx) error {
		var args []any
		for c, n := range f.counts {
			args = append(args, c.repo, int64(c.by.Kind), c.by.Value, int64(c.state), n)
		}
		if err := f.insert(tx, `INSERT INTO posting_counts (repo_id, kind, value, state, n) VALUES `,
			5, args); err != nil {
			return err
		}
		for _, r := range f.made.Repos {
			err := tx.Run(`UPDATE repos SET next_number = $2, open_issues = $3, issues_generation = issues_generation + $4 WHERE id = $1`,
				r.ID, r.Issues+1, f.open[r.ID], r.Issues)
			if err == nil && f.o.Texts {
				err = tx.Run(`INSERT INTO texts_changed (issue_id, comment_id)
					SELECT issue_id, id FROM issue_comments WHERE repo_id = $1`, r.ID)
			}
			if err != nil {
				return fmt.Errorf("count the issues of %s: %w", r.Name, err)
			}
		}
		return nil
	})
}

func joined[ID ~int64](ids []ID) string {
	parts := make([]string, len(ids))
	for n, id := range ids {
		parts[n] = strconv.FormatInt(int64(id), 10)
	}
	return strings.Join(parts, ",")
}
