package pages_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// codes asks for a device's codes, as gh does.
func codes(t *testing.T, s *apitest.Server) (device, user string) {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "POST /login/device/code",
		Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		Send:    "client_id=178c6fc778ccc68e1d6a&scope=repo+read:org"})
	v, err := url.ParseQuery(string(a.Body))
	if err != nil || v.Get("user_code") == "" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return v.Get("device_code"), v.Get("user_code")
}

// polled returns the response to a program that polls for its token.
func polled(t *testing.T, s *apitest.Server, device string) (out map[string]string) {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "POST /login/oauth/access_token",
		Headers: map[string]string{"Accept": "application/json",
			"Content-Type": "application/x-www-form-urlencoded"},
		Send: url.Values{"client_id": {"178c6fc778ccc68e1d6a"}, "device_code": {device},
			"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}}.Encode()})
	var all map[string]any
	if err := json.Unmarshal(a.Body, &all); err != nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	out = map[string]string{}
	for name, v := range all {
		out[name], _ = v.(string)
	}
	return out
}

// A user who runs gh auth login confirms its code here, and no other user can.
func TestDevicePage(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		session := s.PasswordSession(t, "alice")
		a := visit(t, s, "GET /login/device", "", "")
		want(t, a, 303)
		if to := a.Header.Get("Location"); to != "/login?return_to=%2Flogin%2Fdevice" {
			t.Errorf("who is not signed in is led to %s", to)
		}
		want(t, visit(t, s, "POST /login/device", "", "user_code=AAAA-BBBB"), 303)
		want(t, visit(t, s, "GET /login/device", session, ""), 200, "Code shown by the program")
		want(t, visit(t, s, "POST /login/device", session, "user_code=BBBB-CCCC"), 404,
			"The code is unknown or has expired", "BBBB-CCCC")

		device, code := codes(t, s)
		want(t, visit(t, s, "POST /login/device", session, "user_code="+strings.ToLower(code)), 200,
			"GitHub CLI", "<b>alice</b>", "<code>repo</code>", "<code>read:org</code>", "Deny")
		if got := polled(t, s, device)["error"]; got != "authorization_pending" {
			t.Errorf("looking at it decides: %s", got)
		}
		want(t, visit(t, s, "POST /login/device", session, "answer=allow&user_code="+code), 200,
			"can now act as you")
		token := polled(t, s, device)["access_token"]
		s.Check(t, apitest.Case{Do: "GET /user",
			Headers: map[string]string{"Authorization": "token " + token}, Status: 200,
			Want: `{"login": "alice"}`})

		device, code = codes(t, s)
		want(t, visit(t, s, "POST /login/device", session, "answer=deny&user_code="+code), 200,
			"was denied")
		if got := polled(t, s, device)["error"]; got != "access_denied" {
			t.Errorf("after it was denied: %s", got)
		}
		device, code = codes(t, s)
		limited, err := s.Forge.Sessions.SignInWithToken(t.Context(), s.Scoped(t, "alice", "repo"), from())
		testkit.NoError(t, err)
		for _, begun := range []string{limited, s.Session(t, "alice")} { // with a token, which makes no other
			want(t, visit(t, s, "POST /login/device", begun, "answer=allow&user_code="+code), 403,
				"Sign in with your password")
		}
		want(t, s.Do(t, apitest.Case{Do: "POST /login/device", As: "alice",
			Send:    "answer=allow&user_code=" + code,
			Headers: map[string]string{"Accept": apitest.Browser, "Content-Type": apitest.FormType}}), 403,
			"Sign in with your password")
		if got := polled(t, s, device)["error"]; got != "authorization_pending" {
			t.Errorf("after tokens tried to allow it: %s", got)
		}
		for range 4 { // the first was above
			want(t, visit(t, s, "POST /login/device", session, "user_code=BBBB-CCCC"), 404)
		}
		want(t, visit(t, s, "POST /login/device", session, "answer=allow&user_code="+code), 429,
			"Too many codes")
		// A link cannot bring a code: the person types the one that its own program shows.
		a = visit(t, s, "GET /login/device?user_code=BBBB-CCCC", session, "")
		if want(t, a, 200); strings.Contains(string(a.Body), "BBBB") {
			t.Error("a link fills a code in")
		}
	})
}
