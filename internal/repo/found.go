package repo

import (
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
)

// foundKey names all that a result of Find depends on besides the store.
type foundKey struct {
	view        account.View
	owner, name string // folded
}

// maxFound bounds what is kept of what was found, about 4 MB.
const maxFound = 4096

// newFoundKey copies the names: the cache must not keep the whole address of a request.
func newFoundKey(caller *account.Caller, owner, name string) foundKey {
	return foundKey{account.ViewOf(caller), strings.Clone(account.Fold(owner)),
		strings.Clone(account.Fold(name))}
}

// copyFor returns a copy of what was found, which the handler of a caller may change.
func (f Found) copyFor(caller *account.Caller) Found {
	repo := *f.Repo
	f.Repo, f.Caller = &repo, caller
	return f
}

// viewed names a repository as a caller sees it, for the transactions of one request.
type viewed struct {
	view account.View
	id   ID
	name string // OWNER/NAME, folded, where the id is 0
}

// keep keeps a repository that was read, for later transactions of the request.
func keep(tx *db.Tx, caller *account.Caller, a *Access) {
	kept := Found{Access: *a}.copyFor(nil)
	db.Keep(tx, viewed{view: account.ViewOf(caller), id: a.ID}, kept)
	db.Keep(tx, viewed{view: account.ViewOf(caller), name: account.Fold(a.FullName())}, kept)
}

// recalled returns what an earlier transaction of the request has read.
func recalled(tx *db.Tx, caller *account.Caller, by viewed) (*Access, bool) {
	by.view = account.ViewOf(caller)
	f, ok := db.Recall[Found](tx, by)
	if !ok {
		return nil, false
	}
	f = f.copyFor(caller)
	return &f.Access, true
}

// byIDs reads repositories by their ids, but those that the request has read.
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
