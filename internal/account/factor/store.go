package factor

import (
	"crypto/sha256"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Of returns which factors an account has.
func Of(tx *db.Tx, id account.ID) (s State, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM totps WHERE account_id = $1),
		(SELECT COUNT(*) FROM passkeys WHERE account_id = $1),
		(SELECT COUNT(*) FROM recovery_codes WHERE account_id = $1)`, id).Scan(&s.TOTP, &s.Passkeys, &s.Codes)
	return s, err
}

// storeTOTP replaces the app of an account.
func storeTOTP(tx *db.Tx, of account.ID, secret []byte, step int64) error {
	return tx.Run(`INSERT INTO totps (account_id, secret, last_step, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret, last_step = excluded.last_step,
		created_at = excluded.created_at`, of, secret, step, tx.Now)
}

// totpOf returns the secret of an account's app, and the step of its last code; nil: it has none.
func totpOf(tx *db.Tx, of account.ID) (secret []byte, last int64, err error) {
	err = tx.QueryRow(`SELECT secret, last_step FROM totps WHERE account_id = $1`, of).Scan(&secret, &last)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return secret, last, err
}

// noteStep notes that the code of a step is used. Error: 422 if it was already, by another request.
func noteStep(tx *db.Tx, of account.ID, step int64) error {
	err := tx.QueryRow(`UPDATE totps SET last_step = $2 WHERE account_id = $1 AND last_step < $2 RETURNING last_step`,
		of, step).Scan(&step)
	if errors.Is(err, db.ErrNoRows) {
		return WrongCode()
	}
	return err
}

// RemoveTOTP removes the app of an account. Error: errs.Absent.
func RemoveTOTP(tx *db.Tx, of account.ID) error {
	err := tx.QueryRow(`DELETE FROM totps WHERE account_id = $1 RETURNING account_id`, of).Scan(&of)
	return account.OrAbsent(err)
}

// storeCodes replaces the recovery codes of an account.
func storeCodes(tx *db.Tx, of account.ID, digests [][sha256.Size]byte) error {
	if err := RemoveCodes(tx, of); err != nil {
		return err
	}
	for _, d := range digests { // ten
		if err := tx.Run(`INSERT INTO recovery_codes (account_id, digest) VALUES ($1, $2)`, of, d[:]); err != nil {
			return err
		}
	}
	return nil
}

// RemoveCodes removes the recovery codes of an account.
func RemoveCodes(tx *db.Tx, of account.ID) error {
	return tx.Run(`DELETE FROM recovery_codes WHERE account_id = $1`, of)
}

// takeCode removes a recovery code that is used. Error: 422 if there is none.
func takeCode(tx *db.Tx, of account.ID, d [sha256.Size]byte) error {
	err := tx.QueryRow(`DELETE FROM recovery_codes WHERE account_id = $1 AND digest = $2 RETURNING account_id`,
		of, d[:]).Scan(&of)
	if errors.Is(err, db.ErrNoRows) {
		return WrongCode()
	}
	return err
}

// RemoveAll removes all factors of an account.
func RemoveAll(tx *db.Tx, of account.ID) error {
	for _, table := range []string{"totps", "recovery_codes", "passkeys", "passkey_challenges"} {
		if err := tx.Run(`DELETE FROM `+table+` WHERE account_id = $1`, of); err != nil {
			return err
		}
	}
	return nil
}

// Passkey is a passkey of an account.
type Passkey struct {
	ID         int64
	Name       string
	CreatedAt  db.Time
	LastUsedAt db.Time // zero: never

	credential []byte
	publicKey  []byte
	count      int64
	backup     bool
	account    account.ID
}

const passkeyColumns = `id, name, created_at, last_used_at, credential_id, public_key, sign_count, backup_eligible,
	account_id`

func scanPasskey(row db.Scanner) (p Passkey, err error) {
	err = row.Scan(&p.ID, &p.Name, &p.CreatedAt, &p.LastUsedAt, &p.credential, &p.publicKey, &p.count, &p.backup,
		&p.account)
	return p, err
}

// Passkeys lists the passkeys of an account.
func Passkeys(tx *db.Tx, of account.ID) ([]Passkey, error) {
	return db.QueryList(tx, scanPasskey,
		`SELECT `+passkeyColumns+` FROM passkeys WHERE account_id = $1 ORDER BY id`, of)
}

// passkeyByCredential finds a passkey. Error: errs.Absent.
func passkeyByCredential(tx *db.Tx, id []byte) (Passkey, error) {
	p, err := scanPasskey(tx.QueryRow(`SELECT `+passkeyColumns+` FROM passkeys WHERE credential_id = $1`, id))
	return p, account.OrAbsent(err)
}

// insertPasskey stores a new passkey. Error: 422 if it is somebody's already.
func insertPasskey(tx *db.Tx, p *Passkey) error {
	err := tx.QueryRow(`INSERT INTO passkeys (account_id, name, credential_id, public_key, sign_count, backup_eligible,
		created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (credential_id) DO NOTHING RETURNING id`,
		p.account, p.Name, p.credential, p.publicKey, p.count, p.backup, tx.Now).Scan(&p.ID)
	if errors.Is(err, db.ErrNoRows) {
		return errs.New(errs.Invalid, "This passkey is added already.")
	}
	return err
}

// notePasskey notes that a passkey was used. Error: 422 if another request used it with this or a later count.
func notePasskey(tx *db.Tx, p Passkey, count int64) error {
	err := tx.QueryRow(`UPDATE passkeys SET sign_count = $2, last_used_at = $3
		WHERE id = $1 AND (sign_count < $2 OR sign_count = 0 AND $2 = 0) RETURNING id`,
		p.ID, count, tx.Now).Scan(&p.ID)
	if errors.Is(err, db.ErrNoRows) {
		return copied()
	}
	return err
}

// RenamePasskey renames a passkey of an account. Error: errs.Absent.
func RenamePasskey(tx *db.Tx, of account.ID, id int64, name string) error {
	err := tx.QueryRow(`UPDATE passkeys SET name = $3 WHERE id = $2 AND account_id = $1 RETURNING id`,
		of, id, name).Scan(&id)
	return account.OrAbsent(err)
}

// RemovePasskey removes a passkey of an account. Error: errs.Absent.
func RemovePasskey(tx *db.Tx, of account.ID, id int64) error {
	err := tx.QueryRow(`DELETE FROM passkeys WHERE id = $2 AND account_id = $1 RETURNING id`, of, id).Scan(&id)
	return account.OrAbsent(err)
}

// storeChallenge stores a challenge. Old ones are removed; a network that asks too often ends its own oldest one.
// Error: 503 while too many wait.
func storeChallenge(tx *db.Tx, d [sha256.Size]byte, of account.ID, network string) error {
	if err := tx.Lock(challengeLock); err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM passkey_challenges WHERE expires_at <= $1`, tx.Now); err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM passkey_challenges WHERE network = $1 AND expires_at <= (SELECT c.expires_at
		FROM passkey_challenges c WHERE c.network = $1 ORDER BY c.expires_at DESC LIMIT 1 OFFSET $2)`,
		network, challengesOfNetwork-1); err != nil {
		return err
	}
	var all int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM passkey_challenges`).Scan(&all); err != nil {
		return err
	}
	if all >= maxChallenges {
		return errs.New(errs.Unavailable, "Too many people use passkeys at this moment. Try again in a few minutes.")
	}
	var account any
	if of != 0 {
		account = of
	}
	return tx.Run(`INSERT INTO passkey_challenges (digest, account_id, network, expires_at) VALUES ($1, $2, $3, $4)`,
		d[:], account, network, tx.Now+db.Time(challengeLife.Microseconds()))
}

// takeChallenge removes a challenge that is answered, and returns whose it is; 0: anybody's. Error: errs.Absent.
func takeChallenge(tx *db.Tx, d [sha256.Size]byte) (of account.ID, err error) {
	err = tx.QueryRow(`DELETE FROM passkey_challenges WHERE digest = $1 AND expires_at > $2
		RETURNING COALESCE(account_id, 0)`, d[:], tx.Now).Scan(&of)
	return of, account.OrAbsent(err)
}
