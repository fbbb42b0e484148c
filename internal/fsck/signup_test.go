package fsck

import (
	"strings"
	"testing"

	"arbor/internal/signup"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// What keeps accounts from beginning is found.
func TestBrokenSignUpIsFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Org(t, "acme", "alice")
		testkit.NoError(t, s.Forge.Signup.Change(t.Context(), nil, signup.Settings{Mode: signup.Invitation}))
		_, err := s.Forge.Signup.Invite(t.Context(), nil, signup.Invite{Org: "acme", Days: 1})
		testkit.NoError(t, err)
		if found := look(t, s, Options{}); !found.Sound() {
			t.Fatal(found.text())
		}
		write(t, s, `UPDATE signup_links SET org_id = (SELECT id FROM accounts WHERE login = 'alice')`)
		write(t, s, `UPDATE signup_settings SET mode = 'whatever'`)
		write(t, s, `INSERT INTO signup_requests (login, login_folded, name, address, verified, reason, password, network,
			created_at) VALUES ('bob', 'bob', '', '', FALSE, '', 'clear text', '', 1)`)
		found := look(t, s, Options{})
		for _, problem := range []string{"is to alice, no organization", "how accounts begin is not known",
			"the request for bob has no password"} {
			if !strings.Contains(found.text(), problem) {
				t.Errorf("%q is not in %s", problem, found.text())
			}
		}
	})
}
