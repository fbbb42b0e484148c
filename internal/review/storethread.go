package review

import (
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// pageOfThreads returns a subquery for a page of the threads of n pull requests: those visible to the user
// $1, after the first $2 and up to $3 for each. The ids of the pull requests start at $4.
func pageOfThreads(n int) string {
	return `(SELECT y.* FROM (SELECT COALESCE(reply_to, id) AS root, MIN(issue_id) AS issue_id,
			count(*) AS total,
			row_number() OVER (PARTITION BY MIN(issue_id) ORDER BY COALESCE(reply_to, id)) AS place
		FROM review_comments WHERE issue_id IN ` + db.ValuesFrom(4, 1, n) + ` AND (NOT pending OR author_id = $1)
		GROUP BY COALESCE(reply_to, id)) y WHERE y.place > $2 AND y.place <= $3) x`
}

// threadsOf reads a page of the visible threads of each pull request, in the order of their ids, with their
// first comments. Error: 422 if their texts exceed maxThreadText.
func threadsOf(
	tx *db.Tx, issues []issue.ID, userID account.ID, rows, offset, comments int64,
) ([]*conversation, error) {
	if len(issues) == 0 {
		return nil, nil
	}
	args := []any{userID, offset, offset + rows}
	for _, id := range issues {
		args = append(args, id)
	}
	var list []*conversation
	err := db.QueryEach(tx, func(row db.Scanner) error {
		t := &conversation{}
		if err := row.Scan(&t.root, &t.issueID, &t.total, &t.by); err != nil {
			return err
		}
		list = append(list, t)
		return nil
	}, `SELECT x.root, x.issue_id, x.total, COALESCE(t.resolved_by, 0) FROM `+
		pageOfThreads(len(issues))+` LEFT JOIN resolved_threads t ON t.root_id = x.root ORDER BY x.root`,
		args...)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	most := "$" + strconv.Itoa(len(args)+1)
	return list, fillThreads(tx, list, ` FROM (SELECT c.id, row_number() OVER (PARTITION BY x.root
		ORDER BY c.id) AS at
			FROM `+pageOfThreads(len(issues))+` JOIN review_comments c ON c.issue_id = x.issue_id
				AND COALESCE(c.reply_to, c.id) = x.root AND (NOT c.pending OR c.author_id = $1)) w
		JOIN review_comments c ON c.id = w.id`+joinPull+` WHERE w.at <= `+most+` ORDER BY c.id`, append(args, comments)...)
}

// maxThreadText is how many bytes of comments and hunks one request reads.
const maxThreadText = 16 << 20

// fillThreads reads the comments of the threads.
func fillThreads(tx *db.Tx, list []*conversation, from string, args ...any) error {
	at := make(map[int64]*conversation, len(list))
	for _, t := range list {
		at[t.root] = t
	}
	left := maxThreadText
	return db.QueryEach(tx, func(row db.Scanner) error {
		c, err := scanComment(row)
		if err != nil {
			return err
		}
		if left -= len(c.Body) + len(c.Hunk); left < 0 {
			return errs.New(errs.Invalid, "These are too many threads: ask for fewer at one time.")
		}
		if t := at[c.root()]; t != nil {
			t.comments = append(t.comments, c)
		}
		return nil
	}, `SELECT `+commentColumns+from, args...)
}

// countThreads counts the visible threads of each pull request.
func countThreads(tx *db.Tx, issues []issue.ID, userID account.ID) (map[issue.ID]int64, error) {
	if len(issues) == 0 {
		return nil, nil
	}
	return db.QueryMap[issue.ID, int64](tx, `SELECT issue_id, count(DISTINCT COALESCE(reply_to, id))
		FROM review_comments WHERE issue_id IN `+db.ValuesFrom(2, 1, len(issues))+`
		AND (NOT pending OR author_id = $1) GROUP BY issue_id`, db.Args(issues, userID)...)
}

// ThreadPlaces finds the repositories of threads by the ids of their first comments. It checks no rights
// and omits those that do not exist.
func ThreadPlaces(tx *db.Tx, roots []int64) (map[int64]repo.ID, error) {
	in := db.Values(1, len(roots))
	return db.QueryMap[int64, repo.ID](tx, `SELECT COALESCE(reply_to, id), MIN(repo_id) FROM review_comments
		WHERE id IN `+in+` OR reply_to IN `+in+` GROUP BY COALESCE(reply_to, id)`, db.Args(roots)...)
}

// setResolved resolves or unresolves a thread, and reports whether that changed anything.
func setResolved(tx *db.Tx, c *Comment, by account.ID, resolved bool) (changed bool, err error) {
	var rows int64
	if resolved {
		rows, err = tx.Exec(`INSERT INTO resolved_threads (root_id, issue_id, resolved_by, resolved_at)
			VALUES ($1, $2, $3, $4) ON CONFLICT (root_id) DO NOTHING`, c.root(), c.IssueID, by, tx.Now)
	} else {
		rows, err = tx.Exec(`DELETE FROM resolved_threads WHERE root_id = $1`, c.root())
	}
	return rows > 0, err
}

// commentsOfReviews reads a page of the visible comments of each review.
func commentsOfReviews(
	tx *db.Tx, reviews []int64, userID account.ID, rows, offset int64,
) ([]*Comment, error) {
	if len(reviews) == 0 {
		return nil, nil
	}
	args := db.Args(reviews, userID, offset, offset+rows)
	return queryComments(tx, ` FROM (SELECT id, row_number() OVER (PARTITION BY review_id
		ORDER BY id) AS place
			FROM review_comments WHERE review_id IN `+db.ValuesFrom(4, 1, len(reviews))+` AND (NOT pending OR author_id = $1)) x
		JOIN review_comments c ON c.id = x.id`+joinPull+` WHERE x.place > $2 AND x.place <= $3 ORDER BY c.id`, args...)
}

// CommentPlaces finds the repositories of comments. It checks no rights. It omits those that do not exist.
func CommentPlaces(tx *db.Tx, ids []int64) (map[int64]repo.ID, error) {
	return db.QueryMap[int64, repo.ID](tx,
		`SELECT id, repo_id FROM review_comments WHERE id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// threadsByRoots reads threads of any repositories by the ids of their first comments, with the first comments
// of each: those that the user may see. Threads without any are omitted.
func threadsByRoots(tx *db.Tx, userID account.ID, roots []int64) ([]*conversation, error) {
	if len(roots) == 0 {
		return nil, nil
	}
	in, args := db.ValuesFrom(2, 1, len(roots)), db.Args(roots, userID)
	where := ` FROM review_comments WHERE (NOT pending OR author_id = $1)
		AND (id IN ` + in + ` OR reply_to IN ` + in + `)`
	list, err := db.QueryList(tx, func(row db.Scanner) (*conversation, error) {
		t := &conversation{}
		return t, row.Scan(&t.root, &t.issueID, &t.total, &t.by)
	}, `SELECT x.root, x.issue_id, x.total, COALESCE(t.resolved_by, 0) FROM (SELECT COALESCE(reply_to, id) AS root,
		MIN(issue_id) AS issue_id, count(*) AS total`+where+` GROUP BY COALESCE(reply_to, id)) x
		LEFT JOIN resolved_threads t ON t.root_id = x.root ORDER BY x.root`, args...)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	most := "$" + strconv.Itoa(len(args)+1)
	return list, fillThreads(tx, list, ` FROM (SELECT id, row_number() OVER (PARTITION BY COALESCE(reply_to, id)
		ORDER BY id) AS at`+where+`) w JOIN review_comments c ON c.id = w.id`+joinPull+`
		WHERE w.at <= `+most+` ORDER BY c.id`, append(args, maxOfThread)...)
}

// countOf counts the rows of a table by the values of a column. All comments of a visible review are
// visible.
func countOf(tx *db.Tx, table, column string, ids []int64) (map[int64]int64, error) {
	counts := make(map[int64]int64, len(ids))
	if len(ids) == 0 {
		return counts, nil
	}
	return db.QueryMap[int64, int64](tx, `SELECT `+column+`, count(*) FROM `+table+` WHERE `+column+
		` IN `+db.Values(1, len(ids))+
		` GROUP BY `+column, db.Args(ids)...)
}
