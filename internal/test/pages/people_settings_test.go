package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// An organization's owners see and change its webhooks, and what they were told; others learn nothing of
// them.
func TestOrgHooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "olive", "mia", "stranger")
		s.Org(t, "guild", "olive")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/mia", As: "olive", Status: 204})
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
		}))
		t.Cleanup(receiver.Close)
		const at = "/orgs/guild/settings/hooks"
		for _, page := range []string{at, at + "/new", "/orgs/guild/settings/delete"} {
			s.Check(t, apitest.Case{Do: "GET " + page, Headers: inBrowser, Status: 303})
			s.Check(t, apitest.Case{Do: "GET " + page, As: "mia", Headers: inBrowser, Status: 403})
			s.Check(t, apitest.Case{Do: "GET " + strings.Replace(page, "guild", "none", 1), As: "olive",
				Headers: inBrowser, Status: 404})
		}
		show := func(path string, parts ...string) string {
			t.Helper()
			a := s.Check(t, apitest.Case{Do: "GET " + path, As: "olive", Headers: inBrowser, Status: 200})
			for _, part := range parts {
				if !strings.Contains(string(a.Body), part) {
					t.Errorf("%s has no %q\n%s", path, part, a.Body)
				}
			}
			return string(a.Body)
		}
		show("/orgs/guild/settings", at)
		show(at, "There are none", at+"/new")
		show(at+"/new", `value="organization"`)
		s.Visit(t, "mia", "POST "+at+"/new", "url", receiver.URL, "content_type", "json").Shows(t, 403)
		s.Visit(t, "olive", "POST "+at+"/new", "url", "nothing", "content_type", "json", "which",
			"all").Shows(t, 422, `value="nothing"`)
		a := s.Visit(t, "olive", "POST "+at+"/new", "url", receiver.URL, "content_type", "json", "which", "all",
			"active", "1")
		if a.Status != 303 || a.Header.Get("Location") != at {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		var list []struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "GET /orgs/guild/hooks", As: "olive", Status: 200}).JSON(t, &list)
		self := fmt.Sprint(at, "/", list[0].ID)
		show(at, self)
		if strings.Contains(show(self), "last push") {
			t.Error("an organization has no last push to send again")
		}
		deliveries := func() (found []struct{ ID int64 }) {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /orgs/guild/hooks/%d/deliveries", list[0].ID),
				As: "olive", Status: 200}).JSON(t, &found)
			return found
		}
		waitFor := func(n int) int64 {
			t.Helper()
			testkit.Eventually(t, func() bool { return len(deliveries()) >= n },
				fmt.Sprintf("%d deliveries", n))
			return deliveries()[0].ID
		}
		delivery := fmt.Sprint(self, "/deliveries/", waitFor(1))
		show(self, delivery)
		show(delivery, "ping", "Redeliver")
		for _, do := range []struct{ path, do string }{{self, "ping"}, {delivery, ""}} {
			s.Visit(t, "mia", "POST "+do.path, "do", do.do).Shows(t, 403)
			s.Visit(t, "olive", "POST "+do.path, "do", do.do).Leads(t, self)
		}
		waitFor(3)
		s.Visit(t, "olive", "POST "+self, "do", "remove").Shows(t, 303)
		show(at, "There are none")
	})
}

// An owner deletes an organization that has nothing left, once its login is typed.
func TestDeleteOrg(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "olive", "mia")
		s.Org(t, "guild", "olive")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/mia", As: "olive", Status: 204})
		s.Repo(t, "guild/hall", false)
		const at = "/orgs/guild/settings/delete"
		for _, x := range []struct {
			as, typed string
			status    int
			part      string
		}{{"mia", "guild", 403, ""}, {"olive", "hall", 422, "type guild to confirm"},
			{"olive", "guild", 422, "guild/hall"}} {
			s.Visit(t, x.as, "POST "+at, "confirm", x.typed).Shows(t, x.status, x.part)
		}
		s.Check(t, apitest.Case{Do: "DELETE /orgs/guild", Status: 401})
		s.Check(t, apitest.Case{Do: "DELETE /orgs/guild", As: "mia", Status: 403})
		s.Check(t, apitest.Case{Do: "DELETE /orgs/mia", As: "mia", Status: 404})
		s.Check(t, apitest.Case{Do: "DELETE /repos/guild/hall", As: "olive", Status: 204})
		s.Visit(t, "olive", "POST "+at, "confirm", "guild").Leads(t, "/")
		s.Check(t, apitest.Case{Do: "GET /orgs/guild", As: "olive", Status: 404})
		s.Org(t, "club", "olive")
		s.Check(t, apitest.Case{Do: "DELETE /orgs/club", As: "olive", Status: 202})
	})
}
