package arbortest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/ephemeral"
	"arbor/internal/seed"
	"arbor/internal/server"
)

//go:embed default.yaml
var defaultSeed string

// Server is a server that answers until its test ends. It is safe for
// concurrent use.
type Server struct {
	URL string // of the API and of git, without a slash at the end

	seed   *seed.Seed
	server *ephemeral.Server
}

// Option configures a server or its contents.
type Option func(*options) error

type options struct {
	ephemeral.Options
}

// Seed fills the server from a file in the format of docs/seed.md.
func Seed(file string) Option {
	return func(o *options) (err error) {
		o.Seed, err = seed.Load(file)
		return err
	}
}

// YAML is Seed for the text itself. Paths in it are relative to the test's
// folder.
func YAML(text string) Option {
	return func(o *options) (err error) {
		o.Seed, err = seed.Parse("seed", ".", []byte(text))
		return err
	}
}

// Log sets the server's logger. The default discards all logs.
func Log(l *slog.Logger) Option {
	return func(o *options) error {
		o.Server.Log = l
		return nil
	}
}

// RateLimit limits each token, and each address without a token, to n requests per hour. The default is
// unlimited.
func RateLimit(n int64) Option {
	return func(o *options) error {
		o.Server.RateLimit = n
		return nil
	}
}

// Start starts a server with its own store on a free port. It stops when the test and all its subtests have
// ended. Without Seed and YAML it has the contents of default.yaml in this directory: alice, bob and
// gardener, the site administrator, with the tokens arb_alice_token and so on, and the repository
// alice/hello with an issue and a pull request. An invalid seed fails the test immediately.
func Start(t testing.TB, list ...Option) *Server {
	t.Helper()
	var o options
	for _, option := range list {
		if err := option(&o); err != nil {
			t.Fatalf("arbortest: %v", err)
		}
	}
	if o.Seed == nil {
		if err := YAML(defaultSeed)(&o); err != nil {
			t.Fatalf("arbortest: %v", err)
		}
	}
	s, err := ephemeral.Start(context.Background(), o.Options)
	if err != nil {
		t.Fatalf("arbortest: %v", err)
	}
	l, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatalf("arbortest: %v", errors.Join(err, s.Close()))
	}
	serve(t, s, l)
	return &Server{URL: "http://" + l.Addr().String(), seed: o.Seed, server: s}
}

// serve answers on the listener until the test ends.
func serve(t testing.TB, s *ephemeral.Server, l net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("arbortest: the server stopped: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("arbortest: %v", err)
		}
	})
}

// Token is the first token that the seed gives a user. It panics for a user to
// whom the seed gives none, which is a mistake of the test.
func (s *Server) Token(login string) string {
	list := s.seed.Tokens(login)
	if len(list) == 0 {
		panic(fmt.Sprintf("arbortest: the seed gives %q no token", login))
	}
	return list[0]
}

// CloneURL is the address of a repository, OWNER/NAME, for git: with a user's
// token, or without any for "". It panics as Token does.
func (s *Server) CloneURL(repository, login string) string {
	u, err := url.Parse(s.URL + "/" + repository + ".git")
	if err != nil {
		panic(err)
	}
	if login != "" {
		u.User = url.UserPassword(login, s.Token(login))
	}
	return u.String()
}

// Client is a client that sends a user's token with each request to the server,
// none for "", and nothing to anybody else. It panics as Token does.
func (s *Server) Client(login string) *http.Client {
	c := &client{host: strings.TrimPrefix(s.URL, "http://")}
	if login != "" {
		c.authorization = "Bearer " + s.Token(login)
	}
	return &http.Client{Transport: c}
}

// client adds credentials to requests.
type client struct{ host, authorization string }

func (c *client) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.authorization != "" && r.URL.Host == c.host && r.Header.Get("Authorization") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", c.authorization)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Reset returns to the seed, within some milliseconds: requests that come
// afterwards find nothing that was done since Start. Tokens and the address stay.
func (s *Server) Reset(t testing.TB) {
	t.Helper()
	if err := s.server.Reset(t.Context()); err != nil {
		t.Fatalf("arbortest: %v", err)
	}
}
