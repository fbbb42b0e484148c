package account

import (
	"context"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
)

// A suspended user is locked out from the next request on, and let in again unchanged. Their texts remain
// readable, and only site administrators see the suspension.
func TestSuspension(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		ctx := context.Background()
		b.user("siteadmin")
		b.user("alice")
		b.user("bob")
		b.org("guild", "alice")
		status := func(want int, login, method, target string, body ...string) string {
			t.Helper()
			w := b.do(login, method, target, strings.Join(body, ""))
			if w.Code != want {
				t.Fatalf("%s %s as %q: %d, want %d: %s", method, target, login, w.Code, want, w.Body)
			}
			return w.Body.String()
		}
		status(200, "alice", "GET", "/user")
		for range 2 {
			status(204, "siteadmin", "PUT", "/users/Alice/suspended")
			if body := status(403, "alice", "GET", "/user"); !strings.Contains(body,
				"Sorry. Your account was suspended.") {
				t.Error(body)
			}
		}
		status(403, "alice", "PATCH", "/user", `{"bio":"b"}`)
		if body := status(200, "bob", "GET", "/users/alice"); strings.Contains(body, "suspended") {
			t.Error(body)
		}
		if body := status(200, "siteadmin", "GET", "/users/alice"); strings.Contains(body,
			`"suspended_at":null`) {
			t.Error(body)
		}
		if body := status(200, "siteadmin", "GET", "/users/bob"); !strings.Contains(body,
			`"suspended_at":null`) {
			t.Error(body)
		}
		status(204, "siteadmin", "DELETE", "/users/alice/suspended")
		status(200, "alice", "GET", "/user")

		status(404, "siteadmin", "PUT", "/users/guild/suspended")
		status(404, "siteadmin", "PUT", "/users/nobody/site_admin")
		status(403, "siteadmin", "PUT", "/users/siteadmin/suspended")
		status(403, "siteadmin", "DELETE", "/users/siteadmin/site_admin")
		_, err := b.s.Demote(ctx, nil, "siteadmin")
		wantError(t, err, errs.Invalid, "last site administrator")
		_, err = b.s.Suspend(ctx, nil, "siteadmin")
		wantError(t, err, errs.Invalid, "last site administrator")
		status(204, "siteadmin", "PUT", "/users/bob/site_admin")
		status(204, "bob", "PUT", "/users/siteadmin/suspended")
		_, err = b.s.Demote(ctx, nil, "bob") // the other one cannot act
		wantError(t, err, errs.Invalid, "last site administrator")
		status(204, "bob", "DELETE", "/users/siteadmin/site_admin")

		status(201, "bob", "POST", "/admin/users", `{"login":"carol","email":"carol@example.org"}`)
		status(422, "bob", "POST", "/admin/users", `{"login":"carol"}`)
		status(422, "bob", "POST", "/admin/users", `{"login":"orgs"}`)
		status(422, "bob", "POST", "/admin/users", `{}`)
		status(201, "bob", "POST", "/admin/users", `{"login":"dora","suspended":true}`)
		if a, err := b.s.Find(ctx, "dora"); err != nil || a.SuspendedAt.IsZero() {
			t.Error(a, err)
		}
		if list, err := b.s.Emails(ctx, "carol"); err != nil || len(list) != 1 || list[0].Verified {
			t.Error("an address that nobody verified counts", list, err)
		}
		status(201, "bob", "POST", "/admin/organizations",
			`{"login":"club","admin":"carol","profile_name":"The Club"}`)
		status(422, "bob", "POST", "/admin/organizations", `{"login":"club2","admin":"nobody"}`)
		status(422, "bob", "POST", "/admin/organizations", `{"login":"club","admin":"carol"}`)
		if list, err := b.s.Memberships(ctx, "carol"); err != nil || len(list) != 1 ||
			list[0] != (OrgMembership{"club", true}) {
			t.Error(list, err)
		}
	})
}

// Two administrators who end each other at the same time leave one.
func TestAdministratorsEndEachOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		b.user("site1")
		b.user("site2")
		for range 5 {
			var both sync.WaitGroup
			for _, login := range []string{"site1", "site2"} {
				both.Go(func() { _, _ = b.s.Demote(context.Background(), nil, login) })
			}
			both.Wait()
			left := 0
			for _, login := range []string{"site1", "site2"} {
				if a, err := b.s.Find(context.Background(), login); err != nil {
					t.Fatal(err)
				} else if a.SiteAdmin {
					left++
				}
				if _, err := b.s.Promote(context.Background(), nil, login); err != nil {
					t.Fatal(err)
				}
			}
			if left != 1 {
				t.Fatalf("%d administrators are left", left)
			}
		}
	})
}
