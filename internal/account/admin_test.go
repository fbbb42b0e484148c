package account

import (
	"context"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
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
	})
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
		if err != nil {
			t.Fatal(err)
		}
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

func generation(t *testing.T, b *bundle) int64 {
	t.Helper()
	n, err := b.db.Generation(context.Background(), Topic)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
