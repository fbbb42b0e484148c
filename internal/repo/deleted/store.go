package deleted

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const columns = `SELECT k.repo_id, a.login, k.name, k.private, r.size_kb + r.files_kb, k.deleted_at, k.due_at
	FROM kept_repos k JOIN repos r ON r.id = k.repo_id JOIN accounts a ON a.id = k.owner_id `

func scan(row db.Scanner) (r Repo, err error) {
	err = row.Scan(&r.ID, &r.Owner, &r.Name, &r.Private, &r.KB, &r.DeletedAt, &r.DueAt)
	return r, err
}

// list reads a page of what an account may restore, and one more.
func list(tx *db.Tx, who account.ID, at web.Page) ([]Repo, error) {
	return db.QueryList(tx, scan, columns+`WHERE k.due_at > $2 AND (k.owner_id = $1 OR k.owner_id IN
			(SELECT org_id FROM members WHERE user_id = $1 AND owner = TRUE))
		ORDER BY k.deleted_at DESC, k.repo_id DESC LIMIT $3 OFFSET $4`, who, tx.Now, at.Size+1, at.Offset())
}

// listAll reads all that are kept, or those of the owner with a login.
func listAll(tx *db.Tx, login string) ([]Repo, error) {
	return db.QueryList(tx, scan, columns+`WHERE $1 = '' OR a.login_folded = $1 ORDER BY k.deleted_at, k.repo_id`,
		login)
}

// kept reads one that is not due. Error: 404.
func kept(tx *db.Tx, id repo.ID) (Repo, error) {
	r, err := scan(tx.QueryRow(columns+`WHERE k.repo_id = $1 AND k.due_at > $2`, id, tx.Now))
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return r, err
}

// Keep notes that a repository, which was just hidden, can be restored until a time. mostKB bounds what is kept of
// its owner, account.Unbounded: not at all. The oldest become due.
func Keep(tx *db.Tx, r *repo.Repo, name string, private bool, until db.Time, mostKB int64) error {
	err := tx.Run(`INSERT INTO kept_repos (repo_id, owner_id, name, private, deleted_at, due_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, r.ID, r.OwnerID, name, private, tx.Now, until)
	if err != nil {
		return err
	}
	type size struct {
		id repo.ID
		kb int64
	}
	sizes, err := db.QueryList(tx, func(row db.Scanner) (s size, err error) {
		return s, row.Scan(&s.id, &s.kb)
	}, `SELECT k.repo_id, r.size_kb + r.files_kb FROM kept_repos k JOIN repos r ON r.id = k.repo_id
		WHERE k.owner_id = $1 AND k.due_at > $2 ORDER BY k.deleted_at DESC, k.repo_id DESC`, r.OwnerID, tx.Now)
	var sum int64
	for n, s := range sizes {
		if sum += s.kb; err == nil && (n >= most || mostKB != account.Unbounded && sum > mostKB) {
			err = setDue(tx, s.id)
		}
	}
	return err
}

// setDue makes one due.
func setDue(tx *db.Tx, id repo.ID) error {
	return tx.Run(`UPDATE kept_repos SET due_at = $2 WHERE repo_id = $1`, id, tx.Now)
}

// setAtOnce notes that nothing of one stays once it is removed.
func setAtOnce(tx *db.Tx, id repo.ID) error {
	return tx.Run(`UPDATE repos SET at_once = TRUE WHERE id = $1`, id)
}

// Bequeath gives those of an account that is being deleted to ghost, and makes them due.
func Bequeath(tx *db.Tx, owner, ghost account.ID) error {
	n, err := tx.Exec(`UPDATE repos SET owner_id = $2
		WHERE id IN (SELECT repo_id FROM kept_repos WHERE owner_id = $1)`, owner, ghost)
	if err != nil || n == 0 {
		return err
	}
	if err := account.CountRepos(tx, ghost, 0, n); err != nil {
		return err
	}
	return tx.Run(`UPDATE kept_repos SET owner_id = $2, due_at = $3 WHERE owner_id = $1`, owner, ghost, tx.Now)
}

func remove(tx *db.Tx, id repo.ID) error {
	return tx.Run(`DELETE FROM kept_repos WHERE repo_id = $1`, id)
}

// Due returns the first repository with an id larger than after that is no longer kept; 0: none.
func Due(tx *db.Tx, after int64) (id repo.ID, err error) {
	err = tx.QueryRow(`SELECT repo_id FROM kept_repos WHERE due_at <= $1 AND repo_id > $2 ORDER BY repo_id LIMIT 1`,
		tx.Now, after).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return id, err
}

// End ends that a repository is kept, whose row is locked, and reports whether it was due.
func End(tx *db.Tx, id repo.ID) (bool, error) {
	n, err := tx.Exec(`DELETE FROM kept_repos WHERE repo_id = $1 AND due_at <= $2`, id, tx.Now)
	return n == 1, err
}
