package github

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/migration/remote"
)

// perPage is how many items a page has at most.
const perPage = 100

// each calls fn with each item of a list, page after page.
func each[T any](ctx context.Context, c *remote.Client, path string, fn func(*T) error) error {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	address := c.At(path + separator + "per_page=" + strconv.Itoa(perPage))
	for range remote.MaxPages {
		text, said, err := c.Page(ctx, address)
		if err == nil {
			_, err = remote.EachOf(c, text, address, perPage, fn)
		}
		next := nextPage(said.Get("Link"))
		if err != nil || next == "" {
			return err
		}
		if address, err = within(c, next); err != nil {
			return err
		}
	}
	return fmt.Errorf("the list %s has more than %d pages", path, remote.MaxPages)
}

// within checks that an address of a page is one of the API.
func within(c *remote.Client, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host != c.API.Host || u.Scheme != c.API.Scheme {
		return "", fmt.Errorf("the next page is said to be at %q, which is not on %s", address, c.API.Host)
	}
	return address, nil
}

// nextPage returns the address of rel="next" in a header Link.
func nextPage(header string) string {
	for link := range strings.SplitSeq(header, ",") {
		address, rel, _ := strings.Cut(link, ";")
		if strings.Contains(rel, `rel="next"`) {
			return strings.Trim(strings.TrimSpace(address), "<>")
		}
	}
	return ""
}
