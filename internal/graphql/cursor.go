package graphql

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/graphql/document"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// cursor identifies a row of a list by its key, and by its former position, where the search begins. The position
// alone is not enough: after insertions or deletions before it, rows would be repeated or skipped.
type cursor struct {
	place int    // from 1; 0: before the first row
	key   string // empty: that of cursors of older versions, which have a place alone
}

// Cursors begin with one of these before they are encoded: those with a key, and those of older versions.
const (
	cursorPrefix = "cursor:v2:"
	placePrefix  = "cursor:"
)

// maxCursor bounds a cursor, in bytes before it is encoded: a key may be the name of a ref or a file.
const maxCursor = 8 << 10

func (c cursor) String() string {
	return base64.StdEncoding.EncodeToString([]byte(cursorPrefix + strconv.Itoa(c.place) + ":" + c.key))
}

func readCursor(text string) (c cursor, err error) {
	b, err := base64.StdEncoding.DecodeString(text)
	rest, keyed := strings.CutPrefix(string(b), cursorPrefix)
	place, ok := rest, keyed
	if keyed {
		place, c.key, ok = strings.Cut(rest, ":")
	} else {
		place, ok = strings.CutPrefix(string(b), placePrefix)
	}
	n, wrong := strconv.Atoi(place)
	if err != nil || wrong != nil || !ok || n < 0 || n > 1<<40 || len(b) > maxCursor {
		return c, &exec.Error{Type: "INVALID_CURSOR_ARGUMENTS",
			Message: fmt.Sprintf("`%s` does not appear to be a valid cursor.", clip(text))}
	}
	c.place = n
	return c, nil
}

func clip(s string) string { return document.Cut(s, 100) }

// sortKey is the order of a list: it returns a sort key for a row. The keys of a list are unique.
type sortKey[V any] struct {
	of   func(row V) string
	desc bool
}

// behind reports whether a row comes after the row with a key.
func (r *sortKey[V]) behind(row V, key string) bool {
	by := strings.Compare(r.of(row), key)
	return by > 0 != r.desc && by != 0
}

// rankBy ranks rows by several numbers and times: each breaks ties of those before it.
func rankBy[V any](desc bool, parts func(row V) []any) *sortKey[V] {
	return &sortKey[V]{desc: desc, of: func(row V) string {
		var b strings.Builder
		for _, part := range parts(row) {
			b.WriteString(sortable(part) + " ")
		}
		return b.String()
	}}
}

// rankByID ranks rows by their ids.
func rankByID[V any](id func(row V) int64) *sortKey[V] {
	return rankBy(false, func(row V) []any { return []any{id(row)} })
}

// idOfAccount is the id by which lists of accounts are sorted.
func idOfAccount(a *account.Simple) int64 { return int64(a.ID) }

// foldedName is a sort key for a name, regardless of case. OWNER/NAME is sorted by owner first.
func foldedName(name string) string { return strings.ReplaceAll(strings.ToLower(name), "/", "\x00") }

// sortable pads a number, so that numbers are sorted as texts are. Times are sorted as they are.
func sortable(part any) string {
	switch part := part.(type) {
	case int64:
		return padded(decimal(part))
	case db.Time:
		return cmp.Or(part.String(), "null")
	}
	return fmt.Sprint(part)
}

// padded pads a text that is a number.
func padded(text string) string {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return text
	}
	return strings.Repeat("0", max(0, 20-len(text))) + text
}

// keyOf is the key of a row: its rank, or else what names it.
func (l *pages[V]) keyOf(row V) string {
	switch {
	case l.tip != "":
		return l.tip
	case l.rank != nil:
		return l.rank.of(row)
	case l.key != nil:
		return l.key(row)
	}
	return ""
}

// keyOfNode is the key of a node of a list that is in memory as a whole.
func keyOfNode(node any) string {
	switch node := node.(type) {
	case *edge:
		return keyOfNode(node.node)
	case *object:
		switch {
		case node.id != 0:
			return decimal(node.id)
		case node.number != 0: // a pull request with its number alone
			return decimal(node.number)
		}
		return node.name
	case bare:
		for _, name := range [...]string{"id", "name", "url"} {
			if text, ok := node.fields[name].(string); ok {
				return text
			}
		}
		for _, name := range [...]string{"topic", "reviewer", "requestedReviewer"} {
			if inner := node.fields[name]; inner != nil {
				return keyOfNode(inner)
			}
		}
	}
	return ""
}

// placeAmong counts the rows before that of a cursor in a list that is in memory, and more after it where it is
// there. place is the answer where nothing is known.
func placeAmong(keys []string, c cursor, place int, sorted bool, itself int) int {
	if c.key == "" {
		return place
	}
	if n := slices.Index(keys, c.key); n >= 0 {
		return n + itself
	}
	if sorted {
		return sort.SearchStrings(keys, c.key)
	}
	return place
}

// maxSeekPages is how many hundreds of rows behind its old place are searched for a row.
const maxSeekPages = 3

// seek finds the row of a cursor in the present list, and returns the number of rows before it. If the row was
// deleted, it returns the number of rows that would be before it; this is exact only if the order of the list is
// known.
func (l *pages[V]) seek(ctx context.Context, q *query, c cursor) (before int, found bool, err error) {
	if c.key == "" || c.place == 0 || l.tip != "" {
		return max(0, c.place-1), c.place > 0, nil
	}
	if rows, _, err := l.page(ctx, q, c.place, 1); err != nil ||
		len(rows) > 0 && l.keyOf(rows[0]) == c.key {
		return c.place - 1, true, err
	}
	first := (c.place - 1) / web.MaxPageSize
	for n := max(0, first-1); n <= first+maxSeekPages; n++ {
		rows, _, err := l.page(ctx, q, n+1, web.MaxPageSize)
		if err != nil {
			return 0, false, err
		}
		is := func(row V) bool { return l.keyOf(row) == c.key }
		if at := slices.IndexFunc(rows, is); at >= 0 {
			return n*web.MaxPageSize + at, true, nil
		}
		if len(rows) < web.MaxPageSize {
			break
		}
	}
	if l.rank == nil {
		return c.place, false, nil
	}
	before, err = l.seekRank(ctx, q, c)
	return before, false, err
}

// seekRank counts the rows that stand before a key, by a search that looks at few pages.
func (l *pages[V]) seekRank(ctx context.Context, q *query, c cursor) (before int, failure error) {
	behind := func(n int) bool {
		rows, _, err := l.page(ctx, q, n/web.MaxPageSize+1, web.MaxPageSize)
		if err != nil {
			failure = err
		}
		n %= web.MaxPageSize
		return failure != nil || n >= len(rows) || l.rank.behind(rows[n], c.key)
	}
	low, high := 0, c.place
	for step := web.MaxPageSize; !behind(high); step *= 2 {
		low, high = high+1, high+step
	}
	before = low + sort.Search(high-low, func(n int) bool { return behind(low + n) })
	return before, failure
}

// place finds where a part of a list begins and ends now, if cursors say so.
func (l *pages[V]) place(ctx context.Context, q *query, p *part) error {
	if p.after.place > 0 {
		before, found, err := l.seek(ctx, q, p.after)
		if err != nil {
			return err
		}
		if p.offset = before; found {
			p.offset++
		}
	}
	if p.before.place > 0 {
		before, _, err := l.seek(ctx, q, p.before)
		if err != nil {
			return err
		}
		p.end = before
	}
	return nil
}
