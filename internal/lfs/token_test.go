package lfs

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
)

// A token is what was signed, and nothing else opens.
func TestTokens(t *testing.T) {
	s := &Service{Key: []byte("key")}
	want := token{Repo: 7, Upload: true, TokenID: 3, KeyID: 0, Expires: 1 << 40}
	signed := s.sign(want)
	if got, ok := s.open(signed); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	other := &Service{Key: []byte("other")}
	for _, wrong := range []string{"", "-", signed + "0", "x" + signed, strings.Replace(signed, "-7-", "-8-", 1),
		other.sign(want)} {
		if got, ok := s.open(wrong); ok {
			t.Errorf("%q opens %+v", wrong, got)
		}
	}
	if _, ok := (&Service{}).open((&Service{}).sign(want)); ok {
		t.Error("a server without a key takes tokens")
	}
}

// A token that was signed an hour ago opens nothing.
func TestTokensExpire(t *testing.T) {
	s := &Service{Key: []byte("key"), db: dbtest.Open(t, db.SQLite)}
	for _, c := range []struct {
		ago time.Duration
		ok  bool
	}{{tokenLife - time.Minute, true}, {tokenLife + time.Minute, false}} {
		made, _ := newToken(nil, 1, false, time.Now().Add(-c.ago))
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", tokenScheme+s.sign(made))
		if _, err := s.Authenticate(r); (err == nil) != c.ok || err != nil && !errs.Is(err, errs.Unauthenticated) {
			t.Errorf("signed %s ago: %v", c.ago, err)
		}
	}
	if _, ok := newToken(&account.Caller{ID: 1}, 1, false, time.Now()); ok {
		t.Error("a caller without credentials gets a token")
	}
}

func FuzzToken(f *testing.F) {
	s := &Service{Key: []byte("key")}
	f.Add(s.sign(token{Repo: 1, Expires: 5}))
	f.Add("download-1-2-3-4-ff")
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := s.open(text); ok && s.sign(got) != text {
			t.Errorf("%q opens %+v", text, got)
		}
	})
}
