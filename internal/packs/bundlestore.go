package packs

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// bundle is a row of the table bundles.
type bundle struct {
	key    string
	folder repo.Folder // that it was made of
	depot  file.DepotID
	tip    git.SHA
	size   int64 // in bytes
	sha256 string
	packed int64   // bytes of the repository's packs when it was made
	made   db.Time // 0: it is being uploaded
	gone   db.Time // since when it is not offered; 0: it is
}

// asFile returns the bundle as the file that it is in its depot.
func (b *bundle) asFile() *packFile {
	return &packFile{key: b.key, depot: b.depot, packSize: b.size, sha256: b.sha256}
}

const bundleColumns = `b.key_name, b.repo_id, b.purges, b.depot_id, b.tip, b.size, b.sha256, b.packed, b.made_at,
	b.gone_at`

func scanBundle(row db.Scanner, more ...any) (*bundle, error) {
	var b bundle
	return &b, row.Scan(append([]any{&b.key, &b.folder.ID, &b.folder.Purges, &b.depot, &b.tip, &b.size, &b.sha256,
		&b.packed, &b.made, &b.gone}, more...)...)
}

// bundlesWhere lists bundles, which the condition calls b.
func bundlesWhere(tx *db.Tx, condition string, args ...any) ([]*bundle, error) {
	return db.QueryList(tx, func(row db.Scanner) (*bundle, error) { return scanBundle(row) },
		`SELECT `+bundleColumns+` FROM bundles b WHERE `+condition+` ORDER BY b.key_name`, args...)
}

// uploading is the SQL condition that a bundle is being uploaded: the uploading node holds the lease of the
// repository's packing.
func uploading(tx *db.Tx) string {
	return `b.made_at IS NULL AND b.gone_at IS NULL AND EXISTS (SELECT 1 FROM packings k
		WHERE k.repo_id = b.repo_id AND k.due_at > ` + tx.Engine().Clock() + `)`
}

// latestBundle returns the newest bundle of a repository's folder that is not withdrawn, and the tip of the default
// branch; nil: there is none. The caller must check that the bundle's tip is in the history of that branch.
func latestBundle(tx *db.Tx, f repo.Folder) (b *bundle, tip git.SHA, err error) {
	b, err = scanBundle(tx.QueryRow(`SELECT `+bundleColumns+`, t.sha FROM bundles b JOIN repos r ON r.id = b.repo_id
		JOIN refs t ON t.repo_id = r.id AND t.name = 'refs/heads/'||r.default_branch
		WHERE b.repo_id = $1 AND b.purges = $2 AND b.purges = r.purges AND b.made_at IS NOT NULL AND b.gone_at IS NULL
		ORDER BY b.made_at DESC LIMIT 1`, f.ID, f.Purges), &tip)
	if errors.Is(err, db.ErrNoRows) {
		return nil, "", nil
	}
	return b, tip, err
}

// bundleState is the state of a repository, as far as it concerns bundles.
type bundleState struct {
	folder  repo.Folder
	branch  string  // the default one
	tip     git.SHA // of it; empty: it does not exist
	size    int64   // bytes of its packs
	packed  int64   // the same; of a fork, of those that no other repository has
	bundles []*bundle
}

// bundledOf reads it; nil: the repository has no packs in a depot, or is deleted.
func bundledOf(tx *db.Tx, id repo.ID) (*bundleState, error) {
	var b bundleState
	var parent int64
	err := tx.QueryRow(`SELECT r.id, r.purges, r.default_branch, COALESCE(t.sha, ''), COALESCE(r.parent_id, 0)
		FROM repos r LEFT JOIN refs t ON t.repo_id = r.id AND t.name = 'refs/heads/'||r.default_branch
		WHERE r.id = $1 AND r.packs > 0 AND `+repo.NotDeleted("r"), id).Scan(&b.folder.ID, &b.folder.Purges, &b.branch,
		&b.tip, &parent)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	own := `TRUE`
	if parent != 0 {
		own = `NOT EXISTS (SELECT 1 FROM packs o WHERE o.file_id = p.file_id AND o.repo_id <> p.repo_id)`
	}
	err = tx.QueryRow(`SELECT CAST(COALESCE(SUM(f.pack_size), 0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN `+own+` THEN f.pack_size ELSE 0 END), 0) AS BIGINT) FROM packs p
		JOIN pack_files f ON f.id = p.file_id WHERE p.repo_id = $1 AND p.purges = $2`, b.folder.ID,
		b.folder.Purges).Scan(&b.size, &b.packed)
	if err == nil {
		b.bundles, err = bundlesWhere(tx, `b.repo_id = $1`, id)
	}
	return &b, err
}

// addBundle adds the row of a bundle that is about to be uploaded.
func addBundle(tx *db.Tx, b *bundle) error {
	return tx.Run(`INSERT INTO bundles (key_name, repo_id, purges, depot_id, tip, size, sha256, packed)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, b.key, b.folder.ID, b.folder.Purges, b.depot, b.tip, b.size, b.sha256,
		b.packed)
}

// markUploaded marks a bundle as uploaded, and withdraws the repository's older ones. It returns false if the row was
// removed or withdrawn in the meantime.
func markUploaded(tx *db.Tx, b *bundle) (bool, error) {
	now, err := tx.Clock()
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`UPDATE bundles SET made_at = $2 WHERE key_name = $1 AND gone_at IS NULL`, b.key, now)
	if err != nil || n == 0 {
		return false, err
	}
	return true, withdraw(tx, `repo_id = $2 AND key_name <> $3`, b.folder.ID, b.key)
}

// withdraw marks bundles so that they are no longer offered. Parameters of the condition begin with $2.
func withdraw(tx *db.Tx, condition string, args ...any) error {
	now, err := tx.Clock()
	if err != nil {
		return err
	}
	return tx.Run(`UPDATE bundles AS b SET gone_at = $1 WHERE gone_at IS NULL AND `+condition,
		append([]any{now}, args...)...)
}

// EndUpload withdraws the bundle that the former holder of the lease of a repository's packing was uploading: that node
// is dead.
func EndUpload(tx *db.Tx, id repo.ID) error {
	return withdraw(tx, `repo_id = $2 AND made_at IS NULL`, id)
}

func dropBundles(tx *db.Tx, list []*bundle) error {
	return db.InParts(list, func(part []*bundle) error {
		keys := make([]string, len(part))
		for n, b := range part {
			keys[n] = b.key
		}
		return tx.Run(`DELETE FROM bundles WHERE key_name IN `+db.Values(1, len(keys)), db.Args(keys)...)
	})
}
