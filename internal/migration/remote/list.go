package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// MaxPages bounds the pages of a list.
const MaxPages = 100_000

// MaxKept bounds the bytes of the pages of a list that is kept in memory.
const MaxKept = 64 << 20

// maxItems bounds the items of a Turned list.
const maxItems = 1 << 22

// Walk is how a list is read, page after page.
type Walk struct {
	First   string // the address of the first page
	PerPage int    // items that a page has at most
	Bytes   int64  // bytes that all pages have together at most; 0: no bound
	// Next returns the address of the page behind the one that has items items; empty: it is the last.
	Next func(header http.Header, items int) (string, error)
}

// Each calls fn with each item of a list. The list also ends where a server that has no pages repeats its
// answer.
func Each[T any](ctx context.Context, c *Client, w Walk, fn func(*T) error) error {
	var last []byte
	var size int64
	address := w.First
	for range MaxPages {
		text, header, err := c.Page(ctx, address)
		if err != nil {
			return err
		}
		if len(text) > 2 && bytes.Equal(text, last) {
			return nil
		}
		last = text
		if size += int64(len(text)); w.Bytes > 0 && size > w.Bytes {
			return fmt.Errorf("the list %s is too large", w.First)
		}
		n, err := EachOf(c, text, address, w.PerPage, fn)
		if err != nil {
			return err
		}
		if address, err = w.Next(header, n); err != nil || address == "" {
			return err
		}
	}
	return fmt.Errorf("the list %s has more than %d pages", w.First, MaxPages)
}

// NextLink returns the address of rel="next" in the header Link; empty: there is none.
func NextLink(header http.Header) string {
	for link := range strings.SplitSeq(header.Get("Link"), ",") {
		if address, rel, _ := strings.Cut(link, ";"); strings.Contains(rel, `rel="next"`) {
			return strings.Trim(strings.TrimSpace(address), "<>")
		}
	}
	return ""
}

// Within returns an address, which must be one of the API or empty.
func (c *Client) Within(address string) (string, error) {
	u, err := url.Parse(address)
	if address != "" && (err != nil || u.Host != c.API.Host || u.Scheme != c.API.Scheme) {
		return "", fmt.Errorf("the next page is said to be at %q, which is not on %s", address, c.API.Host)
	}
	return address, nil
}

// WithQuery adds parameters to a path of the API that may have some.
func WithQuery(path, parameters string) string {
	if strings.Contains(path, "?") {
		return path + "&" + parameters
	}
	return path + "?" + parameters
}

// Turned is a list of numbered items on disk, for a server that sends them in another order than that of
// their numbers.
type Turned struct {
	file  *os.File
	end   int64
	items []turnedItem
}

type turnedItem struct {
	number, at int64
	size       int
}

// NewTurned returns an empty list that is kept in a temporary file. Call Close after use.
func (s *Source) NewTurned() (*Turned, error) {
	file, err := os.CreateTemp(s.dir, "")
	return &Turned{file: file}, err
}

// Close closes the file, which goes with the folder of the source.
func (t *Turned) Close() error { return t.file.Close() }

// Add writes an item.
func (t *Turned) Add(number int64, text []byte) error {
	if len(t.items) == maxItems {
		return fmt.Errorf("the list has more than %d items", maxItems)
	}
	n, err := t.file.WriteAt(text, t.end)
	t.items = append(t.items, turnedItem{number, t.end, len(text)})
	t.end += int64(n)
	return err
}

// Numbers sorts the list, and returns the numbers of its items. Of items that came twice, since the list
// moved while it was read, the first stays.
func (t *Turned) Numbers() []int64 {
	slices.SortStableFunc(t.items, func(a, b turnedItem) int { return cmp.Compare(a.number, b.number) })
	t.items = slices.CompactFunc(t.items, func(a, b turnedItem) bool { return a.number == b.number })
	numbers := make([]int64, len(t.items))
	for n, i := range t.items {
		numbers[n] = i.number
	}
	return numbers
}

// Item decodes the item with a number, after Numbers.
func (t *Turned) Item(number int64, into any) error {
	n, found := slices.BinarySearchFunc(t.items, number,
		func(i turnedItem, n int64) int { return cmp.Compare(i.number, n) })
	if !found {
		return fmt.Errorf("%d is not in the list", number)
	}
	i := t.items[n]
	text := make([]byte, i.size)
	if _, err := io.ReadFull(io.NewSectionReader(t.file, i.at, int64(i.size)), text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%d: unexpected answer: %w", number, err)
	}
	return nil
}
