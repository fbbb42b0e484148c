package fsck

import (
	"context"
	"fmt"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// issuesAtOnce is how many issues one moment of the database is read for.
const issuesAtOnce = 1000

// postings compares the index of issues with the issues, and what full-text searches
// look in with what there is.
func (c *checker) postings(ctx context.Context) error {
	var all int64
	err := c.DB.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT COUNT(*) FROM issues`).Scan(&all)
	})
	if err != nil {
		return err
	}
	var wrongs int64
	for after, more := issue.ID(0), true; more; more = after > 0 {
		var wrong []*issue.Unposted
		var seen int64
		var last issue.ID
		err := c.DB.ReadLong(ctx, func(tx *db.Tx) (err error) {
			wrong, seen, last, err = issue.CheckPostings(tx, after, issuesAtOnce)
			return err
		})
		if err != nil {
			return err
		}
		after = last
		c.report.Issues += seen
		c.Progress("issues", c.report.Issues, all)
		for _, u := range wrong {
			if err := c.unposted(ctx, u, wrongs < told); err != nil {
				return err
			}
			wrongs++
		}
	}
	if wrongs > told {
		c.find(Finding{Part: "issues", Repairable: true, Repaired: c.Repair,
			Problem: fmt.Sprintf("the index of issues is wrong for %d others", wrongs-told)})
	}
	return c.texts(ctx)
}

// unposted repairs one issue and reports it.
func (c *checker) unposted(ctx context.Context, u *issue.Unposted, tell bool) error {
	if c.Repair {
		err := c.DB.Write(ctx, func(tx *db.Tx) error {
			_, err := issue.RepairPostings(tx, u.Issue)
			return err
		})
		if err != nil {
			return fmt.Errorf("repair the index of issue %d: %w", u.Issue.ID, err)
		}
	}
	if !tell {
		return nil
	}
	names, err := c.names(ctx, []repo.ID{u.Issue.RepoID})
	if err != nil {
		return err
	}
	c.find(Finding{Part: "issues", Repository: names[u.Issue.RepoID], Repairable: true, Repaired: c.Repair,
		Problem: fmt.Sprintf("#%d: %s", u.Issue.Number, u.Problem)})
	return nil
}

// unread are the issues and comments that a full-text search does not find, though no
// note says that it has yet to read them.
func unread(e db.Engine) string {
	key := "id"
	if e == db.SQLite {
		key = "rowid"
	}
	return `SELECT i.id AS issue_id, 0 AS comment_id FROM issues i LEFT JOIN issue_texts t ON t.` +
		key + ` = i.id
		LEFT JOIN (SELECT DISTINCT issue_id FROM texts_changed WHERE comment_id = 0) n ON n.issue_id = i.id
		WHERE t.` + key + ` IS NULL AND n.issue_id IS NULL
		UNION ALL SELECT c.issue_id, c.id FROM issue_comments c LEFT JOIN comment_texts t ON t.` + key + ` = c.id
		LEFT JOIN (SELECT DISTINCT comment_id FROM texts_changed) n ON n.comment_id = c.id
		WHERE t.` + key + ` IS NULL AND n.comment_id IS NULL`
}

// texts looks for what searches miss. The repair is a note for each, as a change of the
// text leaves it: the next search reads them.
func (c *checker) texts(ctx context.Context) error {
	var missing int64
	err := c.DB.ReadLong(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT COUNT(*) FROM (` + unread(tx.Engine()) + `) x`).Scan(&missing)
	})
	if err != nil || missing == 0 {
		return err
	}
	if c.Repair {
		err := c.DB.Write(ctx, func(tx *db.Tx) (err error) {
			missing, err = tx.Exec(`INSERT INTO texts_changed (issue_id, comment_id) ` + unread(tx.Engine()))
			return err
		})
		if err != nil {
			return err
		}
	}
	c.find(Finding{Part: "issues", Repairable: true, Repaired: c.Repair,
		Problem: fmt.Sprintf("searches do not find %d issues and comments by their words", missing)})
	return nil
}
