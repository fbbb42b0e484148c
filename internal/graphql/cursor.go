package graphql

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"arbor/internal/graphql/document"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// cursor names a row of a list: by its key, and by the place where it stood, which tells where to look first.
// Rows that are added or removed before it move it, so the place alone would repeat or skip some.
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

// rank is the order of a list: of a row it makes a text by which the rows are sorted. No two are the same.
type rank struct {
	of   func(data payload) string
	desc bool
}

// behind reports a row that stands behind the row of a key.
func (r *rank) behind(row payload, key string) bool {
	by := strings.Compare(r.of(row), key)
	return by > 0 != r.desc && by != 0
}

// byMembers ranks rows by numbers and times: each decides where those before it are the same.
func byMembers(desc bool, members ...string) *rank {
	return &rank{desc: desc, of: func(data payload) string {
		var b strings.Builder
		for _, name := range members {
			b.WriteString(sortable(string(data.get(name))) + " ")
		}
		return b.String()
	}}
}

// byID ranks rows by their ids.
func byID(desc bool) *rank { return byMembers(desc, "id") }

// byText ranks rows by a member alone, as bytes.
func byText(desc bool, member string) *rank {
	return &rank{desc: desc, of: func(data payload) string { return textOf(data, member) }}
}

// byName ranks rows by a name, without regard to case. Of OWNER/NAME the owner counts first.
func byName(desc bool, member string) *rank {
	return &rank{desc: desc, of: func(data payload) string {
		return strings.ReplaceAll(strings.ToLower(textOf(data, member)), "/", "\x00")
	}}
}

// sortable pads a number of JSON, so that numbers are sorted as texts are. Times are sorted so as they are.
func sortable(raw string) string {
	if raw == "" || raw[0] < '0' || raw[0] > '9' {
		return strings.Trim(raw, `"`)
	}
	return strings.Repeat("0", max(0, 20-len(raw))) + raw
}

// keyOf is the key of a row: its rank, or else what names it.
func (l *pages) keyOf(row payload) string {
	if l.tip != "" {
		return l.tip
	}
	if l.rank != nil {
		return l.rank.of(row)
	}
	return nameOf(row)
}

// nameOf is what names a thing among those of its kind.
func nameOf(data payload) string {
	for _, member := range [...]string{"id", "filename", "ref", "sha", "full_name", "login", "name"} {
		if v, ok := decode(data.get(member)).(fmt.Stringer); ok { // a number
			return v.String()
		}
		if text := textOf(data, member); text != "" {
			return text
		}
	}
	return ""
}

// keyOfNode is the key of a node of a list that is in memory as a whole.
func keyOfNode(node any) string {
	switch node := node.(type) {
	case *edge:
		return keyOfNode(node.node)
	case *object:
		if number := node.data.get("number"); node.data.get("id") == nil && number != nil {
			return string(number) // a pull request with its number alone
		}
		return nameOf(node.data)
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

// nearby is how many hundreds of rows behind its old place are searched for a row.
const nearby = 3

// seek finds the row of a cursor in a list as it is now. before counts the rows before it. If the row is gone,
// these are the rows that would be before it, as far as the list's order is known.
func (q *query) seek(ctx context.Context, l *pages, c cursor) (before int, found bool, err error) {
	if c.key == "" || c.place == 0 || l.tip != "" {
		return max(0, c.place-1), c.place > 0, nil
	}
	if rows, _, err := q.page(ctx, l, c.place, 1); err != nil ||
		len(rows) > 0 && l.keyOf(rows[0]) == c.key {
		return c.place - 1, true, err
	}
	first := (c.place - 1) / web.MaxPageSize
	for n := max(0, first-1); n <= first+nearby; n++ {
		rows, _, err := q.page(ctx, l, n+1, web.MaxPageSize)
		if err != nil {
			return 0, false, err
		}
		is := func(row payload) bool { return l.keyOf(row) == c.key }
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
	before, err = q.seekRank(ctx, l, c)
	return before, false, err
}

// seekRank counts the rows that stand before a key, by a search that looks at few pages.
func (q *query) seekRank(ctx context.Context, l *pages, c cursor) (before int, failure error) {
	behind := func(n int) bool {
		rows, _, err := q.page(ctx, l, n/web.MaxPageSize+1, web.MaxPageSize)
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
func (q *query) place(ctx context.Context, l *pages, p *part) error {
	if p.after.place > 0 {
		before, found, err := q.seek(ctx, l, p.after)
		if err != nil {
			return err
		}
		if p.offset = before; found {
			p.offset++
		}
	}
	if p.before.place > 0 {
		before, _, err := q.seek(ctx, l, p.before)
		if err != nil {
			return err
		}
		p.end = before
	}
	return nil
}
