package session

import (
	"crypto/sha256"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// maxAgent is how much of a browser's name is kept, in bytes.
const maxAgent = 255

// insertSession stores a session, which may do what the token may that it was begun with. Sessions that have
// ended by themselves go, and the oldest beyond maxSessions.
func insertSession(tx *db.Tx, n *newSession, d [sha256.Size]byte, from Origin, expires db.Time) (id int64, err error) {
	err = tx.Run(`DELETE FROM tokens WHERE account_id = $1 AND agent IS NOT NULL AND (expires_at <= $2
		OR revoked_at IS NOT NULL
		OR id <= (SELECT o.id FROM tokens o WHERE o.account_id = $1 AND o.agent IS NOT NULL ORDER BY o.id DESC
		LIMIT 1 OFFSET $3))`,
		n.account.ID, tx.Now, maxSessions-1)
	if err != nil {
		return 0, err
	}
	agent := strings.ToValidUTF8(from.Agent[:min(len(from.Agent), maxAgent)], "")
	var address any
	if from.Address.IsValid() {
		address = from.Address.String()
	}
	err = tx.QueryRow(`INSERT INTO tokens (account_id, digest, hint, note, scopes, permission, created_at,
		expires_at, agent, address, begun_with, made_with, confirmed_at, provider_session)
		SELECT a.id, $2, '', '', t.scopes, COALESCE(t.permission, 0), $3, $4, $5, $6, t.id, $8,
		NULLIF($9, 0), NULLIF($10, '')
		FROM accounts a LEFT JOIN tokens t ON t.id = $7 WHERE a.id = $1 RETURNING id`,
		n.account.ID, d[:], tx.Now, expires, strings.ReplaceAll(agent, "\x00", ""), address,
		n.token, n.how, n.shown, n.provider).Scan(&id)
	if err != nil {
		return 0, err
	}
	err = tx.Run(`INSERT INTO token_repos (token_id, repo_id) SELECT CAST($1 AS BIGINT), repo_id
		FROM token_repos
		WHERE token_id = $2`, id, n.token)
	if err != nil {
		return 0, err
	}
	return id, tx.Bump(account.Topic)
}

// sessionsOf lists the sessions of an account that have not ended, the newest first.
func sessionsOf(tx *db.Tx, of account.ID) ([]Session, error) {
	return db.QueryList(tx, func(row db.Scanner) (s Session, err error) {
		err = row.Scan(&s.ID, &s.Agent, &s.Address, &s.CreatedAt, &s.ExpiresAt, &s.LastUsedAt, &s.ConfirmedAt,
			&s.MadeWith)
		return s, err
	}, `SELECT id, agent, COALESCE(address, ''), created_at, expires_at, last_used_at,
		COALESCE(confirmed_at, created_at), COALESCE(made_with, '') FROM tokens
		WHERE account_id = $1 AND agent IS NOT NULL AND revoked_at IS NULL AND expires_at > $2
		ORDER BY id DESC`, of, tx.Now)
}

// endSession ends a session. Error: errs.Absent.
func endSession(tx *db.Tx, of account.ID, id int64) error {
	err := tx.QueryRow(`UPDATE tokens SET revoked_at = COALESCE(revoked_at, $3)
		WHERE id = $2 AND account_id = $1 AND agent IS NOT NULL RETURNING id`, of, id, tx.Now).Scan(&id)
	if err != nil {
		return account.OrAbsent(err)
	}
	return tx.Bump(account.Topic)
}

// endSessions ends all sessions of an account but one; 0: all. What they allowed of the device flow, and was
// not taken yet, is denied. The account's row is locked.
func endSessions(tx *db.Tx, of account.ID, but int64) error {
	err := tx.Run(`UPDATE tokens SET revoked_at = $3
		WHERE account_id = $1 AND agent IS NOT NULL AND revoked_at IS NULL AND id <> $2`, of, but, tx.Now)
	if err != nil {
		return err
	}
	if err := account.DenyDevices(tx, of); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// accountsAtProvider lists whose sessions an AtProvider may select.
func accountsAtProvider(tx *db.Tx, at AtProvider) ([]account.ID, error) {
	scan := func(row db.Scanner) (id account.ID, err error) { return id, row.Scan(&id) }
	if at.Subject != "" {
		return db.QueryList(tx, scan, `SELECT account_id FROM identities WHERE issuer = $1 AND subject = $2`,
			at.Issuer, at.Subject)
	}
	return db.QueryList(tx, scan, `SELECT DISTINCT account_id FROM tokens WHERE provider_session = $1 AND made_with = $2
		AND revoked_at IS NULL ORDER BY account_id`, at.Session, at.Way)
}

// endAtProvider ends the sessions of an account, whose row is held, that an AtProvider selects, and returns how many
// these were.
func endAtProvider(tx *db.Tx, of account.ID, at AtProvider) (ended int64, err error) {
	ended, err = tx.Exec(`UPDATE tokens SET revoked_at = $1 WHERE account_id = $2 AND agent IS NOT NULL
		AND revoked_at IS NULL AND made_with = $3 AND created_at <= $4
		AND ($5 = '' OR provider_session = $5 OR $6 <> '' AND provider_session IS NULL)`,
		tx.Now, of, at.Way, at.Before, at.Session, at.Subject)
	if err != nil || ended == 0 {
		return 0, err
	}
	if err := account.DenyDevices(tx, of); err != nil {
		return 0, err
	}
	return ended, tx.Bump(account.Topic)
}

// madeWith returns how a session was made; empty: not known.
func madeWith(tx *db.Tx, id int64) (how string, err error) {
	err = tx.QueryRow(`SELECT COALESCE(made_with, '') FROM tokens WHERE id = $1`, id).Scan(&how)
	return how, account.OrAbsent(err)
}

// confirmSession notes that the user of a session has confirmed who it is.
func confirmSession(tx *db.Tx, of account.ID, id int64) error {
	err := tx.Run(`UPDATE tokens SET confirmed_at = $3 WHERE id = $2 AND account_id = $1 AND agent IS NOT NULL`,
		of, id, tx.Now)
	if err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// loginAndPassword reads the login and the stored password of a user; empty: it has none. Error: errs.Absent.
func loginAndPassword(tx *db.Tx, of account.ID) (login, kept string, err error) {
	err = tx.QueryRow(`SELECT login, COALESCE(password, '') FROM accounts WHERE id = $1`, of).Scan(&login, &kept)
	return login, kept, account.OrAbsent(err)
}

// touch notes that GET /user of an account changes.
func touch(tx *db.Tx, of account.ID) error {
	if err := tx.Run(`UPDATE accounts SET updated_at = $2 WHERE id = $1`, of, tx.Now); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// storePassword stores a password hash.
func storePassword(tx *db.Tx, of account.ID, kept string) error {
	return tx.Run(`UPDATE accounts SET password = $2 WHERE id = $1`, of, kept)
}

// passwordOf reads the stored form of a user's password; empty: no password, or the user does not exist.
func passwordOf(tx *db.Tx, login string) (kept string, err error) {
	_, kept, _, err = passwordAndKey(tx, login)
	return kept, err
}

// passwordAndKey reads the id of a user, the stored form of its password and the key of its browsers; 0 and empty: there
// is none.
func passwordAndKey(tx *db.Tx, login string) (of account.ID, kept, key string, err error) {
	err = tx.QueryRow(`SELECT a.id, COALESCE(a.password, ''), `+browserKey+` FROM accounts a
		WHERE a.login_folded = $1 AND a.kind = $2`,
		account.Fold(login), int64(account.User)).Scan(&of, &kept, &key)
	if errors.Is(err, db.ErrNoRows) || errs.Is(err, errs.NotFound) {
		return 0, "", "", nil
	}
	return of, kept, key, err
}

// sessionAddresses lists from where the sessions of a user were begun that a password began and that have not
// ended.
func sessionAddresses(tx *db.Tx, of account.ID) ([]string, error) {
	return db.QueryTexts(tx, `SELECT address FROM tokens WHERE account_id = $1 AND agent IS NOT NULL
		AND begun_with IS NULL AND address IS NOT NULL AND revoked_at IS NULL AND expires_at > $2`, of, tx.Now)
}

// secretAt reads the secret of the identity of a user at a directory. Error: errs.Absent.
func secretAt(tx *db.Tx, of account.ID, source string) (secret string, err error) {
	err = tx.QueryRow(`SELECT secret FROM identities WHERE account_id = $1 AND provider = $2 AND secret IS NOT NULL`,
		of, source).Scan(&secret)
	return secret, account.OrAbsent(err)
}

// browserKey signs that browsers are known to the account a: the stored password, or a secret of an identity; empty:
// there is neither.
const browserKey = `COALESCE(a.password, (SELECT MAX(i.secret) FROM identities i WHERE i.account_id = a.id), '')`

// placesOf reads the key of a user's browsers, and from where its sessions were begun.
func placesOf(tx *db.Tx, of account.ID) (key string, addresses []string, err error) {
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var address string
		if err := row.Scan(&key, &address); err != nil {
			return err
		}
		addresses = append(addresses, address)
		return nil
	}, `SELECT DISTINCT `+browserKey+`, COALESCE(t.address, '') FROM accounts a
		LEFT JOIN tokens t ON t.account_id = a.id AND t.agent IS NOT NULL WHERE a.id = $1`, of)
	return key, addresses, err
}

// hasUsers reports whether any user exists.
func hasUsers(tx *db.Tx) (some bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM accounts WHERE kind = $1 AND login_folded <> 'ghost')`,
		int64(account.User)).Scan(&some)
	return some, err
}

// hasIdentity reports whether an account signs in with an identity of another server.
func hasIdentity(tx *db.Tx, id account.ID) (has bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM identities WHERE account_id = $1)`, id).Scan(&has)
	return has, err
}
