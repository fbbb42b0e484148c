package oauth

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// restricts reports whether an organization restricts OAuth Apps.
func restricts(tx *db.Tx, org account.ID) (on bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM oauth_restrictions WHERE org_id = $1)`, org).Scan(&on)
	return on, err
}

// setRestricts changes that, and reports whether it was otherwise.
func setRestricts(tx *db.Tx, org account.ID, on bool) (changed bool, err error) {
	var n int64
	if on {
		n, err = tx.Exec(`INSERT INTO oauth_restrictions (org_id, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			org, tx.Now)
	} else {
		n, err = tx.Exec(`DELETE FROM oauth_restrictions WHERE org_id = $1`, org)
	}
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.Bump(account.Topic)
}

// setApproved stores what an organization decided of an App, and reports whether that was something else.
func setApproved(tx *db.Tx, org account.ID, app account.OAuthAppID, approved bool) (changed bool, err error) {
	n, err := tx.Exec(`INSERT INTO oauth_approvals AS a (org_id, app_id, approved, updated_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, app_id) DO UPDATE SET approved = excluded.approved, updated_at = excluded.updated_at
		WHERE a.approved IS NULL OR a.approved <> excluded.approved`, org, app, approved, tx.Now)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.Bump(account.Topic)
}

// insertAsked stores that somebody asks for the approval of an App.
func insertAsked(tx *db.Tx, org account.ID, app account.OAuthAppID, by account.ID) error {
	return tx.Run(`INSERT INTO oauth_approvals (org_id, app_id, asked_by, updated_at) VALUES ($1, $2, $3, $4)`,
		org, app, by, tx.Now)
}

// askAgain has the organizations that approved an App decide again.
func askAgain(tx *db.Tx, app account.OAuthAppID) error {
	if err := tx.Run(`UPDATE oauth_approvals SET approved = NULL, updated_at = $2
		WHERE app_id = $1 AND approved = TRUE`, app, tx.Now); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// countAsked counts the requests that wait in an organization, and those of one person.
func countAsked(tx *db.Tx, org, by account.ID) (all, own int64, err error) {
	err = tx.QueryRow(`SELECT count(*), COALESCE(sum(CASE WHEN asked_by = $2 THEN 1 ELSE 0 END), 0) FROM oauth_approvals
		WHERE org_id = $1 AND approved IS NULL`, org, by).Scan(&all, &own)
	return all, own, err
}

// ownersOf returns owners of an organization who are not suspended.
func ownersOf(tx *db.Tx, org account.ID) ([]account.ID, error) {
	return db.QueryIDs[account.ID](tx, `SELECT m.user_id FROM members m JOIN accounts a ON a.id = m.user_id
		WHERE m.org_id = $1 AND m.owner = TRUE AND a.suspended_at IS NULL ORDER BY m.user_id LIMIT $2`, org, maxToldOf)
}

// standing reads the column approved of a row.
func standing(approved *bool) Standing {
	switch {
	case approved == nil:
		return Asked
	case *approved:
		return Approved
	}
	return Denied
}

// approvalsOf lists the Apps of which an organization decided or must decide.
func approvalsOf(tx *db.Tx, org account.ID) ([]*Approval, error) {
	ids, people := map[account.OAuthAppID][]*Approval{}, []account.ID{}
	by := map[*Approval]account.ID{}
	list, err := db.QueryList(tx, func(row db.Scanner) (*Approval, error) {
		a := &Approval{}
		var app account.OAuthAppID
		var approved *bool
		var asker account.ID
		err := row.Scan(&app, &approved, &asker, &a.UpdatedAt)
		a.Standing, by[a] = standing(approved), asker
		ids[app], people = append(ids[app], a), append(people, asker)
		return a, err
	}, `SELECT app_id, approved, COALESCE(asked_by, 0), updated_at FROM oauth_approvals WHERE org_id = $1
		ORDER BY CASE WHEN approved IS NULL THEN 0 ELSE 1 END, updated_at DESC, app_id LIMIT $2`, org, maxPolicy)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	apps, err := appsWhere(tx, `WHERE p.id IN (SELECT z.app_id FROM oauth_approvals z WHERE z.org_id = $1)`, org)
	if err != nil {
		return nil, err
	}
	for _, app := range apps {
		for _, a := range ids[app.ID] {
			if a.App = app; app.Owner.ID == org {
				a.Standing = ItsOwn
			}
		}
	}
	found, err := account.ByIDs(tx, db.Unique(people))
	for _, a := range list {
		a.AskedBy = found[by[a]]
	}
	return list, err
}

// placesOf lists the organizations of a person that restrict OAuth Apps, with what they decided of an App.
func placesOf(tx *db.Tx, who account.ID, app account.OAuthAppID) ([]Place, error) {
	var ids []account.ID
	list, err := db.QueryList(tx, func(row db.Scanner) (p Place, err error) {
		var id account.ID
		var decided, owned bool
		var approved *bool
		err = row.Scan(&id, &owned, &decided, &approved)
		switch {
		case owned:
			p.Standing = ItsOwn
		case decided:
			p.Standing = standing(approved)
		}
		ids = append(ids, id)
		return p, err
	}, `SELECT o.id, p.owner_id = o.id, a.app_id IS NOT NULL, a.approved FROM oauth_restrictions r
			JOIN accounts o ON o.id = r.org_id JOIN oauth_apps p ON p.id = $2
			LEFT JOIN oauth_approvals a ON a.org_id = o.id AND a.app_id = p.id
		WHERE EXISTS (SELECT 1 FROM members m WHERE m.org_id = o.id AND m.user_id = $1)
			OR EXISTS (SELECT 1 FROM collaborators c JOIN repos x ON x.id = c.repo_id
				WHERE c.user_id = $1 AND x.owner_id = o.id)
		ORDER BY o.login_folded LIMIT $3`, who, app, maxPlacesOf)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	orgs, err := account.ByIDs(tx, ids)
	for n := range list {
		list[n].Org = orgs[ids[n]]
	}
	return list, err
}
