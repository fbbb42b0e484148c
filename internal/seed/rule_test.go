package seed_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/db"
)

// A seed's rules name teams, users and roles.
func TestSeedRulesNameActors(t *testing.T) {
	t.Parallel()
	h := filled(t, db.SQLite, parse(t, []byte(`
users:
  - {login: alice, tokens: [arb_alice]}
  - {login: bob}
orgs:
  - login: guild
    owners: [alice]
    members: [bob]
    teams: [{name: The Wardens, members: [bob], repos: {garden: maintain}}]
repos:
  - name: guild/garden
    commits: [{message: a, files: {a: x}}]
    protections:
      - {branch: main, approvals: 1, bypass: [bob, guild/the-wardens], dismissers: [], pushers: [guild/the-wardens]}
    rulesets:
      - name: all
        include: ["~ALL"]
        rules: [deletion]
        bypass: [bob, guild/the-wardens, {role: admin, mode: pull_request}, {role: owner}, {actor: alice, mode: always}]
`)))
	for path, want := range map[string]string{
		"/branches/main/protection/restrictions": `"slug":"the-wardens"`,
		"/branches/main/protection":              `"login":"bob"`,
		"/rulesets/2": `"bypass_actors":[{"actor_id":2,"actor_type":"User","bypass_mode":"always"},` +
			`{"actor_id":1,"actor_type":"Team","bypass_mode":"always"},` +
			`{"actor_id":5,"actor_type":"RepositoryRole","bypass_mode":"pull_request"},` +
			`{"actor_id":null,"actor_type":"OrganizationAdmin","bypass_mode":"always"},` +
			`{"actor_id":1,"actor_type":"User","bypass_mode":"always"}]`,
	} {
		tellsOf(t, h, "/repos/guild/garden"+path, want)
	}
}

// tellsOf asks as alice.
func tellsOf(t *testing.T, h http.Handler, path, want string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Authorization", "Bearer arb_alice")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%s: %d %s", path, w.Code, w.Body)
	}
}

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
		tellsOf(t, h, "/repos/alice/garden"+path, want)
	}
}
