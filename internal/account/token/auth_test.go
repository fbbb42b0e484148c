package token

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
)

func withHeader(value string) *http.Request {
	r := httptest.NewRequest("GET", "/user", nil)
	r.Header.Set("Authorization", value)
	return r
}

func wantBad(t *testing.T, s *Service, what, value string) {
	t.Helper()
	caller, given, err := s.Authenticate(withHeader(value))
	var e *errs.Error
	if caller != nil || !given || !errors.As(err, &e) || e.Kind != errs.Unauthenticated ||
		e.Message != "Bad credentials" {
		t.Errorf("%s: %v, %v, %v; want Bad credentials", what, caller, given, err)
	}
}

func wantCaller(t *testing.T, s *Service, what, value, login string) *account.Caller {
	t.Helper()
	caller, given, err := s.Authenticate(withHeader(value))
	if err != nil || !given || caller == nil || caller.Login != login {
		t.Fatalf("%s: %+v, %v, %v; want %q", what, caller, given, err, login)
	}
	return caller
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		alice := b.user("Alice")
		b.user("siteadmin")
		token := b.tokens["Alice"]
		if caller, given, err := b.s.Authenticate(httptest.NewRequest("GET", "/", nil)); caller != nil ||
			given || err != nil {
			t.Errorf("without a header: %v, %v, %v", caller, given, err)
		}
		for _, value := range []string{"Bearer " + token, "token " + token, basic("x:" + token),
			basic(token + ":"), basic("siteadmin:" + token)} {
			c := wantCaller(t, b.s, "a form", value, "Alice")
			if c.ID != alice.ID || c.SiteAdmin || c.TokenID == 0 {
				t.Errorf("%+v", c)
			}
		}
		if c := wantCaller(t, b.s, "an administrator", "token "+b.tokens["siteadmin"],
			"siteadmin"); !c.SiteAdmin {
			t.Error("the administrator is none")
		}
		wantBad(t, b.s, "unknown", "Bearer "+sample)
		wantBad(t, b.s, "case", "Bearer "+strings.ToLower(token))
		wantBad(t, b.s, "cut short", "Bearer "+token[:len(token)-1])
		wantBad(t, b.s, "hint", "Bearer "+token[:hintLength])
		wantBad(t, b.s, "malformed", "Bearer")
		wantBad(t, b.s, "a form nobody knows", "Digest "+token)
		if _, _, err := b.s.AuthenticateBearer(withHeader("token " + token)); !errs.Is(err,
			errs.Unauthenticated) {
			t.Errorf("the plant store takes another form: %v", err)
		}
		if c, _, err := b.s.AuthenticateBearer(withHeader("bearer " + token)); err != nil ||
			c.Login != "Alice" {
			t.Errorf("the plant store: %v, %v", c, err)
		}
	})
}

// A token must end when its time is over, though it lies in the cache.
func TestExpiry(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		b.user("alice")
		now := time.Now()
		var mu sync.Mutex
		b.s.clock = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
		short, _ := b.token("alice", time.Hour)
		wantCaller(t, b.s, "fresh", "Bearer "+short, "alice")
		mu.Lock()
		now = now.Add(59 * time.Minute)
		mu.Unlock()
		wantCaller(t, b.s, "before its end", "Bearer "+short, "alice")
		mu.Lock()
		now = now.Add(2 * time.Minute)
		mu.Unlock()
		wantBad(t, b.s, "after its end, cached", "Bearer "+short)
		wantBad(t, New(b.db, b.s.log), "never seen", "Bearer "+must(b.s.CreateToken(context.Background(),
			NewToken{Login: "alice", Expires: time.Nanosecond})))
		wantCaller(t, b.s, "without an end", "Bearer "+b.tokens["alice"], "alice")
	})
}

func must(token string, _ int64, err error) string {
	if err != nil {
		panic(err)
	}
	return token
}

// A stolen token must be invalid immediately, also when another process revokes it (the command line or
// another node).
func TestRevokedByAnotherProcess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.URL(t, engine)
		b := bundleOn(t, dbtest.OpenURL(t, address))
		other := New(dbtest.OpenURL(t, address), b.s.log)
		b.user("alice")
		ctx := context.Background()
		first, id := b.token("alice", 0)
		second, _ := b.token("alice", 0)
		wantCaller(t, b.s, "first", "Bearer "+first, "alice")
		wantCaller(t, b.s, "second", "Bearer "+second, "alice")
		if err := other.RevokeToken(ctx, fmt.Sprint(id)); err != nil {
			t.Fatal(err)
		}
		wantBad(t, b.s, "revoked by id", "Bearer "+first)
		wantCaller(t, b.s, "second stays", "Bearer "+second, "alice")
		if err := other.RevokeToken(ctx, second); err != nil {
			t.Fatal(err)
		}
		wantBad(t, b.s, "revoked by itself", "Bearer "+second)
		if err := other.RevokeToken(ctx, second); err != nil {
			t.Errorf("revoking twice: %v", err)
		}
		for _, name := range []string{sample, "0", "999999", "", "nonsense", first + "x",
			strings.Repeat("a", 5000)} {
			err := b.s.RevokeToken(ctx, name)
			if !errs.Is(err, errs.NotFound) ||
				name != "" && len(name) > 9 && strings.Contains(err.Error(), name) {
				t.Errorf("revoke %.60q: %v", name, err)
			}
		}
	})
}

// An operator finds forgotten tokens by their last use; it must arrive, survive
// the end of the server, never go back, and cost no generation.
func TestLastUse(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		b.user("alice")
		ctx := context.Background()
		wantCaller(t, b.s, "use", "Bearer "+b.tokens["alice"], "alice")
		before := generation(t, b)
		running, stop := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- b.s.Run(running) }()
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		list, err := b.s.Tokens(ctx, "alice")
		if err != nil || len(list) != 1 || list[0].LastUsedAt == 0 || list[0].ExpiresAt != 0 ||
			list[0].RevokedAt != 0 {
			t.Fatalf("tokens: %+v, %v", list, err)
		}
		if generation(t, b) != before {
			t.Error("a last use made everyone's cache stale")
		}
		b.s.uses.note(list[0].ID, 1)
		b.s.flush(ctx)
		if again, err := b.s.Tokens(ctx, "alice"); err != nil || again[0].LastUsedAt != list[0].LastUsedAt {
			t.Errorf("the last use went back: %+v, %v", again, err)
		}
	})
}

func generation(t *testing.T, b *bundle) int64 {
	t.Helper()
	n, err := b.db.Generation(context.Background(), account.Topic)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Someone who guesses tokens must not be able to fill the memory, and neither
// may many tokens in use.
func TestCachesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t, db.SQLite)
	for i := range 100 {
		wantBad(t, b.s, "guess", fmt.Sprintf("Bearer arb_GUESS%d", i))
	}
	if n := b.s.tokens.Len(); n != 0 {
		t.Errorf("%d wrong tokens are kept", n)
	}
	for i := range maxCachedTokens + 100 {
		b.s.tokens.Put(cache.Generations(1), Digest(fmt.Sprint(i)), cachedToken{})
		b.s.uses.note(int64(i), 1)
	}
	if n := b.s.tokens.Len(); n != maxCachedTokens {
		t.Errorf("%d tokens are kept", n)
	}
	total := 0
	for batch := b.s.uses.take(); len(batch) > 0; batch = b.s.uses.take() {
		if len(batch) > flushBatch {
			t.Errorf("a batch of %d", len(batch))
		}
		total += len(batch)
	}
	if total != maxCachedTokens {
		t.Errorf("%d last uses waited", total)
	}
}

// Tokens must not appear in the log or the database.
func TestTokensStayHidden(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		b.user("alice")
		token := b.tokens["alice"]
		if len(token) != len(Prefix)+tokenRandom || !strings.HasPrefix(token, Prefix) {
			t.Errorf("the token has %d characters", len(token))
		}
		b.do("alice", "GET", "/user", "")
		b.do("", "GET", "/user", "", "Authorization", "Bearer "+token+"x")
		canceled, cancel := context.WithCancel(context.Background())
		cancel()
		_, _, err := b.s.Authenticate(withHeader("Bearer " + token).WithContext(canceled))
		secret := token[hintLength:]
		if strings.Contains(fmt.Sprint(err), secret) || strings.Contains(b.log.String(), secret) {
			t.Errorf("the token shows: %v\n%s", err, b.log)
		}
		list, err := b.s.Tokens(context.Background(), "ALICE")
		if err != nil || len(list) != 1 || list[0].Hint != token[:hintLength] || list[0].Note != "test" {
			t.Fatalf("%+v, %v", list, err)
		}
		var stored []byte
		err = b.db.Read(context.Background(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT digest FROM tokens`).Scan(&stored)
		})
		d := Digest(token)
		if err != nil || !bytes.Equal(stored, d[:]) {
			t.Errorf("stored is %x, %v", stored, err)
		}
	})
}
