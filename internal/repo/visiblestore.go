package repo

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
)

// JoinVisible gives what a query that already names repositories' ids needs to
// leave out those that the caller may not see (decision 13): a join to the
// repository under the name r, and the condition. $1 is the caller's id, as
// CallerID gives it; o, m and c are names of the join.
func JoinVisible(id string, caller *account.Caller) (join, condition string) {
	join = ` JOIN repos r ON r.id = ` + id + ` JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = o.id AND m.user_id = $1
		LEFT JOIN collaborators c ON c.repo_id = r.id AND c.user_id = $1 `
	if caller != nil && caller.SiteAdmin {
		return join, `TRUE`
	}
	return join, visible
}

// CallerID is the id of a caller, 0 for the anonymous one.
func CallerID(c *account.Caller) int64 { return callerID(c) }

// VisibleByID finds the repositories that the caller may see among those of the
// ids, in one query.
func VisibleByID(tx *db.Tx, caller *account.Caller, ids []int64) ([]*Access, error) {
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
