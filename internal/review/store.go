package review

import (
	"errors"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

const reviewColumns = `r.id, r.repo_id, r.issue_id, r.author_id, r.state, r.body, r.commit_sha,
	COALESCE(r.submitted_at, 0), COALESCE(r.hidden, 0)`

// scanReview reads reviewColumns. Error: 404 if the row does not exist.
func scanReview(row db.Scanner) (*Review, error) {
	var v Review
	err := row.Scan(&v.ID, &v.RepoID, &v.IssueID, &v.AuthorID, &v.State, &v.Body, &v.Commit, &v.SubmittedAt, &v.Hidden)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	return &v, err
}

// reviewByID reads a review of a pull request that is visible to the user. Error: 404.
func reviewByID(tx *db.Tx, issueID issue.ID, id int64, userID account.ID) (*Review, error) {
	return scanReview(tx.QueryRow(`SELECT `+reviewColumns+` FROM reviews r
		WHERE r.id = $1 AND r.issue_id = $2 AND (r.state <> 1 OR r.author_id = $3)`, id, issueID, userID))
}

// Texts returns the bodies of submitted reviews, for timelines. It does not check access.
func Texts(tx *db.Tx, ids []int64) (map[int64]string, error) {
	return db.QueryMap[int64, string](tx, `SELECT id, body FROM reviews WHERE state <> 1 AND id IN `+
		db.Values(1, len(ids)), db.Args(ids)...)
}

// Spot is where something in a pull request is.
type Spot struct {
	Repo   repo.ID
	Number int64 // of the pull request
}

// Places finds the pull requests of reviews. It checks no rights. It omits those that do not exist.
func Places(tx *db.Tx, ids []int64) (map[int64]Spot, error) {
	return db.QueryMapOf[int64](tx, func(at *Spot) []any { return []any{&at.Repo, &at.Number} },
		`SELECT v.id, v.repo_id, i.number FROM reviews v JOIN issues i ON i.id = v.issue_id
		WHERE v.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// shownReviews reads submitted reviews in one query.
func shownReviews(tx *db.Tx, ids []int64) ([]*Review, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.QueryList(tx, scanReview, `SELECT `+reviewColumns+
		` FROM reviews r WHERE r.submitted_at IS NOT NULL AND r.id IN `+
		db.Values(1, len(ids)), db.Args(ids)...)
}

// listReviews reads a page of the reviews that are visible to the user, oldest first, and their total
// number.
func listReviews(
	tx *db.Tx, issueID issue.ID, userID account.ID, p web.Page,
) (list []*Review, total int64, err error) {
	const which = ` WHERE issue_id = $1 AND (state <> 1 OR author_id = $2)`
	if err := tx.QueryRow(`SELECT count(*) FROM reviews`+which, issueID, userID).Scan(&total); err != nil ||
		p.Offset() >= total {
		return nil, total, err
	}
	list, err = db.QueryList(tx, scanReview, `SELECT `+reviewColumns+` FROM (SELECT id FROM reviews`+
		which+` ORDER BY id LIMIT $3 OFFSET $4) x
		JOIN reviews r ON r.id = x.id ORDER BY r.id`, issueID, userID, p.Size, p.Offset())
	return list, total, err
}

// insertReview inserts the review and sets its id. Error: 422 if the author has a pending review.
func insertReview(tx *db.Tx, v *Review) error {
	err := tx.QueryRow(`INSERT INTO reviews (repo_id, issue_id, author_id, state, body, commit_sha,
		submitted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING id`,
		v.RepoID, v.IssueID, v.AuthorID, int64(v.State), v.Body, string(v.Commit), v.SubmittedAt).Scan(&v.ID)
	if errors.Is(err, db.ErrNoRows) {
		return refuse("User can only have one pending review per pull request")
	}
	return err
}

// updateReview writes the fields that can change.
func updateReview(tx *db.Tx, v *Review) error {
	err := tx.Run(`UPDATE reviews SET state = $2, body = $3, submitted_at = $4 WHERE id = $1`, v.ID,
		int64(v.State), v.Body, v.SubmittedAt)
	return err
}

// deleteReview deletes a review and its comments, which must not have reactions.
func deleteReview(tx *db.Tx, id int64) error {
	err := tx.Run(`DELETE FROM reviews WHERE id = $1`, id)
	return err
}

// dropEmpty deletes a review that has neither a text nor comments.
func dropEmpty(tx *db.Tx, id int64) error {
	err := tx.Run(`DELETE FROM reviews WHERE id = $1 AND state = $2 AND body = ''
		AND NOT EXISTS (SELECT 1 FROM review_comments c WHERE c.review_id = $1)`, id, int64(Commented))
	return err
}

// publish shows the pending comments of a review, and returns their number.
func publish(tx *db.Tx, reviewID int64) (n int64, err error) {
	return tx.Exec(`UPDATE review_comments SET pending = FALSE, created_at = $2, updated_at = $2 WHERE review_id = $1 AND pending`,
		reviewID, tx.Now)
}

// firstOf reads visible reviews of several pull requests in one query, oldest first: for each it skips
// offset reviews and returns at most rows.
func firstOf(tx *db.Tx, issues []issue.ID, userID account.ID, rows, offset int64) ([]*Review, error) {
	if len(issues) == 0 {
		return nil, nil
	}
	parts, args := make([]string, len(issues)), []any{userID, rows, offset}
	for n, id := range issues {
		args = append(args, id)
		at := strconv.Itoa(n + 4)
		parts[n] = `SELECT id FROM (SELECT id FROM reviews WHERE issue_id = $` + at +
			` AND (state <> 1 OR author_id = $1) ORDER BY id LIMIT $2 OFFSET $3) p` + at
	}
	return db.QueryList(tx, scanReview, `SELECT `+reviewColumns+` FROM reviews r
		WHERE r.id IN (`+strings.Join(parts, ` UNION ALL `)+`) ORDER BY r.id`, args...)
}

// reviewsByIDs reads reviews of any repositories by id, as far as they are visible to the user.
func reviewsByIDs(tx *db.Tx, userID account.ID, ids []int64) ([]*Review, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.QueryList(tx, scanReview, `SELECT `+reviewColumns+` FROM reviews r
		WHERE (r.state <> 1 OR r.author_id = $1) AND r.id IN `+db.ValuesFrom(2, 1, len(ids))+` ORDER BY r.id`,
		db.Args(ids, userID)...)
}

// pendingOf returns the id of the user's pending review and the number of its comments, or 0 if there is
// none.
func pendingOf(tx *db.Tx, issueID issue.ID, userID account.ID) (id, comments int64, err error) {
	err = tx.QueryRow(`SELECT v.id, (SELECT COUNT(*) FROM review_comments c WHERE c.review_id = v.id)
		FROM reviews v WHERE v.issue_id = $1 AND v.author_id = $2
		AND v.state = 1`, issueID, userID).Scan(&id, &comments)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return id, comments, err
}

// countReviews counts the visible reviews of each pull request.
func countReviews(tx *db.Tx, issues []issue.ID, userID account.ID) (map[issue.ID]int64, error) {
	counts := make(map[issue.ID]int64, len(issues))
	if len(issues) == 0 {
		return counts, nil
	}
	args := []any{userID}
	for _, id := range issues {
		args = append(args, id)
	}
	return db.QueryMap[issue.ID, int64](tx, `SELECT issue_id, count(*) FROM reviews WHERE issue_id IN `+
		db.ValuesFrom(2, 1, len(issues))+`
		AND (state <> 1 OR author_id = $1) GROUP BY issue_id`, args...)
}

// approvals reads the approving reviews of a pull request, the oldest first.
func approvals(tx *db.Tx, id issue.ID) ([]*Review, error) {
	return db.QueryList(tx, scanReview, `SELECT `+reviewColumns+` FROM reviews r
		WHERE r.issue_id = $1 AND r.state = 3 ORDER BY r.id`, id)
}

// hideReview stores why a review is hidden.
func hideReview(tx *db.Tx, v *Review) error {
	if err := tx.Run(`UPDATE reviews SET hidden = $2 WHERE id = $1`, v.ID, db.OrNull(int64(v.Hidden))); err != nil {
		return err
	}
	return issuekit.TellReaders(tx, `$1`, int64(v.IssueID))
}

// teamsOfReviews reads the teams that reviews answered, and calls each with the repository of the review.
func teamsOfReviews(tx *db.Tx, reviews []int64, each func(in repo.ID, id int64, of team.ID)) error {
	return db.InParts(reviews, func(part []int64) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			var in repo.ID
			var id int64
			var of team.ID
			err := row.Scan(&in, &id, &of)
			each(in, id, of)
			return err
		}, `SELECT v.repo_id, v.id, t.team_id FROM reviews v JOIN review_teams t ON t.review_id = v.id
			WHERE v.id IN `+db.Values(1, len(part))+` ORDER BY t.team_id`, db.Args(part)...)
	})
}
