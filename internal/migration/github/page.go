package github

import (
	"context"
	"net/http"
	"strconv"

	"arbor/internal/migration/remote"
)

// perPage is how many items a page has at most.
const perPage = 100

// each calls fn with each item of a list, page after page.
func each[T any](ctx context.Context, c *remote.Client, path string, fn func(*T) error) error {
	return walk(ctx, c, path, 0, fn)
}

// walk is each for a list whose pages have at most most bytes together; 0: no bound.
func walk[T any](ctx context.Context, c *remote.Client, path string, most int64, fn func(*T) error) error {
	next := func(header http.Header, _ int) (string, error) { return c.Within(remote.NextLink(header)) }
	return remote.Each(ctx, c, remote.Walk{First: c.At(remote.WithQuery(path, "per_page="+strconv.Itoa(perPage))),
		PerPage: perPage, Bytes: most, Next: next}, fn)
}
