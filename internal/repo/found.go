package repo

import (
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
)

// foundKey is the cache key of Find: everything that its result depends on besides the store.
type foundKey struct {
	view        account.View
	owner, name string // folded
}

// maxFound is the number of cached results, about 4 MB.
const maxFound = 4096

// newFoundKey copies the names: the cache must not keep the whole address of a request.
func newFoundKey(caller *account.Caller, owner, name string) foundKey {
	return foundKey{account.ViewOf(caller), strings.Clone(account.Fold(owner)),
		strings.Clone(account.Fold(name))}
}

// copyFor returns a copy that the handler of a caller may modify.
func (f Found) copyFor(caller *account.Caller) Found {
	repo := *f.Repo
	f.Repo, f.Caller = &repo, caller
	return f
}

// byIDs reads repositories by their ids.
func byIDs(tx *db.Tx, caller *account.Caller, ids []ID) ([]*Access, error) {
	ids = db.Unique(ids)
	if len(ids) == 0 {
		return nil, nil
	}
	return Query(tx, caller, `WHERE r.id IN `+db.ValuesFrom(2, 1, len(ids)), db.Args(ids)...)
}
