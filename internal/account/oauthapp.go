package account

import (
	"errors"
	"fmt"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// An organization may let OAuth Apps act there only after it approved them (tables oauth_restrictions and
// oauth_approvals, which package oauth writes). It is then closed to the token of another App: the person's
// membership and roles there do not count, so the token sees what is public and changes nothing. Apps that the
// organization owns need no approval. A private fork is closed where its root is. Each statement asks for it, so
// what an owner decides counts at once, and so does a transfer. Callers without the token of an OAuth App have the
// statements that they had.
//
//	what happens                        the token of an App
//	the organization restricts Apps     sees what is public there, unless it was approved before or is its own
//	it approves the App                 does what its person may, within its scopes
//	it denies the App, also later       sees what is public
//	it ends the restriction             does what its person may; the decisions are kept for the next time
//	the App is transferred              sees what is public until it is approved again, or is the organization's own
//	the App is deleted                  ends
//	a repository comes, or goes         follows the new owner
//	a private repository is forked      a private fork follows its root, wherever it is
//	a member or an owner leaves         does what the person still may; what was decided stays

// closed is the condition that an organization, an expression, is closed to the caller's OAuth App. The App's id does
// not come from a client's text.
func (c *Caller) closed(org string) string { return c.closedWhere(`zr.org_id = ` + org) }

// closedRepo is the condition that a repository of the name r is closed to the caller's OAuth App.
func (c *Caller) closedRepo(r string) string {
	return c.closedWhere(`(zr.org_id = ` + r + `.owner_id OR ` + r + `.private AND zr.org_id =
		(SELECT zf.owner_id FROM repos zf WHERE zf.id = ` + r + `.root_id))`)
}

// closedWhere is closed for organizations zr of a condition.
func (c *Caller) closedWhere(condition string) string {
	return fmt.Sprintf(`EXISTS (SELECT 1 FROM oauth_restrictions zr WHERE %[1]s
		AND NOT EXISTS (SELECT 1 FROM oauth_approvals za
			WHERE za.org_id = zr.org_id AND za.app_id = %[2]d AND za.approved = TRUE)
		AND NOT EXISTS (SELECT 1 FROM oauth_apps zo WHERE zo.id = %[2]d AND zo.owner_id = zr.org_id))`,
		condition, c.OAuthApp)
}

// AndOpen ends a condition of SQL: the account, an expression, is not closed to the caller's OAuth App. It is empty
// for callers who have none.
func (c *Caller) AndOpen(owner string) string {
	if c == nil || c.OAuthApp == 0 {
		return ``
	}
	return ` AND NOT ` + c.closed(owner)
}

// AndOpenRepo is AndOpen for a repository of the name r.
func (c *Caller) AndOpenRepo(r string) string {
	if c == nil || c.OAuthApp == 0 {
		return ``
	}
	return ` AND NOT ` + c.closedRepo(r)
}

// IsClosed reports whether an account is closed to the caller's OAuth App. It asks the database only for callers who
// have one.
func (c *Caller) IsClosed(tx *db.Tx, owner ID) (is bool, err error) {
	if c == nil || c.OAuthApp == 0 {
		return false, nil
	}
	err = tx.QueryRow(`SELECT `+c.closed("a.id")+` FROM accounts a WHERE a.id = $1`, owner).Scan(&is)
	if errors.Is(err, db.ErrNoRows) {
		return false, nil
	}
	return is, err
}

// openTo returns those of the accounts that are not closed to the caller's OAuth App.
func openTo(tx *db.Tx, c *Caller, owners []ID) ([]ID, error) {
	return db.QueryIDs[ID](tx, `SELECT a.id FROM accounts a WHERE a.id IN `+db.Values(1, len(owners))+c.AndOpen("a.id"),
		db.Args(owners)...)
}

// MustBeOpen returns NotApproved if an account is closed to the caller's OAuth App.
func (c *Caller) MustBeOpen(tx *db.Tx, owner *Account) error {
	closed, err := c.IsClosed(tx, owner.ID)
	if err == nil && closed {
		err = NotApproved(owner.Login)
	}
	return err
}

// NotApproved is the 403 for changes in an organization that is closed to the caller's OAuth App.
func NotApproved(org string) error {
	return errs.Newf(errs.Forbidden, "The organization %q restricts OAuth Apps and has not approved this one. "+
		"Ask its owners to approve it at Settings > Authorized OAuth Apps.", org)
}

// oauthAppOf is an expression for the OAuth App whose token t is; 0: there is none. Sessions are not begun with such.
const oauthAppOf = `COALESCE((SELECT zg.app_id FROM oauth_grants zg JOIN oauth_apps zp ON zp.id = zg.app_id
	WHERE zp.github_app_id IS NULL AND zg.id = t.grant_id), 0)`
