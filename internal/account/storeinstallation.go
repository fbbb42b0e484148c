package account

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// installationCaller finds who acts by a token of an installation, and until when. Errors: 404; 403 while the
// installation, the account where it is, or the owner of the App is suspended.
func installationCaller(tx *db.Tx, tokenID int64) (*Caller, db.Time, error) {
	c := &Caller{TokenID: tokenID}
	i := &installation{tokenID: tokenID}
	var expires, suspended, ownerSuspended db.Time
	var granted string
	var asked *string
	var every bool
	err := tx.QueryRow(`SELECT t.expires_at, t.permissions, t.narrowed, i.id, i.app_id, i.account_id, i.every,
			i.permissions, i.suspended_at, COALESCE(o.suspended_at, w.suspended_at), a.id, a.login
		FROM tokens t JOIN accounts a ON a.id = t.account_id JOIN installations i ON i.id = t.installation_id
			JOIN accounts o ON o.id = i.account_id
			JOIN apps p ON p.id = i.app_id JOIN accounts w ON w.id = p.owner_id
		WHERE t.id = $1 AND t.revoked_at IS NULL`, tokenID).
		Scan(&expires, &asked, &i.narrowed, &i.id, &c.App, &i.owner, &every, &granted, &suspended,
			&ownerSuspended, &c.ID, &c.Login)
	switch {
	case err != nil:
		return nil, 0, OrAbsent(err)
	case !suspended.IsZero():
		return nil, 0, errs.New(errs.Forbidden, "This installation has been suspended")
	case !ownerSuspended.IsZero():
		return nil, 0, Suspended()
	}
	i.permissions = scope.ParsePermissions(granted)
	if asked != nil {
		i.permissions = scope.ParsePermissions(*asked).Within(i.permissions)
	}
	i.selected, i.all = !every, every && !i.narrowed
	if !i.all {
		if i.chosen, err = chosenOf(tx, i); err != nil {
			return nil, 0, err
		}
	}
	c.limit(&Grant{Fine: true, installation: i})
	c.HidesMembers = true
	now, _ := c.ForRoute("", "", None)
	return now, expires, nil
}

// CallerByInstallation returns the bot of an App as it acts in an installation, without a token, by a route that
// requires writing what a category of permissions covers, and the role least. Errors: 404; 403 if the App lacks the
// permission, or while the installation, the account where it is, or the owner of the App is suspended.
func CallerByInstallation(tx *db.Tx, id InstallationID, category string, least Role) (*Caller, error) {
	c, i := &Caller{}, &installation{id: id}
	var suspended, ownerSuspended db.Time
	var granted string
	err := tx.QueryRow(`SELECT i.app_id, i.account_id, i.every, i.permissions, i.suspended_at,
			COALESCE(o.suspended_at, w.suspended_at), a.id, a.login
		FROM installations i JOIN accounts o ON o.id = i.account_id JOIN apps p ON p.id = i.app_id
			JOIN accounts w ON w.id = p.owner_id JOIN accounts a ON a.id = p.bot_id
		WHERE i.id = $1`, id).
		Scan(&c.App, &i.owner, &i.all, &granted, &suspended, &ownerSuspended, &c.ID, &c.Login)
	if err != nil {
		return nil, OrAbsent(err)
	}
	if i.selected = !i.all; i.selected {
		if i.chosen, err = chosenOf(tx, i); err != nil {
			return nil, err
		}
	}
	i.permissions = scope.ParsePermissions(granted)
	c.limit(&Grant{Fine: true, installation: i})
	now, allowed := c.ForRoute(category, "write", least)
	if !allowed || !suspended.IsZero() || !ownerSuspended.IsZero() {
		return nil, errs.New(errs.Forbidden, "Resource not accessible by integration")
	}
	return now, nil
}

// chosenOf reads the repositories that a token of an installation reaches, in order, regardless of their
// present owner.
func chosenOf(tx *db.Tx, i *installation) ([]int64, error) {
	const ofInstallation = `SELECT repo_id FROM installation_repos WHERE installation_id = $1`
	const ofToken = `SELECT repo_id FROM token_repos WHERE token_id = $1`
	var query string
	args := []any{i.id}
	switch {
	case i.selected && i.narrowed:
		query = ofInstallation + ` INTERSECT SELECT repo_id FROM token_repos WHERE token_id = $2`
		args = append(args, i.tokenID)
	case i.selected:
		query = ofInstallation
	default:
		query, args = ofToken, []any{i.tokenID}
	}
	list, err := db.QueryIDs[int64](tx, query, args...)
	slices.Sort(list)
	return list, err
}

// ownedApps lists the slugs of some Apps that an account owns.
func ownedApps(tx *db.Tx, id ID) ([]string, error) {
	return db.QueryTexts(tx, `SELECT slug FROM apps WHERE owner_id = $1 ORDER BY id LIMIT 10`, id)
}
