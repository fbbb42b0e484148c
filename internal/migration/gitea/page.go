package gitea

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/migration/remote"
)

// Bounds of lists.
const (
	perPage  = 50     // items of a page; a server may give fewer
	unpaged  = 10_000 // items of a list that has no pages
	maxItems = 1 << 22
	maxKept  = 64 << 20 // bytes of the pages of a list that is kept in memory

	maxTimeline = 1 << 30 // bytes of the pages of a timeline
)

// each calls fn with each item of a list that is kept in memory, page after page, up to the length that X-Total-Count
// says or an empty page.
func each[T any](ctx context.Context, c *remote.Client, path string, fn func(*T) error) error {
	return walk(ctx, c, path, 0, true, maxKept, fn)
}

// walk is each for a list with gaps: up to empty pages without items before its end. counted says that
// X-Total-Count is the length of the list. The list also ends where a server without pages repeats its
// answer. Its pages have at most most bytes together.
func walk[T any](
	ctx context.Context, c *remote.Client, path string, empty int, counted bool, most int64, fn func(*T) error,
) error {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	path += separator + "limit=" + strconv.Itoa(perPage) + "&page="
	seen, last := 0, []byte(nil)
	for page := 1; page <= remote.MaxPages; page++ {
		address := c.At(path + strconv.Itoa(page))
		text, said, err := c.Page(ctx, address)
		if err != nil {
			return err
		}
		if len(text) > 2 && bytes.Equal(text, last) {
			return nil
		}
		last = text
		if most -= int64(len(text)); most < 0 {
			return fmt.Errorf("the list %s is too large", path)
		}
		n, err := remote.EachOf(c, text, address, perPage, fn)
		if err != nil {
			return err
		}
		seen += n
		if n == 0 {
			if empty--; empty < 0 {
				return nil
			}
		}
		if total, err := strconv.Atoi(said.Get("X-Total-Count")); counted && err == nil && seen >= total {
			return nil
		}
	}
	return fmt.Errorf("the list %s has more than %d pages", path, remote.MaxPages)
}

// all calls fn with each item of a list that has no pages.
func all[T any](ctx context.Context, c *remote.Client, path string, fn func(*T) error) error {
	address := c.At(path)
	text, _, err := c.Page(ctx, address)
	if err == nil {
		_, err = remote.EachOf(c, text, address, unpaged, fn)
	}
	return err
}

// turned is a list of numbered items on disk. The server sends the newest first, and records are written in
// the order of their numbers.
type turned struct {
	file  *os.File
	end   int64
	items []turnedItem
}

type turnedItem struct {
	number, at int64
	size       int
}

// add writes an item.
func (t *turned) add(number int64, text []byte) error {
	if len(t.items) == maxItems {
		return fmt.Errorf("the list has more than %d items", maxItems)
	}
	n, err := t.file.WriteAt(text, t.end)
	t.items = append(t.items, turnedItem{number, t.end, len(text)})
	t.end += int64(n)
	return err
}

// inOrder decodes the items in the order of their numbers. One that came twice, since the list moved while it was read,
// comes once.
func inOrder[T any](t *turned, fn func(done int64, item *T) error) error {
	slices.SortStableFunc(t.items, func(a, b turnedItem) int { return cmp.Compare(a.number, b.number) })
	t.items = slices.CompactFunc(t.items, func(a, b turnedItem) bool { return a.number == b.number })
	for n, i := range t.items {
		text := make([]byte, i.size)
		if _, err := io.ReadFull(io.NewSectionReader(t.file, i.at, int64(i.size)), text); err != nil {
			return err
		}
		var item T
		if err := json.Unmarshal(text, &item); err != nil {
			return fmt.Errorf("%d: unexpected answer for a Gitea server: %w", i.number, err)
		}
		if err := fn(int64(n+1), &item); err != nil {
			return err
		}
	}
	return nil
}
