package release

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const assetColumns = `x.id, x.release_id, x.name, x.label, x.content_type, x.uploader_id, x.downloads, x.created_at,
	x.updated_at, f.id, f.repo_id, f.name, f.size, f.sha256, f.depot_id`

const assetTables = ` FROM release_assets x JOIN files f ON f.id = x.file_id`

// scanAsset reads assetColumns. Error: 404 without a row.
func scanAsset(row db.Scanner) (*Asset, error) {
	var x Asset
	err := row.Scan(&x.ID, &x.ReleaseID, &x.Name, &x.Label, &x.ContentType, &x.UploaderID, &x.Downloads,
		&x.CreatedAt, &x.UpdatedAt, &x.File.ID, &x.File.RepoID, &x.File.Name, &x.File.Size, &x.File.SHA256,
		&x.File.Depot)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &x, err
}

func queryAssets(tx *db.Tx, rest string, args ...any) ([]*Asset, error) {
	return db.QueryList(tx, scanAsset, `SELECT `+assetColumns+assetTables+rest, args...)
}

// assetByID finds an asset of a repository. Error: 404.
func assetByID(tx *db.Tx, repoID repo.ID, id int64) (*Asset, error) {
	return scanAsset(tx.QueryRow(`SELECT `+assetColumns+assetTables+` WHERE x.repo_id = $1 AND x.id = $2
		AND NOT EXISTS (SELECT 1 FROM releases r WHERE r.id = x.release_id AND r.deleted_at IS NOT NULL)`, repoID, id))
}

// assetByName finds an asset of a release. Error: 404.
func assetByName(tx *db.Tx, releaseID int64, name string) (*Asset, error) {
	return scanAsset(tx.QueryRow(`SELECT `+assetColumns+assetTables+
		` WHERE x.release_id = $1 AND x.name = $2`,
		releaseID, name))
}

// numberOfAssets counts the assets of some releases.
func numberOfAssets(tx *db.Tx, releases []int64) (n int64, err error) {
	if len(releases) == 0 {
		return 0, nil
	}
	err = tx.QueryRow(`SELECT COUNT(*) FROM release_assets WHERE release_id IN `+db.Values(1, len(releases)),
		anyIDs(releases)...).Scan(&n)
	return n, err
}

// assetCounts counts the assets of each of some releases.
func assetCounts(tx *db.Tx, releases []int64) (map[int64]int64, error) {
	counts := make(map[int64]int64, len(releases))
	if len(releases) == 0 {
		return counts, nil
	}
	return db.QueryMap[int64, int64](tx,
		`SELECT release_id, COUNT(*) FROM release_assets WHERE release_id IN `+
			db.Values(1, len(releases))+` GROUP BY release_id`, anyIDs(releases)...)
}

// firstAssets reads at most so many of the oldest assets of each of some releases.
func firstAssets(tx *db.Tx, releases []int64, most int64) (map[int64][]*Asset, error) {
	of := make(map[int64][]*Asset, len(releases))
	if len(releases) == 0 {
		return of, nil
	}
	found, err := queryAssets(tx, ` WHERE x.id IN (SELECT n.id FROM (SELECT id,
			ROW_NUMBER() OVER (PARTITION BY release_id ORDER BY id) AS place FROM release_assets
			WHERE release_id IN `+db.ValuesFrom(2, 1, len(releases))+`) AS n WHERE n.place <= $1) ORDER BY x.id`,
		append([]any{most}, anyIDs(releases)...)...)
	for _, x := range found {
		of[x.ReleaseID] = append(of[x.ReleaseID], x)
	}
	return of, err
}

// assetsOf reads the assets of some releases, the oldest first.
func assetsOf(tx *db.Tx, releases []int64) (map[int64][]*Asset, error) {
	of := make(map[int64][]*Asset, len(releases))
	if len(releases) == 0 {
		return of, nil
	}
	found, err := queryAssets(tx, ` WHERE x.release_id IN `+db.Values(1, len(releases))+` ORDER BY x.id`,
		anyIDs(releases)...)
	for _, x := range found {
		of[x.ReleaseID] = append(of[x.ReleaseID], x)
	}
	return of, err
}

func anyIDs(ids []int64) []any {
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	return args
}

// assetPage reads a page of the assets of a release, the oldest first, and counts all.
func assetPage(tx *db.Tx, releaseID int64, page web.Page) (list []*Asset, total int64, err error) {
	if total, err = numberOfAssets(tx, []int64{releaseID}); err != nil {
		return nil, 0, err
	}
	list, err = queryAssets(tx, ` WHERE x.release_id = $1 ORDER BY x.id LIMIT $2 OFFSET $3`,
		releaseID, page.Size, page.Offset())
	return list, total, err
}

// countAssets counts the assets of a release, and reports whether one has the name.
func countAssets(tx *db.Tx, releaseID int64, name string) (n int64, taken bool, err error) {
	err = tx.QueryRow(`SELECT COUNT(*), COUNT(CASE WHEN name = $2 THEN 1 END) > 0 FROM release_assets
		WHERE release_id = $1`, releaseID, name).Scan(&n, &taken)
	return n, taken, err
}

func insertAsset(tx *db.Tx, x *Asset) error {
	return tx.QueryRow(`INSERT INTO release_assets (release_id, repo_id, file_id, name, label, content_type,
		uploader_id,
			created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
		x.ReleaseID, x.File.RepoID, x.File.ID, x.Name, x.Label, x.ContentType, x.UploaderID, x.CreatedAt,
		x.UpdatedAt).Scan(&x.ID)
}

func updateAsset(tx *db.Tx, x *Asset) error {
	return tx.Run(`UPDATE release_assets SET name = $2, label = $3, updated_at = $4 WHERE id = $1`,
		x.ID, x.Name, x.Label, x.UpdatedAt)
}

func removeAsset(tx *db.Tx, id int64) error {
	return tx.Run(`DELETE FROM release_assets WHERE id = $1`, id)
}

// countDownload counts a download of an asset.
func countDownload(tx *db.Tx, id int64) error {
	return tx.Run(`UPDATE release_assets SET downloads = downloads + 1 WHERE id = $1`, id)
}
