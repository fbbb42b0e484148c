package remote

import (
	"bytes"
	"cmp"
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
	maxTries   = 6               // of a request that fails
	maxWaits   = 50              // for the server's rate limit, of one request
	maxWait    = 2 * time.Hour   // each time
	answerTime = 2 * time.Minute // until a request is answered
)

// Client sends requests to one server, one at a time, as GitHub asks its clients to.
type Client struct {
	Base   *url.URL // of the server's pages
	API    *url.URL // ends with /
	Kind   string   // of server, as errors call it, such as GitHub
	Header string   // in which requests to the API have the token
	Scheme string   // before the token in Header, such as Bearer; empty: nothing
	Accept string   // the media type of the API's answers

	Sleep func(ctx context.Context, d time.Duration) error // waits; tests replace it

	o        Options
	http     *http.Client
	minute   time.Duration // of steady; shorter in a test
	answered bool          // the server has answered before, so failed requests are repeated
	read     int64         // bytes of answers
}

// NewClient returns a client for the server whose pages are below base, and whose API is below api.
func NewClient(base, api *url.URL, o Options) *Client {
	c := &Client{Base: base, API: api, Header: "Authorization", Scheme: "Bearer", Accept: "application/json", Sleep: git.Sleep, o: o,
		minute: time.Minute}
	c.http = &http.Client{CheckRedirect: c.redirect, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: answerTime, TLSHandshakeTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 1 << 20, IdleConnTimeout: time.Minute}}
	if o.Bounds != nil {
		t := c.http.Transport.(*http.Transport)
		t.Proxy, t.DialContext = nil, o.Bounds.Networks.Dial
	}
	return c
}

// redirect follows redirects within the server, such as those of renamed repositories. Others are answers.
func (c *Client) redirect(r *http.Request, before []*http.Request) error {
	if len(before) > 5 {
		return errors.New("too many redirects")
	}
	if r.URL.Host != before[0].URL.Host || r.URL.Scheme != before[0].URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// WithoutToken returns a client for the same server that sends no token: what it reads is what everybody sees.
func (c *Client) WithoutToken() *Client {
	o := c.o
	o.Token = ""
	out := NewClient(c.Base, c.API, o)
	out.Kind, out.Accept, out.Sleep = c.Kind, c.Accept, c.Sleep
	return out
}

// tokenUser is the name that goes with a token where git asks for a user.
const tokenUser = "x-access-token"

// Basic is the header with which git authenticates; empty without a token.
func (c *Client) Basic() string {
	if c.o.Token == "" {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(tokenUser+":"+c.o.Token))
}

// Refusal is the error for an answer with a failure status.
type Refusal struct {
	Status int
	Text   string
}

// Error returns what the server said.
func (r *Refusal) Error() string { return r.Text }

// Absent reports whether the server does not have something, or does not show it.
func Absent(err error) bool {
	var r *Refusal
	return errors.As(err, &r) &&
		(r.Status == http.StatusNotFound || r.Status == http.StatusForbidden || r.Status == http.StatusGone ||
			r.Status == http.StatusUnauthorized)
}

// Get decodes the answer to a GET of a path of the API into all of the values. Errors: *[Refusal].
func (c *Client) Get(ctx context.Context, path string, into ...any) error {
	return c.JSON(ctx, http.MethodGet, c.At(path), nil, nil, into...)
}

// At returns the address of a path of the API, which may have a query.
func (c *Client) At(path string) string { return c.API.String() + path }

// JSON sends a request, and decodes its answer into all of the values. Without a header it is one to the API.
func (c *Client) JSON(
	ctx context.Context, method, address string, header http.Header, body any, into ...any,
) error {
	text, _, err := c.Answer(ctx, method, address, header, body)
	if err != nil {
		return err
	}
	for _, v := range into {
		if err := json.Unmarshal(text, v); err != nil {
			return c.unexpected(address, err)
		}
	}
	return nil
}

// unexpected is the error for an answer of another shape than that of servers of the kind.
func (c *Client) unexpected(address string, err error) error {
	return fmt.Errorf("%s: unexpected answer for a %s server: %w", address, c.Kind, err)
}

// Answer sends a request, and reads its answer, again if that breaks off. It returns the answer's header.
func (c *Client) Answer(
	ctx context.Context, method, address string, header http.Header, body any,
) (text []byte, said http.Header, err error) {
	if header == nil {
		header = http.Header{"Accept": {c.Accept}}
	}
	var send []byte
	if body != nil {
		if send, err = json.Marshal(body); err != nil {
			return nil, nil, err
		}
	}
	for try := 1; ; try++ {
		a, err := c.Do(ctx, method, address, send, header)
		if err != nil {
			return nil, nil, err
		}
		most := int64(maxAnswer)
		if c.o.Bounds != nil {
			most = c.o.Bounds.Answer
		}
		text, err = io.ReadAll(io.LimitReader(a.Body, most+1))
		a.Body.Close()
		c.read += int64(len(text))
		switch {
		case err == nil && int64(len(text)) > most:
			return nil, nil, fmt.Errorf("an answer of %s has more than %d bytes", c.API.Host, most)
		case c.o.Bounds != nil && c.read > c.o.Bounds.Answers:
			return nil, nil, fmt.Errorf("%s answers with more than %d bytes: an import by the command arbor import has no "+
				"such limit", c.API.Host, c.o.Bounds.Answers)
		case err == nil:
			return text, a.Header, nil
		case try == maxTries || ctx.Err() != nil:
			return nil, nil, err
		}
		if err := c.pause(ctx, try); err != nil {
			return nil, nil, err
		}
	}
}

// Page reads a page of a list, if the disk has room for more.
func (c *Client) Page(ctx context.Context, address string) (text []byte, said http.Header, err error) {
	if c.o.Room != nil {
		if err := c.o.Room(); err != nil {
			return nil, nil, err
		}
	}
	return c.Answer(ctx, http.MethodGet, address, nil, nil)
}

// EachOf calls fn with the items of a page one after another, and returns how many there are. A page has no more than
// most: a small answer could be millions of items otherwise, each of which takes memory. null is an empty list.
func EachOf[T any](c *Client, text []byte, address string, most int, fn func(*T) error) (n int, err error) {
	if string(bytes.TrimSpace(text)) == "null" {
		return 0, nil
	}
	in := json.NewDecoder(bytes.NewReader(text))
	if begin, err := in.Token(); err != nil || begin != json.Delim('[') {
		return 0, c.unexpected(address, errors.Join(err, errors.New("not a list")))
	}
	for ; in.More(); n++ {
		if n == most {
			return n, c.unexpected(address, fmt.Errorf("a page has more than %d items", most))
		}
		var one *T
		if err := in.Decode(&one); err != nil {
			return n, c.unexpected(address, err)
		}
		if one == nil {
			continue
		}
		if err := fn(one); err != nil {
			return n, err
		}
	}
	if _, err := in.Token(); err != nil {
		return n, c.unexpected(address, err)
	}
	return n, nil
}

// Do sends a request until it is answered: it waits where the server says that its rate limit is used up, and tries
// again after failures. Errors: *Refusal for an answer that says no.
func (c *Client) Do(
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
				c.o.Progress("wait until "+time.Now().Add(wait).Format("15:04:05")+" (the server's rate limit)", 0, 0)
				if err := c.Sleep(ctx, wait); err != nil {
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
		c.o.Progress("try again: "+err.Error(), 0, 0)
		if err := c.pause(ctx, try-1); err != nil {
			return nil, err
		}
	}
}

// pause waits before the next try: a second, then twice as long each time.
func (c *Client) pause(ctx context.Context, try int) error { return c.Sleep(ctx, time.Second<<(try-1)) }

func (c *Client) once(
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
	if c.o.Token != "" && r.Header.Get("Authorization") == "" && r.URL.Host == c.API.Host {
		r.Header.Set(c.Header, strings.TrimSpace(c.Scheme+" "+c.o.Token))
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	a, err := c.http.Do(r.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	c.answered = true
	a.Body = &steady{ReadCloser: a.Body, ctx: ctx, cancel: cancel, minute: c.minute}
	return a, nil
}

// refused reads an answer that says no.
func (c *Client) refused(a *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(a.Body, 64<<10))
	a.Body.Close()
	var said struct {
		Message, Error string
		Description    string `json:"error_description"`
	}
	if json.Unmarshal(text, &said) != nil {
		said.Message = ""
	}
	reason := cmp.Or(said.Message, said.Description, said.Error, "no reason given")
	return &Refusal{a.StatusCode, fmt.Sprintf("%s answers %s: %.200q", a.Request.URL.Host, a.Status, reason)}
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
	for _, limit := range [...]string{"X-Ratelimit-", "Ratelimit-"} { // GitHub's, and GitLab's
		if a.Header.Get(limit+"Remaining") != "0" {
			continue
		}
		if at, err := strconv.ParseInt(a.Header.Get(limit+"Reset"), 10, 64); err == nil {
			return max(time.Until(time.Unix(at, 0)), 0) + time.Second
		}
	}
	if a.StatusCode == http.StatusTooManyRequests {
		return time.Minute
	}
	return 0
}
