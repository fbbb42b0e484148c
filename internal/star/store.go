package star

import (
	"context"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// Triggers count the rows of marks (11_stars.sql of the schema). The repository's row is
// always taken first: it says whether the repository is private, and who hides
// it or deletes it holds it.

// starNamed stars the public repository with this name, unless it is starred, and reports whether it did.
// For most requests this one statement is enough: it finds and counts the star and checks the caller's
// token.
func starNamed(ctx context.Context, d *db.DB, caller *account.Caller, owner, name string) (bool, error) {
	return writeNamed(ctx, d, starring(d.Engine()), caller, owner, name)
}

// unstarNamed takes the user's star off, as starNamed adds it.
func unstarNamed(ctx context.Context, d *db.DB, caller *account.Caller, owner, name string) (bool, error) {
	return writeNamed(ctx, d, deleting(d.Engine(), Star, fromPublic()), caller, owner, name)
}

// writeNamed runs a statement with the arguments of fromPublic. It reports whether a row changed.
func writeNamed(
	ctx context.Context, d *db.DB, query string, caller *account.Caller, owner, name string,
) (bool, error) {
	var n int64
	err := d.WriteAs(ctx, caller, func(tx *db.Tx) (err error) {
		n, err = tx.Exec(query, caller.ID, account.Fold(owner), account.Fold(name), tx.Now, caller.TokenID)
		return err
	})
	return n == 1, err
}

// fromPublic finds the public repository with a name, without a hook for stars, if the caller's token $5 still
// holds at the time $4.
func fromPublic() string {
	return repo.FromPublic + ` AND ` + account.TokenHolds(`$5`, `$4`) + ` AND NOT ` + hook.Watched("r")
}

// starring is inserting for the public repository of a name, at the time $4.
// SQLite puts what a SELECT finds into a table of its own before it inserts that,
// where triggers follow: a tenth of what a star costs. It ignores the row
// that names no repository.
func starring(e db.Engine) string {
	if e == db.SQLite {
		return `INSERT OR IGNORE INTO stars (user_id, repo_id, private, created_at)
			VALUES ($1, (SELECT r.id` + fromPublic() + `), FALSE, $4)`
	}
	return inserting(e, Star, `$4`, fromPublic())
}

// fromID finds the repository of an id, $2, for any caller.
const fromID = ` FROM repos r WHERE r.id = $2`

// put adds a mark unless it exists. Error: 404 if the repository was deleted.
func put(tx *db.Tx, k Kind, repoID repo.ID, userID account.ID) (added bool, err error) {
	n, err := tx.Exec(inserting(tx.Engine(), k, `$3`, fromID), userID, repoID, tx.Now)
	if err == nil && n == 0 {
		_, err = countPeople(tx, k, repoID)
	}
	return n > 0, err
}

// drop takes a mark off if it is there.
func drop(tx *db.Tx, k Kind, repoID repo.ID, userID account.ID) (gone bool, err error) {
	n, err := tx.Exec(deleting(tx.Engine(), k, fromID), userID, repoID)
	return n > 0, err
}

// inserting returns the statement that marks, at the time at, the repository r that from selects for the
// user $1. An existing mark is kept.
func inserting(e db.Engine, k Kind, at, from string) string {
	return `INSERT INTO ` + k.table() + ` (user_id, repo_id, private, created_at)
		SELECT CAST($1 AS BIGINT), r.id, r.private, CAST(` + at + ` AS BIGINT)` + from + e.Locking("r") + `
		ON CONFLICT (user_id, repo_id) DO NOTHING`
}

// deleting is the statement that takes off the mark of the user $1 on the
// repository r that from finds.
func deleting(e db.Engine, k Kind, from string) string {
	return `DELETE FROM ` + k.table() + ` WHERE user_id = $1 AND repo_id = (SELECT r.id` + from +
		e.Locking("r") + `)`
}

// recount changes the counters of everyone who marked the repository.
func recount(tx *db.Tx, k Kind, repoID repo.ID, n numbers) error {
	_, err := tx.Exec(`UPDATE mark_counts SET public = public + $1, private = private + $2
		WHERE kind = $3 AND user_id IN (SELECT user_id FROM `+k.table()+` WHERE repo_id = $4)`,
		n.public, n.private, int64(k), repoID)
	return err
}

// turn sets the privacy of a repository's marks to its own.
func turn(tx *db.Tx, k Kind, repoID repo.ID, private bool) error {
	_, err := tx.Exec(`UPDATE `+k.table()+` SET private = $2 WHERE repo_id = $1`, repoID, private)
	return err
}

// marked is since when a user has marked a repository, and silenced it; zero: not.
type marked struct{ starred, watched, silenced db.Time }

// marksOf reads how a user marked a repository.
func marksOf(tx *db.Tx, repoID repo.ID, userID account.ID) (marked, error) {
	var m marked
	err := tx.QueryRow(`SELECT COALESCE((SELECT created_at FROM stars WHERE user_id = $1 AND repo_id = $2),
		0), COALESCE((SELECT created_at FROM watches WHERE user_id = $1 AND repo_id = $2), 0),
		COALESCE((SELECT created_at FROM silences WHERE user_id = $1 AND repo_id = $2), 0)`, userID, repoID).
		Scan(&m.starred, &m.watched, &m.silenced)
	return m, err
}

// markedAt is when the user marked the repository; zero: never.
func markedAt(tx *db.Tx, k Kind, repoID repo.ID, userID account.ID) (db.Time, error) {
	m, err := marksOf(tx, repoID, userID)
	if k == Watch {
		return m.watched, err
	}
	return m.starred, err
}

// silence stores that the user ignores the repository; repeating it keeps the time.
func silence(tx *db.Tx, repoID repo.ID, userID account.ID) error {
	_, err := tx.Exec(`INSERT INTO silences (user_id, repo_id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, repo_id) DO NOTHING`, userID, repoID, tx.Now)
	if errors.Is(err, db.ErrForeignKey) {
		return errs.Absent()
	}
	return err
}

func endSilence(tx *db.Tx, repoID repo.ID, userID account.ID) error {
	_, err := tx.Exec(`DELETE FROM silences WHERE user_id = $1 AND repo_id = $2`, userID, repoID)
	return err
}
