package oauth

import (
	"cmp"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// insertCode keeps a new code. Those that expired long ago go, and the oldest of too many of the same grant.
// shown says how the user of the session showed who it is.
func insertCode(tx *db.Tx, grant account.GrantID, code string, q *Request, shown session.Shown) error {
	if err := tx.Run(`DELETE FROM oauth_codes WHERE expires_at < $1`,
		tx.Now-db.Time(afterExpiry.Microseconds())); err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM oauth_codes WHERE grant_id = $1 AND token_id IS NULL AND digest NOT IN
		(SELECT digest FROM oauth_codes WHERE grant_id = $1 AND token_id IS NULL
		ORDER BY expires_at DESC, digest LIMIT $2)`, grant, maxCodes-1); err != nil {
		return err
	}
	d, nonce := token.Digest(code), ""
	if q.OpenID != nil {
		nonce = q.OpenID.nonce
	}
	return tx.Run(`INSERT INTO oauth_codes (digest, grant_id, redirect, challenge, scopes, expires_at, nonce, shown_at,
			shown_with)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, d[:], grant, q.Redirect, q.challenge, q.Scopes.String(),
		tx.Now+db.Time(codeLife.Microseconds()), nonce, shown.At, shown.With)
}

// code is a code as it is redeemed.
type code struct {
	digest    [32]byte
	grant     account.GrantID
	app       account.OAuthAppID
	account   account.ID
	redirect  string
	challenge string
	scopes    scope.Set
	expires   db.Time
	token     int64 // that it was redeemed for; 0: not yet
	nonce     string
	shown     session.Shown
}

// codeOf finds a code. Error: errs.Absent.
func codeOf(tx *db.Tx, value string) (*code, error) {
	c := &code{digest: token.Digest(value)}
	var scopes string
	err := tx.QueryRow(`SELECT c.grant_id, g.app_id, g.account_id, c.redirect, c.challenge, c.scopes, c.expires_at,
			COALESCE(c.token_id, 0), c.nonce, c.shown_at, c.shown_with
		FROM oauth_codes c JOIN oauth_grants g ON g.id = c.grant_id WHERE c.digest = $1`, c.digest[:]).
		Scan(&c.grant, &c.app, &c.account, &c.redirect, &c.challenge, &scopes, &c.expires, &c.token,
			&c.nonce, &c.shown.At, &c.shown.With)
	if err != nil {
		return nil, account.OrAbsent(err)
	}
	c.scopes, err = scope.ParseStored(scopes)
	return c, err
}

// redeemed notes the token for which a code was redeemed.
func redeemed(tx *db.Tx, c *code, token int64) error {
	return tx.Run(`UPDATE oauth_codes SET token_id = $2 WHERE digest = $1`, c.digest[:], token)
}

func countGrants(tx *db.Tx, id account.OAuthAppID) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM oauth_grants WHERE app_id = $1`, id).Scan(&n)
	return n, err
}

// Grant is what a user allowed an OAuth App.
type Grant struct {
	ID         account.GrantID
	App        *App
	Scopes     scope.Set
	Account    scope.Permissions // of a GitHub App: those on the user's own account
	Tokens     int64
	CreatedAt  db.Time
	LastUsedAt db.Time // of any of its tokens; zero: never
}

// maxGrants is how many grants a user sees.
const maxGrants = 500

// grantsOf lists what a user allowed, the newest first.
func grantsOf(tx *db.Tx, by account.ID) ([]*Grant, error) {
	ids := map[account.OAuthAppID]*Grant{}
	list, err := db.QueryList(tx, func(row db.Scanner) (*Grant, error) {
		g := &Grant{App: &App{}}
		var scopes, permissions string
		err := row.Scan(&g.ID, &g.App.ID, &scopes, &permissions, &g.CreatedAt, &g.Tokens, &g.LastUsedAt)
		if err == nil {
			g.Scopes, err = scope.ParseStored(scopes)
		}
		g.Account = scope.ParsePermissions(permissions)
		ids[g.App.ID] = g
		return g, err
	}, `SELECT g.id, g.app_id, g.scopes, g.permissions, g.created_at,
			(SELECT COUNT(*) FROM tokens t WHERE t.grant_id = g.id),
			(SELECT MAX(t.last_used_at) FROM tokens t WHERE t.grant_id = g.id)
		FROM oauth_grants g WHERE g.account_id = $1 ORDER BY g.id DESC LIMIT $2`, by, maxGrants)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	apps, err := appsWhere(tx, `WHERE p.id IN (SELECT g.app_id FROM oauth_grants g WHERE g.account_id = $1)`, by)
	for _, a := range apps {
		if g := ids[a.ID]; g != nil {
			g.App = a
		}
	}
	return list, err
}

// grantBy finds a grant of a user with the name of its App. Error: errs.Absent.
func grantBy(tx *db.Tx, id account.GrantID, by account.ID) (app string, err error) {
	err = tx.QueryRow(`SELECT p.name FROM oauth_grants g JOIN oauth_apps p ON p.id = g.app_id
		WHERE g.id = $1 AND g.account_id = $2`, id, by).Scan(&app)
	return app, account.OrAbsent(err)
}

// githubAppOf is the GitHub App that was allowed something; 0: it is an OAuth App. Error: errs.Absent.
func githubAppOf(tx *db.Tx, id account.GrantID) (app account.AppID, err error) {
	err = tx.QueryRow(`SELECT COALESCE(p.github_app_id, 0) FROM oauth_grants g JOIN oauth_apps p ON p.id = g.app_id
		WHERE g.id = $1`, id).Scan(&app)
	return app, account.OrAbsent(err)
}

// tokenOf finds a token in force of an OAuth App by its value. Error: errs.Absent.
func tokenOf(tx *db.Tx, app *App, value string) (*Given, error) {
	if !token.WellFormed(value) {
		return nil, errs.Absent()
	}
	g, d, scopes, of := &Given{App: app, Token: value}, token.Digest(value), "", account.ID(0)
	err := tx.QueryRow(`SELECT t.id, t.scopes, t.created_at, t.expires_at, t.grant_id, t.account_id
		FROM tokens t JOIN oauth_grants g ON g.id = t.grant_id JOIN accounts a ON a.id = t.account_id
		WHERE t.digest = $1 AND g.app_id = $2 AND t.revoked_at IS NULL AND a.suspended_at IS NULL
			AND (t.expires_at IS NULL OR t.expires_at > $3)`, d[:], app.ID, tx.Now).
		Scan(&g.ID, &scopes, &g.CreatedAt, &g.ExpiresAt, &g.grant, &of)
	if err != nil {
		return nil, account.OrAbsent(err)
	}
	if needs, err := account.NeedsFactor(tx, of); err != nil || needs {
		return nil, cmp.Or[error](err, errs.Absent())
	}
	if g.Scopes, err = scope.ParseStored(scopes); err != nil {
		return nil, err
	}
	g.User, err = account.ByID(tx, of)
	return g, err
}
