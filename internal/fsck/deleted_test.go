package fsck

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// An account that wrote, opened, assigned and starred everywhere is deleted under a server
// whose caches are full. Nothing may show it, nothing else may go, each number must be right,
// and nobody gets its login.
func TestADeletedAccountLeavesASoundStore(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := fixture.New(t, s)
		w.Hide(t)
		w.OK(t, "keeper", "PUT /user/starred/holder/chamomile", "")
		w.OK(t, "keeper", "PUT /repos/holder/chamomile/subscription", `{"subscribed":true}`)
		w.OK(t, "keeper", "PUT /user/following/writer", "")
		w.OK(t, "guest", "PUT /user/following/keeper", "")
		w.OK(t, "holder", "POST /repos/holder/chamomile/issues/1/assignees",
			`{"assignees":["keeper","writer"]}`)
		w.OK(t, "holder", "POST /repos/holder/belladonna/issues/1/assignees", `{"assignees":["keeper"]}`)
		w.OK(t, "owner", "PUT /orgs/guild/members/keeper", "")
		keeper, err := s.Accounts.Find(t.Context(), "keeper")
		testkit.NoError(t, err)
		id := keeper.ID
		// who owns an App
		s.Check(t, apitest.Case{Do: "DELETE /admin/users/keeper", As: "chief", Status: 422})
		testkit.NoError(t, s.Forge.Apps.Remove(t.Context(), fixture.Robot))
		before := readAll(t, w)

		refused := func(do, as string, status int, message string) {
			t.Helper()
			a := s.Check(t, apitest.Case{Do: do, As: as, Status: status})
			if !strings.Contains(string(a.Body), message) {
				t.Errorf("%s: %s", do, a.Body)
			}
		}
		refused("DELETE /admin/users/holder", "chief", 422, "holder/chamomile")
		refused("DELETE /admin/users/owner", "chief", 422, "guild")
		refused("DELETE /admin/users/chief", "chief", 403, "yourself")
		refused("DELETE /admin/users/guild", "chief", 404, "Not Found")
		refused("DELETE /admin/users/guest", "keeper", 404, "Not Found")
		w.OK(t, "chief", "DELETE /admin/users/keeper", "")

		refused("GET /user", "keeper", 401, "Bad credentials")
		refused("GET /users/keeper", "chief", 404, "Not Found")
		s.Check(t, apitest.Case{Do: "POST /admin/users", As: "chief", Send: `{"login":"Keeper"}`,
			Status: 422})
		for _, do := range []string{"DELETE /admin/users/ghost", "PUT /users/ghost/site_admin",
			"DELETE /users/ghost/suspended"} {
			s.Check(t, apitest.Case{Do: do, As: "chief", Status: 422})
		}
		s.Check(t, apitest.Case{Do: "GET /repos/holder/chamomile/issues/1", Status: 200,
			Want: `{"user":{"login":"ghost"},"assignee":{"login":"writer"}}`})
		s.Check(t, apitest.Case{Do: "GET /repos/holder/chamomile/issues?creator=ghost&assignee=writer",
			Status: 200, Want: `[{"number":1}]`})
		s.Check(t, apitest.Case{Do: "GET /repos/holder/belladonna/issues?assignee=none", As: "holder",
			Status: 200})
		for do, status := range readAll(t, w) {
			was, asked := before[do] // some are made for the request
			if asked && status != was && !strings.Contains(do, "keeper") &&
				!strings.Contains(do, "/reactions/") && !strings.Contains(do, "/keys/") &&
				!strings.Contains(do, "/deliveries/") && !strings.Contains(do, "/stats/") && // counted in the meantime
				!strings.Contains(do, "Ov23") { // keeper's OAuth App
				t.Errorf("%s: %d, and %d before", do, status, was)
			}
		}
		nothingNames(t, s, id)
		if r := look(t, s, Options{}); !r.Sound() {
			t.Error(r.text())
		}
	})
}

// readAll reads every address as a site administrator, which fills caches. It gives the
// statuses, and no answer may show an account that is not there.
func readAll(t *testing.T, w *fixture.World) map[string]int {
	t.Helper()
	statuses := map[string]int{}
	gone := w.Do(t, apitest.Case{Do: "GET /users/keeper"}).Status == http.StatusNotFound
	for _, r := range fixture.Walked(w.Server.Server.Routes()) {
		if r.Method != http.MethodGet || strings.HasPrefix(r.Pattern, "/docs") || r.Pattern == "/site/audit" {
			continue // the audit log has names as they were
		}
		for _, h := range w.Homes {
			if h.Owner == "guild" && h.Private {
				continue
			}
			q := w.Request(t, &r, h)
			q.As = "chief"
			a := w.Do(t, q.Case)
			statuses[q.Do] = a.Status
			for _, shown := range []string{`"login":"keeper"`, "/users/keeper", `>keeper<`} {
				if at := strings.Index(string(a.Body), shown); gone && at >= 0 && a.Status < 400 {
					t.Errorf("%s: ...%s", q.Do, a.Body[max(0, at-150):min(len(a.Body), at+100)])
				}
			}
		}
	}
	return statuses
}

// nothingNames checks that no row names an account.
func nothingNames(t *testing.T, s *apitest.Server, id account.ID) {
	t.Helper()
	for _, c := range forge.AccountColumns {
		if c.Fate == forge.Kept { // names what was
			continue
		}
		where := fmt.Sprintf("%s = %d", c.Column, id)
		if c.Column == "assignees" {
			where = fmt.Sprintf("',' || assignees || ',' LIKE '%%,%d,%%'", id)
		}
		if c.Only != "" {
			where += " AND " + c.Only
		}
		if c.Table == "posting_counts" {
			where += " AND n <> 0"
		}
		var n int64
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT count(*) FROM ` + c.Table + ` WHERE ` + where).Scan(&n)
		})
		if err != nil || n > 0 {
			t.Errorf("%s.%s names the account in %d rows: %v", c.Table, c.Column, n, err)
		}
	}
}
