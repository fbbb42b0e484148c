package repo

import (
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
)

// FromVisible is what stands behind SELECT count(*) in a query that asks whether the
// caller may see the repository of the id, an expression (decision 13). It ends
// in a condition. $1 is the caller's id, as account.IDOf gives it; the repository has
// the name r.
func FromVisible(id string, caller *account.Caller) string { return fromRepo(id, visible(caller)) }

// FromGranted is FromVisible for callers who see the repository whether it is
// public or not.
func FromGranted(id string, caller *account.Caller) string {
	return fromRepo(id, grantedTo(caller))
}

// FromVisibleIn is FromVisible for all repositories that the caller may see, or for those whose ids
// stand in the column id of a SELECT, which has the name f; more columns of it may be used.
func FromVisibleIn(from string, caller *account.Caller) string {
	if from == "" {
		return fromRepo("r.id", visible(caller))
	}
	return strings.Replace(fromRepo("f.id", visible(caller)), ` FROM repos r `,
		` FROM (`+from+`) f JOIN repos r ON r.id = f.id `, 1)
}

// ForksSeen is how many forks of the repository r of FromVisible the caller may see: an expression.
func ForksSeen(caller *account.Caller) string {
	return `CASE WHEN r.private AND r.forks_count > 0
		THEN (SELECT count(*)` + privateForks(caller) + `f.parent_id = r.id) ELSE r.forks_count END`
}

func fromRepo(id, condition string) string {
	return ` FROM repos r JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = o.id AND m.user_id = $1
		LEFT JOIN collaborators c ON c.repo_id = r.id AND c.user_id = $1 WHERE r.id = ` + id + ` AND ` + condition
}

// FromPublic is FromVisible for the public repository that has a name now, which
// everyone sees: $2 is the owner's login and $3 the repository's name, both folded.
const FromPublic = ` FROM accounts o JOIN repos r ON r.owner_id = o.id
	WHERE o.login_folded = $2 AND r.name_folded = $3 AND NOT r.private`

// VisibleByID finds the repositories that the caller may see among those of the
// ids, in one query.
func VisibleByID(tx *db.Tx, caller *account.Caller, ids []ID) ([]*Access, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	list, err := queryAccess(tx, caller, ` WHERE r.id IN `+db.ValuesFrom(2, 1, len(ids)), args...)
	return slices.DeleteFunc(list, func(a *Access) bool { return a.Role < account.Pull }), err
}

// JoinSeers is what stands in FROM behind a join of accounts, here named who, for those of them who may see the
// repository of the id, an expression. It ends in a condition that may be gone on with. It takes the
// names r, o, m and c.
func JoinSeers(id, who string) string {
	return ` JOIN repos r ON r.id = ` + id + ` JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ` + who + `.id
		LEFT JOIN collaborators c ON c.repo_id = r.id AND c.user_id = ` + who + `.id
		WHERE (` + who + `.site_admin OR ` + visibleTo(who+`.id`) + `)`
}
