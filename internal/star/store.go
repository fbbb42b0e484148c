package star

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// The repository's row is always taken first: it says whether the repository is
// private, and who hides it or deletes it holds it.

// putNamed adds a mark to the repository of that name, as far as the caller sees
// it and has not marked it: what most requests want is found, permitted and
// counted by one statement. It reports whether it did.
func putNamed(tx *db.Tx, k Kind, caller *account.Caller, owner, name string) (bool, error) {
	id, private, ok, err := countNamed(tx, k, caller, owner, name, `+ 1`, `NOT `)
	if err == nil && ok {
		err = insert(tx, k, id, caller.ID, private)
	}
	return ok, err
}

// dropNamed takes the caller's mark off, as putNamed adds it.
func dropNamed(tx *db.Tx, k Kind, caller *account.Caller, owner, name string) (bool, error) {
	id, private, ok, err := countNamed(tx, k, caller, owner, name, `- 1`, ``)
	if err == nil && ok {
		err = remove(tx, k, id, caller.ID, private)
	}
	return ok, err
}

// countNamed is count for a name.
func countNamed(tx *db.Tx, k Kind, caller *account.Caller, owner, name, by, not string) (id int64, private, ok bool, err error) {
	err = tx.QueryRow(`UPDATE repos SET `+k.column()+` = `+k.column()+` `+by+` WHERE id = (SELECT r.id`+repo.FromNamed(caller)+`) AND `+not+
		`EXISTS (SELECT 1 FROM `+k.table()+` s WHERE s.user_id = $1 AND s.repo_id = repos.id) RETURNING id, private`,
		caller.ID, account.Fold(owner), account.Fold(name)).Scan(&id, &private)
	if errors.Is(err, db.ErrNoRows) {
		return 0, false, false, nil
	}
	return id, private, err == nil, err
}

// put adds a mark unless it is there. Error: 404 when the repository is gone.
func put(tx *db.Tx, k Kind, repoID, userID int64) error {
	private, ok, err := count(tx, k, repoID, userID, `+ 1`, `NOT `)
	if err == nil && !ok {
		_, err = countPeople(tx, k, repoID)
	}
	if err != nil || !ok {
		return err
	}
	return insert(tx, k, repoID, userID, private)
}

// insert adds the row of a mark that the repository has counted.
func insert(tx *db.Tx, k Kind, repoID, userID int64, private bool) error {
	n, err := tx.Exec(`INSERT INTO `+k.table()+` (user_id, repo_id, private, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id, repo_id) DO NOTHING`, userID, repoID, private, tx.Now)
	if err != nil {
		return err
	}
	if n == 0 { // another request of the same user came first
		_, err := tx.Exec(`UPDATE repos SET `+k.column()+` = `+k.column()+` - 1 WHERE id = $1`, repoID)
		return err
	}
	return add(tx, k, userID, shift(private, 1))
}

// drop takes a mark off if it is there.
func drop(tx *db.Tx, k Kind, repoID, userID int64) error {
	private, ok, err := count(tx, k, repoID, userID, `- 1`, ``)
	if err != nil || !ok {
		return err
	}
	return remove(tx, k, repoID, userID, private)
}

// remove deletes the row of a mark that the repository counts no more.
func remove(tx *db.Tx, k Kind, repoID, userID int64, private bool) error {
	n, err := tx.Exec(`DELETE FROM `+k.table()+` WHERE user_id = $1 AND repo_id = $2`, userID, repoID)
	if err != nil {
		return err
	}
	if n == 0 {
		_, err := tx.Exec(`UPDATE repos SET `+k.column()+` = `+k.column()+` + 1 WHERE id = $1`, repoID)
		return err
	}
	return add(tx, k, userID, shift(private, -1))
}

// count changes the repository's counter and locks its row; ok reports that it
// did: with not empty where the mark is there, with NOT where it is not.
func count(tx *db.Tx, k Kind, repoID, userID int64, by, not string) (private, ok bool, err error) {
	err = tx.QueryRow(`UPDATE repos SET `+k.column()+` = `+k.column()+` `+by+` WHERE id = $1 AND `+not+
		`EXISTS (SELECT 1 FROM `+k.table()+` WHERE repo_id = $1 AND user_id = $2) RETURNING private`, repoID, userID).Scan(&private)
	if errors.Is(err, db.ErrNoRows) {
		return false, false, nil
	}
	return private, err == nil, err
}

// add changes a user's counters.
func add(tx *db.Tx, k Kind, userID int64, n numbers) error {
	_, err := tx.Exec(`INSERT INTO mark_counts (user_id, kind, public, private) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id, kind) DO UPDATE SET public = mark_counts.public + excluded.public,
			private = mark_counts.private + excluded.private`, userID, int64(k), n.public, n.private)
	return err
}

// recount changes the counters of everyone who marked the repository.
func recount(tx *db.Tx, k Kind, repoID int64, n numbers) error {
	_, err := tx.Exec(`UPDATE mark_counts SET public = public + $1, private = private + $2
		WHERE kind = $3 AND user_id IN (SELECT user_id FROM `+k.table()+` WHERE repo_id = $4)`,
		n.public, n.private, int64(k), repoID)
	return err
}

// turn makes the marks of a repository as private as it is.
func turn(tx *db.Tx, k Kind, repoID int64, private bool) error {
	_, err := tx.Exec(`UPDATE `+k.table()+` SET private = $2 WHERE repo_id = $1`, repoID, private)
	return err
}

// markedAt is when the user marked the repository; zero: never.
func markedAt(tx *db.Tx, k Kind, repoID, userID int64) (db.Time, error) {
	return since(tx, k.table(), repoID, userID)
}

func since(tx *db.Tx, table string, repoID, userID int64) (at db.Time, err error) {
	err = tx.QueryRow(`SELECT created_at FROM `+table+` WHERE user_id = $1 AND repo_id = $2`, userID, repoID).Scan(&at)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return at, err
}

func silencedAt(tx *db.Tx, repoID, userID int64) (db.Time, error) {
	return since(tx, "silences", repoID, userID)
}

// silence says that the user wants to be told of nothing; again keeps the time.
func silence(tx *db.Tx, repoID, userID int64) error {
	_, err := tx.Exec(`INSERT INTO silences (user_id, repo_id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, repo_id) DO NOTHING`, userID, repoID, tx.Now)
	if errors.Is(err, db.ErrForeignKey) {
		return errs.Absent()
	}
	return err
}

func endSilence(tx *db.Tx, repoID, userID int64) error {
	_, err := tx.Exec(`DELETE FROM silences WHERE user_id = $1 AND repo_id = $2`, userID, repoID)
	return err
}
