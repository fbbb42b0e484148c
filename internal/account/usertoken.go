package account

import (
	"fmt"
	"strings"

	"arbor/internal/db"
	"arbor/internal/scope"
)

// A GitHub App may act for a person who authorized it, with a user token. It may then what both may: the person, by
// role and membership, and the App, by the permission that the route needs of its installation on the account
// concerned. What is public it reads as everybody does. Installations are asked for in each statement, so that a
// suspended one, a permission that was withdrawn and a repository that was taken out count at once.

// userTokenOf finds the App of a user token, and the permissions on the person's account: those that the person
// allowed and the App still asks for; none while the App's owner is suspended. Error: errs.Absent.
func userTokenOf(tx *db.Tx, tokenID int64) (app AppID, own scope.Permissions, err error) {
	var allowed, asked string
	err = tx.QueryRow(`SELECT a.id, g.permissions, CASE WHEN o.suspended_at IS NULL THEN a.permissions ELSE '' END
		FROM tokens t
			JOIN oauth_grants g ON g.id = t.grant_id JOIN oauth_apps p ON p.id = g.app_id
			JOIN apps a ON a.id = p.github_app_id JOIN accounts o ON o.id = a.owner_id
		WHERE t.id = $1`, tokenID).Scan(&app, &allowed, &asked)
	return app, scope.ParsePermissions(allowed).Within(scope.ParsePermissions(asked)), OrAbsent(err)
}

// againForApp is Again for a user token. Errors: as those of Again; 403 for a permission that the App no longer has.
func againForApp(tx *db.Tx, c *Caller) (*Caller, error) {
	now, err := CallerOf(tx, c.TokenID, 0, tx.Now)
	if err != nil {
		return nil, err
	}
	now, allowed := now.ForRoute(c.installed.name, c.installed.level, c.installed.atLest)
	if !allowed {
		return nil, now.Insufficient(0)
	}
	return now, nil
}

// AsksReach reports a caller for whom each statement asks what the App of the token reaches: see ReachColumn.
func (c *Caller) AsksReach() bool { return c != nil && (c.Reach == Reached || c.OAuthApp != 0) }

// appOn returns the start of an SQL condition: the App of the caller's user token has an installation (alias
// ui) on the account owner that is not suspended and, unless repo is empty, has access to repo. owner and
// repo are SQL expressions. The caller may add conditions, and must add the closing bracket.
func (c *Caller) appOn(owner, repo string) string {
	return `EXISTS (SELECT 1` + c.installations(owner, repo)
}

// installations is the FROM clause of appOn. The App's id does not come from a client's text.
func (c *Caller) installations(owner, repo string) string {
	from := fmt.Sprintf(` FROM installations ui JOIN accounts uo ON uo.id = ui.account_id
		JOIN apps ua ON ua.id = ui.app_id JOIN accounts uw ON uw.id = ua.owner_id
		WHERE ui.app_id = %d AND ui.account_id = %s AND ui.suspended_at IS NULL AND uo.suspended_at IS NULL
			AND uw.suspended_at IS NULL`, c.ForApp, owner)
	if repo != "" {
		from += ` AND (ui.every OR EXISTS (SELECT 1 FROM installation_repos ux
			WHERE ux.installation_id = ui.id AND ux.repo_id = ` + repo + `))`
	}
	return from
}

// permitted is the condition that the installation ui has the permission of the route.
func (c *Caller) permitted() string {
	return c.permits(c.installed.level)
}

// permits is permitted at a level.
func (c *Caller) permits(level string) string {
	name := c.installed.name
	if name == "" || scope.OfAccount(name) {
		return `TRUE`
	}
	var any []string
	for _, enough := range scope.AtLeast(level) {
		any = append(any, `',' || ui.permissions || ',' LIKE '%,`+name+`=`+enough+`,%'`)
	}
	return `(` + strings.Join(any, ` OR `) + `)`
}

// ReachesSQL is the condition that an installation of the App for which the caller's user token is reaches a
// repository of an owner, with the permission of the route; both are expressions.
func (c *Caller) ReachesSQL(owner, repo string) string {
	return c.appOn(owner, repo) + ` AND ` + c.permitted() + `)`
}

// ReachColumn is an expression for a repository of the name r, as a number: what an installation that reaches it
// permits by the route. NULL: none reaches it. For the token of an OAuth App it is a number only where it is closed
// to the App.
func (c *Caller) ReachColumn(r string) string {
	if c.OAuthApp != 0 {
		return fmt.Sprintf(`CASE WHEN %s THEN %d END`, c.closedRepo(r), closedToApp)
	}
	return fmt.Sprintf(`(SELECT CASE WHEN %s THEN %d WHEN %s THEN %d ELSE %d END%s)`, c.permits("write"), mayWrite,
		c.permitted(), mayUse, mayNot, c.installations(r+".owner_id", r+".id"))
}

// Permitted is what an installation permits a user token by a route, or that an organization is closed to an OAuth
// App.
type Permitted int64

const (
	mayNot      Permitted = iota // it lacks the permission of the route
	mayUse                       // it has that
	mayWrite                     // it may write what the permission covers
	closedToApp                  // the owner of the repository has not approved the OAuth App
)

// Lacks reports an installation without the permission of the route.
func (p Permitted) Lacks() bool { return p == mayNot }

// Closed reports that the repository's owner is closed to the caller's OAuth App.
func (p Permitted) Closed() bool { return p == closedToApp }

// MostForApp is Most for a repository that an installation of the App reaches. If it may write, the person's own role
// alone counts; if it may read, it has the role that the route names. What is closed to an OAuth App is read if it is
// public.
func (c *Caller) MostForApp(p Permitted, private bool) Role {
	switch {
	case p == closedToApp && private:
		return None
	case p == closedToApp:
		return Pull
	case c.installed.name == "" || p == mayNot:
		return Pull
	case p == mayUse:
		return max(Pull, c.installed.atLest)
	}
	return Admin
}

// forOrgs reports a user token by a route whose permission is about organizations.
func (c *Caller) forOrgs() bool {
	name := c.installed.name
	return c.ForApp != 0 && (name == "members" || strings.HasPrefix(name, "organization_"))
}

// accessForApp is what the caller with a user token may do in an organization: what the person may, if the App has
// the permission there.
func (c *Caller) accessForApp(tx *db.Tx, org ID) (may OrgAccess, err error) {
	all, err := c.accessesForApp(tx, []ID{org})
	return all[org], err
}

// accessesForApp is accessForApp for several organizations.
func (c *Caller) accessesForApp(tx *db.Tx, orgs []ID) (may map[ID]OrgAccess, err error) {
	may = map[ID]OrgAccess{}
	if !c.forOrgs() || len(orgs) == 0 {
		return may, nil
	}
	on, err := db.QueryIDs[ID](tx, `SELECT o.id FROM accounts o WHERE o.id IN `+db.Values(1, len(orgs))+
		` AND `+c.appOn("o.id", "")+` AND `+c.permitted()+`)`, db.Args(orgs)...)
	if err != nil || len(on) == 0 {
		return may, err
	}
	return may, eachMembership(tx, c, on, func(id ID, owner bool) { may[id] = OrgAccess{true, owner} })
}
