package pages_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// tokenCase is a request of the OAuth App about a token, with its credentials.
func (c client) tokenCase(do string, token any, status int) apitest.Case {
	basic := base64.StdEncoding.EncodeToString([]byte(c.ClientID + ":" + c.secret))
	body, err := json.Marshal(map[string]any{"access_token": token})
	if err != nil {
		panic(err)
	}
	return apitest.Case{Do: do, Send: string(body), Headers: map[string]string{"Authorization": "Basic " + basic},
		Status: status}
}

// An OAuth App checks, resets and ends the tokens that it has, and no others.
func TestOAuthAppManagesItsTokens(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Admin(t, "keeper")
		c := newClient(t, s, "bob", "https://weeder.example/cb")
		other := newClient(t, s, "alice", "https://weeder.example/cb")
		session := s.PasswordSession(t, "alice")
		give := func() any { return c.redeem(t, s, c.allow(t, s, session))["access_token"] }
		address, grant := "/applications/"+c.ClientID+"/token", "/applications/"+c.ClientID+"/grant"
		first := give()
		text := first.(string)

		check := c.tokenCase("POST "+address, first, 200)
		check.Want = fmt.Sprintf(`{"token": %q, "token_last_eight": %q, "scopes": ["repo", "read:org"],
			"app": {"client_id": %q, "name": "Weeder", "url": "https://weeder.example"}, "user": {"login": "alice"},
			"expires_at": null, "note": null}`, text, text[len(text)-8:], c.ClientID)
		if a := s.Check(t, check); a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("the answer with a token may be cached: %q", a.Header.Get("Cache-Control"))
		}
		wrong := c
		wrong.secret = "0123456789abcdef0123456789abcdef01234567"
		for _, do := range []string{"POST " + address, "PATCH " + address, "DELETE " + address, "DELETE " + grant} {
			none := apitest.Case{Do: do, Send: `{"access_token": "x"}`, Status: 401}
			asUser := none
			asUser.As = "keeper"
			nothing := c.tokenCase(do, first, 422)
			nothing.Send = `{}`
			s.Run(t, []apitest.Case{none, asUser, nothing,
				wrong.tokenCase(do, first, 401), other.tokenCase(do, first, 404),
				c.tokenCase(do, "gho_wrong", 404), c.tokenCase(do, s.Token(t, "alice"), 404),
				c.tokenCase(do, 7, 422)})
		}
		s.Check(t, other.tokenCase("DELETE /applications/"+other.ClientID+"/grant", first, 404))
		works(t, s, first, true)

		var reset struct {
			Token string `json:"token"`
		}
		a := s.Check(t, c.tokenCase("PATCH "+address, first, 200))
		testkit.NoError(t, json.Unmarshal(a.Body, &reset))
		works(t, s, first, false)
		works(t, s, reset.Token, true)
		s.Run(t, []apitest.Case{c.tokenCase("POST "+address, first, 404), c.tokenCase("PATCH "+address, first, 404),
			c.tokenCase("POST "+address, reset.Token, 200), c.tokenCase("DELETE "+address, reset.Token, 204),
			c.tokenCase("DELETE "+address, reset.Token, 404)})
		works(t, s, reset.Token, false)

		second, third := give(), give()
		code := c.allow(t, s, session)
		s.Check(t, c.tokenCase("DELETE "+grant, second, 204))
		works(t, s, second, false)
		works(t, s, third, false)
		if got := c.redeem(t, s, code); got["error"] != "bad_verification_code" {
			t.Errorf("a code of an ended grant: %v", got)
		}

		// A suspended user's tokens are not in force.
		last := give()
		s.Check(t, apitest.Case{Do: "PUT /users/alice/suspended", As: "keeper", Status: 204})
		s.Run(t, []apitest.Case{c.tokenCase("POST "+address, last, 404), c.tokenCase("DELETE "+grant, last, 404)})
		s.Check(t, apitest.Case{Do: "DELETE /users/alice/suspended", As: "keeper", Status: 204})
		s.Check(t, c.tokenCase("POST "+address, last, 200))

		log := s.Check(t, apitest.Case{Do: "GET /admin/audit-log?phrase=actor:alice", As: "keeper", Status: 200})
		for _, action := range []string{"oauth_access.regenerate", "oauth_access.destroy", "oauth_authorization.destroy"} {
			if !strings.Contains(string(log.Body), `"`+action+`"`) {
				t.Errorf("the audit log has no %s", action)
			}
		}
	})
}
