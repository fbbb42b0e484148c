package token

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
	"arbor/internal/test/dbtest"
)

// wantError checks kind and words of an error: an operator at the command line
// has nothing else to go by.
func wantError(t *testing.T, err error, kind errs.Kind, words string) {
	t.Helper()
	if !errs.Is(err, kind) || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want kind %d with %q", err, kind, words)
	}
}

// What cannot be a token is refused with the reason, and organizations hold none.
func TestImpossibleTokens(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b, ctx := newBundle(t, engine), context.Background()
		b.user("alice")
		if _, err := b.accounts.CreateOrg(ctx, "acme", "alice"); err != nil {
			t.Fatal(err)
		}

		tokenError := func(n NewToken) error { _, _, err := b.s.CreateToken(ctx, n); return err }
		wantError(t, tokenError(NewToken{Login: "acme"}), errs.Invalid, "organization")
		wantError(t, tokenError(NewToken{Login: "nobody"}), errs.NotFound, "nobody")
		wantError(t, tokenError(NewToken{Login: "alice", Note: "a\x00"}), errs.Invalid, "note")
		wantError(t, tokenError(NewToken{Login: "alice", Expires: -1}), errs.Invalid, "past")
		_, err := b.s.Tokens(ctx, "acme")
		wantError(t, err, errs.Invalid, "organization")
	})
}

// What an operator asks for must be what the token may do, and be seen in the list.
func TestLimitsOfTokens(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b, ctx := newBundle(t, engine), context.Background()
		b.user("alice")
		b.user("bob")
		public, _ := scope.Parse("public_repo,read:org")
		for _, c := range []struct {
			n   NewToken
			may string
		}{
			{NewToken{Scopes: scope.All}, "everything"}, {NewToken{}, "read what is public"},
			{NewToken{Scopes: public}, "public_repo, read:org"},
		} {
			c.n.Login = "alice"
			if _, _, err := b.s.CreateToken(ctx, c.n); err != nil {
				t.Fatal(err)
			}
			list, err := b.s.Tokens(ctx, "")
			if err != nil || list[len(list)-1].May() != c.may || list[len(list)-1].Login != "alice" {
				t.Errorf("%q is listed as %+v, %v", c.may, list, err)
			}
		}
		if list, err := b.s.Tokens(ctx, "bob"); err != nil || len(list) != 1 || list[0].Login != "bob" {
			t.Errorf("bob has %v, %v", list, err)
		}
		for _, n := range []NewToken{{Scopes: public, Repos: []int64{1}}, {Changes: true},
			{Repos: make([]int64, maxChosen+1)}} {
			n.Login = "alice"
			if _, _, err := b.s.CreateToken(ctx, n); !errs.Is(err, errs.Invalid) {
				t.Errorf("%+v: %v", n, err)
			}
		}
		// A fine-grained token without a repository left must not become one for everything.
		token, _, err := b.s.CreateToken(ctx, NewToken{Login: "alice", Repos: []int64{99}, Changes: true})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		caller, _, err := b.s.Authenticate(r)
		if err != nil || caller.Reach != account.Chosen || caller.Most(99, 1, true) != account.None ||
			caller.Most(99, 1, false) != account.Pull || !caller.HidesMembers {
			t.Errorf("%+v, %v", caller, err)
		}
	})
}

func TestParseExpiry(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"": 0, "90d": 90 * 24 * time.Hour, "12h": 12 * time.Hour, "30s": 30 * time.Second,
		"5m": 5 * time.Minute,
		"2w": 14 * 24 * time.Hour, "2026-11-24": 12 * time.Hour, "36500d": maxExpiry,
	} {
		if got, err := ParseExpiry(s, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)); err != nil ||
			got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"0d", "-1d", "d", "1", "1.5h", "1h30m", "36501d", "99999999999999999999s",
		" 1d", "1D", "+1d", "1y", "2026-11-23", "2026-02-30", "2127-01-01"} {
		if got, err := ParseExpiry(s, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)); !errs.Is(err,
			errs.Invalid) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}

// A test that knows its tokens beforehand works with those that it gave; they
// are as secret as others, and nobody's twice.
func TestGivenToken(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		s, accounts := New(d, slog.New(slog.DiscardHandler)), account.New(d, nil)
		for _, login := range []string{"alice", "bob"} {
			if _, err := accounts.CreateUser(t.Context(), account.NewUser{Login: login}); err != nil {
				t.Fatal(err)
			}
		}
		token, _, err := s.CreateToken(t.Context(),
			NewToken{Login: "alice", Value: "arb_alice", Scopes: scope.All})
		if err != nil || token != "arb_alice" {
			t.Fatalf("%q, %v", token, err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", "Bearer arb_alice")
		if c, _, err := s.Authenticate(r); err != nil || c.Login != "alice" {
			t.Errorf("the token stands for %v: %v", c, err)
		}
		if list, err := s.Tokens(t.Context(), "alice"); err != nil || len(list) != 1 ||
			list[0].Hint != "arb_" {
			t.Errorf("the list shows %+v: %v", list, err)
		}
		for _, value := range []string{"arb_alice", "alice_token", "arb_abc", "arb_a b c d",
			"arb_" + strings.Repeat("x", 252)} {
			_, _, err := s.CreateToken(t.Context(), NewToken{Login: "bob", Value: value})
			if !errs.Is(err, errs.Invalid) || strings.Contains(err.Error(), value) {
				t.Errorf("%.20q: %v", value, err)
			}
		}
	})
}
