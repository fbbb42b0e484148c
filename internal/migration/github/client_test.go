package github

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// answers starts a server with one handler, and returns a client of it that does not wait, and how long it would have.
func answers(t *testing.T, h http.HandlerFunc) (c *client, waited *time.Duration) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, names, err := newClient(server.URL+"/prefix/acme/tool.git", Options{Token: "secret",
		Progress: func(string, int64, int64) {}})
	testkit.NoError(t, err)
	if strings.Join(names, " ") != "acme tool" || !strings.HasSuffix(c.api.String(), "/prefix/api/v3/") {
		t.Fatalf("the API is %s, the path %s", c.api, names)
	}
	waited = new(time.Duration)
	c.sleep = func(ctx context.Context, d time.Duration) error {
		*waited += d
		return ctx.Err()
	}
	return c, waited
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/acme/tool":               "https://api.github.com/",
		"https://GitHub.com/acme/tool.git/":          "https://api.github.com/",
		"http://code.example.com:3000/acme/tool":     "http://code.example.com:3000/api/v3/",
		"https://code.example.com/below/acme/tool":   "https://code.example.com/below/api/v3/",
		"https://code.example.com/acme":              "https://code.example.com/api/v3/",
		"https://code.example.com/":                  "",
		"https://token@code.example.com/acme/tool":   "",
		"ssh://git@code.example.com/acme/tool":       "",
		"https:///acme/tool":                         "",
		"https://code.example.com//tool":             "https://code.example.com/api/v3/",
		"https://code.example.com/acme/.git":         "",
		"git@code.example.com:acme/tool":             "",
		"https://code.example.com/acme/tool\x00/bad": "",
	} {
		c, _, err := newClient(address, Options{})
		if (err == nil) != (want != "") || err == nil && c.api.String() != want {
			t.Errorf("the API of %q is %v, %v, want %q", address, c, err, want)
		}
	}
}

// Whatever the server says about its rate limit is obeyed; failures are tried again; a refusal ends it in words.
func TestWaits(t *testing.T) {
	t.Parallel()
	asked := 0
	steps := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { w.Header().Set("Retry-After", "60"); w.WriteHeader(429) },
		func(w http.ResponseWriter) { w.Header().Set("Retry-After", "30"); w.WriteHeader(503) },
		func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(20*time.Minute).Unix()))
			w.WriteHeader(403)
		},
		func(w http.ResponseWriter) { w.WriteHeader(502) },
		func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) { // ends in the middle
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		},
		func(w http.ResponseWriter) { fmt.Fprint(w, `{"full_name":"acme/tool"}`) },
		func(w http.ResponseWriter) { w.WriteHeader(403); fmt.Fprint(w, `{"message":"No \u001b[2J"}`) },
	}
	c, waited := answers(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("the token is %q", r.Header.Get("Authorization"))
		}
		asked++
		steps[asked-1](w)
	})
	var r repository
	testkit.NoError(t, c.get(t.Context(), "repos/acme/tool", &r))
	if asked != 7 || *waited < 21*time.Minute || *waited > 25*time.Minute || r.FullName != "acme/tool" {
		t.Errorf("%d requests, waited %s, got %+v", asked, waited, r)
	}
	err := c.get(t.Context(), "repos/acme/tool", &r)
	if !absent(err) || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), "403") {
		t.Errorf("a refusal: %q", err)
	}
}

// A token goes to no other server, whatever the server answers; nor is an inner address asked.
func TestToken(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was asked, with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	c, _ := answers(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/list"):
			w.Header().Set("Link", "<"+other.URL+`/list?page=2>; rel="next"`)
			fmt.Fprint(w, `[{"login":"alice"}]`)
		case strings.HasSuffix(r.URL.Path, "/renamed"):
			http.Redirect(w, r, "/prefix/api/v3/here", http.StatusMovedPermanently)
		case strings.HasSuffix(r.URL.Path, "/here"):
			fmt.Fprint(w, `{"message":"`+r.Header.Get("Authorization")+`"}`)
		default:
			http.Redirect(w, r, other.URL+"/file", http.StatusFound)
		}
	})
	s := &Source{c: c, path: "repos/acme/tool"}
	if err := each(t.Context(), c, "list", func(*user) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "next page") {
		t.Errorf("a page elsewhere: %v", err)
	}
	if in, err := s.openAsset(t.Context(), "1"); err == nil || !strings.Contains(err.Error(), "inner network") {
		t.Errorf("a redirect to an inner address: %v, %v", in, err)
	}
	if err := c.get(t.Context(), "elsewhere", &struct{}{}); err == nil {
		t.Error("an answer of the API that leads elsewhere is taken")
	}
	var here struct{ Message string }
	if err := c.get(t.Context(), "renamed", &here); err != nil || here.Message != "Bearer secret" {
		t.Errorf("a renamed repository: %+v, %v", here, err)
	}
}

// What a server says of its own address and name makes nothing of it an import from elsewhere.
func TestSourceIsWhereItWasRead(t *testing.T) {
	t.Parallel()
	c, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"full_name":"acme/other","html_url":"https://elsewhere.example/acme/other"}`)
	})
	s := &Source{c: c, path: "repos/some/thing", people: people{}}
	about, err := s.repository(t.Context())
	testkit.NoError(t, err)
	if want := c.base.String() + "/acme/other"; about.Source != want {
		t.Errorf("the source is %q, want %q", about.Source, want)
	}
}

// An answer of another shape, or without an end, is an error.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	var body string
	c, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
	for _, body = range []string{"", "<html>", `{"a":1}`, `[1]`, `[{"login":1}]`, strings.Repeat("[", 20000), `[` + strings.Repeat("{},", 100) + `{}]`, `[{}`,
		`["` + strings.Repeat("x", maxAnswer) + `"]`} {
		if err := each(t.Context(), c, "list", func(*user) error { return nil }); err == nil {
			t.Errorf("%.40q is taken", body)
		}
	}
	body = `[null]`
	testkit.NoError(t, each(t.Context(), c, "list", func(*user) error { return json.Unmarshal([]byte("x"), new(int)) }))
}
