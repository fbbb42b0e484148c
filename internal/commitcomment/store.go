package commitcomment

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const columns = `id, repo_id, author_id, commit_sha, path, position, line, body, created_at, updated_at`

// scan reads columns. Error: 404 without a row.
func scan(row db.Scanner) (*Comment, error) {
	var c Comment
	err := row.Scan(&c.ID, &c.RepoID, &c.AuthorID, &c.SHA, &c.Path, &c.Position, &c.Line, &c.Body,
		&c.CreatedAt, &c.UpdatedAt)
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

func remove(tx *db.Tx, c *Comment) error {
	return tx.Run(`DELETE FROM commit_comments WHERE id = $1`, c.ID)
}
