package server_test

import (
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// unaudited lists routes that change something without a row in the audit log, by their prefix, with the
// reason. A route that changes rights must never be listed here.
var unaudited = map[string]string{
	"POST /plants":                                                       "plants are their owner's own things",
	"DELETE /plants/{id}":                                                "the same",
	"PUT /user/following/{username}":                                     "a mark of the caller's own",
	"DELETE /user/following/{username}":                                  "the same",
	"PUT /user/starred/{owner}/{repo}":                                   "the same",
	"DELETE /user/starred/{owner}/{repo}":                                "the same",
	"PUT /repos/{owner}/{repo}/subscription":                             "the same",
	"DELETE /repos/{owner}/{repo}/subscription":                          "the same",
	"PUT /repos/{owner}/{repo}/notifications":                            "the same",
	"* /notifications":                                                   "the same",
	"* /repos/{owner}/{repo}/issues":                                     "daily work, which the timeline tells",
	"* /repos/{owner}/{repo}/pulls":                                      "the same",
	"* /repos/{owner}/{repo}/labels":                                     "the same",
	"* /repos/{owner}/{repo}/milestones":                                 "the same",
	"* /repos/{owner}/{repo}/releases":                                   "the same, and it is in the feeds",
	"POST /repos/{owner}/{repo}/mirror-sync":                             "the mirror does that by itself, too",
	"POST /repos/{owner}/{repo}/mirror-hook":                             "the same",
	"POST /repos/{owner}/{repo}/push_mirrors-sync":                       "the same",
	"POST /repos/{owner}/{repo}/dispatches":                              "it sends what the deliveries of hooks show",
	"* /repos/{owner}/{repo}/git/":                                       "daily work, which git's history and the feed tell",
	"* /repos/{owner}/{repo}/contents":                                   "the same",
	"* /repos/{owner}/{repo}/branches/{branch...}/rename":                "the same; of the default branch a row tells",
	"* /repos/{owner}/{repo}/comments":                                   "daily work, which the feed tells",
	"* /repos/{owner}/{repo}/commits":                                    "the same",
	"* /repos/{owner}/{repo}/merges":                                     "daily work, which git's history and the feed tell",
	"* /repos/{owner}/{repo}/merge-upstream":                             "the same",
	"* /repos/{owner}/{repo}/statuses":                                   "what builds say",
	"* /repos/{owner}/{repo}/deployments":                                "what deploy tools say",
	"* /repos/{owner}/{repo}/check-runs":                                 "what Apps say",
	"POST /repos/{owner}/{repo}/check-suites":                            "the same",
	"POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest": "the same",
	"POST /{owner}/{repo}/git-upload-pack":                               "it only reads",
	"* /{owner}/{repo}/info/lfs":                                         "daily work beside Git's",
	"POST /graphql":                                                      "it asks other routes, which tell",
	"POST /api/graphql":                                                  "the same",
	"* /markdown":                                                        "it changes nothing",
	"POST /app/installations/{installation_id}/access_tokens":            "an hour's use of what was granted with the installation",
	"POST /login/passkey":                                                "it asks; who signs in leaves a row",
	"POST /login/device/code":                                            "it asks; who confirms leaves a row",
	"POST /login/oauth/access_token":                                     "a row tells of the token, where somebody confirmed its code; package account tests it",
	"POST /login/oauth/token":                                            "the same",
	"POST /login/oauth/revoke":                                           "a row tells of the token, but its client is no account; as DELETE /applications/{client_id}/token",
	"POST /login/oauth/introspect":                                       "it changes nothing",
	"POST /login/oauth/userinfo":                                         "the same",
	"POST /login/oauth/logout":                                           "who signs out leaves a row",
	"POST /login/oauth/authorize":                                        "a row tells of what is allowed for the first time, see TestOAuthFlow",
	"POST /app-manifests/{code}/conversions":                             "a row tells of the App's key, but not who asked: that is nobody; package app tests it",
	"POST /applications/{client_id}/token":                               "it changes nothing",
	"DELETE /installation/token":                                         "the end of the same",
	"POST /{owner}/{repo}/git-receive-pack":                              "daily work, which git's history and the feed tell",
}

func reasonNotAudited(r *route.Route) string {
	for prefix, reason := range unaudited {
		method, pattern, _ := strings.Cut(prefix, " ")
		if method == r.Method && pattern == r.Pattern ||
			method == "*" && strings.HasPrefix(r.Pattern, pattern) {
			return reason
		}
	}
	return ""
}

// audited checks that a change of rights leaves a row in the audit log with the actor, the address and the
// request, or that the route is listed above. Otherwise an intruder would leave no trace.
func (m *matrix) audited(t *testing.T, q *fixture.Request, a *apitest.Answer, newest int64) {
	t.Helper()
	r := q.Route
	if reason := reasonNotAudited(r); reason != "" {
		if r.Right == route.Maintain || r.Right == route.Admin || r.Right == route.SiteAdmin {
			t.Errorf("%s %s needs %q and is not audited: %s", r.Method, r.Pattern, r.Right, reason)
		}
		return
	}
	if m.newestEvent(t) == newest {
		t.Errorf("%s as %s left no row in the audit log: call audit.Record, or say here why not", q.Do, q.Who)
		return
	}
	events := m.Do(t, apitest.Case{Do: "GET /admin/audit-log?per_page=1", As: "chief"})
	actor := q.Who
	if actor == fixture.Robot {
		actor = fixture.Bot // an App is shown as its bot
	}
	want := `[{"actor":"` + actor + `","actor_ip":"127.0.0.1","request_id":"` +
		a.Header.Get("X-Request-Id") + `"}]`
	if err := apitest.Contains(events.Body, want); err != nil {
		t.Errorf("%s: %v\n%s", q.Do, err, events.Body)
	}
}

// newestEvent is the id of the newest row of the audit log.
func (m *matrix) newestEvent(t *testing.T) (id int64) {
	t.Helper()
	err := m.DB.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT COALESCE(max(id), 0) FROM audit`).Scan(&id)
	})
	testkit.NoError(t, err)
	return id
}
