package issue

import (
	"arbor/internal/account"
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
	entryBytes = 300      // about what a value takes besides its content
)

// newShown makes the cache of what issues refer to.
func newShown() *cache.Cache[cacheKey, any] {
	return cache.New(shownBytes, func(k cacheKey, v any) int64 {
		n := entryBytes + len(k.text)
		if part, _ := v.(*piece); part != nil {
			n += len(part.json)
		}
		return int64(n)
	})
}

// rowKey names an issue as it was written with a generation. That never changes.
type rowKey struct {
	id      ID
	changed int64 // Issue.changed
}

// newRows makes the cache of issues.
func newRows() *cache.Recent[rowKey, *Issue] {
	return cache.NewRecent[rowKey](rowBytes/2, (*Issue).bytes)
}

// bytes is about what a row takes that is kept.
func (i *Issue) bytes() int {
	n := 400 + len(i.Title) + 8*(len(i.Labels)+len(i.Assignees))
	if i.Body != nil {
		n += len(*i.Body)
	}
	return n
}

// compact gives a copy of an issue to keep. Its parts lie together: a page of kept issues would
// wait for the memory of each part longer than it takes to render it.
func (i *Issue) compact() *Issue {
	kept := &struct {
		Issue
		body      string
		labels    [4]int64 // room for those of most issues
		assignees [2]account.ID
	}{Issue: *i}
	if i.Body != nil {
		text := i.Title + *i.Body
		kept.Title, kept.body = text[:len(i.Title)], text[len(i.Title):]
		kept.Body = &kept.body
	}
	if len(i.Labels) > 0 {
		kept.Labels = append(kept.labels[:0], i.Labels...)
	}
	if len(i.Assignees) > 0 {
		kept.Assignees = append(kept.assignees[:0], i.Assignees...)
	}
	return &kept.Issue
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
