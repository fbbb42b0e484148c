// Tests of the audit log against a whole server.
package accounts_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// actions are those of an answer, in its order.
func actions(t *testing.T, a *apitest.Answer) []string {
	t.Helper()
	var list []audit.Payload
	a.JSON(t, &list)
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = string(e.Action)
	}
	return names
}

// Owners see what happened in their organization under the names of then, also when all of
// it is renamed or gone, and nobody else sees anything.
func TestOwnersReadWhatHappened(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Users(t, "owner", "member", "bob", "stranger")
		s.Org(t, "guild", "owner")
		s.Org(t, "other", "stranger")
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/guild/memberships/member", As: "owner", Send: `{"role":"admin"}`, Status: 200},
			{Do: "PUT /orgs/guild/memberships/member", As: "chief", Send: `{"role":"member"}`, Status: 200},
			{Do: "PUT /orgs/guild/memberships/bob", As: "owner", Status: 200},
			{Do: "DELETE /orgs/guild/members/bob", As: "bob", Status: 204},
			{Do: "PATCH /orgs/guild", As: "owner",
				Send: `{"default_repository_permission":"none","description":"a private text"}`, Status: 200},
			{Do: "POST /orgs/guild/repos", As: "owner", Send: `{"name":"hall"}`, Status: 201},
			{Do: "PUT /repos/guild/hall/collaborators/bob", As: "owner", Send: `{"permission":"pull"}`,
				Status: 204},
			{Do: "PUT /repos/guild/hall/collaborators/bob", As: "owner", Send: `{"permission":"admin"}`,
				Status: 204},
			{Do: "PATCH /repos/guild/hall", As: "bob",
				Send:   `{"name":"vault","private":true,"archived":true}`,
				Status: 200},
			{Do: "PATCH /repos/guild/vault", As: "chief", Send: `{"archived":false}`, Status: 200},
			{Do: "DELETE /repos/guild/vault/collaborators/bob", As: "bob", Status: 204},
			{Do: "DELETE /repos/guild/vault", As: "owner", Status: 204},
			{Do: "PATCH /admin/organizations/guild", As: "chief", Send: `{"login":"club"}`, Status: 202},
			{Do: "DELETE /admin/users/bob", As: "chief", Status: 204},
			{Do: "POST /user/repos", As: "owner", Send: `{"name":"shed"}`, Status: 201},

			{Do: "GET /orgs/club/audit-log", Status: 401},
			{Do: "GET /orgs/club/audit-log", As: "member", Status: 403},
			{Do: "GET /orgs/club/audit-log", As: "stranger", Status: 403},
			{Do: "GET /orgs/nowhere/audit-log", As: "owner", Status: 404},
			{Do: "GET /orgs/owner/audit-log", As: "owner", Status: 404},
			{Do: "GET /admin/audit-log", As: "owner", Status: 404},
			{Do: "GET /orgs/other/audit-log", As: "stranger", Status: 200,
				Want: `[{"action":"org.create","actor":null,"right":"process","user":"stranger"}]`},
			{Do: "GET /orgs/club/audit-log?order=asc", As: "owner", Status: 200, Want: `[
				{"action":"org.create","org":"guild","user":"owner"},
				{"action":"org.add_member","org":"guild","user":"member","actor":"owner","right":"organization owner","data":{"role":"admin"}},
				{"action":"org.update_member","actor":"chief","right":"site admin","data":{"role":"member","old_role":"admin"}},
				{"action":"org.add_member","user":"bob","data":{"role":"member"}},
				{"action":"org.remove_member","user":"bob","actor":"bob","right":"self","data":{"old_role":"member"}},
				{"action":"org.update","data":{"fields":["description"],"old_default_repository_permission":"read","default_repository_permission":"none"}},
				{"action":"repo.create","org":"guild","repo":"guild/hall","right":"signed in","data":{"visibility":"public"}},
				{"action":"repo.add_member","repo":"guild/hall","user":"bob","right":"admin","data":{"permission":"pull","old_permission":"$absent"}},
				{"action":"repo.update_member","user":"bob","data":{"permission":"admin","old_permission":"pull"}},
				{"action":"repo.rename","repo":"guild/vault","actor":"bob","data":{"old_name":"hall","name":"vault"}},
				{"action":"repo.archived","repo":"guild/vault"},
				{"action":"repo.access","repo":"guild/vault","data":{"old_visibility":"public","visibility":"private"}},
				{"action":"repo.unarchived","repo":"guild/vault","actor":"chief","right":"site admin"},
				{"action":"repo.remove_member","user":"bob","actor":"bob","right":"self","data":{"old_permission":"admin"}},
				{"action":"repo.destroy","repo":"guild/vault","repo_id":"$any","actor_id":"$any","actor_ip":"127.0.0.1","token_id":"$any","data":{"visibility":"private"}},
				{"action":"org.rename","org":"club","actor":"chief","right":"site admin","data":{"old_login":"guild","login":"club"}}]`},
			{Do: "GET /orgs/club/audit-log?per_page=1&phrase=actor:BOB+action:repo+repo:Guild/Vault",
				As: "owner", Status: 200,
				Want: `[{"action":"repo.remove_member"}]`},
			{Do: "GET /admin/audit-log?per_page=2&phrase=actor:chief", As: "chief", Status: 200,
				Want: `[{"action":"user.delete","user":"bob","org":null},{"action":"org.rename"}]`},
		})
		all := s.Do(t, apitest.Case{Do: "GET /admin/audit-log?per_page=100", As: "chief"})
		if text := string(all.Body); strings.Contains(text, "private text") ||
			strings.Contains(text, s.Token(t, "owner")) {
			t.Errorf("the log holds what somebody wrote, or a token: %s", text)
		}
	})
}

// A token that is made for a log reader reads logs, and one without that scope does not.
func TestAuditScope(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "owner")
	s.Org(t, "guild", "owner")
	for name, want := range map[string]int{"read:audit_log": 200, "audit_log": 200, "repo, admin:org": 403} {
		s.Check(t, apitest.Case{Do: "GET /orgs/guild/audit-log", Status: want,
			Headers: apitest.Bearer(s.Scoped(t, "owner", name))})
	}
}

// fill records events a minute apart: of two kinds in turns, by two actors, on two repositories.
func fill(t *testing.T, d *db.DB, n int) {
	t.Helper()
	for i := range n {
		by := audit.Actor{ID: int64(i%2 + 1), Login: []string{"Ann", "ben"}[i%2], Right: "admin"}
		err := d.Write(audit.With(t.Context(), by), func(tx *db.Tx) error {
			tx.Now = db.FromTime(time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC))
			return audit.Record(tx,
				audit.Entry{Action: []audit.Action{audit.RepoAccess, audit.UserSuspend}[i/2%2],
					Org:  audit.Named{ID: 7, Name: "guild"},
					Repo: audit.Named{ID: 1, Name: []string{"a/x", "a/y"}[i/4%2]}})
		})
		testkit.NoError(t, err)
	}
}

// A client that follows the links of a list sees each event once, in order, and comes back the same way.
func TestPagesLeadThroughAll(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Token(t, "chief")
		before := s.Do(t, apitest.Case{Do: "GET /admin/audit-log", As: "chief"})
		mine := len(actions(t, before))
		fill(t, s.DB, 23)
		for query, want := range map[string]int{
			"": 23 + mine, "&order=asc": 23 + mine, "&phrase=actor:ann": 12, "&phrase=action:repo.access": 12,
			"&phrase=action:repo+repo:A/X":                               6,
			"&phrase=created:2026-01-01T00:10:00Z..2026-01-01T00:14:59Z": 5,
			"&phrase=created:<2026-01-01T00:10:00Z":                      10,
			"&phrase=created:<=2026-01-01T00:10:00Z":                     11,
			"&phrase=created:>=2026-01-01T00:10:00Z+created:<2026-01-02": 13,
			"&phrase=created:2026-01-01":                                 23,
			"&phrase=created:*..2025-12-31":                              0, "&phrase=actor:nobody": 0, "&phrase=created:>9999-12-31": 0,
		} {
			seen := map[string]int{}
			var pages [][]string
			address := "/admin/audit-log?per_page=4" + query
			for address != "" {
				a := s.Check(t, apitest.Case{Do: "GET " + address, As: "chief", Status: 200})
				var list []audit.Payload
				a.JSON(t, &list)
				var page []string
				for _, e := range list {
					seen[e.DocumentID]++
					page = append(page, e.DocumentID)
				}
				pages = append(pages, page)
				if address = link(a, "next", s.URL); address == "" && len(pages) > 1 {
					address = link(a, "prev", s.URL)
					for i := len(pages) - 2; i >= 0; i-- {
						a := s.Check(t, apitest.Case{Do: "GET " + address, As: "chief", Status: 200})
						var list []audit.Payload
						a.JSON(t, &list)
						for k, e := range list {
							if e.DocumentID != pages[i][k] {
								t.Fatalf("%s: the way back differs on page %d: %s", query, i, a.Body)
							}
						}
						if address = link(a, "prev", s.URL); (address == "") != (i == 0) {
							t.Fatalf("%s: on the way back page %d leads to %q", query, i, address)
						}
					}
					address = ""
				}
			}
			if len(seen) != want {
				t.Errorf("%s: %d events, want %d", query, len(seen), want)
			}
			for id, n := range seen {
				if n != 1 {
					t.Errorf("%s: event %s was shown %d times", query, id, n)
				}
			}
		}
	})
}

// link is the address of a relation of the Link header, without the server's.
func link(a *apitest.Answer, rel, base string) string {
	for part := range strings.SplitSeq(a.Header.Get("Link"), ", ") {
		if address, found := strings.CutSuffix(part, `>; rel="`+rel+`"`); found {
			return strings.TrimPrefix(address, "<"+base)
		}
	}
	return ""
}

// What nobody can mean is said to be wrong, so that no one takes an empty list for peace.
func TestWrongQueries(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Admin(t, "chief")
	for _, query := range []string{"phrase=hello", "phrase=action:", "phrase=action:nothing", "phrase=team:x",
		"phrase=actor:a+actor:b", "phrase=action:repo+action:user", "phrase=created:yesterday",
		"phrase=created:..",
		"order=sideways", "after=x", "before=MTIz", "after=MS4x&before=MS4x", "after=MS4w", "after=LTEuLTE"} {
		s.Check(t, apitest.Case{Do: "GET /admin/audit-log?" + query, As: "chief", Status: 422})
	}
}

// Old events go and young ones stay, in turns, whichever of several nodes takes them.
func TestOldEventsGo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Token(t, "chief")
		young := len(actions(t, s.Do(t, apitest.Case{Do: "GET /admin/audit-log", As: "chief"})))
		const old = 1100 // more than two turns
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			tx.Now = db.FromTime(time.Now().Add(-31 * 24 * time.Hour))
			for range old {
				if err := audit.Record(tx, audit.Entry{Action: audit.UserSuspend}); err != nil {
					return err
				}
			}
			return nil
		})
		testkit.NoError(t, err)
		kept := func(days int) (n int) {
			failed := make(chan error)
			for range 2 {
				go func() {
					failed <- audit.NewPruner(s.DB, slog.New(slog.DiscardHandler), days).Prune(t.Context())
				}()
			}
			for range 2 {
				testkit.NoError(t, <-failed)
			}
			return int(count(t, s, `SELECT count(*) FROM audit`))
		}
		if n := kept(32); n != old+young {
			t.Errorf("%d of %d events are left of those that are young enough", n, old+young)
		}
		if n := kept(30); n != young {
			t.Errorf("%d events are left, want %d", n, young)
		}
	})
}
