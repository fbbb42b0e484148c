package account

import (
	"strconv"

	"arbor/internal/db"
)

// NoFactor is the condition that the user whose id a column has has no second factor (package factor).
func NoFactor(column string) string {
	return `NOT EXISTS (SELECT 1 FROM totps WHERE totps.account_id = ` + column +
		`) AND NOT EXISTS (SELECT 1 FROM passkeys WHERE passkeys.account_id = ` + column + `)`
}

// needsFactor is the condition that a user lacks a required second factor. column holds the user's id. Bots of Apps
// need no factor.
func needsFactor(column string) string {
	return `(EXISTS (SELECT 1 FROM factor_rules fr WHERE fr.in_force = TRUE AND ` + bindsUser(column) + `) AND ` +
		NoFactor(column) + ` AND EXISTS (SELECT 1 FROM accounts fa WHERE fa.id = ` + column + ` AND fa.kind = ` +
		strconv.Itoa(int(User)) + `))`
}

// bindsUser is the condition that the rule fr binds the user whose id a column has.
func bindsUser(column string) string {
	return `(fr.org_id IS NULL
		OR EXISTS (SELECT 1 FROM members fm WHERE fm.org_id = fr.org_id AND fm.user_id = ` + column + `)
		OR EXISTS (SELECT 1 FROM collaborators fc JOIN repos fp ON fp.id = fc.repo_id
			WHERE fp.owner_id = fr.org_id AND fc.user_id = ` + column + `))`
}

// hasFactor reports whether a user has a second factor.
func hasFactor(tx *db.Tx, id ID) (has bool, err error) {
	err = tx.QueryRow(`SELECT NOT (`+NoFactor("a.id")+`) FROM accounts a WHERE a.id = $1`, id).Scan(&has)
	return has, err
}

// NeedsFactor reports whether a user must have a second factor, and has none.
func NeedsFactor(tx *db.Tx, id ID) (needs bool, err error) {
	err = tx.QueryRow(`SELECT `+needsFactor("a.id")+` FROM accounts a WHERE a.id = $1`, id).Scan(&needs)
	return needs, OrAbsent(err)
}

// idOrNull is an organization in a row; nil: the site.
func idOrNull(a *Account) any {
	if a == nil {
		return nil
	}
	return a.ID
}

// storeFactorRule replaces the rule of an organization, or of the site.
func storeFactorRule(tx *db.Tx, a *Account, begins db.Time, inForce bool) error {
	if _, err := deleteFactorRule(tx, a); err != nil {
		return err
	}
	return tx.Run(`INSERT INTO factor_rules (org_id, begins_at, in_force) VALUES ($1, $2, $3)`, idOrNull(a), begins,
		inForce)
}

// deleteFactorRule removes a rule, and reports whether there was one.
func deleteFactorRule(tx *db.Tx, a *Account) (was bool, err error) {
	n, err := tx.Exec(`DELETE FROM factor_rules WHERE COALESCE(org_id, 0) = COALESCE(CAST($1 AS BIGINT), 0)`,
		idOrNull(a))
	if err != nil {
		return false, err
	}
	return n > 0, tx.Bump(Topic)
}

const factorRuleColumns = `SELECT COALESCE(o.login, ''), fr.begins_at, fr.in_force
	FROM factor_rules fr LEFT JOIN accounts o ON o.id = fr.org_id`

func scanFactorRule(row db.Scanner) (r FactorRule, err error) {
	err = row.Scan(&r.Org, &r.BeginsAt, &r.InForce)
	return r, err
}

// factorRuleOf finds the rule of an organization, or of the site for "". Error: errs.Absent.
func factorRuleOf(tx *db.Tx, org string) (*FactorRule, error) {
	r, err := scanFactorRule(tx.QueryRow(factorRuleColumns+` WHERE COALESCE(o.login_folded, '') = $1`, Fold(org)))
	return &r, OrAbsent(err)
}

// requiresFactors reports whether an organization has a rule.
func requiresFactors(tx *db.Tx, org ID) (has bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM factor_rules WHERE org_id = $1)`, org).Scan(&has)
	return has, err
}

// requiringFactors returns those of the organizations that have a rule.
func requiringFactors(tx *db.Tx, orgs []ID) (map[ID]bool, error) {
	found := map[ID]bool{}
	return found, db.InParts(orgs, func(part []ID) error {
		ids, err := db.QueryIDs[ID](tx, `SELECT org_id FROM factor_rules WHERE org_id IN `+db.Values(1, len(part)),
			db.Args(part)...)
		for _, id := range ids {
			found[id] = true
		}
		return err
	})
}

// factorRulesFor lists the rules that bind a user, the site's first.
func factorRulesFor(tx *db.Tx, id ID) ([]FactorRule, error) {
	return db.QueryList(tx, scanFactorRule,
		factorRuleColumns+` WHERE `+bindsUser("$1")+` ORDER BY COALESCE(fr.org_id, 0)`, id)
}

// factorRuleDue reports whether the grace time of a rule has ended.
func factorRuleDue(tx *db.Tx) (due bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM factor_rules WHERE in_force = FALSE AND begins_at <= $1)`,
		tx.Now).Scan(&due)
	return due, err
}

// beginFactorRules puts the rules into force whose grace time has ended.
func beginFactorRules(tx *db.Tx) error {
	if err := tx.Run(`UPDATE factor_rules SET in_force = TRUE WHERE in_force = FALSE AND begins_at <= $1`,
		tx.Now); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// BumpIfFactorsAreRequired has callers read again after somebody became a collaborator of an organization's
// repository, which may bind that person to a rule.
func BumpIfFactorsAreRequired(tx *db.Tx) error {
	var some bool
	if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM factor_rules WHERE org_id IS NOT NULL)`).
		Scan(&some); err != nil || !some {
		return err
	}
	return tx.Bump(Topic)
}
