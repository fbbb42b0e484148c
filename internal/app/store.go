package app

import (
	"errors"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
	"arbor/internal/web"
)

const appColumns = `a.id, a.owner_id, a.bot_id, a.slug, a.client_id, a.name, a.description, a.external_url,
	a.public, a.public_key, a.permissions, a.events, a.created_at, a.updated_at`

// scanApp reads appColumns; of the owner only the id. Error: 404.
func scanApp(row db.Scanner) (*App, error) {
	a := &App{Owner: &account.Account{}}
	var permissions, events string
	err := row.Scan(&a.ID, &a.Owner.ID, &a.BotID, &a.Slug, &a.ClientID, &a.Name, &a.Description,
		&a.ExternalURL, &a.Public, &a.publicKey, &permissions, &events, &a.CreatedAt, &a.UpdatedAt)
	a.Permissions, a.Events = scope.ParsePermissions(permissions), splitEvents(events)
	return a, orAbsent(err)
}

func orAbsent(err error) error {
	if errors.Is(err, db.ErrNoRows) {
		return errs.Absent()
	}
	return err
}

// appsWhere finds Apps with their owners; where is a condition on a.
func appsWhere(tx *db.Tx, where string, args ...any) (list []*App, err error) {
	var owners []account.ID
	err = db.QueryEach(tx, func(row db.Scanner) error {
		a, err := scanApp(row)
		if err != nil {
			return err
		}
		list, owners = append(list, a), append(owners, a.Owner.ID)
		return nil
	}, `SELECT `+appColumns+` FROM apps a WHERE `+where+` ORDER BY a.id`, args...)
	if err != nil {
		return nil, err
	}
	people, err := account.ByIDs(tx, owners)
	for _, a := range list {
		a.Owner = people[a.Owner.ID]
	}
	return list, err
}

// oneApp is appsWhere for a condition that one App fulfils. Error: 404.
func oneApp(tx *db.Tx, where string, args ...any) (*App, error) {
	list, err := appsWhere(tx, where, args...)
	if err == nil && len(list) == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func byID(tx *db.Tx, id account.AppID) (*App, error) { return oneApp(tx, `a.id = $1`, id) }

func bySlug(tx *db.Tx, slug string) (*App, error) {
	if !plausible(slug) {
		return nil, errs.Absent()
	}
	return oneApp(tx, `a.slug = $1`, account.Fold(slug))
}

// byIssuer finds an App by its id or its client id. Error: 404.
func byIssuer(tx *db.Tx, issuer string) (*App, error) {
	if id, ok := web.ParseNumber(issuer); ok {
		return byID(tx, account.AppID(id))
	}
	if !plausible(issuer) {
		return nil, errs.Absent()
	}
	return oneApp(tx, `a.client_id = $1`, issuer)
}

// plausible reports a text that may be handed to SQL as a slug or a client id.
func plausible(s string) bool {
	return s != "" && len(s) <= 100 && !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return c <= ' ' || c > '~'
	})
}

func findApps(tx *db.Tx, ids []account.AppID) (map[account.AppID]*App, error) {
	found := make(map[account.AppID]*App, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	list, err := appsWhere(tx, `a.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	for _, a := range list {
		found[a.ID] = a
	}
	return found, err
}

func insertApp(tx *db.Tx, a *App) error {
	err := tx.QueryRow(`INSERT INTO apps (owner_id, bot_id, slug, client_id, name, description, external_url,
			public, public_key, permissions, events, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) RETURNING id`,
		a.Owner.ID, a.BotID, a.Slug, a.ClientID, a.Name, a.Description, a.ExternalURL, a.Public, a.publicKey,
		a.Permissions.String(), joined(a.Events), tx.Now).Scan(&a.ID)
	if errors.Is(err, db.ErrUnique) {
		return errs.Newf(errs.Invalid, "the name of the App is taken: %q", a.Slug)
	}
	a.CreatedAt, a.UpdatedAt = tx.Now, tx.Now
	return err
}

// removeApp removes an App with its installations, their tokens, and its hook.
func removeApp(tx *db.Tx, id account.AppID) error {
	if err := tx.Run(`DELETE FROM apps WHERE id = $1`, id); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// updateApp writes what people change of an App. What it asks for bounds tokens by which it acts for users.
func updateApp(tx *db.Tx, a *App) error {
	a.UpdatedAt = tx.Now
	err := tx.Run(`UPDATE apps SET name = $2, description = $3, external_url = $4, public = $5,
		permissions = $6, events = $7,
		updated_at = $8 WHERE id = $1`, a.ID, a.Name, a.Description, a.ExternalURL, a.Public, a.Permissions.String(),
		joined(a.Events), tx.Now)
	if err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// setKey replaces the key of an App. Error: 404.
func setKey(tx *db.Tx, a *App, public []byte) error {
	n, err := tx.Exec(`UPDATE apps SET public_key = $2, updated_at = $3 WHERE id = $1`, a.ID, public, tx.Now)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	a.publicKey, a.UpdatedAt = public, tx.Now
	return err
}

func countOwned(tx *db.Tx, owner account.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM apps WHERE owner_id = $1`, owner).Scan(&n)
	return n, err
}

// insertCode keeps the code of a new App. Those that have expired go.
func insertCode(tx *db.Tx, code []byte, appID account.AppID, expires db.Time) error {
	if err := tx.Run(`DELETE FROM app_codes WHERE expires_at <= $1`, tx.Now); err != nil {
		return err
	}
	return tx.Run(`INSERT INTO app_codes (code, app_id, expires_at) VALUES ($1, $2, $3)`,
		code, appID, expires)
}

// byCode finds the App of a code. Error: 404, including while its owner is suspended.
func byCode(tx *db.Tx, code []byte) (*App, error) {
	return oneApp(tx, `a.id = (SELECT c.app_id FROM app_codes c WHERE c.code = $1 AND c.expires_at > $2)
		AND NOT EXISTS (SELECT 1 FROM accounts w WHERE w.id = a.owner_id AND w.suspended_at IS NOT NULL)`, code, tx.Now)
}

// dropCode removes a code. Error: 404 for one that another request used.
func dropCode(tx *db.Tx, code []byte) error {
	n, err := tx.Exec(`DELETE FROM app_codes WHERE code = $1`, code)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	return err
}
