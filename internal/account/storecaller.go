package account

import (
	"crypto/sha256"
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// BadCredentials is the only answer to invalid credentials of any kind (decision 11), so that a revoked token
// cannot be distinguished from an unknown one.
func BadCredentials() error { return errs.New(errs.Unauthenticated, "Bad credentials") }

// Suspended is GitHub's error for requests with a suspended account's token.
func Suspended() error { return errs.New(errs.Forbidden, "Sorry. Your account was suspended.") }

// CallerOfToken returns the caller of a valid token or session, given by its SHA-256, with its rights, and its
// expiry (zero: never). Errors: errs.Absent for an unknown token; 403 if its account is suspended, and for a token of
// one that must have a second factor.
func CallerOfToken(tx *db.Tx, digest [sha256.Size]byte) (*Caller, db.Time, error) {
	return callerOfToken(tx, `t.digest = $1`, digest[:])
}

// CallerOf returns the caller of a token or, if tokenID is 0, of an SSH key, as it is now. Errors: 401 for one that
// is gone or has expired; those of CallerOfToken and CallerOfKey.
func CallerOf(tx *db.Tx, tokenID, keyID int64, now db.Time) (c *Caller, err error) {
	var expires db.Time
	if tokenID != 0 {
		c, expires, err = callerOfToken(tx, `t.id = $1`, tokenID)
	} else {
		c, err = callerOfKey(tx, `k.id = $1`, keyID)
	}
	if errs.Is(err, errs.NotFound) || err == nil && !expires.IsZero() && now >= expires {
		return nil, BadCredentials()
	}
	return c, err
}

// callerOfToken is CallerOfToken for the token of a condition.
func callerOfToken(tx *db.Tx, condition string, arg any) (*Caller, db.Time, error) {
	var c Caller
	var expires, suspended db.Time
	var needs bool
	var scopes *string
	var permission int64
	var of *InstallationID
	err := tx.QueryRow(`SELECT t.id, t.expires_at, t.scopes, t.permission, t.installation_id,
			t.agent IS NOT NULL, t.begun_with IS NOT NULL, COALESCE(t.confirmed_at, t.created_at), `+oauthAppOf+`,
			a.id, a.login, a.site_admin, a.suspended_at, a.time_zone, `+needsFactor("a.id")+`
		FROM tokens t JOIN accounts a ON a.id = t.account_id WHERE `+condition+`
		AND t.revoked_at IS NULL`, arg).
		Scan(&c.TokenID, &expires, &scopes, &permission, &of, &c.Session, &c.ByToken, &c.ConfirmedAt,
			&c.OAuthApp, &c.ID, &c.Login, &c.SiteAdmin, &suspended, &c.TimeZone, &needs)
	if err != nil {
		return nil, 0, OrAbsent(err)
	}
	if of != nil {
		return installationCaller(tx, c.TokenID)
	}
	if !suspended.IsZero() {
		return nil, 0, Suspended()
	}
	if c.NeedsFactor = needs; needs && !c.Session {
		return nil, 0, FactorNeeded()
	}
	var chosen []int64
	if permission == FineRead || permission == FineWrite {
		chosen, err = db.QueryIDs[int64](tx,
			`SELECT repo_id FROM token_repos WHERE token_id = $1 ORDER BY repo_id`, c.TokenID)
		if err != nil {
			return nil, 0, err
		}
	}
	g, err := NewGrant(scopes, permission, expires, chosen)
	if err != nil {
		return nil, 0, err
	}
	if g.userToken {
		if c.ForApp, g.account, err = userTokenOf(tx, c.TokenID); err != nil {
			return nil, 0, err
		}
	}
	c.limit(g)
	return &c, expires, nil
}

// TokenHolds is the condition that a caller's token is neither revoked nor expired and its
// account neither suspended nor without a second factor that it must have, for statements that write: token and now
// are expressions. Callers inside this process have no token, and pass with 0.
func TokenHolds(token, now string) string {
	return `(CAST(` + token + ` AS BIGINT) = 0 OR EXISTS (SELECT 1 FROM tokens t
		JOIN accounts ta ON ta.id = t.account_id AND ta.suspended_at IS NULL AND NOT ` + needsFactor("ta.id") + `
		WHERE t.id = CAST(` + token + ` AS BIGINT) AND t.revoked_at IS NULL
			AND (t.expires_at IS NULL OR t.expires_at > CAST(` + now + ` AS BIGINT))))`
}

// Again reads a caller again, for operations that take long before they write. Errors: 401 if the token was
// revoked or has expired or the key was deleted, 403 if the account is suspended or must have a second factor.
func Again(tx *db.Tx, c *Caller) (*Caller, error) {
	if c.KeyID != 0 {
		now, err := callerOfKey(tx, `k.id = $1`, c.KeyID)
		if errs.Is(err, errs.NotFound) {
			err = BadCredentials()
		}
		return now, err
	}
	if c.TokenID == 0 { // of this process, see server.authenticate
		return c, nil
	}
	if c.App != 0 {
		now, expires, err := installationCaller(tx, c.TokenID)
		if errs.Is(err, errs.NotFound) || err == nil && tx.Now >= expires {
			return nil, BadCredentials()
		}
		if err != nil {
			return nil, err
		}
		now = now.asked(c)
		return now, nil
	}
	if c.ForApp != 0 {
		return againForApp(tx, c)
	}
	now := *c
	var expires, suspended db.Time
	var needs bool
	err := tx.QueryRow(`SELECT t.expires_at, a.id, a.login, a.site_admin, a.suspended_at, `+needsFactor("a.id")+`
		FROM tokens t JOIN accounts a ON a.id = t.account_id WHERE t.id = $1
		AND t.revoked_at IS NULL`, c.TokenID).
		Scan(&expires, &now.ID, &now.Login, &now.SiteAdmin, &suspended, &needs)
	now.SiteAdmin = now.SiteAdmin && c.SiteAdmin // the token may not let it act as one
	switch {
	case errors.Is(err, db.ErrNoRows), err == nil && !expires.IsZero() && tx.Now >= expires:
		return nil, BadCredentials()
	case err == nil && !suspended.IsZero():
		return nil, Suspended()
	case err == nil && needs && !c.NeedsFactor: // a session that needs one reached a page where it is added
		return nil, FactorNeeded()
	}
	return &now, err
}

// Holds returns an error if the caller lost rights after the request began: 401 for an invalid token, 403
// for an account that was suspended or is no longer a site administrator. A Caller is the db.Right of operations on
// what is not a repository's. A nil caller is the command line, whose right holds outside of requests.
func (c *Caller) Holds(tx *db.Tx) error {
	if c == nil {
		return tx.CheckOutsideRequest()
	}
	now, err := Again(tx, c)
	if err == nil && c.SiteAdmin && !now.SiteAdmin {
		err = errs.New(errs.Forbidden, "You are no longer a site administrator.")
	}
	return err
}

// CallerOfKey returns the user who signs in with the key of a fingerprint. Errors: 404 for no key, 403 when the
// account is suspended.
func CallerOfKey(tx *db.Tx, fingerprint string) (*Caller, error) {
	return callerOfKey(tx, `k.fingerprint = $1`, fingerprint)
}

// callerOfKey finds who signs in with the key of a condition. Errors: 404 for no key, 403 when its account
// is suspended, or that of who added it as a deploy key, and for a person who must have a second factor.
func callerOfKey(tx *db.Tx, condition string, arg any) (*Caller, error) {
	var c Caller
	var repoID int64
	var readOnly, needs bool
	var suspended db.Time
	err := tx.QueryRow(`SELECT k.id, k.added_by, a.login, COALESCE(k.repo_id, 0), k.read_only, a.suspended_at,
			`+needsFactor("a.id")+`
		FROM ssh_keys k JOIN accounts a ON a.id = k.added_by WHERE `+condition, arg).
		Scan(&c.KeyID, &c.ID, &c.Login, &repoID, &readOnly, &suspended, &needs)
	switch {
	case err != nil:
		return nil, OrAbsent(err)
	case !suspended.IsZero():
		return nil, Suspended()
	case needs && repoID == 0: // a deploy key is the repository's
		return nil, FactorNeeded()
	}
	if repoID != 0 {
		c.Reach, c.HidesMembers = OneRepo, true
		c.Grant = &Grant{Fine: true, Changes: !readOnly, chosen: []int64{repoID}}
	}
	return &c, nil
}

// DenyDevices denies the requests of the device flow (package token) that an account allowed and whose tokens
// were not yet taken, and removes its codes of the web flow (package oauth) that were not redeemed. The account's row
// must be locked.
func DenyDevices(tx *db.Tx, by ID) error {
	err := tx.Run(`DELETE FROM oauth_codes WHERE token_id IS NULL AND grant_id IN
		(SELECT id FROM oauth_grants WHERE account_id = $1)`, by)
	if err != nil {
		return err
	}
	return tx.Run(`UPDATE device_requests SET allowed = FALSE WHERE account_id = $1 AND allowed = TRUE`, by)
}

// Holder finds the user with a login, who holds tokens and a password. Errors: 404; 422 for an organization.
func Holder(tx *db.Tx, login string) (*Account, error) {
	a, err := ByLogin(tx, login)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Newf(errs.NotFound, "user %q not found", login)
	}
	if err == nil && a.Kind != User {
		return nil, errs.Newf(errs.Invalid, "%q is %s: only users hold tokens", a.Login, a.Kind.noun())
	}
	return a, err
}
