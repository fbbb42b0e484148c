package reply

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// issuePlace finds where an issue is. Error: 404.
func issuePlace(tx *db.Tx, id issue.ID) (in repo.ID, number int64, err error) {
	err = tx.QueryRow(`SELECT repo_id, number FROM issues WHERE id = $1`, id).Scan(&in, &number)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return in, number, err
}

// kept is how long it is known that a mail was taken: mail servers try for a few days. atOnce is how many older rows a mail
// removes.
const (
	kept   = 30 * 24 * time.Hour
	atOnce = 100
)

// note notes that a mail of an account was taken, and reports whether it had been before.
func note(tx *db.Tx, of account.ID, id string) (before bool, err error) {
	err = tx.Run(`DELETE FROM mail_replies WHERE digest IN (SELECT digest FROM mail_replies WHERE created_at < $1
		ORDER BY created_at LIMIT $2)`, tx.Now-db.Time(kept.Microseconds()), atOnce)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", of, id))
	n, err := tx.Exec(`INSERT INTO mail_replies (digest, created_at) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING`,
		sum[:], tx.Now)
	return n == 0, err
}
