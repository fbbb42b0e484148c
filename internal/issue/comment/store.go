package comment

import (
	"errors"
	"maps"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// columns are the columns that scan reads, of comments c and issues i.
const columns = `c.id, c.repo_id, c.issue_id, c.author_id, c.body, c.reacted, c.created_at, c.updated_at,
	c.pinned_at, COALESCE(c.pinned_by, 0), COALESCE(c.hidden, 0), c.by_mail, i.number, i.pull,
	i.locked`

// scan reads columns. Error: 404 if the row does not exist.
func scan(row db.Scanner) (*Comment, error) {
	var c Comment
	err := row.Scan(&c.ID, &c.RepoID, &c.IssueID, &c.AuthorID, &c.Body, &c.Reacted, &c.CreatedAt,
		&c.UpdatedAt, &c.PinnedAt, &c.PinnedBy, &c.Hidden, &c.ByMail, &c.Number, &c.Pull,
		&c.Locked)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	return &c, err
}

func query(tx *db.Tx, rest string, args ...any) ([]*Comment, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM `+rest, args...)
}

// byID reads a comment of a repository. Error: 404.
func byID(tx *db.Tx, repoID repo.ID, id int64) (*Comment, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM issue_comments c JOIN issues i ON i.id = c.issue_id
		WHERE c.id = $1 AND c.repo_id = $2`, id, repoID))
}

// byIDs reads comments in one query, in no particular order. Deleted comments are missing. The same
// transaction must have found their repositories to be visible to the caller.
func byIDs(tx *db.Tx, ids []int64) ([]*Comment, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	return query(tx,
		`issue_comments c JOIN issues i ON i.id = c.issue_id WHERE c.id IN `+db.Values(1, len(ids)), args...)
}

// list selects the comments of one issue by age, or those of a repository.
type list struct {
	repoID  repo.ID
	issue   *issue.Issue // nil: all of the repository
	since   db.Time      // zero: all
	updated bool         // order by update time, else by creation time; only of a repository
	desc    bool
}

// where returns the condition of the list and its arguments.
func (l *list) where() (string, []any) {
	text, args := ` WHERE repo_id = $1`, []any{l.repoID}
	if l.issue != nil {
		text, args = ` WHERE issue_id = $1`, []any{l.issue.ID}
	}
	if l.since != 0 {
		text, args = text+` AND updated_at >= $2`, append(args, l.since)
	}
	return text, args
}

// order returns the ORDER BY of the list, which is total (decision 24).
func (l *list) order(table string, desc bool) string {
	direction := " ASC"
	if desc {
		direction = " DESC"
	}
	text := ` ORDER BY `
	if l.updated {
		text += table + `.updated_at` + direction + `, `
	}
	return text + table + `.id` + direction
}

// page reads a page of the list. The query needs only an index to find the rows, and starts at the nearer
// end if the total is known.
func (l *list) page(tx *db.Tx, p web.Page) (list []*Comment, total int64, err error) {
	if l.since == 0 {
		if total, err = l.all(tx); err != nil || p.Offset() >= total {
			return nil, total, err
		}
		if rows := min(p.Size, total-p.Offset()); p.Offset() > total/2 {
			list, err = l.read(tx, !l.desc, rows, total-p.Offset()-rows)
		} else {
			list, err = l.read(tx, l.desc, rows, p.Offset())
		}
		return list, total, err
	}
	if list, err = l.read(tx, l.desc, p.Size, p.Offset()); err != nil {
		return nil, 0, err
	}
	if n := int64(len(list)); n < p.Size && (n > 0 || p.Number == 1) {
		return list, p.Offset() + n, nil
	}
	where, args := l.where()
	err = tx.QueryRow(`SELECT count(*) FROM issue_comments`+where, args...).Scan(&total)
	return list, total, err
}

// read reads rows in the list's order. offset counts from the list's start, or from its end if desc differs
// from the list's.
func (l *list) read(tx *db.Tx, desc bool, rows, offset int64) ([]*Comment, error) {
	where, args := l.where()
	n := int64(len(args))
	return query(tx, `(SELECT x.id FROM issue_comments x`+where+l.order("x", desc)+
		` LIMIT $`+strconv.FormatInt(n+1, 10)+` OFFSET $`+strconv.FormatInt(n+2, 10)+`) p
		JOIN issue_comments c ON c.id = p.id JOIN issues i ON i.id = c.issue_id`+l.order("c", l.desc), append(args, rows, offset)...)
}

// all returns the stored number of comments of the issue or repository.
func (l *list) all(tx *db.Tx) (n int64, err error) {
	if l.issue != nil {
		return l.issue.Comments, nil
	}
	err = tx.QueryRow(`SELECT n FROM posting_counts WHERE repo_id = $1 AND kind = $2 AND value = 0 AND state = 0`,
		l.repoID, int64(posting.OfComments)).Scan(&n)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return n, err
}

// insertRow inserts the comment, sets its id and counts it.
func insertRow(tx *db.Tx, c *Comment) error {
	var err error
	if c.ID, err = tx.NextID("issue_comments"); err != nil {
		return err
	}
	err = tx.Run(`INSERT INTO issue_comments (id, repo_id, issue_id, author_id, body, created_at, updated_at,
			by_mail) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, c.ID, c.RepoID, c.IssueID, c.AuthorID, c.Body, c.CreatedAt,
		c.UpdatedAt, c.ByMail)
	if err != nil {
		return err
	}
	return posting.Count(tx, c.RepoID, []posting.Property{posting.OfComments.Of(0)}, 0, 1)
}

func updateRow(tx *db.Tx, c *Comment) error {
	err := tx.Run(`UPDATE issue_comments SET body = $2, updated_at = $3 WHERE id = $1`,
		c.ID, c.Body, c.UpdatedAt)
	return err
}

// hide stores why a comment is hidden.
func hide(tx *db.Tx, c *Comment) error {
	if err := tx.Run(`UPDATE issue_comments SET hidden = $2 WHERE id = $1`, c.ID, db.OrNull(int64(c.Hidden))); err != nil {
		return err
	}
	return issuekit.TellReaders(tx, `$1`, int64(c.IssueID))
}

// deleteRow deletes the comment and updates the count.
func deleteRow(tx *db.Tx, c *Comment) error {
	if err := tx.Run(`DELETE FROM issue_comments WHERE id = $1`, c.ID); err != nil {
		return err
	}
	return posting.Count(tx, c.RepoID, []posting.Property{posting.OfComments.Of(0)}, 0, -1)
}

// noteReaction records that a comment has reactions and invalidates cached responses (decision 57). It
// locks the repository's row before it checks that the comment exists. Error: 404.
func noteReaction(tx *db.Tx, repoID repo.ID, id int64) error {
	if err := issuekit.Lock(tx, repoID); err != nil {
		return err
	}
	n, err := tx.Exec(`UPDATE issue_comments SET reacted = TRUE WHERE id = $1 AND repo_id = $2`, id, repoID)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return issuekit.TellReaders(tx, `(SELECT issue_id FROM issue_comments WHERE id = $1)`, id)
}

// pinnedOn returns the id of the issue's pinned comment, if any.
func pinnedOn(tx *db.Tx, id issue.ID) ([]int64, error) {
	return db.QueryIDs[int64](tx,
		`SELECT id FROM issue_comments WHERE issue_id = $1 AND pinned_at IS NOT NULL`, id)
}

// pin stores when and by whom a comment was pinned.
func pin(tx *db.Tx, c *Comment) error {
	return tx.Run(`UPDATE issue_comments SET pinned_at = $2, pinned_by = $3 WHERE id = $1`, c.ID, c.PinnedAt,
		c.PinnedBy)
}

func unpin(tx *db.Tx, id issue.ID) error {
	return tx.Run(`UPDATE issue_comments SET pinned_at = NULL, pinned_by = NULL
		WHERE issue_id = $1 AND pinned_at IS NOT NULL`, id)
}

// ByIDs reads comments in one query, in no particular order. It does not check access: callers must check
// the comments' repositories before showing them.
func ByIDs(tx *db.Tx, ids []int64) ([]*Comment, error) { return byIDs(tx, ids) }

// firstOf returns ids of comments of several issues in one query, by age: for each issue it skips offset
// comments and returns at most rows.
func firstOf(tx *db.Tx, issues []issue.ID, rows, offset int64) ([]int64, error) {
	if len(issues) == 0 {
		return nil, nil
	}
	parts, args := make([]string, len(issues)), []any{rows, offset}
	for n, id := range issues {
		args = append(args, id)
		at := strconv.Itoa(n + 3)
		parts[n] = `SELECT id FROM (SELECT id FROM issue_comments WHERE issue_id = $` +
			at + ` ORDER BY id LIMIT $1 OFFSET $2) p` + at
	}
	return db.QueryIDs[int64](tx, strings.Join(parts, ` UNION ALL `), args...)
}

// pageBy reads a page of the comments of each author in repositories that the caller sees.
func pageBy(
	tx *db.Tx, caller *account.Caller, authors []account.ID, o Order, p web.Page,
) (map[account.ID]*db.ListPage[int64], error) {
	direction := map[bool]string{true: ` DESC`}[o.Desc]
	order := `f.comment` + direction
	if o.Updated {
		order = `f.updated_at` + direction + `, ` + order
	}
	return db.PageOfEach[account.ID, int64](tx, authors, db.Lists[account.ID]{Columns: `f.comment, 0`, Order: order,
		From: func(_ account.ID, param string) string {
			return repo.FromVisibleIn(`SELECT c.id AS comment, c.updated_at, c.repo_id AS id, c.issue_id
					FROM issue_comments c WHERE c.author_id = `+param, caller) + `
				AND (r.has_issues OR EXISTS (SELECT 1 FROM issues p WHERE p.id = f.issue_id AND p.pull = TRUE))`
		}}, p.Offset(), p.Size, account.IDOf(caller))
}

// reposOf returns the repositories of comments.
func reposOf(tx *db.Tx, ids []int64) (map[int64]repo.ID, error) {
	found := map[int64]repo.ID{}
	return found, db.InParts(ids, func(part []int64) error {
		more, err := db.QueryMap[int64, repo.ID](tx, `SELECT id, repo_id FROM issue_comments WHERE id IN `+
			db.Values(1, len(part)), db.Args(part)...)
		maps.Copy(found, more)
		return err
	})
}
