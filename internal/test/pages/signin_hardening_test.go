package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// What RFC 6749, 8252 and 8628 ask for besides the flows themselves: each case is one that a program or a stranger
// tries.
func TestOAuthIsHardened(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		person := s.User(t, "alice")
		s.User(t, "bob")
		session := s.PasswordSession(t, "alice")

		c := newClient(t, s, "bob", "https://weeder.example/cb", "http://127.0.0.1/cb")
		c.allow(t, s, session)
		ledTo(t, visit(t, s, "GET /login/oauth/authorize?"+c.asks(), session, ""))
		// Who revokes what was allowed is asked, also if a request began before that.
		q, err := s.Forge.OAuth.Read(t.Context(), url.Values{"client_id": {c.ClientID}, "scope": {"repo read:org"}})
		testkit.NoError(t, err)
		alice := &account.Caller{ID: person.ID, Login: "alice", Session: true}
		q.WithoutAsking = true
		_, err = s.Forge.OAuth.Authorize(t.Context(), alice, q, "")
		testkit.NoError(t, err)
		grants, err := s.Forge.OAuth.Grants(t.Context(), alice)
		testkit.NoError(t, err)
		testkit.NoError(t, s.Forge.OAuth.Revoke(t.Context(), alice, grants[0].ID))
		if _, err := s.Forge.OAuth.Authorize(t.Context(), alice, q, ""); !errs.Is(err, errs.Conflict) {
			t.Errorf("a request that nobody was asked about, after the App was revoked: %v", err)
		}

		// A parameter is sent once, in a query as in a form.
		take := func(do, send string) *apitest.Answer {
			return s.Do(t, apitest.Case{Do: do, Send: send, Headers: map[string]string{"Accept": "application/json",
				"Content-Type": apitest.FormType}})
		}
		want(t, take("POST /login/oauth/access_token?client_id=a&client_id=b", ""), 400, "more than once")
		want(t, take("POST /login/oauth/access_token", "client_id=a&client_id=b"), 400, "more than once")
		want(t, take("POST /login/device/code?client_id=%ff", ""), 400, "UTF-8")

		// An owner who switches the device flow off ends it for codes that wait, allowed or not.
		about := oauth.About{Name: "Weeder", Homepage: "https://weeder.example", Callbacks: []string{"https://weeder.example/cb"},
			DeviceFlow: true}
		set := func(on bool) {
			about.DeviceFlow = on
			testkit.NoError(t, s.Forge.OAuth.Edit(t.Context(), nil, c.ClientID, about))
		}
		ask := func() (device, user string) {
			q, err := url.ParseQuery(string(s.Do(t, apitest.Case{Do: "POST /login/device/code",
				Send: "scope=repo&client_id=" + c.ClientID, Headers: map[string]string{"Content-Type": apitest.FormType}}).Body))
			testkit.NoError(t, err)
			return q.Get("device_code"), q.Get("user_code")
		}
		poll := func(device string) string {
			return string(take("POST /login/oauth/access_token", "client_id="+c.ClientID+"&device_code="+device+
				"&grant_type=urn:ietf:params:oauth:grant-type:device_code").Body)
		}
		set(true)
		waits, typed := ask()
		allowed, user := ask()
		want(t, visit(t, s, "POST /login/device", session, "user_code="+user), 200, "<bdi>Weeder</bdi>", "of <a href=\"/bob\">")
		want(t, visit(t, s, "POST /login/device", session, "answer=allow&user_code="+user), 200)
		set(false)
		want(t, visit(t, s, "POST /login/device", session, "user_code="+typed), 404)
		for _, code := range []string{waits, allowed} {
			if got := poll(code); !strings.Contains(got, "device_flow_disabled") {
				t.Errorf("a program whose flow was switched off gets %s", got)
			}
		}
		set(true)
		if got := poll(allowed); !strings.Contains(got, "access_token") {
			t.Errorf("a program whose flow is on again gets %s", got)
		}
	})
}
