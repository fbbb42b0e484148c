package pages_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"arbor/internal/app"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// receiver records the events delivered to an App, each with its action.
func receiver(t *testing.T) (url string, told chan string) {
	t.Helper()
	told = make(chan string, 100)
	action := regexp.MustCompile(`"action":"(\w+)"`)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		line := r.Header.Get("X-GitHub-Event")
		if m := action.FindSubmatch(body); m != nil {
			line += "." + string(m[1])
		}
		told <- line
	}))
	t.Cleanup(server.Close)
	return server.URL, told
}

// hears waits for the next event of the App, which must be the given one.
func hears(t *testing.T, told chan string, want string) {
	t.Helper()
	select {
	case got := <-told:
		if got != want {
			t.Fatalf("the App is told %s, want %s", got, want)
		}
	case <-time.After(testkit.Patience):
		t.Fatalf("the App is not told %s", want)
	}
}

var oneDelivery = regexp.MustCompile(`/settings/apps/weeder/deliveries/\d+`)

// finds reloads a page until it matches a pattern: deliveries are recorded shortly after they arrive.
func (b *visitor) finds(path string, pattern *regexp.Regexp, times int) []string {
	b.t.Helper()
	var found []string
	testkit.Eventually(b.t, func() bool {
		found = pattern.FindAllString(b.show(path), -1)
		return len(found) >= times
	}, fmt.Sprintf("%s shows %d times %s", path, times, pattern))
	return found
}

// The owners of an App see what it was told, and send it again. Nobody else does, nor who owned it before.
func TestDeliveriesOfAnApp(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "olive", "oscar", "mia", "alice")
		s.Admin(t, "chief")
		s.Org(t, "guild", "olive")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/oscar", As: "olive",
			Send:   `{"role":"admin"}`,
			Status: 200})
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/mia", As: "olive", Send: `{"role":"member"}`,
			Status: 200})
		s.Repo(t, "alice/garden", true)
		url, told := receiver(t)
		a := s.NewApp(t, "guild", app.Manifest{Name: "Weeder", Public: true,
			Permissions: apitest.Permissions("issues=write"),
			Hook:        app.Hook{URL: url, Active: true, Site: s.URL}})
		// Another App's deliveries are not of this one.
		other := s.NewApp(t, "alice", app.Manifest{Name: "Sower",
			Permissions: apitest.Permissions("issues=write"),
			Hook:        app.Hook{URL: url, Active: true, Site: s.URL}})
		olive, oscar, alice := as(t, s, "olive"), as(t, s, "oscar"), as(t, s, "alice")
		const list = "/settings/apps/weeder/advanced"
		oscar.show("/settings/apps/weeder", list)
		oscar.show(list, "No deliveries yet")
		a.Install(t, "alice", "garden")
		hears(t, told, "installation.created")
		one := oscar.finds(list, oneDelivery, 1)[0]
		oscar.show(one, "installation.created", "alice/garden",
			"X-GitHub-Hook-Installation-Target-Type: integration", "Redeliver")

		other.Install(t, "alice")
		hears(t, told, "installation.created")
		foreign := alice.finds("/settings/apps/sower/advanced", regexp.MustCompile(`deliveries/\d+`), 1)[0]
		s.Check(t, apitest.Case{Do: "GET /settings/apps/weeder/" + foreign, Headers: oscar.headers(),
			Status: 404})
		oscar.post("/settings/apps/weeder/"+foreign).Shows(t, 404)

		oscar.post(one).Leads(t, list)
		hears(t, told, "installation.created")
		oscar.finds(list, oneDelivery, 2)
		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=actor:oscar", As: "chief",
			Status: 200})
		apitest.HasParts(t, string(log.Body), "hook.redeliver")

		nothing := func(why string, b *visitor, status int) {
			t.Helper()
			for _, path := range []string{list, one} {
				s.Do(t, apitest.Case{Do: "GET " + path, Headers: b.headers()}).Shows(t, status)
			}
			b.post(one).Shows(t, status)
		}
		nothing("a member", as(t, s, "mia"), 404)
		nothing("who installed it", alice, 404)
		nothing("nobody", &visitor{t, s, "x"}, 303)
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/oscar", As: "olive",
			Send:   `{"role":"member"}`,
			Status: 200})
		nothing("an owner who is a member now", oscar, 404)
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/oscar", As: "olive",
			Send:   `{"role":"admin"}`,
			Status: 200})
		oscar.show(list)
		s.Check(t, apitest.Case{Do: "PUT /users/oscar/suspended", As: "chief", Status: 204})
		if a := s.Do(t, apitest.Case{Do: "GET " + one, Headers: oscar.headers()}); a.Status == 200 ||
			strings.Contains(string(a.Body), "garden") {
			t.Errorf("a suspended owner: %d", a.Status)
		}
		s.Check(t, apitest.Case{Do: "DELETE /users/oscar/suspended", As: "chief", Status: 204})
		s.Check(t, apitest.Case{Do: "DELETE /orgs/guild/members/oscar", As: "olive", Status: 204})
		nothing("who left", as(t, s, "oscar"), 404)
		olive.show(list)
	})
}

// What an App asks for later reaches an installation once an owner of its account accepted just that.
func TestNewPermissions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "olive", "mia")
		s.Org(t, "guild", "olive")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/mia", As: "olive", Send: `{"role":"member"}`,
			Status: 200})
		s.Repo(t, "guild/park", true)
		url, told := receiver(t)
		a := s.NewApp(t, "alice", app.Manifest{Name: "Weeder", Public: true,
			Permissions: apitest.Permissions("issues=read"),
			Events:      []string{"issues"}, Hook: app.Hook{URL: url, Active: true, Site: s.URL}})
		at := a.Install(t, "guild")
		hears(t, told, "installation.created")
		alice, olive, mia := as(t, s, "alice"), as(t, s, "olive"), as(t, s, "mia")
		one := regexp.MustCompile(`/settings/installations/\d+`).FindString(olive.show("/settings/installations"))
		if strings.Contains(olive.show(one), "Accept new permissions") {
			t.Error("there is nothing to accept")
		}
		asks := func(more ...string) {
			t.Helper()
			alice.post("/settings/apps/weeder", append(more, "do", "save", "name", "Weeder", "url",
				"https://example.org", "public", "1",
				"permission-issues", "write", "events", "issues", "hook_url", url, "hook_active",
				"1")...).Leads(t, "/settings/apps/weeder")
		}
		asks()
		seen := regexp.MustCompile(`name="seen" value="([^"]*)"`)
		first := seen.FindStringSubmatch(olive.show(one, "issues: write, now read"))[1]
		asks("permission-contents", "write", "events", "push")
		apitest.HasParts(t, olive.show("/settings/installations"), "Review request")
		for _, body := range []string{mia.show("/settings/installations"), mia.show(one)} {
			if strings.Contains(body, "Review request") || strings.Contains(body, "Accept new") ||
				strings.Contains(body, "contents") {
				t.Error("a member is asked")
			}
		}
		// Until then it keeps what it had.
		writes := func(status int) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST /repos/guild/park/issues",
				Headers: apitest.Bearer(a.Token(t, at.ID,
					"")), Send: `{"title":"x"}`, Status: status})
		}
		writes(403)
		body := olive.show(one, "issues: write, now read", "contents: write", "also requests the events push",
			"It receives issues.")
		now := seen.FindStringSubmatch(body)[1]
		olive.post(one, "do", "grant", "seen", first).Shows(t, 409, "changed its request", "contents: write")
		olive.post(one, "do", "grant").Shows(t, 409)
		mia.post(one, "do", "grant", "seen", now).Shows(t, 403, "by its owners")
		alice.post(one, "do", "grant", "seen", now).Shows(t, 404)
		writes(403)
		olive.post(one, "do", "grant", "seen", now).Leads(t, one)
		hears(t, told, "installation.new_permissions_accepted")
		writes(201)
		body = olive.show(one, "issues: write", "contents: write", "receives issues, push.")
		if strings.Contains(body, "Accept new") ||
			strings.Contains(olive.show("/settings/installations"), "Review request") {
			t.Error("it is asked for again")
		}
		// Who owns the organization no more is not asked any more.
		asks()
		olive.show(one, "contents: no longer, now write", "no longer requests the events push")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/mia", As: "olive", Send: `{"role":"admin"}`,
			Status: 200})
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/memberships/olive", As: "mia", Send: `{"role":"member"}`,
			Status: 200})
		later := seen.FindStringSubmatch(mia.show(one, "contents: no longer"))[1]
		olive.post(one, "do", "grant", "seen", later).Shows(t, 403)
		if strings.Contains(olive.show(one), "Accept new") {
			t.Error("a former owner is asked")
		}
	})
}
