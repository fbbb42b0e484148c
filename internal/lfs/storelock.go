package lfs

import (
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

const lockColumns = `l.id, l.path, l.owner_id, a.login, l.locked_at
	FROM lfs_locks l JOIN accounts a ON a.id = l.owner_id WHERE l.repo_id = $1`

// scanLock reads lockColumns. Error: 404 without a row.
func scanLock(row db.Scanner) (Lock, error) {
	var l Lock
	err := row.Scan(&l.ID, &l.Path, &l.OwnerID, &l.Owner, &l.LockedAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return l, err
}

// lockFilter chooses locks of a repository.
type lockFilter struct {
	Path  string // empty: any
	ID    int64  // 0: any
	From  int64  // the least id
	Limit int64
}

// listLocks reads locks by their ids.
func listLocks(tx *db.Tx, id repo.ID, f lockFilter) ([]Lock, error) {
	query, args := `SELECT `+lockColumns+` AND l.id >= $2`, []any{id, f.From, f.Limit}
	if f.ID != 0 {
		args = append(args, f.ID)
		query += ` AND l.id = $` + strconv.Itoa(len(args))
	}
	if f.Path != "" {
		args = append(args, f.Path)
		query += ` AND l.path = $` + strconv.Itoa(len(args))
	}
	return db.QueryList(tx, scanLock, query+` ORDER BY l.id LIMIT $3`, args...)
}

// allLocks reads all locks of a repository.
func allLocks(tx *db.Tx, id repo.ID) ([]Lock, error) {
	return db.QueryList(tx, scanLock, `SELECT `+lockColumns+` ORDER BY l.id`, id)
}

// locksOn reads the locks of paths.
func locksOn(tx *db.Tx, id repo.ID, paths []string) (all []Lock, err error) {
	err = db.InParts(paths, func(part []string) error {
		list, err := db.QueryList(tx, scanLock, `SELECT `+lockColumns+` AND l.path IN `+
			db.ValuesFrom(2, 1, len(part))+` ORDER BY l.id`, db.Args(part, id)...)
		all = append(all, list...)
		return err
	})
	return all, err
}

// lockByID finds a lock of a repository. Error: 404.
func lockByID(tx *db.Tx, repoID repo.ID, id int64) (*Lock, error) {
	l, err := scanLock(tx.QueryRow(`SELECT `+lockColumns+` AND l.id = $2`, repoID, id))
	return &l, err
}

// lockedByOthers reports whether somebody else than an account has a lock with a higher id.
func lockedByOthers(tx *db.Tx, id repo.ID, but account.ID, above int64) (others bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM lfs_locks WHERE repo_id = $1 AND owner_id <> $2 AND id > $3)`,
		id, but, above).Scan(&others)
	return others, err
}

func countLocks(tx *db.Tx, id repo.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM lfs_locks WHERE repo_id = $1`, id).Scan(&n)
	return n, err
}

func insertLock(tx *db.Tx, id repo.ID, l *Lock) error {
	return tx.QueryRow(`INSERT INTO lfs_locks (repo_id, path, owner_id, locked_at) VALUES ($1, $2, $3, $4)
		RETURNING id`, id, l.Path, l.OwnerID, l.LockedAt).Scan(&l.ID)
}

func removeLock(tx *db.Tx, id int64) error { return tx.Run(`DELETE FROM lfs_locks WHERE id = $1`, id) }

// defaultBranch reads the default branch of a repository, and its tip; empty: it has none.
func defaultBranch(tx *db.Tx, id repo.ID) (name string, tip git.SHA, err error) {
	err = tx.QueryRow(`SELECT r.default_branch, COALESCE((SELECT f.sha FROM refs f WHERE f.repo_id = r.id
		AND f.name = $2 || r.default_branch), '') FROM repos r WHERE r.id = $1`, id, git.Heads).Scan(&name, &tip)
	return name, tip, err
}
