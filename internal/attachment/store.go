package attachment

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const columns = `x.id, x.address_key, x.name, x.content_type, x.uploader_id, x.created_at,
	f.id, f.repo_id, f.name, f.size, f.sha256, f.depot_id`

const tables = ` FROM attachments x JOIN files f ON f.id = x.file_id`

// scan reads columns. Error: 404 without a row.
func scan(row db.Scanner) (*Attachment, error) {
	var x Attachment
	err := row.Scan(&x.ID, &x.Key, &x.Name, &x.ContentType, &x.UploaderID, &x.CreatedAt,
		&x.File.ID, &x.File.RepoID, &x.File.Name, &x.File.Size, &x.File.SHA256,
		&x.File.Depot)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &x, err
}

// byKey finds an attachment of a repository. Error: 404.
func byKey(tx *db.Tx, repoID repo.ID, key string) (*Attachment, error) {
	return scan(tx.QueryRow(`SELECT `+columns+tables+` WHERE x.repo_id = $1 AND x.address_key = $2`,
		repoID, key))
}

// ownIn counts what somebody has in a repository.
func ownIn(tx *db.Tx, repoID repo.ID, uploader account.ID) (files, bytes int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*), CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM attachments
		WHERE uploader_id = $1 AND repo_id = $2`, uploader, repoID).Scan(&files, &bytes)
	return files, bytes, err
}

// allIn counts what there is in a repository.
func allIn(tx *db.Tx, repoID repo.ID) (files, bytes int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*), CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM attachments WHERE repo_id = $1`,
		repoID).Scan(&files, &bytes)
	return files, bytes, err
}

// listOwn reads a page of somebody's attachments in a repository, the newest first.
func listOwn(tx *db.Tx, repoID repo.ID, uploader account.ID, p web.Page) ([]*Attachment, error) {
	return query(tx, ` WHERE x.uploader_id = $1 AND x.repo_id = $2 ORDER BY x.id DESC LIMIT $3 OFFSET $4`,
		uploader, repoID, p.Size, p.Offset())
}

// listAll reads a page of a repository's attachments, the newest or the largest first.
func listAll(tx *db.Tx, repoID repo.ID, bySize bool, p web.Page) ([]*Attachment, error) {
	order := `x.id DESC`
	if bySize {
		order = `x.size DESC, x.id DESC`
	}
	return query(tx, ` WHERE x.repo_id = $1 ORDER BY `+order+` LIMIT $2 OFFSET $3`, repoID,
		p.Size, p.Offset())
}

func query(tx *db.Tx, rest string, args ...any) ([]*Attachment, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+tables+rest, args...)
}

func insert(tx *db.Tx, x *Attachment) error {
	return tx.QueryRow(`INSERT INTO attachments (repo_id, file_id, address_key, name, content_type, size,
		uploader_id,
			created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		x.File.RepoID, x.File.ID, x.Key, x.Name, x.ContentType, x.File.Size, x.UploaderID,
		x.CreatedAt).Scan(&x.ID)
}

func remove(tx *db.Tx, id int64) error { return tx.Run(`DELETE FROM attachments WHERE id = $1`, id) }
