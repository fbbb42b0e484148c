package outgoing

import (
	"context"
	"errors"
	"net/http"
)

// maxRedirects is how many redirects Fetch follows.
const maxRedirects = 4

// errRedirect says that an answer redirects too often, or to an address that Fetch does not ask for.
var errRedirect = errors.New("redirected too often, or to an address with a password")

// followFew lets a client follow redirects. Each step is a new connection, whose address the dialer checks.
func followFew(r *http.Request, before []*http.Request) error {
	r.Header.Del("Referer")
	if len(before) > maxRedirects || r.URL.User != nil {
		return errRedirect
	}
	return nil
}

// Fetch requests an address with GET, and follows a few redirects. The body comes as it was sent: nothing
// decompresses it. ctx bounds the time until it has been read; the caller closes it. The error has no address in it.
func (c *Client) Fetch(ctx context.Context, address string, header http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address is invalid")
	}
	r.Header = header
	client := &http.Client{Transport: c.strict.Transport, CheckRedirect: followFew}
	response, err := client.Do(r)
	if err != nil {
		return nil, errors.New(describe(err))
	}
	return response, nil
}

// Do sends a request and follows no redirect. The caller reads the answer's body and closes it; the request's context
// bounds the time until then. The error has no address in it.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	response, err := c.strict.Do(r)
	if err != nil {
		return nil, errors.New(describe(err))
	}
	return response, nil
}
