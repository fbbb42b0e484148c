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

// viewed is the key under which a request remembers a repository as visible to a caller.
type viewed struct {
	view account.View
	id   ID
	name string // OWNER/NAME, folded, if id is 0
}

// keep remembers a repository for later transactions of the request.
func keep(tx *db.Tx, caller *account.Caller, a *Access) {
	kept := Found{Access: *a}.copyFor(nil)
	db.Keep(tx, viewed{view: account.ViewOf(caller), id: a.ID}, kept)
	db.Keep(tx, viewed{view: account.ViewOf(caller), name: account.Fold(a.FullName())}, kept)
}

// recalled returns a repository that an earlier transaction of the request has read.
func recalled(tx *db.Tx, caller *account.Caller, by viewed) (*Access, bool) {
	by.view = account.ViewOf(caller)
	f, ok := db.Recall[Found](tx, by)
	if !ok {
		return nil, false
	}
	f = f.copyFor(caller)
	return &f.Access, true
}

// byIDs reads repositories by id, except those that the request has read.
func byIDs(tx *db.Tx, caller *account.Caller, ids []ID) (list []*Access, err error) {
	var unknown []ID
	for _, id := range db.Unique(ids) {
		if a, ok := recalled(tx, caller, viewed{id: id}); ok {
			list = append(list, a)
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return list, nil
	}
	more, err := Query(tx, caller, `WHERE r.id IN `+db.ValuesFrom(2, 1, len(unknown)), db.Args(unknown)...)
	return append(list, more...), err
}
