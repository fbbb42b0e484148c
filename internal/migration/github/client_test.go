package github

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/migration/remote"
	"arbor/internal/test/testkit"
)

// answers starts a server with one handler, and returns a client of it.
func answers(t *testing.T, h http.HandlerFunc) *remote.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, _, err := newClient(server.URL+"/prefix/acme/tool.git", remote.Options{Token: "secret",
		Progress: func(string, int64, int64) {}})
	testkit.NoError(t, err)
	return c
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
		c, _, err := newClient(address, remote.Options{})
		if (err == nil) != (want != "") || err == nil && c.API.String() != want {
			t.Errorf("the API of %q is %v, %v, want %q", address, c, err, want)
		}
	}
}

// A token goes to no other server, whatever the server answers; nor is an inner address asked.
func TestToken(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was asked, with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	c := answers(t, func(w http.ResponseWriter, r *http.Request) {
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
	s := &Source{Source: remote.NewSource(c), path: "repos/acme/tool"}
	if err := each(t.Context(), c, "list", func(*remote.User) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "next page") {
		t.Errorf("a page elsewhere: %v", err)
	}
	if in, err := s.openAsset(t.Context(), "1"); err == nil || !strings.Contains(err.Error(), "inner network") {
		t.Errorf("a redirect to an inner address: %v, %v", in, err)
	}
	if err := c.Get(t.Context(), "elsewhere", &struct{}{}); err == nil {
		t.Error("an answer of the API that leads elsewhere is taken")
	}
	var here struct{ Message string }
	if err := c.Get(t.Context(), "renamed", &here); err != nil || here.Message != "Bearer secret" {
		t.Errorf("a renamed repository: %+v, %v", here, err)
	}
}

// What a server says of its own address and name makes nothing of it an import from elsewhere.
func TestSourceIsWhereItWasRead(t *testing.T) {
	t.Parallel()
	c := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"full_name":"acme/other","html_url":"https://elsewhere.example/acme/other"}`)
	})
	s := &Source{Source: remote.NewSource(c), path: "repos/some/thing"}
	about, err := s.repository(t.Context())
	testkit.NoError(t, err)
	if want := c.Base.String() + "/acme/other"; about.Source != want {
		t.Errorf("the source is %q, want %q", about.Source, want)
	}
}
