package repo

import "arbor/internal/account"

// foundKey is all that what Find finds depends on besides the store.
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

// copyFor is what was found, for a caller of its own: a handler may change it.
func (f Found) copyFor(caller *account.Caller) Found {
	repo := *f.Repo
	f.Repo, f.Caller = &repo, caller
	return f
}
