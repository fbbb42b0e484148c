package repo

import (
	"sync"

	"arbor/internal/account"
	"arbor/internal/db"
)

// foundCache keeps what Find found while nothing was committed anywhere.
type foundCache struct {
	mu    sync.RWMutex
	stamp db.Stamp
	found map[foundKey]Found
}

// foundKey is all that an answer depends on beside the store.
type foundKey struct {
	caller      int64 // 0: anonymous
	siteAdmin   bool
	owner, name string // folded
}

// maxFound bounds the cache to about 4 MB.
const maxFound = 4096

func newFoundKey(caller *account.Caller, owner, name string) foundKey {
	k := foundKey{owner: account.Fold(owner), name: account.Fold(name)}
	if caller != nil {
		k.caller, k.siteAdmin = caller.ID, caller.SiteAdmin
	}
	return k
}

// get gives a copy: its handler may change it.
func (c *foundCache) get(s db.Stamp, k foundKey, caller *account.Caller) (Found, bool) {
	c.mu.RLock()
	f, ok := c.found[k]
	ok = ok && c.stamp == s
	c.mu.RUnlock()
	if !ok {
		return Found{}, false
	}
	repo := *f.Repo
	f.Repo, f.Caller = &repo, caller
	return f, true
}

func (c *foundCache) put(s db.Stamp, k foundKey, f Found) {
	repo := *f.Repo
	f.Repo, f.Caller = &repo, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stamp != s || c.found == nil || len(c.found) >= maxFound {
		c.stamp, c.found = s, map[foundKey]Found{}
	}
	c.found[k] = f
}
