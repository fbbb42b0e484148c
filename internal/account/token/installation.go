package token

import (
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/scope"
)

// installationPrefix begins the tokens of installations, as GitHub's do.
const installationPrefix = "ghs_"

// installationLife is how long such a token lives.
const installationLife = time.Hour

// Installation is what tokens are made for.
type Installation struct {
	ID      account.InstallationID
	Account account.ID // where the App is installed
	App     account.AppID
	Bot     account.ID
}

// InstallationToken is a token of an installation that is to be made.
type InstallationToken struct {
	Permissions scope.Permissions
	Repos       []int64 // ids of the repositories that it is for; nil: all of the installation
}

// maxLive is how many tokens of one installation live at a time: the oldest end.
const maxLive = 1000

// MadeToken is a new token of an installation.
type MadeToken struct {
	ID      int64
	Value   string // shown once
	Expires db.Time
}

// CreateInstallationToken creates a token that is valid for an hour. The installation must exist and have
// the requested permissions. Beyond a thousand tokens the oldest are revoked.
func CreateInstallationToken(tx *db.Tx, of Installation, n InstallationToken) (MadeToken, error) {
	m := MadeToken{Value: NewSecret(installationPrefix),
		Expires: tx.Now + db.Time(installationLife.Microseconds())}
	if err := endOldest(tx, of.ID); err != nil {
		return m, err
	}
	var err error
	m.ID, err = insertInstallationToken(tx, of, Digest(m.Value), hintOf(m.Value), n, m.Expires)
	return m, err
}

// RevokeInstallationToken ends the token by which the caller acts.
func RevokeInstallationToken(tx *db.Tx, c *account.Caller) error {
	if err := tx.Check(); err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM tokens WHERE id = $1 AND installation_id IS NOT NULL`, c.TokenID); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// EndInstallationTokens ends all tokens of an installation.
func EndInstallationTokens(tx *db.Tx, id account.InstallationID) error {
	if err := tx.Run(`DELETE FROM tokens WHERE installation_id = $1`, id); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// endOldest removes the tokens of an installation that have expired, and the oldest of too many.
func endOldest(tx *db.Tx, id account.InstallationID) error {
	err := tx.Run(`DELETE FROM tokens WHERE installation_id = $1 AND expires_at < $2`, id, tx.Now)
	if err != nil {
		return err
	}
	ended, err := tx.Exec(`DELETE FROM tokens WHERE installation_id = $1 AND id <=
		(SELECT o.id FROM tokens o WHERE o.installation_id = $1 ORDER BY o.id DESC
		LIMIT 1 OFFSET $2)`, id, maxLive-1)
	if err != nil || ended == 0 {
		return err
	}
	return tx.Bump(account.Topic)
}

func insertInstallationToken(
	tx *db.Tx, of Installation, d digest, hint string, n InstallationToken, expires db.Time,
) (id int64, err error) {
	err = tx.QueryRow(`INSERT INTO tokens (account_id, digest, hint, note, permission, created_at, expires_at,
			installation_id, narrowed, permissions)
		VALUES ($1, $2, $3, '', $4, $5, $6, $7, $8, $9) RETURNING id`,
		of.Bot, d[:], hint, account.FineRead, tx.Now, expires, of.ID, n.Repos != nil,
		n.Permissions.String()).Scan(&id)
	if err != nil {
		return 0, err
	}
	if len(n.Repos) > 0 {
		args := []any{id}
		for _, repoID := range n.Repos {
			args = append(args, repoID)
		}
		err := tx.Run(`INSERT INTO token_repos (token_id, repo_id)
			SELECT CAST($1 AS BIGINT), r.id FROM repos r
			WHERE r.id IN `+db.ValuesFrom(2, 1, len(n.Repos)), args...)
		if err != nil {
			return 0, err
		}
	}
	return id, nil
}
