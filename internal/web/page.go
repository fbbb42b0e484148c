package web

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/db"
)

// Page is the requested part of a list (decision 23).
type Page struct {
	Number int64 // from 1
	Size   int64 // 1 to 100
}

// Sizes of a page (decision 23).
const (
	DefaultPageSize = 30
	MaxPageSize     = 100
)

// Offset is the number of rows before the page.
func (p Page) Offset() int64 { return (p.Number - 1) * p.Size }

// List is a page of a list. More rows may follow it; Total counts those of the whole list, where a loader
// counts them.
type List[T any] struct {
	Rows  []T
	More  bool
	Total int64
}

// ListOf returns a page of a list of total rows.
func ListOf[T any](p Page, rows []T, total int64) *List[T] {
	return &List[T]{Rows: rows, Total: total, More: p.Offset()+p.Size < total}
}

// ListOfEach makes pages out of what db.PageOfEach found. value returns the value of a row, if there still is one.
func ListOfEach[K comparable, ID ~int64, T any](
	p Page, found map[K]*db.ListPage[ID], value func(db.ListRow[ID]) (T, bool),
) map[K]*List[T] {
	out := make(map[K]*List[T], len(found))
	for k, page := range found {
		out[k] = ListOf[T](p, nil, page.Total)
		for _, r := range page.Rows {
			if v, there := value(r); there {
				out[k].Rows = append(out[k].Rows, v)
			}
		}
	}
	return out
}

// Add adds a row to the page, which has at most p.Size rows: a further row only records that more follow.
func (l *List[T]) Add(p Page, row T) {
	if l.More = int64(len(l.Rows)) >= p.Size; !l.More {
		l.Rows = append(l.Rows, row)
	}
}

// Total returns the number of rows of the whole list if the page determines it: it has rows and is not
// full.
func (p Page) Total(rows int) (total int64, known bool) {
	return p.Offset() + int64(rows), int64(rows) < p.Size && (rows > 0 || p.Number == 1)
}

// ReadPage reads page and per_page. Zero, negative and invalid values count as not sent; per_page is at
// most 100.
func ReadPage(r *http.Request) Page {
	p := Page{Number: 1, Size: DefaultPageSize}
	q := QueryOf(r)
	if n, ok := positive(q.Get("page")); ok {
		p.Number = min(n, math.MaxInt64/MaxPageSize)
	}
	p.Size = ReadPageSize(r)
	return p
}

// ReadPageSize reads per_page only, for lists whose pages are not numbered.
func ReadPageSize(r *http.Request) int64 {
	if n, ok := positive(QueryOf(r).Get("per_page")); ok {
		return min(n, MaxPageSize)
	}
	return DefaultPageSize
}

// positive reads a decimal number above zero; one too large to hold counts as
// the largest.
func positive(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return math.MaxInt64, true
	}
	return n, n > 0
}

// Link sets the Link header for a page of a list with the given total number
// of rows: next, last, first and prev, each only where it applies. Past the end
// prev is the last real page.
func Link(w Headers, r *http.Request, p Page, total int64) {
	last := max(1, (total+p.Size-1)/p.Size)
	if last == 1 && p.Number == 1 {
		return
	}
	before, after := addressAround(r, "", "page")
	var b strings.Builder
	b.Grow(4 * (len(before) + len(after) + 40))
	add := func(rel string, page int64) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('<')
		b.WriteString(before)
		b.WriteString(strconv.FormatInt(page, 10))
		b.WriteString(after)
		b.WriteString(`>; rel="`)
		b.WriteString(rel)
		b.WriteByte('"')
	}
	if p.Number < last {
		add("next", p.Number+1)
	}
	if p.Number != last {
		add("last", last)
	}
	if p.Number > 1 {
		add("first", 1)
		add("prev", min(p.Number-1, last))
	}
	w.Header().Set("Link", b.String())
}

// Cut returns the requested page of a whole list, and sets the Link header.
func Cut[T any](w Headers, r *http.Request, list []T) []T {
	page := ReadPage(r)
	Link(w, r, page, int64(len(list)))
	return CutAt(page, list).Rows
}

// CutAt returns a page of a whole list.
func CutAt[T any](p Page, list []T) *List[T] {
	total := int64(len(list))
	from := min(p.Offset(), total)
	to := min(from+p.Size, total)
	return &List[T]{Rows: list[from:to], More: to < total, Total: total}
}

// LinkSince sets the Link header of a list that continues after an id, as GitHub's lists of all accounts
// do: only to the next page.
func LinkSince[ID ~int64](w http.ResponseWriter, r *http.Request, id ID) {
	w.Header().Set("Link", "<"+addressWith(r, "since", int64(id))+`>; rel="next"`)
}

// ReadSince reads the id after which such a list starts. Negative and invalid values count as not sent
// (decision 23).
func ReadSince(r *http.Request) int64 {
	since, err := strconv.ParseInt(QueryOf(r).Get("since"), 10, 64)
	if err != nil {
		return 0
	}
	return max(since, 0)
}

// CutSince returns the requested page of a list that has one more item if more follow, and then links the
// next page.
func CutSince[T any, ID ~int64](w http.ResponseWriter, r *http.Request, list []T, id func(T) ID) []T {
	size := ReadPage(r).Size
	if int64(len(list)) <= size {
		return list
	}
	LinkSince(w, r, id(list[size-1]))
	return list[:size]
}

// LinkCursors sets the Link header of a list whose pages are named by cursors in the
// parameters after and before: next and prev, each unless it is empty.
func LinkCursors(w http.ResponseWriter, r *http.Request, next, prev string) {
	var links []string
	if next != "" {
		links = append(links, "<"+addressWithout(r, "before", "after", next)+`>; rel="next"`)
	}
	if prev != "" {
		links = append(links, "<"+addressWithout(r, "after", "before", prev)+`>; rel="prev"`)
	}
	if links != nil {
		w.Header().Set("Link", strings.Join(links, ", "))
	}
}

// LinkCursor sets the Link header of a list whose next page is named by the parameter cursor.
func LinkCursor(w http.ResponseWriter, r *http.Request, next string) {
	w.Header().Set("Link", "<"+addressWithout(r, "", "cursor", next)+`>; rel="next"`)
}

// addressWith is the request's own address with another number in one
// parameter; the others stay as the caller sent them, in their order.
func addressWith(r *http.Request, parameter string, n int64) string {
	return addressWithout(r, "", parameter, strconv.FormatInt(n, 10))
}

// addressWithout is addressWith for a value that needs no escapes, without the parameter left.
func addressWithout(r *http.Request, left, parameter, value string) string {
	before, after := addressAround(r, left, parameter)
	return before + value + after
}

// addressAround returns the parts before and after the parameter's value in such an address.
func addressAround(r *http.Request, left, parameter string) (before, after string) {
	var b strings.Builder
	b.Grow(len(r.URL.RawQuery) + 200)
	b.WriteString(From(r.Context()).API(r.URL.EscapedPath()))
	sep := byte('?')
	set := func(pair string) {
		b.WriteByte(sep)
		b.WriteString(pair)
		sep = '&'
	}
	at := 0 // index of the value, once its parameter was found
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		key, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if pair == "" || err != nil || strings.Contains(pair, ";") || left != "" && name == left {
			continue
		}
		if name != parameter {
			set(safeQuery(pair))
		} else if at == 0 {
			set(parameter + "=")
			at = b.Len()
		}
	}
	if at == 0 {
		set(parameter + "=")
		at = b.Len()
	}
	return b.String()[:at], b.String()[at:]
}

// safeQuery escapes a pair so that it cannot end the address or header that contains it, no matter what bytes
// the caller sent.
func safeQuery(pair string) string {
	if strings.IndexFunc(pair, unsafeInQuery) < 0 {
		return pair
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(pair) {
		if c := pair[i]; unsafeInQuery(rune(c)) {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unsafeInQuery reports whether a query must escape the character (RFC 3986, 3.4). It allows the percent
// sign, which is already an escape.
func unsafeInQuery(c rune) bool {
	return c <= ' ' || c > '~' || strings.ContainsRune("\"#<>\\^`{|}", c)
}
