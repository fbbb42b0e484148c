package gitlab

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"arbor/internal/migration/remote"
)

// Bounds of lists.
const (
	perPage  = 100
	maxOfOne = 1 << 30 // bytes of the pages of what belongs to one issue
)

// each calls fn with each item of a list that is kept in memory, or is short.
func each[T any](ctx context.Context, c *remote.Client, path string, fn func(*T) error) error {
	return walk(ctx, c, path, remote.MaxKept, fn)
}

// walkAll calls fn with each item of a list that may be very long: by keyset, since servers refuse pages far
// behind the first, or by page where a list has no keysets.
func walkAll[T any](ctx context.Context, c *remote.Client, path string, fn func(*T) error) error {
	err := walk(ctx, c, path+"&pagination=keyset", 0, fn)
	if no := (*remote.Refusal)(nil); errors.As(err, &no) && no.Status == http.StatusMethodNotAllowed {
		return walk(ctx, c, path, 0, fn)
	}
	return err
}

// walk calls fn with each item of a list, page after page, whose pages have at most most bytes together; 0:
// as many as there is room for. The next page is where the header Link says, with its path taken from the
// first one, since a server may know itself by another name; without that header it is the one that X-Next-
// Page says.
func walk[T any](ctx context.Context, c *remote.Client, path string, most int64, fn func(*T) error) error {
	first := c.At(remote.WithQuery(path, "per_page="+strconv.Itoa(perPage)))
	next := func(header http.Header, _ int) (string, error) {
		u, err := url.Parse(first)
		if err != nil {
			return "", err
		}
		if said, err := url.Parse(remote.NextLink(header)); err == nil && said.RawQuery != "" {
			u.RawQuery = said.RawQuery
			return u.String(), nil
		}
		page, err := strconv.ParseUint(header.Get("X-Next-Page"), 10, 32)
		if err != nil || page == 0 {
			return "", nil
		}
		query := u.Query()
		query.Set("page", strconv.FormatUint(page, 10))
		u.RawQuery = query.Encode()
		return u.String(), nil
	}
	return remote.Each(ctx, c, remote.Walk{First: first, PerPage: perPage, Bytes: most, Next: next}, fn)
}
