package token

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// OAuthAppOf finds the OAuth App with a client id. Error: errs.Absent, also while its owner is suspended.
func OAuthAppOf(tx *db.Tx, client string) (*OAuthApp, error) {
	app := &OAuthApp{}
	err := tx.QueryRow(`SELECT p.id, p.name, p.device_flow FROM oauth_apps p JOIN accounts o ON o.id = p.owner_id
		WHERE p.client_id = $1 AND o.suspended_at IS NULL`, client).Scan(&app.ID, &app.Name, &app.DeviceFlow)
	return app, account.OrAbsent(err)
}

// GrantOf finds what a user allowed an OAuth App; 0: nothing.
func GrantOf(tx *db.Tx, app account.OAuthAppID, by account.ID) (id account.GrantID, scopes scope.Set, err error) {
	var text string
	err = tx.QueryRow(`SELECT id, scopes FROM oauth_grants WHERE app_id = $1 AND account_id = $2`, app, by).
		Scan(&id, &text)
	if errors.Is(err, db.ErrNoRows) {
		return 0, 0, nil
	}
	if err == nil {
		scopes, err = scope.Parse(text)
	}
	return id, scopes, err
}

// insertGrant notes that a user allowed an App something. Error: errs.Absent for an App that is gone.
func insertGrant(
	tx *db.Tx, app account.OAuthAppID, by account.ID, scopes scope.Set,
) (id account.GrantID, err error) {
	// The App stays until the transaction ends.
	if err := mustChange(tx, `UPDATE oauth_apps SET updated_at = updated_at WHERE id = $1`, app); err != nil {
		return 0, err
	}
	err = tx.QueryRow(`INSERT INTO oauth_grants (app_id, account_id, scopes, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $4) RETURNING id`, app, by, scopes.String(), tx.Now).Scan(&id)
	return id, err
}

// holdGrant sets the scopes of a grant, which stays until the transaction ends. Error: errs.Absent.
func holdGrant(tx *db.Tx, id account.GrantID, scopes scope.Set) error {
	return mustChange(tx, `UPDATE oauth_grants SET scopes = $2, updated_at = $3 WHERE id = $1`, id, scopes.String(),
		tx.Now)
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
	tx *db.Tx, grant account.GrantID, of account.ID, value, note string, scopes scope.Set,
) (id int64, err error) {
	// The grant stays until the transaction ends.
	if err := mustChange(tx, `UPDATE oauth_grants SET updated_at = $2 WHERE id = $1`, grant, tx.Now); err != nil {
		return 0, err
	}
	d := Digest(value)
	err = tx.QueryRow(`INSERT INTO tokens (account_id, digest, hint, note, scopes, created_at, grant_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
		of, d[:], hintOf(value), note, scopes.String(), tx.Now, grant).Scan(&id)
	return id, err
}

// resetOAuthToken sets the value of a token, which counts as new. Error: errs.Absent.
func resetOAuthToken(tx *db.Tx, id int64, value string) error {
	d := Digest(value)
	return mustChange(tx, `UPDATE tokens SET digest = $2, hint = $3, created_at = $4, last_used_at = NULL
		WHERE id = $1 AND grant_id IS NOT NULL`, id, d[:], hintOf(value), tx.Now)
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
