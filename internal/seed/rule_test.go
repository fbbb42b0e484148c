package seed_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/db"
)

// Rules of a seed hold in the store that it fills, after the history that they would refuse.
func TestSeedHasRules(t *testing.T) {
	t.Parallel()
	h := filled(t, db.SQLite, parse(t, []byte(`
users:
  - {login: alice, tokens: [arb_alice]}
repos:
  - name: alice/garden
    commits: [{message: a, files: {a: x}}]
    protections: [{branch: main, approvals: 2, checks: [build], admins: true, pushers: [], signatures: true}]
    rulesets:
      - name: all
        include: ["~ALL"]
        rules: [deletion, {type: commit_message_pattern, parameters: {operator: starts_with, pattern: G}}]
`)))
	for path, want := range map[string]string{
		"/branches/main/protection":                     `"required_approving_review_count":2`,
		"/branches/main/protection/restrictions":        `"users":[]`,
		"/branches/main/protection/enforce_admins":      `"enabled":true`,
		"/branches/main/protection/required_signatures": `"enabled":true`,
		"/rules/branches/main":                          `"pattern":"G"`,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/repos/alice/garden"+path, nil)
		r.Header.Set("Authorization", "Bearer arb_alice")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
