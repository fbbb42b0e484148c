package repo

import (
	"strings"

	"arbor/internal/account"
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
	return foundKey{account.ViewOf(caller), strings.Clone(account.Fold(owner)), strings.Clone(account.Fold(name))}
}

// copyFor gives a copy of what was found, which the handler of a caller may change.
func (f Found) copyFor(caller *account.Caller) Found {
	repo := *f.Repo
	f.Repo, f.Caller = &repo, caller
	return f
}
