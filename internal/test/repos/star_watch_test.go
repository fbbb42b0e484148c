package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Watchers are notified; stars are independent of that.
func TestWatching(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Repo(t, "alice/garden", false)
		const path = "/repos/alice/garden/subscription"
		var since string
		s.Run(t, []apitest.Case{
			{Name: "not yet", Do: "GET " + path, As: "bob", Status: 404, Want: `{"message": "Not Found"}`},
			{Name: "nothing to end", Do: "DELETE " + path, As: "bob", Status: 204, Body: "-"},
			{Name: "watch", Do: "PUT " + path, As: "bob", Send: `{"subscribed": true}`, Status: 200,
				Want: `{"subscribed": true, "ignored": false, "reason": null,
				"created_at": "$any", "url": "{base}/repos/alice/garden/subscription", "repository_url": "{base}/repos/alice/garden"}`,
				Keep: func(a *apitest.Answer) { since = string(a.Body) }},
			{Name: "without a body", Do: "PUT " + path, As: "carol", Status: 200,
				Want: `{"subscribed": true}`},
			{Name: "null means nothing", Do: "PUT " + path, As: "carol",
				Send: `{"subscribed": null, "ignored": null}`, Status: 200, Want: `{"subscribed": true}`},
			{Name: "told", Do: "GET " + path, As: "bob", Status: 200,
				Want: `{"subscribed": true, "ignored": false}`},
			{Name: "who", Do: "GET /repos/alice/garden/subscribers", Status: 200,
				Want: `[{"login": "bob"}, {"login": "carol"}]`},
			{Name: "a page", Do: "GET /repos/alice/garden/subscribers?per_page=1&page=2", Status: 200,
				Want: `[{"login": "carol"}]`},
			{Name: "without times", Do: "GET /repos/alice/garden/subscribers", Headers: asStar[0],
				Status: 200, Want: `[{"login": "bob", "starred_at": "$absent"}, {"login": "carol"}]`},
			{Name: "what", Do: "GET /users/bob/subscriptions", Status: 200,
				Want: `[{"full_name": "alice/garden"}]`},
			{Name: "counted, not starred", Do: "GET /repos/alice/garden", Status: 200,
				Want: `{"subscribers_count": 2, "stargazers_count": 0, "watchers": 0}`},
			{Name: "silence", Do: "PUT " + path, As: "carol", Send: `{"ignored": true, "subscribed": true}`,
				Status: 200, Want: `{"subscribed": false, "ignored": true, "created_at": "$any"}`},
			{Do: "GET " + path, As: "carol", Status: 200, Want: `{"subscribed": false, "ignored": true}`},
			{Name: "who is silent is no subscriber", Do: "GET /repos/alice/garden/subscribers", Status: 200,
				Want: `[{"login": "bob"}]`},
			{Do: "GET /user/subscriptions", As: "carol", Status: 200, Body: "[]"},
			{Do: "GET /repos/alice/garden", Status: 200, Want: `{"subscribers_count": 1}`},
			{Name: "neither", Do: "PUT " + path, As: "carol", Send: `{"subscribed": false}`, Status: 200,
				Want: `{"subscribed": false, "ignored": false, "created_at": null}`},
			{Do: "GET " + path, As: "carol", Status: 404},
			{Name: "again", Do: "PUT " + path, As: "bob", Status: 200, Keep: func(a *apitest.Answer) {
				if string(a.Body) != since {
					t.Errorf("watching again changed %s to %s", since, a.Body)
				}
			}},
			{Name: "a star leaves it alone", Do: "PUT /user/starred/alice/garden", As: "carol", Status: 204},
			{Do: "GET " + path, As: "carol", Status: 404},
			{Name: "the end", Do: "DELETE " + path, As: "bob", Status: 204, Body: "-"},
			{Do: "GET " + path, As: "bob", Status: 404},
			{Do: "GET /repos/alice/garden", Status: 200,
				Want: `{"subscribers_count": 0, "stargazers_count": 1}`},
			{Do: "GET /users/nobody/subscriptions", Status: 404},
		})
		checkCounts(t, s)
	})
}

// What no operation takes is refused, and the answer says what is wrong.
func TestBadStarsAndSubscriptions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Repo(t, "alice/garden", false)
		wrong := func(resource, field string) string {
			return `{"message": "Validation Failed", "documentation_url": "$any", "errors": [{"resource": "` +
				resource + `", "field": "` + field + `", "code": "invalid"}]}`
		}
		for _, list := range []string{"/user/starred", "/users/alice/starred"} {
			for _, value := range []string{"pushed", "Created", "created,updated", "1", "%00", "%ff"} {
				s.Check(t, apitest.Case{Do: "GET " + list + "?sort=" + value, As: "alice", Status: 422,
					Want: wrong("Star", "sort")})
				s.Check(t, apitest.Case{Do: "GET " + list + "?direction=" + value, As: "alice", Status: 422,
					Want: wrong("Star", "direction")})
			}
			for _, q := range []string{"page=0", "page=-1", "page=x", "per_page=0", "per_page=1000",
				"page=9223372036854775807", "page=99999999999999999999&per_page=100"} {
				s.Check(t, apitest.Case{Do: "GET " + list + "?" + q, As: "alice", Status: 200, Body: "[]"})
			}
		}
		const path = "PUT /repos/alice/garden/subscription"
		for _, c := range []struct{ send, field string }{
			{`{"subscribed": "true"}`, "subscribed"}, {`{"subscribed": 1}`, "subscribed"},
			{`{"ignored": []}`, "ignored"}, {`{"ignored": {}}`, "ignored"},
		} {
			s.Check(t, apitest.Case{Name: c.send, Do: path, As: "alice", Send: c.send, Status: 422,
				Want: wrong("Subscription", c.field)})
		}
		for _, send := range []string{`{`, `[]`, `"x"`, `{"subscribed": tru}`, "\xff"} {
			s.Check(t, apitest.Case{Name: send, Do: path, As: "alice", Send: send, Status: 400})
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/garden/subscription", As: "alice", Status: 404},
			{Do: "GET /users/-/starred", Status: 404}, {Do: "GET /users/%00/starred", Status: 404},
			{Do: "GET /users/%ff/subscriptions", Status: 404},
			{Do: "PUT /user/starred/alice/%00", As: "alice", Status: 404},
			{Do: "PUT /user/starred/alice/%ff", As: "alice", Status: 404},
			{Do: "PUT /user/starred/alice/" + strings.Repeat("x", 4000), As: "alice", Status: 404},
			{Do: "GET /user/starred", Status: 401}, {Do: "GET /user/subscriptions", Status: 401},
			{Do: "POST /user/starred/alice/garden", As: "alice", Status: 405},
		})
	})
}
