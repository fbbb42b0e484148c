package repo

import "arbor/internal/account"

// foundKey names all that a result of Find depends on besides the store.
type foundKey struct {
	caller      int64 // 0: anonymous
	siteAdmin   bool
	owner, name string // folded
}

// maxFound bounds what is kept of what was found, about 4 MB.
const maxFound = 4096

func newFoundKey(caller *account.Caller, owner, name string) foundKey {
	k := foundKey{owner: account.Fold(owner), name: account.Fold(name)}
	if caller != nil {
		k.caller, k.siteAdmin = caller.ID, caller.SiteAdmin
	}
	return k
}

// copyFor gives a copy of what was found, which the handler of a caller may change.
func (f Found) copyFor(caller *account.Caller) Found {
	repo := *f.Repo
	f.Repo, f.Caller = &repo, caller
	return f
}
