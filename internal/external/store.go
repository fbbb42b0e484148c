package external

import (
	"crypto/rand"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Linked is an identity of an account.
type Linked struct {
	ID         int64
	Provider   string // its name; it may have left the file
	Issuer     string
	Subject    string
	Name       string // login or name at the provider, when it last signed in
	CreatedAt  db.Time
	LastUsedAt db.Time // zero: never
}

// accountOf finds whose identity it is; 0: nobody's.
func accountOf(tx *db.Tx, i *Identity) (id account.ID, err error) {
	err = tx.QueryRow(`SELECT account_id FROM identities WHERE issuer = $1 AND subject = $2`, i.Source.Issuer,
		i.Subject).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// insertIdentity links an identity. Error: 422 if it is somebody's already, or the account has one of the provider.
func insertIdentity(tx *db.Tx, of account.ID, i *Identity) (id int64, err error) {
	err = tx.QueryRow(`INSERT INTO identities (account_id, provider, issuer, subject, name, created_at, secret)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING id`,
		of, i.Source.Name, i.Source.Issuer, i.Subject, i.shown(), tx.Now, rand.Text()).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Newf(errs.Invalid, "Your account is linked with %s already, or this identity with another account.",
			i.Source.Label)
	}
	return id, err
}

// noteUse notes a sign-in with an identity.
func noteUse(tx *db.Tx, i *Identity) error {
	return tx.Run(`UPDATE identities SET last_used_at = $3, name = $4, provider = $5
		WHERE issuer = $1 AND subject = $2`, i.Source.Issuer, i.Subject, tx.Now, i.shown(), i.Source.Name)
}

// identitiesOf lists the identities of an account.
func identitiesOf(tx *db.Tx, of account.ID) ([]Linked, error) {
	return db.QueryList(tx, func(row db.Scanner) (l Linked, err error) {
		err = row.Scan(&l.ID, &l.Provider, &l.Issuer, &l.Subject, &l.Name, &l.CreatedAt, &l.LastUsedAt)
		return l, err
	}, `SELECT id, provider, issuer, subject, name, created_at, last_used_at FROM identities
		WHERE account_id = $1 ORDER BY id`, of)
}

// deleteIdentity unlinks an identity of an account, and returns its provider. Error: errs.Absent.
func deleteIdentity(tx *db.Tx, of account.ID, id int64) (provider string, err error) {
	err = tx.QueryRow(`DELETE FROM identities WHERE account_id = $1 AND id = $2 RETURNING provider`, of, id).
		Scan(&provider)
	return provider, account.OrAbsent(err)
}
