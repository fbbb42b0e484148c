package oauth

import (
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

const appColumns = `p.id, p.owner_id, p.client_id, p.name, p.description, p.homepage, p.callbacks, p.device_flow,
	p.created_at, p.updated_at, COALESCE(ga.id, 0), COALESCE(ga.permissions, ''), p.keeps_tokens, p.on_install`

// appsWhere finds OAuth Apps p with their owners, also GitHub Apps ga. rest follows FROM.
func appsWhere(tx *db.Tx, rest string, args ...any) (list []*App, err error) {
	var owners []account.ID
	list, err = db.QueryList(tx, func(row db.Scanner) (*App, error) {
		a := &App{Owner: &account.Account{}}
		var callbacks, permissions string
		err := row.Scan(&a.ID, &a.Owner.ID, &a.ClientID, &a.Name, &a.Description, &a.Homepage, &callbacks,
			&a.DeviceFlow, &a.CreatedAt, &a.UpdatedAt, &a.GitHubApp, &permissions, &a.Keeps, &a.OnInstall)
		a.Callbacks, a.Permissions = strings.Fields(callbacks), scope.ParsePermissions(permissions)
		owners = append(owners, a.Owner.ID)
		return a, err
	}, `SELECT `+appColumns+` FROM oauth_apps p LEFT JOIN apps ga ON ga.id = p.github_app_id `+rest, args...)
	if err != nil {
		return nil, err
	}
	people, err := account.ByIDs(tx, owners)
	for _, a := range list {
		a.Owner = people[a.Owner.ID]
	}
	return list, err
}

// appOf finds the OAuth App with a client id. Error: errs.Absent.
func appOf(tx *db.Tx, client string) (*App, error) {
	if !plausible(client) {
		return nil, errs.Absent()
	}
	list, err := appsWhere(tx, `WHERE p.client_id = $1`, client)
	if err == nil && len(list) == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// plausible reports whether a text may be a client id.
func plausible(client string) bool {
	for i := range len(client) {
		if c := client[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return client != "" && len(client) <= 100
}

func insertApp(tx *db.Tx, a *App) error {
	a.CreatedAt, a.UpdatedAt = tx.Now, tx.Now
	return tx.QueryRow(`INSERT INTO oauth_apps (owner_id, client_id, name, description, homepage, callbacks,
			device_flow, keeps_tokens, on_install, github_app_id, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) RETURNING id`, a.Owner.ID, a.ClientID, a.Name,
		a.Description, a.Homepage, strings.Join(a.Callbacks, "\n"), a.DeviceFlow, a.Keeps, a.OnInstall,
		db.OrNull(a.GitHubApp), tx.Now).Scan(&a.ID)
}

func updateApp(tx *db.Tx, a *App) error {
	a.UpdatedAt = tx.Now
	return tx.Run(`UPDATE oauth_apps SET owner_id = $2, name = $3, description = $4, homepage = $5, callbacks = $6,
		device_flow = $7, keeps_tokens = $8, on_install = $9, updated_at = $10 WHERE id = $1`, a.ID, a.Owner.ID, a.Name,
		a.Description, a.Homepage, strings.Join(a.Callbacks, "\n"), a.DeviceFlow, a.Keeps, a.OnInstall, tx.Now)
}

func deleteApp(tx *db.Tx, id account.OAuthAppID) error {
	return tx.Run(`DELETE FROM oauth_apps WHERE id = $1`, id)
}

func countOwned(tx *db.Tx, owner account.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM oauth_apps WHERE owner_id = $1 AND github_app_id IS NULL`, owner).Scan(&n)
	return n, err
}

// Secret is a client secret of an OAuth App, without its value.
type Secret struct {
	ID         int64
	Hint       string // how it ends
	CreatedAt  db.Time
	LastUsedAt db.Time // zero: never; up to an hour late
}

// secretsOf lists the secrets of an App, the newest first.
func secretsOf(tx *db.Tx, id account.OAuthAppID) ([]Secret, error) {
	return db.QueryList(tx, func(row db.Scanner) (s Secret, err error) {
		err = row.Scan(&s.ID, &s.Hint, &s.CreatedAt, &s.LastUsedAt)
		return s, err
	}, `SELECT id, hint, created_at, last_used_at FROM oauth_secrets WHERE app_id = $1 ORDER BY id DESC`, id)
}

func insertSecret(tx *db.Tx, id account.OAuthAppID, value string) error {
	d := token.Digest(value)
	return tx.Run(`INSERT INTO oauth_secrets (app_id, digest, hint, created_at) VALUES ($1, $2, $3, $4)`,
		id, d[:], value[len(value)-8:], tx.Now)
}

// deleteSecret removes a secret of an App. Error: errs.Absent.
func deleteSecret(tx *db.Tx, id account.OAuthAppID, secret int64) error {
	n, err := tx.Exec(`DELETE FROM oauth_secrets WHERE app_id = $1 AND id = $2`, id, secret)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	return err
}

// secretOf finds a secret of an App by its value; 0: it has no such.
func secretOf(tx *db.Tx, id account.OAuthAppID, value string) (secret int64, err error) {
	d := token.Digest(value)
	err = tx.QueryRow(`SELECT id FROM oauth_secrets WHERE app_id = $1 AND digest = $2`, id, d[:]).Scan(&secret)
	if errors.Is(err, db.ErrNoRows) {
		return 0, nil
	}
	return secret, err
}

// noteSecret notes that a secret was used, at most once an hour.
func noteSecret(tx *db.Tx, secret int64) error {
	const hour = db.Time(60 * 60 * 1e6)
	return tx.Run(`UPDATE oauth_secrets SET last_used_at = $2
		WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)`, secret, tx.Now, tx.Now-hour)
}
