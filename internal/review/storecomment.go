package review

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// commentColumns are the columns of fromComments that scanComment reads.
const commentColumns = `c.id, c.repo_id, c.issue_id, c.review_id, c.author_id, c.pending, COALESCE(c.reply_to, 0), c.body, c.reacted,
	c.path, c.whole, c.side, COALESCE(c.start_side, 0), c.diff_hunk, c.original_sha, c.original_position, COALESCE(c.original_line, 0),
	COALESCE(c.original_start, 0), c.current_sha, COALESCE(c.current_position, 0), COALESCE(c.current_line, 0),
	COALESCE(c.current_start, 0), c.created_at, c.updated_at, COALESCE(c.hidden, 0), i.number, i.locked,
	p.base_sha, p.head_sha`

const joinPull = ` JOIN issues i ON i.id = c.issue_id JOIN pulls p ON p.issue_id = c.issue_id`

const fromComments = ` FROM review_comments c` + joinPull

// scanComment reads commentColumns. Error: 404 if the row does not exist.
func scanComment(row db.Scanner) (*Comment, error) {
	var c Comment
	err := row.Scan(&c.ID, &c.RepoID, &c.IssueID, &c.ReviewID, &c.AuthorID, &c.Pending, &c.ReplyTo,
		&c.Body, &c.Reacted, &c.Path, &c.Whole, &c.Side, &c.StartSide, &c.Hunk, &c.Commit, &c.Spot.Position,
		&c.Spot.Line,
		&c.Spot.Start, &c.Current, &c.Now.Position, &c.Now.Line,
		&c.Now.Start, &c.CreatedAt, &c.UpdatedAt, &c.Hidden, &c.Number, &c.Locked, &c.BaseSHA, &c.HeadSHA)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	return &c, err
}

func queryComments(tx *db.Tx, rest string, args ...any) ([]*Comment, error) {
	return db.QueryList(tx, scanComment, `SELECT `+commentColumns+rest, args...)
}

// commentByID reads a comment of a repository that is visible to the user. Error: 404.
func commentByID(tx *db.Tx, repoID repo.ID, id int64, userID account.ID) (*Comment, error) {
	return scanComment(tx.QueryRow(`SELECT `+commentColumns+fromComments+`
		WHERE c.id = $1 AND c.repo_id = $2 AND (NOT c.pending OR c.author_id = $3)`, id, repoID, userID))
}

// commentsByIDs finds comments of any repositories that the user may see, in one query.
func commentsByIDs(tx *db.Tx, userID account.ID, ids []int64) ([]*Comment, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return queryComments(tx, fromComments+` WHERE (NOT c.pending OR c.author_id = $1)
		AND c.id IN `+db.ValuesFrom(2, 1, len(ids))+` ORDER BY c.id`, db.Args(ids, userID)...)
}

// shownComments finds comments that everyone sees, in one query.
func shownComments(tx *db.Tx, ids []int64) ([]*Comment, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return queryComments(tx, fromComments+` WHERE NOT c.pending AND c.id IN `+db.Values(1, len(ids)),
		db.Args(ids)...)
}

// commentsOfReview reads a page of a review's comments, oldest first, and their total number.
func commentsOfReview(tx *db.Tx, reviewID int64, p web.Page) (list []*Comment, total int64, err error) {
	list, err = queryComments(tx, ` FROM (SELECT id FROM review_comments WHERE review_id = $1 ORDER BY id
		LIMIT $2 OFFSET $3) x
		JOIN review_comments c ON c.id = x.id`+joinPull+` ORDER BY c.id`, reviewID, p.Size, p.Offset())
	if err != nil {
		return nil, 0, err
	}
	total, known := p.Total(len(list))
	if !known {
		err = tx.QueryRow(`SELECT count(*) FROM review_comments WHERE review_id = $1`, reviewID).Scan(&total)
	}
	return list, total, err
}

// textsOfReview reads the texts of the first maxComments comments of a review.
func textsOfReview(tx *db.Tx, reviewID int64) (list []string, err error) {
	return db.QueryTexts(tx, `SELECT body FROM review_comments WHERE review_id = $1 ORDER BY id LIMIT $2`,
		reviewID, maxComments)
}

// commentList selects submitted comments of one pull request or repository.
type commentList struct {
	column  string // issue_id or repo_id
	id      any
	since   db.Time // zero: all
	updated bool    // order by update time, else by creation time
	desc    bool
}

// page reads a page of the list and the total number. The query needs only an index to find the rows.
func (l *commentList) page(tx *db.Tx, p web.Page) (list []*Comment, total int64, err error) {
	where, args := ` WHERE `+l.column+` = $1 AND pending = $2`, []any{l.id, false}
	if l.since != 0 {
		where, args = where+` AND updated_at >= $3`, append(args, l.since)
	}
	order := ` ORDER BY `
	direction := ``
	if l.desc {
		direction = ` DESC`
	}
	if l.updated {
		order += `%[1]supdated_at` + direction + `, `
	}
	order += `%[1]sid` + direction
	n := len(args)
	list, err = queryComments(tx, ` FROM (SELECT id FROM review_comments`+where+fmt.Sprintf(order, "")+
		` LIMIT $`+strconv.Itoa(n+1)+` OFFSET $`+strconv.Itoa(n+2)+`) x
		JOIN review_comments c ON c.id = x.id`+joinPull+fmt.Sprintf(order, "c."), append(slices.Clone(args), p.Size, p.Offset())...)
	if err != nil {
		return nil, 0, err
	}
	total, known := p.Total(len(list))
	if !known {
		err = tx.QueryRow(`SELECT count(*) FROM review_comments`+where, args...).Scan(&total)
	}
	return list, total, err
}

// commentInsert is the INSERT of the columns that row returns.
const commentInsert = `INSERT INTO review_comments (repo_id, issue_id, review_id, author_id, pending,
	reply_to, body, path, whole, side, start_side, diff_hunk, original_sha, original_position, original_line,
	original_start, current_sha, current_position,
	current_line, current_start, created_at, updated_at) VALUES `

func (c *Comment) row() []any {
	return []any{c.RepoID, c.IssueID, c.ReviewID, c.AuthorID, c.Pending, db.OrNull(c.ReplyTo),
		c.Body, c.Path, c.Whole, int64(c.Side),
		db.OrNull(int64(c.StartSide)), c.Hunk, string(c.Commit), c.Spot.Position,
		db.OrNull(c.Spot.Line), db.OrNull(c.Spot.Start),
		string(c.Current), db.OrNull(c.Now.Position), db.OrNull(c.Now.Line),
		db.OrNull(c.Now.Start), c.CreatedAt, c.UpdatedAt}
}

// insertComment inserts the comment and sets its id.
func insertComment(tx *db.Tx, c *Comment) error {
	row := c.row()
	return tx.QueryRow(commentInsert+db.Values(1, len(row))+` RETURNING id`, row...).Scan(&c.ID)
}

// insertComments inserts the comments of a review in one statement.
func insertComments(tx *db.Tx, list []*Comment) error {
	if len(list) == 0 {
		return nil
	}
	var args []any
	columns := 0
	for _, c := range list {
		row := c.row()
		args, columns = append(args, row...), len(row)
	}
	err := tx.Run(commentInsert+db.Values(len(list), columns), args...)
	return err
}

func updateComment(tx *db.Tx, c *Comment) error {
	err := tx.Run(`UPDATE review_comments SET body = $2, updated_at = $3 WHERE id = $1`,
		c.ID, c.Body, c.UpdatedAt)
	return err
}

func deleteComment(tx *db.Tx, id int64) error {
	err := tx.Run(`DELETE FROM review_comments WHERE id = $1`, id)
	return err
}

// storeSpots writes the current positions of comments in one statement.
func storeSpots(tx *db.Tx, list []*Comment) error {
	var args []any
	for _, c := range list {
		args = append(args, c.ID, string(c.Current), c.Now.Position, c.Now.Line, c.Now.Start)
	}
	const first = `(CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT))`
	values := first
	if len(list) > 1 {
		values += `,` + db.ValuesFrom(6, len(list)-1, 5)
	}
	err := tx.Run(`WITH v (id, sha, position, line, start) AS (VALUES `+values+`)
		UPDATE review_comments SET current_sha = v.sha, current_position = NULLIF(v.position, 0), current_line = NULLIF(v.line, 0),
		current_start = NULLIF(v.start, 0) FROM v WHERE v.id = review_comments.id`, args...)
	return err
}

// noteReaction records under the repository's lock that a comment has reactions. Error: 404 if it was
// deleted.
func noteReaction(tx *db.Tx, repoID repo.ID, id int64) error {
	if err := issuekit.Lock(tx, repoID); err != nil {
		return err
	}
	n, err := tx.Exec(`UPDATE review_comments SET reacted = TRUE WHERE id = $1 AND repo_id = $2`, id, repoID)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return issuekit.TellReaders(tx, `(SELECT issue_id FROM review_comments WHERE id = $1)`, id)
}

// commentsOf returns the ids of a review's comments.
func commentsOf(tx *db.Tx, reviewID int64) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM review_comments WHERE review_id = $1 ORDER BY id`, reviewID)
}

// hideComment stores why a comment is hidden.
func hideComment(tx *db.Tx, c *Comment) error {
	if err := tx.Run(`UPDATE review_comments SET hidden = $2 WHERE id = $1`, c.ID, db.OrNull(int64(c.Hidden))); err != nil {
		return err
	}
	return issuekit.TellReaders(tx, `$1`, int64(c.IssueID))
}
