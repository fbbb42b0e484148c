package packs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/repo"
)

// packFile is a row of the table pack_files.
type packFile struct {
	id    int64
	key   string
	depot file.DepotID // 0: the bytes are in the row

	packSize, reverseSize, indexSize int64 // in bytes

	sha256 string
	data   []byte // nil: not read, or in the depot
}

func (f *packFile) size() int64 { return f.packSize + f.reverseSize + f.indexSize }

// newKey creates a name that no file has.
func newKey() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// keyPath is the key of a file in a depot.
func keyPath(key string) string { return Folder + "/" + key[:2] + "/" + key }

// incrementGeneration locks a repository's row and raises Repo.Packs; 0: it has no row, or another folder.
func incrementGeneration(tx *db.Tx, f repo.Folder) (after int64, err error) {
	err = tx.QueryRow(`UPDATE repos SET packs = packs + 1 WHERE id = $1 AND purges = $2 AND packs > 0
		RETURNING packs`, f.ID, f.Purges).Scan(&after)
	if errors.Is(err, db.ErrNoRows) {
		return 0, nil
	}
	return after, err
}

// generation reads Repo.Packs; 0: the repository has no row, or another folder.
func generation(tx *db.Tx, f repo.Folder) (now int64, err error) {
	err = tx.QueryRow(`SELECT packs FROM repos WHERE id = $1 AND purges = $2`, f.ID, f.Purges).Scan(&now)
	if errors.Is(err, db.ErrNoRows) {
		return 0, nil
	}
	return now, err
}

// isCurrentFolder locks a repository's row, and reports whether it has the folder.
func isCurrentFolder(tx *db.Tx, f repo.Folder) (bool, error) {
	n, err := tx.Exec(`UPDATE repos SET packs = packs WHERE id = $1 AND purges = $2 AND packs > 0`, f.ID, f.Purges)
	return n > 0, err
}

// addPack adds a pack to a folder, unless that has one of its name.
func addPack(tx *db.Tx, to repo.Folder, name string, f *packFile) error {
	there, err := packOf(tx, to, name)
	if err != nil || there != nil {
		return err
	}
	err = tx.QueryRow(`INSERT INTO pack_files (key_name, depot_id, pack_size, reverse_size, index_size, sha256, data,
		made_for, network) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, `+networkOf("$8")+`) RETURNING id`, f.key, f.depot, f.packSize,
		f.reverseSize, f.indexSize, f.sha256, f.data, to.ID).Scan(&f.id)
	if err != nil {
		return err
	}
	return tx.Run(`INSERT INTO packs (repo_id, purges, name, file_id, added_at) VALUES ($1, $2, $3, $4, $5)`,
		to.ID, to.Purges, name, f.id, tx.Now)
}

// networkOf is an SQL expression for the fork network of a repository's packs. It stays the same if the root leaves the
// network or is deleted, since packs from before are still shared.
func networkOf(id string) string {
	return `COALESCE((SELECT x.network FROM packs q JOIN pack_files x ON x.id = q.file_id
			WHERE q.repo_id = ` + id + ` AND x.network IS NOT NULL LIMIT 1),
		(SELECT COALESCE(root_id, id) FROM repos WHERE id = ` + id + `), ` + id + `)`
}

const fileColumns = `f.id, f.key_name, f.depot_id, f.pack_size, f.reverse_size, f.index_size, f.sha256`

func scanFile(row db.Scanner, f *packFile, more ...any) error {
	return row.Scan(append([]any{&f.id, &f.key, &f.depot, &f.packSize, &f.reverseSize, &f.indexSize, &f.sha256},
		more...)...)
}

// packOf reads a pack of a folder; nil: it has none of that name.
func packOf(tx *db.Tx, in repo.Folder, name string) (*packFile, error) {
	var f packFile
	err := scanFile(tx.QueryRow(`SELECT `+fileColumns+` FROM packs p JOIN pack_files f ON f.id = p.file_id
		WHERE p.repo_id = $1 AND p.purges = $2 AND p.name = $3`, in.ID, in.Purges, name), &f)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return &f, err
}

// packsOf lists the packs of a folder by name, without their data.
func packsOf(tx *db.Tx, in repo.Folder) (map[string]*packFile, error) {
	list := map[string]*packFile{}
	return list, db.QueryEach(tx, func(row db.Scanner) error {
		var f packFile
		var name string
		err := scanFile(row, &f, &name)
		list[name] = &f
		return err
	}, `SELECT `+fileColumns+`, p.name FROM packs p JOIN pack_files f ON f.id = p.file_id
		WHERE p.repo_id = $1 AND p.purges = $2`, in.ID, in.Purges)
}

// readData reads the bytes of files that lie in the database.
func readData(tx *db.Tx, list []*packFile) error {
	byID, ids := map[int64]*packFile{}, make([]int64, len(list))
	for n, f := range list {
		byID[f.id], ids[n] = f, f.id
	}
	return db.QueryEach(tx, func(row db.Scanner) error {
		var id int64
		var data []byte
		err := row.Scan(&id, &data)
		if f := byID[id]; f != nil {
			f.data = data
		}
		return err
	}, `SELECT id, data FROM pack_files WHERE data IS NOT NULL AND id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// lockFiles locks the files that fulfill a condition, which calls them f, and returns their ids. A folder that gives
// packs up locks them first: of two folders that give up the same file at once, the second one then sees that it was
// the last. Nobody may lock another repository's row afterwards.
func lockFiles(tx *db.Tx, which string, args ...any) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT f.id FROM pack_files f WHERE `+which+` ORDER BY f.id`+
		tx.Engine().Locking("f"), args...)
}

// lockFilesOf is lockFiles for those of a folder.
func lockFilesOf(tx *db.Tx, f repo.Folder) ([]int64, error) {
	return lockFiles(tx, `f.id IN (SELECT file_id FROM packs WHERE repo_id = $1 AND purges = $2)`, f.ID, f.Purges)
}

// removePacks takes packs out of a folder. Error: if it does not have all of them.
func removePacks(tx *db.Tx, from repo.Folder, names []string) error {
	if _, err := lockFilesOf(tx, from); err != nil {
		return err
	}
	var gone []int64
	for _, name := range names {
		var id int64
		err := tx.QueryRow(`DELETE FROM packs WHERE repo_id = $1 AND purges = $2 AND name = $3 RETURNING file_id`,
			from.ID, from.Purges, name).Scan(&id)
		if errors.Is(err, db.ErrNoRows) {
			return errNotKept(name)
		}
		if err != nil {
			return err
		}
		gone = append(gone, id)
	}
	return markGone(tx, from.ID, gone)
}

// isNamed is the condition that a folder has the file f.
const isNamed = `EXISTS (SELECT 1 FROM packs p WHERE p.file_id = f.id)`

// markGone notes that no folder has the files any longer, and which repository was the last one to have them; 0:
// unknown. The files must be locked.
func markGone(tx *db.Tx, of repo.ID, ids []int64) error {
	now, err := tx.Clock()
	if err != nil {
		return err
	}
	return db.InParts(ids, func(part []int64) error {
		return tx.Run(`UPDATE pack_files AS f SET gone_at = $1, gone_repo = $2
			WHERE f.id IN `+db.ValuesFrom(3, 1, len(part))+` AND NOT `+isNamed,
			append([]any{now, db.OrNull(of)}, db.Args(part)...)...)
	})
}

// wronglyNoted is the condition that a file is noted as gone and a folder has it, or the other way round: versions
// before did not lock files.
const wronglyNoted = `(f.gone_at IS NULL) = (NOT ` + isNamed + `)`

// hasWrongNotes reports whether any file is noted wrongly.
func hasWrongNotes(tx *db.Tx) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM pack_files f WHERE ` + wronglyNoted + `)`).Scan(&is)
	return is, err
}

// mendGone corrects the notes of some of these files.
func mendGone(tx *db.Tx) error {
	ids, err := lockFiles(tx, `f.id IN (SELECT f.id FROM pack_files f WHERE `+wronglyNoted+` LIMIT $1)`, sweepMost)
	if err != nil || len(ids) == 0 {
		return err
	}
	in := ` WHERE f.id IN ` + db.Values(1, len(ids))
	if err := tx.Run(`UPDATE pack_files AS f SET gone_at = NULL, gone_repo = NULL`+in+` AND `+isNamed,
		db.Args(ids)...); err != nil {
		return err
	}
	unnoted, err := db.QueryIDs[int64](tx, `SELECT f.id FROM pack_files f`+in+` AND f.gone_at IS NULL`, db.Args(ids)...)
	if err != nil {
		return err
	}
	return markGone(tx, 0, unnoted)
}

// otherFolders returns, by the id of a file, some folders of other repositories that have it.
func otherFolders(tx *db.Tx, f repo.Folder, ids []int64) (map[int64][]sibling, error) {
	found := map[int64][]sibling{}
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var id int64
		var s sibling
		err := row.Scan(&id, &s.folder.ID, &s.folder.Purges, &s.name)
		if len(found[id]) < maxSiblings {
			found[id] = append(found[id], s)
		}
		return err
	}, `SELECT file_id, repo_id, purges, name FROM packs WHERE (repo_id <> $1 OR purges <> $2) AND file_id IN `+
		db.ValuesFrom(3, 1, len(ids))+` ORDER BY repo_id LIMIT 1000`, append([]any{f.ID, f.Purges}, db.Args(ids)...)...)
}

// sibling is a pack of another folder that is the same file.
type sibling struct {
	folder repo.Folder
	name   string
}

// maxSiblings is how many other folders are looked at for a pack.
const maxSiblings = 4

// Waiting returns how many files of a repository no folder has any longer and are not removed yet, and their size in
// KiB.
func Waiting(tx *db.Tx, id repo.ID) (n, kb int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*), CAST(COALESCE(SUM(pack_size + reverse_size + index_size), 0) AS BIGINT)
		FROM pack_files WHERE gone_at IS NOT NULL AND gone_repo = $1`, id).Scan(&n, &kb)
	return n, (kb + 1023) / 1024, err
}

// dropFiles deletes the rows of files that no folder has.
func dropFiles(tx *db.Tx, list []*packFile) error {
	ids := make([]int64, len(list))
	for n, f := range list {
		ids[n] = f.id
	}
	in := `f.id IN ` + db.Values(1, len(ids))
	if _, err := lockFiles(tx, in, db.Args(ids)...); err != nil {
		return err
	}
	return tx.Run(`DELETE FROM pack_files AS f WHERE `+in+` AND NOT `+isNamed, db.Args(ids)...)
}

// cachedFolders returns those of the folders that are caches: of repositories whose packs lie in a depot.
func cachedFolders(tx *db.Tx, list []repo.Folder) (kept []repo.Folder, err error) {
	ids := make([]repo.ID, len(list))
	for n, f := range list {
		ids[n] = f.ID
	}
	now := map[repo.ID]int64{}
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var f repo.Folder
		err := row.Scan(&f.ID, &f.Purges)
		now[f.ID] = f.Purges
		return err
	}, `SELECT id, purges FROM repos WHERE packs > 0 AND id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	for _, f := range list {
		if purges, is := now[f.ID]; is && purges == f.Purges {
			kept = append(kept, f)
		}
	}
	return kept, err
}

// unowned is the condition that no repository has the folder of p, is being made with it, or is being purged into it.
const unowned = `NOT EXISTS (SELECT 1 FROM repos r WHERE r.id = p.repo_id AND r.purges = p.purges)
	AND NOT EXISTS (SELECT 1 FROM reserved_repos v WHERE v.id = p.repo_id)
	AND NOT EXISTS (SELECT 1 FROM purges u WHERE u.repo_id = p.repo_id)`

func scanFolder(row db.Scanner) (f repo.Folder, err error) { return f, row.Scan(&f.ID, &f.Purges) }

// orphanFolders lists some folders with packs that have no owner, and got none since a time.
func orphanFolders(tx *db.Tx, before db.Time) ([]repo.Folder, error) {
	return db.QueryList(tx, scanFolder, `SELECT p.repo_id, p.purges FROM packs p WHERE `+unowned+`
		AND NOT EXISTS (SELECT 1 FROM discarded d WHERE d.repo_id = p.repo_id AND d.purges = p.purges)
		GROUP BY p.repo_id, p.purges HAVING MAX(p.added_at) < $1 LIMIT 1000`, before)
}

// oldFoldersOf lists the folders with packs that a repository had before, and those of networks that have no owner and
// get none: of repositories that are deleted, or have a later folder.
func oldFoldersOf(tx *db.Tx, id repo.ID, networks []repo.ID) ([]repo.Folder, error) {
	return db.QueryList(tx, scanFolder, `SELECT p.repo_id, p.purges FROM packs p JOIN repos r ON r.id = p.repo_id
			WHERE r.id = $1 AND p.purges < r.purges
		UNION SELECT p.repo_id, p.purges FROM packs p JOIN pack_files f ON f.id = p.file_id
			WHERE f.network IN `+db.ValuesFrom(2, 1, len(networks))+` AND `+unowned+`
				AND NOT EXISTS (SELECT 1 FROM repos r WHERE r.id = p.repo_id AND r.purges < p.purges)`,
		db.Args(networks, id)...)
}

// networksOf lists the networks of all packs that a repository has: several if it left one.
func networksOf(tx *db.Tx, id repo.ID) ([]repo.ID, error) {
	return db.QueryIDs[repo.ID](tx, `SELECT f.network FROM packs p JOIN pack_files f ON f.id = p.file_id
			WHERE p.repo_id = $1 AND f.network IS NOT NULL
		UNION SELECT COALESCE(root_id, id) FROM repos WHERE id = $1 UNION SELECT CAST($1 AS BIGINT)`, id)
}

// goneFiles lists some files that no folder has and that fulfill a condition, which calls them f.
func goneFiles(tx *db.Tx, which string, args ...any) ([]*packFile, error) {
	return db.QueryList(tx, func(row db.Scanner) (*packFile, error) {
		var f packFile
		return &f, scanFile(row, &f)
	}, `SELECT `+fileColumns+` FROM pack_files f WHERE f.gone_at IS NOT NULL AND (`+which+`) AND NOT `+isNamed+`
		ORDER BY f.gone_at LIMIT `+strconv.Itoa(sweepMost), args...)
}

// existingKeys returns those of the keys that have a row.
func existingKeys(tx *db.Tx, keys []string) ([]string, error) {
	return db.QueryList(tx, func(row db.Scanner) (key string, err error) {
		err = row.Scan(&key)
		return key, err
	}, `SELECT key_name FROM pack_files WHERE key_name IN `+db.Values(1, len(keys))+`
		UNION ALL SELECT key_name FROM bundles WHERE key_name IN `+db.Values(1, len(keys)), db.Args(keys)...)
}

// filesInOtherDepots lists files behind an id that lie in other depots than one.
func filesInOtherDepots(tx *db.Tx, but file.DepotID, after int64) ([]*packFile, error) {
	return db.QueryList(tx, func(row db.Scanner) (*packFile, error) {
		var f packFile
		err := scanFile(row, &f)
		return &f, err
	}, `SELECT `+fileColumns+` FROM pack_files f WHERE f.id > $1 AND f.depot_id <> 0 AND f.depot_id <> $2
		ORDER BY f.id LIMIT 256`, after, but)
}

// allFiles lists all files that a folder has.
func allFiles(tx *db.Tx) ([]*packFile, error) {
	return db.QueryList(tx, func(row db.Scanner) (*packFile, error) {
		var f packFile
		err := scanFile(row, &f)
		return &f, err
	}, `SELECT `+fileColumns+` FROM pack_files f ORDER BY f.id`)
}

// oldFoldersIn returns those of the folders whose repositories have another one now, and are kept in a depot.
func oldFoldersIn(tx *db.Tx, list []repo.Folder) (former []repo.Folder, err error) {
	ids := make([]repo.ID, len(list))
	for n, f := range list {
		ids[n] = f.ID
	}
	now, err := db.QueryMap[repo.ID, int64](tx, `SELECT id, purges FROM repos r WHERE packs > 0
		AND NOT EXISTS (SELECT 1 FROM purges u WHERE u.repo_id = r.id) AND id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	for _, f := range list {
		if purges, is := now[f.ID]; is && purges > f.Purges {
			former = append(former, f)
		}
	}
	return former, err
}
