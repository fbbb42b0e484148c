package commitcomment

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

const columns = `id, repo_id, author_id, commit_sha, path, position, line, body, created_at, updated_at,
	COALESCE(hidden, 0)`

// scan reads columns. Error: 404 without a row.
func scan(row db.Scanner) (*Comment, error) {
	var c Comment
	err := row.Scan(&c.ID, &c.RepoID, &c.AuthorID, &c.SHA, &c.Path, &c.Position, &c.Line, &c.Body,
		&c.CreatedAt, &c.UpdatedAt, &c.Hidden)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &c, err
}

func query(tx *db.Tx, rest string, args ...any) ([]*Comment, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM commit_comments `+rest, args...)
}

// byID finds a comment of a repository. Error: 404.
func byID(tx *db.Tx, repoID repo.ID, id int64) (*Comment, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM commit_comments WHERE id = $1 AND repo_id = $2`,
		id, repoID))
}

// byIDs finds comments in one query.
func byIDs(tx *db.Tx, ids []int64) ([]*Comment, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	return query(tx, `WHERE id IN `+db.Values(1, len(ids)), args...)
}

// page reads a page of the comments of a repository, the oldest first, or with a SHA of
// those on one commit; and how many there are.
func page(tx *db.Tx, repoID repo.ID, sha git.SHA, p web.Page) ([]*Comment, int64, error) {
	where, args := `WHERE repo_id = $1`, []any{repoID, p.Size, p.Offset()}
	if sha != "" {
		where, args = where+` AND commit_sha = $4`, append(args, string(sha))
	}
	list, err := query(tx, where+` ORDER BY id LIMIT $2 OFFSET $3`, args...)
	if n := int64(len(list)); err != nil || n < p.Size && (n > 0 || p.Number == 1) {
		return list, p.Offset() + n, err
	}
	var total int64
	where, args = `WHERE repo_id = $1`, args[:1]
	if sha != "" {
		where, args = where+` AND commit_sha = $2`, append(args, string(sha))
	}
	err = tx.QueryRow(`SELECT count(*) FROM commit_comments `+where, args...).Scan(&total)
	return list, total, err
}

// onEach returns the condition of each commit, or repository, and their arguments, which begin at a number.
func onEach(list []repo.Of[git.SHA], first int) (each []string, args []any) {
	each = make([]string, len(list))
	for n, of := range list {
		args = append(args, of.In.ID)
		each[n] = fmt.Sprintf(`repo_id = $%d`, first+len(args)-1)
		if of.Key != "" {
			args = append(args, string(of.Key))
			each[n] += fmt.Sprintf(` AND commit_sha = $%d`, first+len(args)-1)
		}
	}
	return each, args
}

// countEach counts the comments on each commit, or in each repository, by its place.
func countEach(tx *db.Tx, list []repo.Of[git.SHA]) (map[int]int64, error) {
	each, args := onEach(list, 1)
	for n, of := range each {
		each[n] = fmt.Sprintf(`SELECT %d, count(*) FROM commit_comments WHERE %s`, n, of)
	}
	return db.QueryMap[int, int64](tx, strings.Join(each, ` UNION ALL `), args...)
}

// pageOfEach reads a page of the comments on each commit, or in each repository, the oldest first.
func pageOfEach(tx *db.Tx, list []repo.Of[git.SHA], p web.Page) ([]*Comment, error) {
	each, args := onEach(list, 3)
	for n, of := range each {
		each[n] = fmt.Sprintf(`SELECT id FROM (SELECT id FROM commit_comments WHERE %s ORDER BY id LIMIT $1 OFFSET $2) p%d`,
			of, n)
	}
	return query(tx, `WHERE id IN (`+strings.Join(each, ` UNION ALL `)+`) ORDER BY id`,
		append([]any{p.Size, p.Offset()}, args...)...)
}

// pageBy reads a page of the comments of each author that the caller sees, the oldest first.
func pageBy(
	tx *db.Tx, caller *account.Caller, authors []account.ID, p web.Page,
) (map[account.ID]*db.ListPage[int64], error) {
	return db.PageOfEach[account.ID, int64](tx, authors, db.Lists[account.ID]{Columns: `c.id, 0`, Order: `c.id`,
		From: func(_ account.ID, param string) string {
			return ` FROM commit_comments c WHERE c.author_id = ` + param + ` AND EXISTS (SELECT 1` +
				repo.FromVisible(`c.repo_id`, caller) + `)`
		}}, p.Offset(), p.Size, account.IDOf(caller))
}

// Places returns the repositories of comments.
func Places(tx *db.Tx, ids []int64) (map[int64]repo.ID, error) {
	return db.QueryMap[int64, repo.ID](tx, `SELECT id, repo_id FROM commit_comments WHERE id IN `+db.Values(1, len(ids)),
		db.Args(ids)...)
}

// insert adds a comment and sets its id. Error: 404 when the repository is gone.
func insert(tx *db.Tx, c *Comment) error {
	err := tx.QueryRow(`INSERT INTO commit_comments
		(repo_id, author_id, commit_sha, path, position, line, body, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) RETURNING id`, c.RepoID, c.AuthorID, string(c.SHA),
		c.Path, c.Position, c.Line, c.Body, c.CreatedAt).Scan(&c.ID)
	if errors.Is(err, db.ErrForeignKey) {
		err = errs.Absent()
	}
	return err
}

func update(tx *db.Tx, c *Comment) error {
	return tx.Run(`UPDATE commit_comments SET body = $2, updated_at = $3 WHERE id = $1`,
		c.ID, c.Body, c.UpdatedAt)
}

// hide stores why a comment is hidden.
func hide(tx *db.Tx, c *Comment) error {
	return tx.Run(`UPDATE commit_comments SET hidden = $2 WHERE id = $1`, c.ID, db.OrNull(int64(c.Hidden)))
}

func remove(tx *db.Tx, c *Comment) error {
	return tx.Run(`DELETE FROM commit_comments WHERE id = $1`, c.ID)
}
