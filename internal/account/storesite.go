package account

import (
	"arbor/internal/db"
)

// setSuspended says since when an account is suspended; zero: it is not.
func setSuspended(tx *db.Tx, a *Account, since db.Time) error {
	a.SuspendedAt = since
	if _, err := tx.Exec(`UPDATE accounts SET suspended_at = $2 WHERE id = $1`, a.ID, since); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// setSiteAdmin sets whether a user is a site administrator.
func setSiteAdmin(tx *db.Tx, a *Account, is bool) error {
	a.SiteAdmin = is
	if _, err := tx.Exec(`UPDATE accounts SET site_admin = $2 WHERE id = $1`, a.ID, is); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// anotherAdmin reports whether there is another site administrator who is not suspended. It locks the rows
// of all administrators until the transaction ends.
func anotherAdmin(tx *db.Tx, id ID) (more bool, err error) {
	if _, err := tx.Exec(`UPDATE accounts SET kind = kind WHERE site_admin = TRUE`); err != nil {
		return false, err
	}
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM accounts
		WHERE site_admin = TRUE AND suspended_at IS NULL AND id <> $1)`, id).Scan(&more)
	return more, err
}

// OrgMembership is an organization with a user's membership.
type OrgMembership struct {
	Login string
	Owner bool
}

func membershipsOf(tx *db.Tx, userID ID) ([]OrgMembership, error) {
	return db.QueryList(tx, func(row db.Scanner) (m OrgMembership, err error) {
		err = row.Scan(&m.Login, &m.Owner)
		return m, err
	}, `SELECT o.login, m.owner FROM members m JOIN accounts o ON o.id = m.org_id
		WHERE m.user_id = $1 ORDER BY m.org_id`, userID)
}

// ownersOf lists the logins of an organization's owners, by id.
func ownersOf(tx *db.Tx, orgID ID) ([]string, error) {
	return db.QueryTexts(tx, `SELECT a.login FROM members m JOIN accounts a ON a.id = m.user_id
		WHERE m.org_id = $1 AND m.owner = TRUE ORDER BY m.user_id`, orgID)
}
