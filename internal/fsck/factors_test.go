package fsck

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Factors that cannot sign anybody in are found, and stay.
func TestBrokenFactorsAreFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		if found := look(t, s, Options{}); !found.Sound() {
			t.Fatal(found.text())
		}
		s.Token(t, "alice")
		write(t, s, `INSERT INTO recovery_codes (account_id, digest) SELECT account_id, digest FROM tokens`)
		write(t, s, `INSERT INTO factor_rules (org_id, begins_at) SELECT id, 1 FROM accounts WHERE login = 'bob'`)
		found := look(t, s, Options{Repair: true})
		for _, problem := range []string{"alice has recovery codes, but no factor",
			"bob is no organization, and requires second factors"} {
			if !strings.Contains(found.text(), problem) {
				t.Errorf("%q is not in %s", problem, found.text())
			}
		}
		if found.Sound() {
			t.Error("it was repaired")
		}
	})
}
