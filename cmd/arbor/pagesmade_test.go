//go:build long

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/account/session"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// madePatterns are the pages of what the demo does not have, which tests create in it.
var madePatterns = []string{"/settings/oauth-apps/{client_id}", "/login/oauth/authorize",
	"/login/oauth/logout", "/settings/connections/applications/{client_id}",
	"/{owner}/{repo}/commit/{sha}/comments/{id}/edits", "/{owner}/{repo}/queue/{branch...}",
	"/{owner}/{repo}/pull/{number}/commits/{sha}",
	"/orgs/{org}/settings/hooks/{hook_id}", "/orgs/{org}/settings/hooks/{hook_id}/deliveries/{delivery_id}",
	"/{owner}/{repo}/settings/hooks/{hook_id}",
	"/{owner}/{repo}/settings/hooks/{hook_id}/deliveries/{delivery_id}"}

// madePages creates what the demo does not have: an OAuth App, hooks with deliveries, a merge queue and
// an edited comment on a commit.
type madePages struct {
	t       *testing.T
	d       *demoProcess
	session string // of alice
}

// all are the pages of madePatterns.
func (m *madePages) all() []browser.Stop {
	m.t.Helper()
	var paths []string
	const callback = "https://weeder.example.org/callback"
	app := m.form("/settings/oauth-apps", "owner", "alice", "name", "Weeder", "homepage", "https://weeder.example.org",
		"callbacks", callback)
	client := app[strings.LastIndex(app, "/")+1:]
	m.form("/login/oauth/authorize", "scope", "repo", "client_id", client, "redirect_uri", callback, "answer", "allow")
	paths = append(paths, app, "/settings/connections/applications/"+client, "/login/oauth/authorize?scope=openid+profile+email+groups+repo&response_type=code&client_id="+
		client+"&redirect_uri="+url.QueryEscape(callback), "/login/oauth/logout?client_id="+client)
	for api, page := range map[string]string{"/repos/alice/greenhouse/hooks": "/alice/greenhouse/settings/hooks",
		"/orgs/orchard/hooks": "/orgs/orchard/settings/hooks"} {
		hook := api + "/" + m.created(api, `{"name":"web","config":{"url":"http://127.0.0.1:1/`+
			strings.Repeat("a-long-address/", 10)+`"},"events":["push","issues"]}`)
		paths = append(paths, strings.Replace(hook, api, page, 1))
		var deliveries []struct{ ID json.Number }
		testkit.Eventually(m.t, func() bool {
			testkit.NoError(m.t, json.Unmarshal(m.ask("GET", hook+"/deliveries", ""), &deliveries))
			return len(deliveries) > 0
		}, "the delivery of a ping")
		paths = append(paths, strings.Replace(hook, api, page, 1)+"/deliveries/"+deliveries[0].ID.String())
	}
	m.created("/repos/alice/greenhouse/rulesets", `{"name":"queue","target":"branch","enforcement":"active",
		"conditions":{"ref_name":{"include":["refs/heads/irrigation"],"exclude":[]}},"rules":[{"type":"merge_queue"}]}`)
	paths = append(paths, "/alice/greenhouse/queue/irrigation")
	var commits []struct{ SHA string }
	testkit.NoError(m.t, json.Unmarshal(m.ask("GET", "/repos/alice/greenhouse/pulls/12/commits", ""), &commits))
	paths = append(paths, "/alice/greenhouse/pull/12/commits/"+commits[0].SHA)
	remark := m.created("/repos/alice/greenhouse/commits/"+commits[0].SHA+"/comments", `{"body":"Peas"}`)
	m.ask("PATCH", "/repos/alice/greenhouse/comments/"+remark, `{"body":"Beans"}`)
	paths = append(paths, "/alice/greenhouse/commit/"+commits[0].SHA+"/comments/"+remark+"/edits?edit=1")
	var stops []browser.Stop
	for _, path := range paths {
		stops = append(stops, browser.Stop{Name: "made", Path: path, As: "alice"})
	}
	return stops
}

// form sends a form as alice's browser does, and returns where it leads.
func (m *madePages) form(path string, fields ...string) string {
	m.t.Helper()
	values := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	r, err := http.NewRequest("POST", m.d.address()+path, strings.NewReader(values.Encode()))
	testkit.NoError(m.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", m.d.address())
	r.AddCookie(&http.Cookie{Name: session.Cookie, Value: m.session})
	answer, err := http.DefaultTransport.RoundTrip(r) // which follows nothing
	testkit.NoError(m.t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther && answer.StatusCode != http.StatusFound {
		text, _ := io.ReadAll(answer.Body)
		m.t.Fatalf("POST %s: %s %.2000s", path, answer.Status, text)
	}
	return answer.Header.Get("Location")
}

// created sends something to the API as alice, and returns its id.
func (m *madePages) created(path, body string) string {
	m.t.Helper()
	var made struct{ ID json.Number }
	testkit.NoError(m.t, json.Unmarshal(m.ask("POST", path, body), &made))
	return made.ID.String()
}

func (m *madePages) ask(method, path, body string) []byte {
	m.t.Helper()
	return m.askAs("alice", method, path, body)
}

func (m *madePages) askAs(login, method, path, body string) []byte {
	m.t.Helper()
	r, err := http.NewRequest(method, m.d.address()+path, strings.NewReader(body))
	testkit.NoError(m.t, err)
	r.Header.Set("Authorization", "Bearer "+m.d.tokens()[login])
	answer, err := http.DefaultClient.Do(r)
	testkit.NoError(m.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		m.t.Fatalf("%s %s: %s %v %s", method, path, answer.Status, err, text)
	}
	return text
}
