package account

import (
	"errors"
	"slices"

	"arbor/internal/db"
)

// tokenByDigest finds whom a token that is not revoked stands for, and until
// when (zero: for ever). Errors: errs.Absent when there is none.
func tokenByDigest(tx *db.Tx, d digest) (*Caller, db.Time, error) {
	var c Caller
	var expires db.Time
	err := tx.QueryRow(`SELECT t.id, t.expires_at, a.id, a.login, a.site_admin
		FROM tokens t JOIN accounts a ON a.id = t.account_id WHERE t.digest = $1 AND t.revoked_at IS NULL`, d[:]).
		Scan(&c.TokenID, &expires, &c.ID, &c.Login, &c.SiteAdmin)
	return &c, expires, orAbsent(err)
}

// TokenHolds is the condition that a caller's token is neither revoked nor
// expired, for statements that write: token and now are expressions. Callers inside
// this process have no token, and pass with 0.
func TokenHolds(token, now string) string {
	return `(CAST(` + token + ` AS BIGINT) = 0 OR EXISTS (SELECT 1 FROM tokens t
		WHERE t.id = CAST(` + token + ` AS BIGINT) AND t.revoked_at IS NULL
			AND (t.expires_at IS NULL OR t.expires_at > CAST(` + now + ` AS BIGINT))))`
}

// Again reads a caller as it is now, for work that takes long between its start
// and what it changes. Errors: 401 when the token was revoked or has expired.
func Again(tx *db.Tx, c *Caller) (*Caller, error) {
	if c.TokenID == 0 { // of this process, see server.authenticate
		return c, nil
	}
	now := Caller{TokenID: c.TokenID}
	var expires db.Time
	err := tx.QueryRow(`SELECT t.expires_at, a.id, a.login, a.site_admin
		FROM tokens t JOIN accounts a ON a.id = t.account_id WHERE t.id = $1 AND t.revoked_at IS NULL`, c.TokenID).
		Scan(&expires, &now.ID, &now.Login, &now.SiteAdmin)
	if errors.Is(err, db.ErrNoRows) || err == nil && !expires.IsZero() && tx.Now >= expires {
		return nil, badCredentials()
	}
	return &now, err
}

// Holds returns a 401 when the caller's token ended after the request began. It is
// called at the end of each transaction of an unsafe request.
func (c *Caller) Holds(tx *db.Tx) error {
	_, err := Again(tx, c)
	return err
}

// tokenTaken reports whether there is or was such a token.
func tokenTaken(tx *db.Tx, d digest) (taken bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM tokens WHERE digest = $1)`, d[:]).Scan(&taken)
	return taken, err
}

// insertToken stores a token by its digest; expires may be zero.
func insertToken(tx *db.Tx, accountID ID, d digest, hint, note string, expires db.Time) (id int64, err error) {
	err = tx.QueryRow(`INSERT INTO tokens (account_id, digest, hint, note, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`, accountID, d[:], hint, note, tx.Now, expires).Scan(&id)
	if err != nil {
		return 0, err
	}
	return id, tx.Bump(Topic)
}

// revokeByID reports whether there is such a token, revoked now or before.
func revokeByID(tx *db.Tx, id int64) (found bool, err error) {
	n, err := tx.Exec(`UPDATE tokens SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1`, id, tx.Now)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.Bump(Topic)
}

// revokeByDigest is revokeByID for a token itself.
func revokeByDigest(tx *db.Tx, d digest) (found bool, err error) {
	n, err := tx.Exec(`UPDATE tokens SET revoked_at = COALESCE(revoked_at, $2) WHERE digest = $1`, d[:], tx.Now)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.Bump(Topic)
}

func tokensOf(tx *db.Tx, accountID ID) ([]Token, error) {
	rows, err := tx.Query(`SELECT id, hint, note, created_at, expires_at, last_used_at, revoked_at
		FROM tokens WHERE account_id = $1 ORDER BY id`, accountID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Token
	for rows.Next() {
		var t Token
		if err := rows.Scan(&t.ID, &t.Hint, &t.Note, &t.CreatedAt, &t.ExpiresAt, &t.LastUsedAt, &t.RevokedAt); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, rows.Err()
}

// storeLastUses writes when tokens were used, in the order of their ids so that
// two nodes that do so together cannot deadlock. It bumps nothing.
func storeLastUses(tx *db.Tx, uses map[int64]db.Time) error {
	ids := make([]int64, 0, len(uses))
	for id := range uses {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		_, err := tx.Exec(`UPDATE tokens SET last_used_at = $2
			WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)`, id, uses[id])
		if err != nil {
			return err
		}
	}
	return nil
}
