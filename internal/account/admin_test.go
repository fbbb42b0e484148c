package account

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// wantError checks kind and words of an error: an operator at the command line
// has nothing else to go by.
func wantError(t *testing.T, err error, kind errs.Kind, words string) {
	t.Helper()
	if !errs.Is(err, kind) || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want kind %d with %q", err, kind, words)
	}
}

func TestAdministration(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		ctx := context.Background()
		alice, err := b.s.CreateUser(ctx, NewUser{Login: "Alice", Name: "Alice Ä.",
			Email: "alice@example.org"})
		if err != nil || alice.ID == 0 || alice.CreatedAt == 0 || *alice.Name != "Alice Ä." ||
			alice.Company != nil {
			t.Fatalf("%+v, %v", alice, err)
		}
		org := b.org("Acme", "ALICE")
		if org.DefaultRole != Pull || org.Kind != Organization || org.ID == alice.ID {
			t.Errorf("%+v", org)
		}
		create := func(login, name, email string) error {
			_, err := b.s.CreateUser(ctx, NewUser{Login: login, Name: name, Email: email})
			return err
		}
		wantError(t, create("alicE", "", ""), errs.Invalid, `"Alice" is taken by a user`)
		wantError(t, create("acme", "", ""), errs.Invalid, `"Acme" is taken by an organization`)
		wantError(t, create("plants", "", ""), errs.Invalid, "reserved")
		wantError(t, create("a b", "", ""), errs.Invalid, "letters")
		wantError(t, create("bob", "two\nlines", ""), errs.Invalid, "name")
		wantError(t, create("bob", "nul\x00", ""), errs.Invalid, "name")
		wantError(t, create("bob", "\xff", ""), errs.Invalid, "name")
		wantError(t, create("bob", strings.Repeat("x", 256), ""), errs.Invalid, "too long")
		for _, email := range []string{"x", "@", "a@", "@b", "a b@c", "<a@b>", "a@b\nc", "a@b@c", "\xff@b"} {
			wantError(t, create("bob", "", email), errs.Invalid, "e-mail")
		}
		orgError := func(login, owner string) error { _, err := b.s.CreateOrg(ctx, login, owner); return err }
		wantError(t, orgError("new-org", "nobody"), errs.NotFound, `user "nobody", the owner of the organization, not found`)
		wantError(t, orgError("new-org", "acme"), errs.Invalid, "only a user")
		wantError(t, orgError("aLice", "Alice"), errs.Invalid, "taken by a user")
		wantError(t, orgError("orgs", "Alice"), errs.Invalid, "reserved")

		tokenError := func(n NewToken) error { _, _, err := b.s.CreateToken(ctx, n); return err }
		wantError(t, tokenError(NewToken{Login: "acme"}), errs.Invalid, "organization")
		wantError(t, tokenError(NewToken{Login: "nobody"}), errs.NotFound, "nobody")
		wantError(t, tokenError(NewToken{Login: "alice", Note: "a\x00"}), errs.Invalid, "note")
		wantError(t, tokenError(NewToken{Login: "alice", Expires: -1}), errs.Invalid, "past")
		_, err = b.s.Tokens(ctx, "acme")
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
		testkit.NoError(t, err)
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		caller, _, err := b.s.Authenticate(r)
		if err != nil || caller.Reach != Chosen || caller.Most(99, 1, true) != None ||
			caller.Most(99, 1, false) != Pull || !caller.HidesMembers {
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

// The pages of every other feature show people: they come in one query,
// repeated ids and missing ones included.
func TestStore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		alice, bob := b.user("alice"), b.user("bob")
		org := b.org("acme", "alice")
		before := generation(t, b)
		err := b.db.Write(context.Background(), func(tx *db.Tx) error {
			found, err := ByIDs(tx, []ID{bob.ID, alice.ID, bob.ID, 999, org.ID, bob.ID, alice.ID})
			if err != nil || len(found) != 3 || found[bob.ID].Login != "bob" ||
				found[org.ID].Kind != Organization {
				t.Errorf("ByIDs: %v, %v", found, err)
			}
			if none, err := ByIDs(tx, nil); err != nil || len(none) != 0 {
				t.Errorf("ByIDs of none: %v, %v", none, err)
			}
			member, owner, err := OrgRole(tx, org.ID, alice.ID)
			if !member || !owner || err != nil {
				t.Errorf("OrgRole: %v, %v, %v", member, owner, err)
			}
			if member, owner, err := OrgRole(tx, org.ID, bob.ID); member || owner || err != nil {
				t.Errorf("OrgRole: %v, %v, %v", member, owner, err)
			}
			for _, login := range []string{"nobody", "", "\x00", "\xff", strings.Repeat("a", 300)} {
				if _, err := ByLogin(tx, login); !errs.Is(err, errs.NotFound) {
					t.Errorf("ByLogin(%q): %v", login, err)
				}
			}
			if err := CountRepos(tx, alice.ID, 2, 1); err != nil {
				return err
			}
			return CountRepos(tx, alice.ID, -1, 0)
		})
		testkit.NoError(t, err)
		if generation(t, b) == before {
			t.Error("a change of the counters left the generation as it was")
		}
		a, err := b.s.find(context.Background(), "ALICE")
		if err != nil || a.PublicRepos != 1 || a.PrivateRepos != 1 {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// If two accounts take a login concurrently, one gets it and the other gets an error.
func TestLoginRace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		results := make(chan error)
		for range 8 {
			go func() {
				_, err := b.s.CreateUser(context.Background(), NewUser{Login: "alice"})
				results <- err
			}()
		}
		won := 0
		for range 8 {
			if err := <-results; err == nil {
				won++
			} else {
				wantError(t, err, errs.Invalid, "taken by a user")
			}
		}
		if won != 1 {
			t.Errorf("%d got the login", won)
		}
	})
}

// A test that knows its tokens beforehand works with those that it gave; they
// are as secret as others, and nobody's twice.
func TestGivenToken(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := New(dbtest.Open(t, engine), slog.New(slog.DiscardHandler), nil)
		for _, login := range []string{"alice", "bob"} {
			if _, err := s.CreateUser(t.Context(), NewUser{Login: login}); err != nil {
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
