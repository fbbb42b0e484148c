package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// peopleForm sends a form as a browser does.
func peopleForm(t *testing.T, s *apitest.Server, as, path string, pairs ...string) *apitest.Answer {
	t.Helper()
	f := url.Values{}
	for n := 0; n < len(pairs); n += 2 {
		f.Add(pairs[n], pairs[n+1])
	}
	return s.Do(t, apitest.Case{Do: "POST " + path, As: as, Send: f.Encode(), Headers: map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}})
}

// An organization's owners see and change its webhooks, and what they were told; others learn nothing of
// them.
func TestOrgHooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, login := range []string{"olive", "mia", "stranger"} {
			s.User(t, login)
		}
		s.Org(t, "guild", "olive")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/mia", As: "olive", Status: 204})
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
		}))
		t.Cleanup(receiver.Close)
		const at = "/orgs/guild/settings/hooks"
		html := map[string]string{"Accept": "text/html"}
		for _, page := range []string{at, at + "/new", "/orgs/guild/settings/delete"} {
			s.Check(t, apitest.Case{Do: "GET " + page, Headers: html, Status: 303})
			s.Check(t, apitest.Case{Do: "GET " + page, As: "mia", Headers: html, Status: 403})
			s.Check(t, apitest.Case{Do: "GET " + strings.Replace(page, "guild", "none", 1), As: "olive",
				Headers: html, Status: 404})
		}
		show := func(path string, parts ...string) string {
			t.Helper()
			a := s.Check(t, apitest.Case{Do: "GET " + path, As: "olive", Headers: html, Status: 200})
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
		if a := peopleForm(t, s, "mia", at+"/new", "url", receiver.URL, "content_type", "json"); a.Status != 403 {
			t.Errorf("a member adds one: %d", a.Status)
		}
		if a := peopleForm(t, s, "olive", at+"/new", "url", "nothing", "content_type", "json", "which",
			"all"); a.Status != 422 || !strings.Contains(string(a.Body), `value="nothing"`) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		a := peopleForm(t, s, "olive", at+"/new", "url", receiver.URL, "content_type", "json", "which", "all",
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
			if a := peopleForm(t, s, "mia", do.path, "do", do.do); a.Status != 403 {
				t.Errorf("a member does %q: %d", do.do, a.Status)
			}
			if a := peopleForm(t, s, "olive", do.path, "do", do.do); a.Status != 303 ||
				a.Header.Get("Location") != self {
				t.Errorf("%q: %d %s", do.do, a.Status, a.Body)
			}
		}
		waitFor(3)
		if a := peopleForm(t, s, "olive", self, "do", "remove"); a.Status != 303 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		show(at, "There are none")
	})
}

// An owner deletes an organization that has nothing left, once its login is typed.
func TestDeleteOrg(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "olive")
		s.User(t, "mia")
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
			if a := peopleForm(t, s, x.as, at, "confirm", x.typed); a.Status != x.status ||
				!strings.Contains(string(a.Body), x.part) {
				t.Errorf("%+v: %d %s", x, a.Status, a.Body)
			}
		}
		s.Check(t, apitest.Case{Do: "DELETE /orgs/guild", Status: 401})
		s.Check(t, apitest.Case{Do: "DELETE /orgs/guild", As: "mia", Status: 403})
		s.Check(t, apitest.Case{Do: "DELETE /orgs/mia", As: "mia", Status: 404})
		s.Check(t, apitest.Case{Do: "DELETE /repos/guild/hall", As: "olive", Status: 204})
		if a := peopleForm(t, s, "olive", at, "confirm", "guild"); a.Status != 303 ||
			a.Header.Get("Location") != "/" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		s.Check(t, apitest.Case{Do: "GET /orgs/guild", As: "olive", Status: 404})
		s.Org(t, "club", "olive")
		s.Check(t, apitest.Case{Do: "DELETE /orgs/club", As: "olive", Status: 202})
	})
}
