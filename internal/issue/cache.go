package issue

import (
	"arbor/internal/cache"
	"arbor/internal/repo"
)

// cacheKey names what lists of issues are made of. What it depends on besides is
// the state that it is kept under: see cacheKind.
type cacheKey struct {
	kind cacheKind
	repo repo.ID
	id   int64
	text string // a name, or the addresses that payloads show
}

// cacheKind is a kind of value that is kept, and the generations of its state.
type cacheKind uint8

const (
	cachedLabel       cacheKind = iota // rendered; the legend's. Empty: it was deleted
	cachedMilestone                    // rendered; the issues' and the accounts'
	cachedUser                         // rendered; the accounts'
	cachedRole                         // an author association for strangers; the legend's and the accounts'
	cachedInsideRole                   // and for insiders
	namedLabel                         // the id of a label; the legend's
	numberedMilestone                  // the id of a milestone; the legend's
	namedUser                          // the id of an account; the accounts'
)

const (
	shownBytes = 16 << 20 // of all that issues show and that parameters name
	rowBytes   = 96 << 20 // of issues
	entryBytes = 250      // about what a value takes besides its content
)

// newShown makes the cache of what issues refer to.
func newShown() *cache.Cache[cacheKey, any] {
	return cache.New(shownBytes, func(k cacheKey, v any) int64 {
		b, _ := v.([]byte)
		return int64(entryBytes + len(k.text) + len(b))
	})
}

// newRows makes the cache of issues by their ids, each kept under its own generation,
// Issue.changed.
func newRows() *cache.Cache[ID, *Issue] {
	return cache.New(rowBytes, func(_ ID, i *Issue) int64 { return i.bytes() })
}

// bytes is about what a row takes.
func (i *Issue) bytes() int64 {
	n := 500 + len(i.Title) + 8*(cap(i.Labels)+cap(i.Assignees))
	if i.Body != nil {
		n += len(*i.Body)
	}
	return int64(n)
}

// state is what a value of the kind depends on in the database.
func (g generations) state(k cacheKind) cache.State {
	switch k {
	case cachedMilestone: // its creator is in it, and how many issues
		return cache.Generations(g.issues, g.accounts)
	case cachedUser, namedUser:
		return cache.Generations(g.accounts)
	case cachedRole, cachedInsideRole:
		return cache.Generations(g.legend, g.accounts)
	}
	return cache.Generations(g.legend)
}
