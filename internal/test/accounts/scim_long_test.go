//go:build long

package accounts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// Ten thousand users are listed by pages, and the 2,000 members of a group replaced, by statements that do not grow
// with them. A group that gives a team costs what its new members cost.
func TestSCIMTenThousandUsers(t *testing.T) {
	t.Parallel()
	const many, large = 10_000, 2_000
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var statements atomic.Int64
		s := &scim{apitest.Start(t, engine, provisioned(t), func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: func(ctx context.Context, _ string) {
				if web.From(ctx).ID != "" {
					statements.Add(1)
				}
			}})
		})}
		s.Admin(t, "keeper")
		s.Admin(t, "okta")
		s.Org(t, "acme", "keeper")
		s.Check(t, apitest.Case{Do: "POST /orgs/acme/teams", As: "keeper", Send: `{"name": "web"}`, Status: 201})
		testkit.NoError(t, s.DB.WriteAs(t.Context(), db.Server, func(tx *db.Tx) error {
			for n := range many {
				name := fmt.Sprint("p", n)
				a := &account.Account{Login: name, Kind: account.User}
				if err := account.Register(tx, a); err != nil {
					return err
				}
				err := tx.Run(`INSERT INTO identities (account_id, provider, issuer, subject, name, created_at, secret)
					VALUES ($1, 'okta', 'scim:okta', $2, '', $3, 'x')`, a.ID, name, tx.Now)
				if err != nil {
					return err
				}
				err = tx.Run(`INSERT INTO scim_users (issuer, subject, user_name, user_folded, display_folded, active, admin,
					attributes, stale, created_at, updated_at) VALUES ('scim:okta', $1, $1, $1, $1, TRUE, FALSE, '{}', 0, $2, $2)`,
					name, tx.Now)
				if err != nil {
					return err
				}
			}
			return tx.Bump(account.Topic)
		}))
		measure := func(what string, fn func()) int64 {
			t.Helper()
			statements.Store(0)
			began := time.Now()
			fn()
			n := statements.Load()
			t.Logf("%s: %s: %d statements, %s", engine, what, n, time.Since(began).Round(time.Millisecond))
			return n
		}
		var ids []string
		n := measure("10,000 users by pages of 200", func() {
			for start := 1; ; {
				var page struct {
					Total     int `json:"totalResults"`
					Count     int `json:"itemsPerPage"`
					Resources []struct{ ID string }
				}
				a := s.Check(t, apitest.Case{Do: fmt.Sprintf("GET %s?startIndex=%d&count=200", scimUsers, start), As: "okta", Status: 200})
				testkit.NoError(t, json.Unmarshal(a.Body, &page))
				for _, u := range page.Resources {
					ids = append(ids, u.ID)
				}
				if start += page.Count; start > page.Total {
					return
				}
			}
		})
		if len(ids) != many || n > 50*20 {
			t.Errorf("%d users, %d statements", len(ids), n)
		}
		values := func(from int) string {
			var b []string
			for _, id := range ids[from : from+large] {
				b = append(b, `{"value": "`+id+`"}`)
			}
			return "[" + strings.Join(b, ",") + "]"
		}
		for _, name := range []string{"Everybody", "Developers"} { // the file names the second
			at := scimGroups + "/" + s.made(t, "okta", scimGroups, `{"displayName": "`+name+`", "members": `+values(0)+`}`)
			s.Settle(t)
			n := measure("2,000 members of "+name+" replaced by others", func() {
				s.patch(t, "okta", at, `{"op": "replace", "path": "members", "value": `+values(large)+`}`, 204)
			})
			if name == "Everybody" && n > 50 {
				t.Errorf("%d statements", n)
			}
			measure("what is left for the worker", func() { s.Settle(t) })
			n = measure("one member added", func() {
				s.patch(t, "okta", at, `{"op": "add", "path": "members", "value": [{"value": "`+ids[many-1]+`"}]}`, 204)
			})
			if n > 100 {
				t.Errorf("one more member costs %d statements", n)
			}
			n = measure("one group read", func() { s.Check(t, apitest.Case{Do: "GET " + at, As: "okta", Status: 200}) })
			if n > 20 {
				t.Errorf("a group costs %d statements", n)
			}
		}
		s.Check(t, apitest.Case{Do: "GET /orgs/acme/teams/web/memberships/p2000", As: "keeper", Status: 200})
		s.Check(t, apitest.Case{Do: "GET /orgs/acme/teams/web/memberships/p0", As: "keeper", Status: 404})
	})
}
