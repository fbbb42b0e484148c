package signkey

import (
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

const columns = `k.id, k.account_id, k.kind, k.primary_id, k.handle, k.name, k.public_key, k.armor, k.emails,
	k.capabilities, k.revoked, k.made_at, k.expires_at, k.created_at`

func scan(row db.Scanner) (k Key, err error) {
	var emails string
	err = row.Scan(&k.ID, &k.Account, &k.Kind, &k.PrimaryID, &k.Handle, &k.Name, &k.PublicKey, &k.Armor, &emails,
		&k.Can, &k.Revoked, &k.MadeAt, &k.ExpiresAt, &k.CreatedAt)
	k.Emails = strings.Fields(emails)
	return k, err
}

func query(tx *db.Tx, rest string, args ...any) ([]Key, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM signing_keys k `+rest, args...)
}

// List lists the keys of a kind of an account with their subkeys, by id.
func List(tx *db.Tx, of account.ID, kind Kind) ([]Key, error) {
	rows, err := query(tx, `WHERE k.account_id = $1 AND k.kind = $2 ORDER BY k.primary_id, k.id`, of, kind)
	return nest(rows), err
}

// nest puts subkeys, which follow all primary keys, below these.
func nest(rows []Key) []Key {
	var list []Key
	at := map[ID]int{}
	for _, k := range rows {
		if k.PrimaryID == 0 {
			at[k.ID] = len(list)
			list = append(list, k)
		} else if n, known := at[k.PrimaryID]; known {
			list[n].Subkeys = append(list[n].Subkeys, k)
		}
	}
	return list
}

// Get returns a key of an account with its subkeys. Error: 404, also for a subkey.
func Get(tx *db.Tx, of account.ID, kind Kind, id ID) (*Key, error) {
	rows, err := query(tx, `WHERE k.account_id = $1 AND k.kind = $2 AND (k.id = $3 OR k.primary_id = $3)
		ORDER BY k.primary_id, k.id`, of, kind, id)
	if err != nil {
		return nil, err
	}
	list := nest(rows)
	if len(list) == 0 {
		return nil, errs.Absent()
	}
	return &list[0], nil
}

func count(tx *db.Tx, of account.ID, kind Kind) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM signing_keys WHERE account_id = $1 AND kind = $2 AND primary_id = 0`,
		of, kind).Scan(&n)
	return n, err
}

// insert adds a key and its subkeys. Error: 422 if the account has one of them.
func insert(tx *db.Tx, caller *account.Caller, list []Key) (*Key, error) {
	kind := list[0].Kind
	var primary ID
	for _, k := range list {
		var expires any
		if k.ExpiresAt != 0 {
			expires = k.ExpiresAt
		}
		if k.MadeAt == 0 {
			k.MadeAt = tx.Now
		}
		var id ID
		err := tx.QueryRow(`INSERT INTO signing_keys (account_id, kind, primary_id, handle, name, public_key, armor,
			emails, capabilities, revoked, made_at, expires_at, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
			ON CONFLICT (account_id, handle) DO NOTHING RETURNING id`,
			caller.ID, k.Kind, primary, k.Handle, k.Name, k.PublicKey, k.Armor, strings.Join(k.Emails, " "), k.Can,
			k.Revoked, k.MadeAt, expires, tx.Now).Scan(&id)
		if errors.Is(err, db.ErrNoRows) {
			return nil, kind.wrong(kind.field(), "key is already in use")
		}
		if err != nil {
			return nil, err
		}
		if primary == 0 {
			primary = id
		}
	}
	if err := tx.Bump(account.Topic); err != nil {
		return nil, err
	}
	if err := record(tx, kind.created(), caller, list[0].Handle); err != nil {
		return nil, err
	}
	return Get(tx, caller.ID, kind, primary)
}

// remove deletes a key and its subkeys. Error: 404.
func remove(tx *db.Tx, caller *account.Caller, kind Kind, id ID) error {
	k, err := Get(tx, caller.ID, kind, id)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`DELETE FROM signing_keys WHERE account_id = $1 AND (id = $2 OR primary_id = $2)`, caller.ID, id)
	if err != nil {
		return err
	}
	if err := record(tx, kind.deleted(), caller, k.Handle); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

func record(tx *db.Tx, action audit.Action, caller *account.Caller, handle string) error {
	return audit.Record(tx, audit.Entry{Action: action, Right: audit.Self,
		User:    audit.Named{ID: int64(caller.ID), Name: caller.Login},
		Changes: map[string]any{"fingerprint": handle}})
}
