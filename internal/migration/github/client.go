package github

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"arbor/internal/git"
)

// Bounds of requests.
const (
	maxAnswer  = 64 << 20        // bytes of an answer that is decoded
	perPage    = 100             // items of a page
	maxPages   = 100_000         // of a list
	maxTries   = 6               // of a request that fails
	maxWaits   = 50              // for the server's rate limit, of one request
	maxWait    = 2 * time.Hour   // each time
	answerTime = 2 * time.Minute // until a request is answered
)

// client sends requests to one server, one at a time, as GitHub asks its clients to.
type client struct {
	http  *http.Client
	base  *url.URL // of the server's pages
	api   *url.URL // ends with /
	token string
	say   func(part string, done, all int64)
	sleep func(ctx context.Context, d time.Duration) error

	room func() error // whether the disk has room for more; nil: it is not asked

	answered bool // the server is there: what fails from now on is tried again
}

// server splits an address into that of a server's pages and the names behind it: of an organization or a repository.
func server(address string) (base *url.URL, names []string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, nil, fmt.Errorf("%q is not the address of a repository, such as https://github.com/OWNER/NAME", address)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/") {
		if names = append(names, part); part == "" {
			return nil, nil, fmt.Errorf("%q does not name a repository: OWNER/NAME", address)
		}
	}
	most := max(0, len(names)-2)
	base = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + strings.Join(names[:most], "/")}
	return base, names[most:], nil
}

// newClient returns a client for the server of an address, and the names behind it.
func newClient(address string, o Options) (*client, []string, error) {
	base, names, err := server(address)
	if err != nil {
		return nil, nil, err
	}
	api := base.JoinPath("api/v3/")
	if strings.EqualFold(base.Host, "github.com") {
		api = &url.URL{Scheme: "https", Host: "api.github.com", Path: "/"}
	}
	c := &client{base: base, api: api, token: o.Token, say: o.Progress, sleep: git.Sleep, room: o.Room}
	c.http = &http.Client{CheckRedirect: c.redirect, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: answerTime, TLSHandshakeTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 1 << 20, IdleConnTimeout: time.Minute}}
	return c, names, nil
}

// redirect follows redirects within the server, such as those of renamed repositories. Others are answers.
func (c *client) redirect(r *http.Request, before []*http.Request) error {
	if len(before) > 5 {
		return errors.New("the server redirects too often")
	}
	if r.URL.Host != before[0].URL.Host || r.URL.Scheme != before[0].URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// basic is the header with which git authenticates; empty without a token.
func (c *client) basic() string {
	if c.token == "" {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+c.token))
}

// refusal is an answer that says no.
type refusal struct {
	status int
	text   string
}

// Error returns what the server said.
func (r *refusal) Error() string { return r.text }

// absent reports whether the server does not have something, or does not show it.
func absent(err error) bool {
	var r *refusal
	return errors.As(err, &r) &&
		(r.status == http.StatusNotFound || r.status == http.StatusForbidden || r.status == http.StatusGone ||
			r.status == http.StatusUnauthorized)
}

// get decodes the answer to a GET into all of the values.
func (c *client) get(ctx context.Context, path string, into ...any) error {
	return c.json(ctx, http.MethodGet, c.at(path), nil, nil, into...)
}

// at returns the address of a path of the API, which may have a query.
func (c *client) at(path string) string { return c.api.String() + path }

// json sends a request, and decodes its answer into all of the values. Without a header it is one to GitHub's API.
func (c *client) json(
	ctx context.Context, method, address string, header http.Header, body any, into ...any,
) error {
	text, _, err := c.answer(ctx, method, address, header, body)
	if err != nil {
		return err
	}
	for _, v := range into {
		if err := json.Unmarshal(text, v); err != nil {
			return unexpected(address, err)
		}
	}
	return nil
}

// unexpected is the error for an answer of another shape than GitHub's.
func unexpected(address string, err error) error {
	return fmt.Errorf("GET %s: the answer is not what GitHub answers: %w", address, err)
}

// answer sends a request, and reads its answer, again if that breaks off. next is the address of the next page; empty:
// this is the last.
func (c *client) answer(
	ctx context.Context, method, address string, header http.Header, body any,
) (text []byte, next string, err error) {
	if header == nil {
		header = http.Header{"Accept": {"application/vnd.github+json"}}
	}
	var send []byte
	if body != nil {
		if send, err = json.Marshal(body); err != nil {
			return nil, "", err
		}
	}
	for try := 1; ; try++ {
		a, err := c.do(ctx, method, address, send, header)
		if err != nil {
			return nil, "", err
		}
		text, err = io.ReadAll(io.LimitReader(a.Body, maxAnswer+1))
		a.Body.Close()
		switch {
		case err == nil && len(text) > maxAnswer:
			return nil, "", fmt.Errorf("an answer of %s has more than %d bytes", c.api.Host, maxAnswer)
		case err == nil:
			return text, nextPage(a.Header.Get("Link")), nil
		case try == maxTries || ctx.Err() != nil:
			return nil, "", err
		}
		if err := c.pause(ctx, try); err != nil {
			return nil, "", err
		}
	}
}

// each calls fn with each item of a list, page after page.
func each[T any](ctx context.Context, c *client, path string, fn func(*T) error) error {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	address := c.at(path + separator + "per_page=" + strconv.Itoa(perPage))
	for range maxPages {
		text, next, err := c.answer(ctx, http.MethodGet, address, nil, nil)
		if err == nil {
			err = eachOf(text, address, fn)
		}
		if err == nil && c.room != nil {
			err = c.room()
		}
		if err != nil || next == "" {
			return err
		}
		if address, err = c.within(next); err != nil {
			return err
		}
	}
	return fmt.Errorf("the list %s has no end", path)
}

// eachOf decodes the items of a page one after another. A page has no more than were asked for: a small answer could
// be millions of items otherwise, each of which takes memory.
func eachOf[T any](text []byte, address string, fn func(*T) error) error {
	in := json.NewDecoder(bytes.NewReader(text))
	if begin, err := in.Token(); err != nil || begin != json.Delim('[') {
		return unexpected(address, errors.Join(err, errors.New("it is no list")))
	}
	for n := 0; in.More(); n++ {
		if n == perPage {
			return unexpected(address, fmt.Errorf("a page has more than %d items", perPage))
		}
		var one *T
		if err := in.Decode(&one); err != nil {
			return unexpected(address, err)
		}
		if one == nil {
			continue
		}
		if err := fn(one); err != nil {
			return err
		}
	}
	_, err := in.Token()
	if err != nil {
		return unexpected(address, err)
	}
	return nil
}

// within checks that an address of a page is one of the API.
func (c *client) within(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host != c.api.Host || u.Scheme != c.api.Scheme {
		return "", fmt.Errorf("the next page is said to be at %q, which is not on %s", address, c.api.Host)
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

// do sends a request until it is answered: it waits where the server says that its rate limit is used up, and tries
// again after failures. Errors: *refusal for an answer that says no.
func (c *client) do(
	ctx context.Context, method, address string, body []byte, header http.Header,
) (*http.Response, error) {
	waits := 0
	for try := 1; ; {
		a, err := c.once(ctx, method, address, body, header)
		if err == nil && a.StatusCode < 400 {
			return a, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			err = c.refused(a)
			if wait := waitOf(a); wait > 0 && waits < maxWaits {
				waits++
				wait = min(wait, maxWait)
				c.say("wait until "+time.Now().Add(wait).Format("15:04:05")+" (the server's rate limit)", 0, 0)
				if err := c.sleep(ctx, wait); err != nil {
					return nil, err
				}
				continue
			}
			if a.StatusCode < 500 {
				return nil, err
			}
		}
		if try++; try > maxTries || !c.answered {
			return nil, err
		}
		c.say("try again: "+err.Error(), 0, 0)
		if err := c.pause(ctx, try-1); err != nil {
			return nil, err
		}
	}
}

// pause waits before the next try: a second, then twice as long each time.
func (c *client) pause(ctx context.Context, try int) error { return c.sleep(ctx, time.Second<<(try-1)) }

func (c *client) once(
	ctx context.Context, method, address string, body []byte, header http.Header,
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header.Clone()
	r.Header.Set("User-Agent", "arbor")
	if body != nil && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" && r.Header.Get("Authorization") == "" && r.URL.Host == c.api.Host {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	a, err := c.http.Do(r)
	c.answered = c.answered || err == nil
	return a, err
}

// refused reads an answer that says no.
func (c *client) refused(a *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(a.Body, 64<<10))
	a.Body.Close()
	var said struct{ Message string }
	if json.Unmarshal(text, &said) != nil || said.Message == "" {
		said.Message = "no reason given"
	}
	return &refusal{a.StatusCode, fmt.Sprintf("%s answers %s: %.200q", a.Request.URL.Host, a.Status, said.Message)}
}

// waitOf returns how long the server wants its client to wait; 0: it says no such thing.
func waitOf(a *http.Response) time.Duration {
	if a.StatusCode != http.StatusForbidden && a.StatusCode != http.StatusTooManyRequests &&
		a.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	if seconds, err := strconv.ParseInt(a.Header.Get("Retry-After"), 10, 32); err == nil && seconds >= 0 {
		return time.Duration(seconds+1) * time.Second
	}
	if a.Header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(a.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return max(time.Until(time.Unix(at, 0)), 0) + time.Second
		}
	}
	if a.StatusCode == http.StatusTooManyRequests {
		return time.Minute
	}
	return 0
}
