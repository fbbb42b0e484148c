package app

import (
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// Whoever can make the server read something else than it verified, or panic, acts as any App.
func FuzzJWT(f *testing.F) {
	f.Add("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOjEsImlhdCI6MSwiZXhwIjoyfQ.AAAA")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add("..")
	f.Add("e30.eyJpc3MiOiJhIiwiaWF0IjoxZTMwMCwiZXhwIjoiMiJ9.AA")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	testkit.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		err := parseJWT(text, time.Unix(1, 0), func(*claims) (*rsa.PublicKey, error) { return &key.PublicKey, nil })
		if err == nil {
			t.Errorf("%q verifies under a key that did not sign it", text)
		}
	})
}

// A manifest comes from outside: it is refused with a reason, or what it makes holds its own rules.
func FuzzManifest(f *testing.F) {
	f.Add(`{"name":"a","url":"https://b","default_permissions":{"issues":"write"},"default_events":["issues"]}`)
	f.Add(`{"name":"a","url":"https://b","hook_attributes":{"url":"https://c","active":false}}`)
	f.Add(`{"name":null,"url":7,"default_events":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseManifest([]byte(text))
		if err != nil {
			return
		}
		if err := m.check(); err != nil {
			t.Errorf("%q was taken, and then: %v", text, err)
		}
		if slug, err := slugOf(m.Name); err == nil &&
			strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("the slug of %q is %q", m.Name, slug)
		}
	})
}

// An App that lists what it may not read would be told of it.
func TestManifestEvents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"name":"a","url":"https://b","default_events":["push"]}`:                                                         "push takes contents",
		`{"name":"a","url":"https://b","default_events":["pushed"]}`:                                                       "unknown event",
		`{"name":"a","url":"https://b","default_permissions":{"content":"read"}}`:                                          `no permission "content"`,
		`{"name":"a","url":"https://b","default_permissions":{"contents":"all"}}`:                                          `"all"`,
		`{"name":" ","url":"https://b"}`:                                                                                   "name",
		`{"name":"a","url":"ftp://b"}`:                                                                                     "url",
		`{"name":"` + strings.Repeat("a", 35) + `","url":"https://b"}`:                                                     "",
		`{"name":"a","url":"https://b","default_events":["label"],"default_permissions":{"issues":"read"}}`:                "-",
		`{"name":"a","url":"https://b","default_events":["issue_comment"],"default_permissions":{"pull_requests":"read"}}`: "-",
	} {
		_, err := ParseManifest([]byte(text))
		if (want == "-") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
