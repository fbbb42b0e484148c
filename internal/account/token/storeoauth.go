package token

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// OAuthAppOf finds the App with a client id. Error: errs.Absent, also while its owner is suspended.
func OAuthAppOf(tx *db.Tx, client string) (*OAuthApp, error) {
	app, asked := &OAuthApp{}, ""
	err := tx.QueryRow(`SELECT p.id, p.name, o.login, p.device_flow, COALESCE(a.id, 0), p.keeps_tokens,
			COALESCE(a.permissions, '')
		FROM oauth_apps p JOIN accounts o ON o.id = p.owner_id LEFT JOIN apps a ON a.id = p.github_app_id
		WHERE p.client_id = $1 AND o.suspended_at IS NULL`, client).
		Scan(&app.ID, &app.Name, &app.Owner, &app.DeviceFlow, &app.GitHubApp, &app.Keeps, &asked)
	app.Permissions = scope.ParsePermissions(asked)
	return app, account.OrAbsent(err)
}

// GrantOf finds what a user allowed an App; its id is 0 for nothing.
func GrantOf(tx *db.Tx, app account.OAuthAppID, by account.ID) (*Granted, error) {
	var scopes, permissions string
	g := &Granted{}
	err := tx.QueryRow(`SELECT id, scopes, permissions FROM oauth_grants WHERE app_id = $1 AND account_id = $2`, app, by).
		Scan(&g.ID, &scopes, &permissions)
	if errors.Is(err, db.ErrNoRows) {
		return g, nil
	}
	if err == nil {
		g.Scopes, err = scope.ParseStored(scopes)
	}
	g.Permissions = scope.ParsePermissions(permissions)
	return g, err
}

// insertGrant notes that a user allowed an App something. Error: errs.Absent for an App that is gone.
func insertGrant(tx *db.Tx, app account.OAuthAppID, by account.ID, g *Granted) error {
	// The App stays until the transaction ends.
	if err := mustChange(tx, `UPDATE oauth_apps SET updated_at = updated_at WHERE id = $1`, app); err != nil {
		return err
	}
	return tx.QueryRow(`INSERT INTO oauth_grants (app_id, account_id, scopes, permissions, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $5) RETURNING id`, app, by, g.Scopes.String(), g.Permissions.String(), tx.Now).
		Scan(&g.ID)
}

// holdGrant sets what a grant is for; it stays until the transaction ends. Error: errs.Absent.
func holdGrant(tx *db.Tx, g *Granted) error {
	return mustChange(tx, `UPDATE oauth_grants SET scopes = $2, permissions = $3, updated_at = $4 WHERE id = $1`, g.ID,
		g.Scopes.String(), g.Permissions.String(), tx.Now)
}

// mustChange runs a statement. Error: errs.Absent if it found no row.
func mustChange(tx *db.Tx, statement string, args ...any) error {
	n, err := tx.Exec(statement, args...)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	return err
}

// insertOAuthToken stores a token. Error: errs.Absent for a grant that is gone.
func insertOAuthToken(
	tx *db.Tx, grant account.GrantID, of account.ID, app *OAuthApp, made *Issued,
) (id int64, err error) {
	// The grant stays until the transaction ends.
	if err := mustChange(tx, `UPDATE oauth_grants SET updated_at = $2 WHERE id = $1`, grant, tx.Now); err != nil {
		return 0, err
	}
	d, kind := Digest(made.Value), account.Classic
	if app.GitHubApp != 0 {
		kind = account.UserToken
	}
	err = tx.QueryRow(`INSERT INTO tokens (account_id, digest, hint, note, scopes, permission, created_at, expires_at,
			grant_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`, of, d[:], hintOf(made.Value), app.Name,
		made.Scopes.String(), kind, tx.Now, db.OrNull(int64(made.Expiry(tx.Now))), grant).Scan(&id)
	return id, err
}

// resetOAuthToken sets the value and the expiry of a token, which counts as new. Error: errs.Absent.
func resetOAuthToken(tx *db.Tx, made *Issued) error {
	d := Digest(made.Value)
	return mustChange(tx, `UPDATE tokens SET digest = $2, hint = $3, created_at = $4, expires_at = $5, last_used_at = NULL
		WHERE id = $1 AND grant_id IS NOT NULL`, made.ID, d[:], hintOf(made.Value), tx.Now,
		db.OrNull(int64(made.Expiry(tx.Now))))
}

// Refresh is a token by which a GitHub App gets the next pair of tokens.
type Refresh struct {
	TokenID  int64 // the token that it is for
	Grant    account.GrantID
	App      account.OAuthAppID
	Account  account.ID
	ByDevice bool // the client needs no secret
	Expires  db.Time
	Used     bool

	digest digest
}

// RefreshOf finds a refresh token by its value. Error: errs.Absent.
func RefreshOf(tx *db.Tx, value string) (*Refresh, error) {
	r := &Refresh{digest: Digest(value)}
	err := tx.QueryRow(`SELECT r.token_id, g.id, g.app_id, g.account_id, r.by_device, r.expires_at, r.used_at IS NOT NULL
		FROM refresh_tokens r JOIN tokens t ON t.id = r.token_id JOIN oauth_grants g ON g.id = t.grant_id
		WHERE r.digest = $1 AND t.revoked_at IS NULL`, r.digest[:]).
		Scan(&r.TokenID, &r.Grant, &r.App, &r.Account, &r.ByDevice, &r.Expires, &r.Used)
	return r, account.OrAbsent(err)
}

// insertRefresh stores the refresh token of a pair, if it has one. Of those that were used the newest stay.
func insertRefresh(tx *db.Tx, made *Issued, byDevice bool) error {
	if made.Refresh == "" {
		return nil
	}
	d := Digest(made.Refresh)
	if err := tx.Run(`INSERT INTO refresh_tokens (digest, token_id, by_device, expires_at) VALUES ($1, $2, $3, $4)`,
		d[:], made.ID, byDevice, tx.Now+db.Time(made.RefreshExpires.Microseconds())); err != nil {
		return err
	}
	return tx.Run(`DELETE FROM refresh_tokens WHERE token_id = $1 AND expires_at <=
		(SELECT o.expires_at FROM refresh_tokens o WHERE o.token_id = $1 ORDER BY o.expires_at DESC LIMIT 1 OFFSET $2)`,
		made.ID, maxUsed)
}

// useRefresh marks a refresh token as used. Error: errs.Absent if it was before.
func useRefresh(tx *db.Tx, r *Refresh) error {
	return mustChange(tx, `UPDATE refresh_tokens SET used_at = $2 WHERE digest = $1 AND used_at IS NULL`, r.digest[:],
		tx.Now)
}

// endOldestOf removes the oldest of too many tokens with the same scopes.
func endOldestOf(tx *db.Tx, grant account.GrantID, scopes scope.Set) error {
	old, err := db.QueryIDs[int64](tx, `SELECT id FROM tokens WHERE grant_id = $1 AND scopes = $2
		ORDER BY id DESC LIMIT 100 OFFSET $3`, grant, scopes.String(), maxOfGrant)
	for _, id := range old {
		if err := EndOAuthToken(tx, id); err != nil {
			return err
		}
	}
	return err
}

// endGrants removes the grants g of a condition.
func endGrants(tx *db.Tx, where string, arg any) error {
	ended, err := tx.Exec(`DELETE FROM oauth_grants AS g WHERE `+where, arg)
	if err == nil && ended == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}
