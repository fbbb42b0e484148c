package gitea

import (
	"context"
	"net/http"
	"strconv"

	"arbor/internal/migration/remote"
)

// Bounds of lists.
const (
	perPage = 50     // items of a page; a server may give fewer
	unpaged = 10_000 // items of a list that has no pages

	maxTimeline = 1 << 30 // bytes of the pages of a timeline
)

// each calls fn with each item of a list that is kept in memory, page after page, up to the length that X-Total-Count
// says or an empty page.
func each[T any](ctx context.Context, c *remote.Client, path string, fn func(*T) error) error {
	return walk(ctx, c, path, 0, true, remote.MaxKept, fn)
}

// walk is each for a list with gaps: up to empty pages without items before its end. counted says that
// X-Total-Count is the length of the list. Its pages have at most most bytes together.
func walk[T any](
	ctx context.Context, c *remote.Client, path string, empty int, counted bool, most int64, fn func(*T) error,
) error {
	page, seen := 1, 0
	at := func() string {
		return c.At(remote.WithQuery(path, "limit="+strconv.Itoa(perPage)+"&page="+strconv.Itoa(page)))
	}
	next := func(header http.Header, items int) (string, error) {
		seen += items
		if items == 0 {
			empty--
		}
		total, err := strconv.Atoi(header.Get("X-Total-Count"))
		if empty < 0 || counted && err == nil && seen >= total {
			return "", nil
		}
		page++
		return at(), nil
	}
	return remote.Each(ctx, c, remote.Walk{First: at(), PerPage: perPage, Bytes: most, Next: next}, fn)
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
