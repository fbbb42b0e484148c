package repo

import (
	"fmt"
	"strings"

	"arbor/internal/account"
)

// VisibleTo holds if a person may see the repository r (decision 12). who is an
// expression for the person's id; the joined members m are of the same person. It is not for site
// administrators, who see all.
func VisibleTo(who string) string { return `(NOT r.private OR ` + hasRole(who) + `)` }

// hasRole holds if the person may see the repository also while it is private, unless it
// is a withdrawn fork (decision 62).
func hasRole(who string) string {
	return `(` + HasRole(who, "1") + ` AND ` + NotWithdrawn("r") + `)`
}

// HasRole holds if a person has a stored role, or a higher one, on the repository r of the owner o. who and role are
// expressions; the joined members m are of the same person. It leaves site administrators out.
func HasRole(who, role string) string {
	return `(r.owner_id = ` + who + ` OR m.owner OR (m.owner IS NOT NULL AND o.default_role >= ` + role + `)
			OR ` + GrantedRole("r.id", who) + ` >= ` + role + `)`
}

// KeepsSight is the condition that account u may see repository r of [JoinSight], even a withdrawn fork, which may
// come back (decision 62).
func KeepsSight() string {
	return `COALESCE(NOT r.private OR u.site_admin OR ` + HasRole("u.id", "1") + `, FALSE)`
}

// JoinSight is SQL for FROM: the repository r of the id, its owner o, and the membership m of who, both expressions.
func JoinSight(id, who string) string {
	return ` JOIN repos r ON r.id = ` + id + ` JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ` + who
}

// GrantedRole is the best role that a person was granted on a repository, as a collaborator or through teams: an
// expression, NULL without one. Both ids are expressions. All SQL that asks for such a role uses it, so a change of a
// team's members or repositories writes no row for each pair of these.
func GrantedRole(repo, who string) string {
	return `(SELECT max(granted.role) FROM (
		SELECT gc.role FROM collaborators gc WHERE gc.repo_id = ` + repo + ` AND gc.user_id = ` + who + `
		UNION ALL SELECT gt.role FROM team_repos gt JOIN team_members gm ON gm.team_id = gt.team_id
		WHERE gt.repo_id = ` + repo + ` AND gm.user_id = ` + who + `) granted)`
}

// GrantedRepos selects the column repo_id, each once, of repositories on which a person was granted a role.
func GrantedRepos(who string) string {
	return `SELECT repo_id FROM collaborators WHERE user_id = ` + who + ` UNION ` + TeamRepos(who)
}

// GrantedPeople selects the column user_id, each once, of people who were granted a role on a repository.
func GrantedPeople(repo string) string {
	return `SELECT user_id FROM collaborators WHERE repo_id = ` + repo + `
		UNION SELECT gm.user_id FROM team_repos gt JOIN team_members gm ON gm.team_id = gt.team_id
		WHERE gt.repo_id = ` + repo
}

// TeamRepos selects the column repo_id of repositories on which a person has a role through teams.
func TeamRepos(who string) string {
	return `SELECT gt.repo_id FROM team_members gm JOIN team_repos gt ON gt.team_id = gm.team_id
		WHERE gm.user_id = ` + who
}

// Visible is visibleTo for the caller, $1, as far as the token goes.
func Visible(caller *account.Caller) string {
	if caller.SeesAll() && !caller.AsksReach() {
		return NotDeleted("r")
	}
	return `(NOT r.private OR ` + GrantedTo(caller) + `)`
}

// GrantedTo is hasRole for the caller, $1, within its token's limits. A caller that sees all
// has a role everywhere except on repositories that are being deleted.
func GrantedTo(caller *account.Caller) string {
	if open := caller.AndOpenRepo("r"); open != `` {
		return `(` + grantedTo(caller) + open + `)`
	}
	return grantedTo(caller)
}

// grantedTo is GrantedTo also where the owner is closed to the caller's OAuth App.
func grantedTo(caller *account.Caller) string {
	switch {
	case caller.SeesAll():
		return NotDeleted("r")
	case caller == nil || caller.Reach == account.Everything:
		return hasRole("$1")
	case caller.Reach == account.Installed:
		return installed(caller, "r")
	case caller.Reach == account.Reached:
		return `(` + caller.ReachesSQL("r.owner_id", "r.id") + ` AND ` + hasRole("$1") + `)`
	case caller.Reach == account.Chosen:
		return `(` + chosen(caller, "r.id") + ` AND ` + hasRole("$1") + `)`
	default:
		return `FALSE`
	}
}

// chosen holds if a fine-grained token was made for the repository of the id, an expression.
// The token's id does not come from a client's text, and stands in the query, since many queries have no
// argument to spare.
func chosen(caller *account.Caller, id string) string {
	return fmt.Sprintf(`EXISTS (SELECT 1 FROM token_repos z WHERE z.token_id = %d AND z.repo_id = %s)`,
		caller.TokenID, id)
}

// installed holds if an App's token reaches the repository of the name r. The ids in it do not come from a
// client's text.
func installed(caller *account.Caller, r string) string {
	return `(` + caller.CoversSQL(r+".owner_id", r+".id") + ` AND ` + NotWithdrawn(r) + `)`
}

// NotWithdrawn holds for a repository that is not a withdrawn fork.
func NotWithdrawn(r string) string {
	return `NOT EXISTS (SELECT 1 FROM withdrawn_forks w WHERE w.id = ` + r + `.id)`
}

// NotDeleted holds for a repository that is not being deleted, see [DeletedName].
func NotDeleted(r string) string { return `substr(` + r + `.name, 1, 1) <> '` + deletedMark + `'` }

// FromVisible is what stands behind SELECT count(*) in a query that asks whether the
// caller may see the repository of the id, an expression (decision 13). It ends
// in a condition. $1 is the caller's id, as account.IDOf gives it; the repository has
// the name r.
func FromVisible(id string, caller *account.Caller) string { return fromRepo(id, Visible(caller)) }

// FromGranted is FromVisible for callers who see the repository whether it is
// public or not.
func FromGranted(id string, caller *account.Caller) string {
	return fromRepo(id, GrantedTo(caller))
}

// FromVisibleIn is FromVisible for all repositories that the caller may see, or for those whose ids
// stand in the column id of a SELECT, which has the name f; more columns of it may be used.
func FromVisibleIn(from string, caller *account.Caller) string {
	if from == "" {
		return fromRepo("r.id", Visible(caller))
	}
	return strings.Replace(fromRepo("f.id", Visible(caller)), ` FROM repos r `,
		` FROM (`+from+`) f JOIN repos r ON r.id = f.id `, 1)
}

// ForksSeen is how many forks of the repository r of FromVisible the caller may see: an expression.
func ForksSeen(caller *account.Caller) string {
	return `CASE WHEN r.private AND r.forks_count > 0
		THEN (SELECT count(*)` + PrivateForks(caller) + `f.parent_id = r.id) ELSE r.forks_count END`
}

func fromRepo(id, condition string) string {
	return ` FROM repos r JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = o.id AND m.user_id = $1
		WHERE r.id = ` + id + ` AND ` + condition
}

// FromPublic is FromVisible for the public repository that has a name now, which
// everyone sees: $2 is the owner's login and $3 the repository's name, both folded.
const FromPublic = ` FROM accounts o JOIN repos r ON r.owner_id = o.id
	WHERE o.login_folded = $2 AND r.name_folded = $3 AND NOT r.private`

// JoinSeers is SQL for FROM, after the table of accounts with the alias who: it keeps the accounts that may see
// the repository of the id, an expression. An AND may follow. It uses the names r, o and m.
func JoinSeers(id, who string) string {
	return ` JOIN repos r ON r.id = ` + id + ` JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ` + who + `.id
		WHERE (` + who + `.site_admin AND ` + NotDeleted("r") + ` OR ` + VisibleTo(who+`.id`) + `)`
}
