package server_test

import (
	"strings"
	"testing"
	"time"

	"arbor/internal/account/token"
	"arbor/internal/scope"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Who tries the doors of the site administrators, or has stolen a token of one that is not for them, is seen
// in the audit log, and can not fill it.
func TestRefusedAdministrationIsAudited(t *testing.T) {
	t.Parallel()
	minute := time.Now() // all that is asked here is asked within one
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Users(t, "bob", "carol")
		limited, _, err := s.Forge.Tokens.CreateToken(t.Context(),
			token.NewToken{Login: "chief", Scopes: scope.Repo})
		testkit.NoError(t, err)
		stolen := map[string]string{"Authorization": "Bearer " + limited}
		for range 5 {
			s.Run(t, []apitest.Case{
				{Do: "DELETE /admin/keys/1", As: "bob", Status: 404},
				{Do: "GET /admin/audit-log", As: "bob", Status: 404},
				{Do: "PUT /users/carol/suspended", As: "bob", Status: 404},
				{Do: "POST /admin/users", Send: `{"login":"eve"}`, Status: 401},
				{Do: "GET /user", As: "carol", Status: 200},
				{Do: "GET /admin/nothing", As: "carol", Status: 404},
			})
			if a := s.Do(t, apitest.Case{Do: "POST /admin/users", Headers: stolen,
				Send: `{"login":"eve"}`}); a.Status != 403 && a.Status != 404 {
				t.Errorf("a token without the scope: %d %s", a.Status, a.Body)
			}
		}
		a := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=action:site_admin",
			As: "chief", Status: 200,
			Want: `[{"action":"site_admin.refused","actor":"chief","actor_ip":"127.0.0.1","right":"none","data":{"route":"POST /admin/users"}},
				{"action":"site_admin.refused","actor":"bob","data":{"route":"DELETE /admin/keys/{key_ids}"}}]`})
		if n := strings.Count(string(a.Body), `"action"`); n != 2 {
			t.Errorf("%d rows: %s", n, a.Body)
		}
	}, func(o *server.Options) { o.Now = func() time.Time { return minute } })
}
