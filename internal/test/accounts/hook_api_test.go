// Tests of webhooks against a whole server.
package accounts_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// What people with other rights, odd bodies and other people's hooks get; and that no secret ever comes back.
func TestHooks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "will", "sam")
		repo := s.Repo(t, "alice/garden", true)
		s.Grant(t, repo, "will", account.Push)
		s.Repo(t, "sam/shed", false)
		s.Org(t, "guild", "alice")
		r := receive(t, nil)
		send := func(config, rest string) string { return `{"config": {` + config + `}` + rest + `}` }
		to := func(path string) string { return `"url": "` + r.URL + path + `"` }
		hook := `{"id": 1, "type": "Repository", "name": "web", "active": true, "events": ["issues", "push"],
			"config": {"url": "` + r.URL + `/a", "content_type": "json", "insecure_ssl": "0", "secret": "********"},
			"url": "{base}` + garden + `/hooks/1", "ping_url": "{base}` + garden + `/hooks/1/pings", "test_url": "$any"}`
		s.Run(t, []apitest.Case{
			{Name: "not without signing in", Do: "GET " + garden + "/hooks", Status: 404},
			{Name: "who may push", Do: "GET " + garden + "/hooks", As: "will", Status: 403},
			{Name: "a stranger", Do: "GET " + garden + "/hooks", As: "sam", Status: 404},
			{Name: "none", Do: "GET " + garden + "/hooks", As: "alice", Status: 200, Body: "[]"},
			{Name: "make", Do: "POST " + garden + "/hooks", As: "alice", Status: 201, Want: hook,
				Send: send(to("/a")+`, "content_type": "json", "secret": "peas", "insecure_ssl": 0`,
					`, "events": ["push", "issues", "push"]`),
				Has: map[string]string{"Location": "{base}" + garden + "/hooks/1"}},
			{Name: "the same", Do: "POST " + garden + "/hooks", As: "alice", Status: 422,
				Send: send(to("/a")+`, "content_type": "json"`, ``),
				Want: `{"errors": [{"resource": "Hook", "message": "Hook already exists on this repository"}]}`},
			{Name: "without a body", Do: "POST " + garden + "/hooks", As: "alice", Status: 400},
			{Name: "without a configuration", Do: "POST " + garden + "/hooks", As: "alice", Send: `{}`,
				Status: 422},
			{Name: "without an address", Do: "POST " + garden + "/hooks", As: "alice", Send: send(``, ``),
				Status: 422},
			{Name: "another kind", Do: "POST " + garden + "/hooks", As: "alice",
				Send: send(to("/b"), `, "name": "email"`), Status: 422},
			{Name: "no event", Do: "POST " + garden + "/hooks", As: "alice",
				Send: send(to("/b"), `, "events": ["peas"]`), Status: 422},
			{Name: "no address", Do: "POST " + garden + "/hooks", As: "alice",
				Send: send(`"url": "ftp://x"`, ``), Status: 422},
			{Name: "a password", Do: "POST " + garden + "/hooks", As: "alice",
				Send: send(`"url": "http://a:b@x.example"`, ``), Status: 422},
			{Name: "inside", Do: "POST " + garden + "/hooks", As: "alice",
				Send: send(`"url": "http://10.0.0.1/"`, ``), Status: 422,
				Want: `{"errors": [{"field": "config.url"}]}`},
			{Name: "the metadata of a cloud", Do: "POST " + garden + "/hooks", As: "alice",
				Send: send(`"url": "http://[::ffff:169.254.169.254]/"`, ``), Status: 422},
			{Do: "GET " + garden + "/hooks", As: "alice", Status: 200, Want: `[` + hook + `]`},
			{Do: "GET " + garden + "/hooks/1/config", As: "alice", Status: 200,
				Body: `{"content_type":"json","insecure_ssl":"0","secret":"********","url":"` +
					r.URL + `/a"}`},
			{Name: "of another repository", Do: "GET /repos/sam/shed/hooks/1", As: "sam", Status: 404},
			{Name: "of an organization", Do: "GET /orgs/guild/hooks/1", As: "alice", Status: 404},
			{Name: "events", Do: "PATCH " + garden + "/hooks/1", As: "alice",
				Send: `{"add_events": ["fork"], "remove_events": ["push"]}`, Status: 200,
				Want: `{"events": ["fork", "issues"], "config": {"secret": "********"}}`},
			{Name: "the stars keep the secret", Do: "PATCH " + garden + "/hooks/1", As: "alice", Status: 200,
				Send: send(to("/c")+`, "secret": "********"`, ``),
				Want: `{"config": {"url": "` + r.URL + `/c", "secret": "********"}}`},
			{Name: "a new configuration has none", Do: "PATCH " + garden + "/hooks/1", As: "alice",
				Status: 200, Send: send(to("/c"), ``),
				Want: `{"config": {"url": "` + r.URL + `/c", "insecure_ssl": "0"}}`},
			{Do: "PATCH " + garden + "/hooks/1/config", As: "alice", Send: `{"secret": "beans"}`, Status: 200,
				Want: `{"secret": "********"}`},
			{Name: "off", Do: "PATCH " + garden + "/hooks/1", As: "alice", Send: `{"active": false}`,
				Status: 200, Want: `{"active": false}`},
			{Name: "an organization's", Do: "POST /orgs/guild/hooks", As: "alice", Status: 201,
				Send: send(to("/org"), `, "name": "web"`),
				Want: `{"type": "Organization", "url": "{base}/orgs/guild/hooks/2"}`},
			{Name: "not for others", Do: "GET /orgs/guild/hooks", As: "sam", Status: 403},
			{Name: "nor those of nothing", Do: "GET /orgs/nothing/hooks", As: "sam", Status: 404},
			{Name: "a person has none", Do: "GET /orgs/sam/hooks", As: "sam", Status: 404},
			{Name: "dispatch to readers", Do: "POST " + garden + "/dispatches", As: "sam",
				Send: `{"event_type": "x"}`, Status: 404},
			{Name: "too much", Do: "POST " + garden + "/dispatches", As: "alice", Status: 422,
				Send: `{"event_type": "x", "client_payload": {"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1}}`},
			{Do: "DELETE " + garden + "/hooks/1", As: "alice", Status: 204},
			{Do: "DELETE " + garden + "/hooks/1", As: "alice", Status: 404},
		})
		for n := range 20 {
			s.Check(t, apitest.Case{Do: "POST " + garden + "/hooks", As: "alice", Status: 201,
				Send: send(to(fmt.Sprint("/", n)), ``)})
		}
		s.Check(t, apitest.Case{Do: "POST " + garden + "/hooks", As: "alice", Status: 422,
			Send: send(to("/many"), ``)})
		if text := s.Log.Text(); strings.Contains(text, "peas") || strings.Contains(text, "beans") {
			t.Errorf("a secret is in the log")
		}
	})
}

// Without --allow-hook-networks no host name may lead to this machine.
func TestInnerAddressesAreRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.HookNetworks = nil })
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	for _, host := range []string{"127.0.0.1", "localhost", "localhost.", "a.localhost", "[::1]",
		"[::ffff:7f00:1]", "0.0.0.0", "169.254.169.254"} {
		s.Check(t, apitest.Case{Do: "POST " + garden + "/hooks", As: "alice", Status: 422,
			Send: `{"config": {"url": "http://` + host + `:8080/"}}`})
	}
}

// A delivery that failed is sent again, later ones do not wait for it, and people see what happened and send
// it once more.
func TestRedelivery(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		var refused, overtook atomic.Int32
		failed, again := make(chan *sent, 1), make(chan *sent, 1)
		r := receive(t, func(w http.ResponseWriter, _ *http.Request, d *sent) {
			switch first := strings.Contains(string(d.Body), "first"); {
			case first && (refused.Load() == 0 || overtook.Load() == 0):
				w.Header().Set("X-Why", "busy")
				http.Error(w, "not now", http.StatusServiceUnavailable)
				if refused.Add(1) == 1 {
					failed <- d
				}
			case first && len(again) == 0:
				again <- d
			case strings.Contains(string(d.Body), "second"):
				overtook.Add(1)
			}
		})
		id := hookOn(t, s, garden, "alice", r, `["issues"]`)
		for _, title := range []string{"first", "second"} {
			s.Check(t, apitest.Case{Do: "POST " + garden + "/issues", As: "alice", Status: 201,
				Send: `{"title": "` + title + `"}`})
		}
		testkit.Eventually(t, func() bool { return len(again) > 0 },
			"the second delivery overtakes the first, which fails until then and is sent again")
		first := <-failed
		same := func(d *sent) bool {
			return d.Header.Get("X-GitHub-Delivery") == first.Header.Get("X-GitHub-Delivery") &&
				string(d.Body) == string(first.Body)
		}
		if !same(<-again) {
			t.Error("what was sent again is not what was sent")
		}
		r.wait(t, int(refused.Load())+2)
		r.forget()
		deliveries := fmt.Sprintf("%s/hooks/%d/deliveries", garden, id)
		testkit.Eventually(t, func() bool {
			a := s.Check(t, apitest.Case{Do: "GET " + deliveries, As: "alice", Status: 200})
			return apitest.Contains(a.Body,
				`[{"event": "issues", "status_code": 200}, {"event": "issues", "status_code": 200}, {"event": "ping"}]`) == nil
		}, "three deliveries are noted")
		var list []struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "GET " + deliveries + "?per_page=2", As: "alice", Status: 200}).JSON(t,
			&list)
		one := fmt.Sprintf("%s/%d", deliveries, list[1].ID)
		s.Check(t, apitest.Case{Do: "GET " + one, As: "alice", Status: 200,
			Want: `{"redelivery": false, "action": "opened",
			"request": {"headers": {"X-GitHub-Event": "issues"}, "payload": {"issue": {"title": "first"}}},
			"response": {"payload": ""}}`})
		s.Check(t, apitest.Case{Do: "POST " + one + "/attempts", As: "alice", Status: 202, Body: "{}"})
		if !same(r.expect(t, "issues.opened")[0]) {
			t.Error("a redelivery is not what was sent")
		}
	})
}
