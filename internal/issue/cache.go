package issue

import "arbor/internal/cache"

// cacheKey names what lists of issues are made of. What it depends on besides is
// the state that it is kept under: see cacheKind.
type cacheKey struct {
	kind cacheKind
	repo int64
	id   int64
	text string // a name, or the addresses that payloads show
}

// cacheKind is a kind of value that is kept, and the generations of its state.
type cacheKind uint8

const (
	cachedRow         cacheKind = iota // an *Issue; its own, Issue.changed
	cachedLabel                        // rendered; the legend's. Empty: it was deleted
	cachedMilestone                    // rendered; the issues' and the accounts'
	cachedUser                         // rendered; the accounts'
	cachedRole                         // an author association for strangers; the legend's and the accounts'
	cachedInsideRole                   // and for insiders
	namedLabel                         // the id of a label; the legend's
	numberedMilestone                  // the id of a milestone; the legend's
	namedUser                          // the id of an account; the accounts'
)

const (
	listBytes  = 80 << 20 // of all that is kept
	entryBytes = 250      // about what a value takes besides its content
)

// newCache makes the cache of what lists are made of.
func newCache() *cache.Cache[cacheKey, any] {
	return cache.New(listBytes, func(k cacheKey, v any) int64 {
		n := entryBytes + len(k.text)
		switch v := v.(type) {
		case *Issue:
			n += v.bytes()
		case []byte:
			n += len(v)
		}
		return int64(n)
	})
}

// bytes is about what a row takes.
func (i *Issue) bytes() int {
	n := 300 + len(i.Title) + 8*(cap(i.Labels)+cap(i.Assignees))
	if i.Body != nil {
		n += len(*i.Body)
	}
	return n
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
