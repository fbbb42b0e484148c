package pages_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/external"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// directoryOf is an option of servers: a directory at an address that nobody is asked at.
func directoryOf(t *testing.T, more string) (*external.Source, apitest.Option) {
	t.Helper()
	option := signInFile(t, `
directories:
  - {name: company, servers: ['ldap://127.0.0.1:1'], base: 'dc=example', accounts: create%s}
passwords: [keeper, glass]
`, more)
	var o server.Options
	option(&o)
	return &o.SignIn.Directories[0].Source, option
}

// linked are users with identities whose subjects are their logins.
func linked(t *testing.T, s *apitest.Server, logins ...string) {
	t.Helper()
	testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
		for _, login := range logins {
			a, err := account.ByLogin(tx, login)
			if err != nil {
				return err
			}
			err = tx.Run(`INSERT INTO identities (account_id, provider, issuer, subject, name, created_at, secret)
				VALUES ($1, 'company', 'ldap:company', $2, '', $3, 'x')`, a.ID, login, tx.Now)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// directoryPeople are those of a directory, each with some groups.
func directoryPeople(source *external.Source, of map[string][]string) map[string]*external.Identity {
	all := map[string]*external.Identity{}
	for name, groups := range of {
		all[name] = &external.Identity{Source: source, Subject: name, Login: name, Groups: groups}
	}
	return all
}

// Whoever leaves a directory is suspended until the directory has the person again. What somebody else suspended stays
// so, and a directory that lost many at once suspends nobody.
func TestComparisonSuspendsLeavers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		source, use := directoryOf(t, "")
		s := apitest.Start(t, engine, use)
		s.Admin(t, "keeper")
		s.Users(t, "ann", "bob", "eve", "kim", "glass", "local", "zoe")
		linked(t, s, "ann", "bob", "eve", "kim", "glass", "zoe")
		is := func(r external.Report, want external.Report) {
			t.Helper()
			if want.Problem != "" && r.Problem != "" {
				want.Problem = r.Problem
			}
			if r != want {
				t.Errorf("%+v, want %+v", r, want)
			}
		}
		compare := func(names ...string) external.Report {
			t.Helper()
			of := map[string][]string{}
			for _, name := range names {
				of[name] = nil
			}
			r, err := s.Server.Linked().CompareNow(t.Context(), external.Comparison{Source: source, Most: 10, People: directoryPeople(source, of)})
			testkit.NoError(t, err)
			return r
		}
		mayUse := func(login string, status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET /user", As: login, Status: status})
		}
		for _, login := range []string{"ann", "bob", "eve"} {
			mayUse(login, 200)
		}
		is(compare("ann", "bob", "eve", "kim", "glass", "zoe"), external.Report{People: 6, Linked: 6})
		is(compare(), external.Report{Linked: 6, Missing: 6, Problem: "x"})
		is(compare("zoe", "nobody"), external.Report{People: 2, Linked: 6, Missing: 5, Problem: "x"}) // glass may stay
		mayUse("ann", 200)

		s.Check(t, apitest.Case{Do: "PUT /users/eve/suspended", As: "keeper", Status: 204})
		is(compare("kim", "zoe"), external.Report{People: 2, Linked: 6, Missing: 4, Suspended: 2}) // and glass
		mayUse("ann", 403)
		mayUse("local", 200)
		mayUse("glass", 200)
		is(compare("ann", "eve", "kim", "glass", "zoe"), external.Report{People: 5, Linked: 6, Missing: 1, Lifted: 1})
		mayUse("ann", 200)
		mayUse("bob", 403)
		mayUse("eve", 403) // an administrator did that

		// An administrator may end it; the next comparison suspends again, unless the identity is unlinked.
		s.Check(t, apitest.Case{Do: "DELETE /users/bob/suspended", As: "keeper", Status: 204})
		mayUse("bob", 200)
		is(compare("ann", "eve", "kim", "glass", "zoe"), external.Report{People: 5, Linked: 6, Missing: 1, Suspended: 1})
		list, err := external.IdentitiesNamed(t.Context(), s.DB, "bob")
		testkit.NoError(t, err)
		testkit.NoError(t, external.RemoveNamed(t.Context(), s.DB, "bob", list[0].ID))
		s.Check(t, apitest.Case{Do: "DELETE /users/bob/suspended", As: "keeper", Status: 204})
		is(compare("ann", "eve", "kim", "glass", "zoe"), external.Report{People: 5, Linked: 5})
		mayUse("bob", 200)

		// An administrator's suspension after that of a comparison stays; the last administrator is not suspended.
		is(compare("eve", "kim", "glass", "zoe"), external.Report{People: 4, Linked: 5, Missing: 1, Suspended: 1})
		s.Check(t, apitest.Case{Do: "DELETE /users/ann/suspended", As: "keeper", Status: 204})
		s.Check(t, apitest.Case{Do: "PUT /users/ann/suspended", As: "keeper", Status: 204})
		is(compare("ann", "eve", "kim", "glass", "zoe"), external.Report{People: 5, Linked: 5})
		mayUse("ann", 403)
		as(t, s, "keeper").show("/site/sign-in", "company", "accounts: 5", "missing there: 0")
		want(t, s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:user.suspend", As: "keeper", Status: 200}), 200, "company")
	})
}

// Groups are followed when they changed: organizations, teams and the administration; an organization that does not
// exist is no reason to fail.
func TestComparisonFollowsGroups(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		source := &external.Source{Name: "company", Issuer: "ldap:company", Groups: map[string][]external.Membership{
			"dev":  {{Organization: "acme", Role: "member", Teams: []string{"web"}}, {Organization: "lost", Role: "member"}},
			"lead": {{Organization: "acme", Role: "owner"}}}, Administrators: []string{"ops"}}
		s.Admin(t, "keeper")
		s.Users(t, "ann", "bob")
		s.Org(t, "acme", "keeper")
		s.Check(t, apitest.Case{Do: "POST /orgs/acme/teams", As: "keeper", Send: `{"name": "web"}`, Status: 201})
		linked(t, s, "ann", "bob", "keeper")
		compare := func(of map[string][]string) int {
			t.Helper()
			r, err := s.Server.Linked().Compare(t.Context(), external.Comparison{Source: source, Most: 10, People: directoryPeople(source, of)})
			testkit.NoError(t, err)
			return r.Followed
		}
		role := func(path string, status int, want string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET " + path, As: "keeper", Status: status, Want: want})
		}
		first := map[string][]string{"ann": {"dev"}, "bob": {"lead"}, "keeper": {"ops", "lead"}}
		if n := compare(first); n != 3 { // who made the team is its member, and no group says so
			t.Errorf("groups of %d were followed", n)
		}
		role("/orgs/acme/teams/web/memberships/ann", 200, `{"role": "member"}`)
		role("/orgs/acme/memberships/bob", 200, `{"role": "admin"}`)
		if n := compare(map[string][]string{"ann": {"dev", "ops"}, "bob": nil, "keeper": {"ops", "lead"}}); n != 2 {
			t.Errorf("groups of %d were followed", n)
		}
		role("/users/ann", 200, `{"site_admin": true}`)
		role("/orgs/acme/memberships/bob", 404, "")
		compare(map[string][]string{"ann": nil, "bob": nil, "keeper": nil}) // somebody stays an administrator and an owner
		role("/orgs/acme/memberships/ann", 404, "")
		role("/orgs/acme/memberships/keeper", 200, `{"role": "admin"}`)
	})
}

// A comparison is planned for the night, one node makes it, and what fails is tried again soon.
func TestComparisonsAreMadeOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		source, use := directoryOf(t, "")
		s := apitest.Start(t, engine, use)
		s.Log.AllowErrors()
		var n atomic.Int64
		var failure error
		run := func() error {
			return s.Server.Linked().CompareIfDue(t.Context(), source, func(context.Context) (external.Comparison, error) {
				n.Add(1)
				return external.Comparison{Source: source, Most: 10}, failure
			})
		}
		due := func(in string) {
			t.Helper()
			testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
				return tx.Run(`UPDATE comparisons SET due_at = ` + in)
			}))
		}
		testkit.NoError(t, run())
		testkit.NoError(t, run())
		if n.Load() != 0 {
			t.Error("a comparison is not for the day on which a directory is new")
		}
		testkit.Eventually(t, func() bool { // the server's own worker may look first
			due("1")
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if err := run(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			return n.Load() > 0
		}, "a node compares")
		if n.Load() != 1 {
			t.Errorf("%d nodes compared", n.Load())
		}
		failure = errors.New("it hangs")
		var last external.Compared
		testkit.Eventually(t, func() bool {
			due("1")
			if err := run(); err != nil {
				t.Errorf("a directory that cannot be read is told of, not %v", err)
			}
			var err error
			last, err = s.Server.Linked().LastComparison(t.Context(), source)
			testkit.NoError(t, err)
			return last.Problem != ""
		}, "a node compares, and fails")
		if last.DueAt-last.EndedAt > db.Time(11*60*1e6) {
			t.Errorf("after a failure: %s", fmt.Sprintf("%+v", last))
		}
	})
}
