//go:build long

package conformance

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// stars and watching, with the media type that tells when.
func (w *world) stars() {
	for _, name := range []string{"alice/garden", "orchard/apples"} {
		w.do("bob", "PUT /user/starred/"+name)
		w.do("bob", "PUT /repos/"+name+"/subscription", `{"subscribed": true}`)
	}
	w.do("bob", "PUT /user/starred/alice/wild")
	w.do("bob", "DELETE /user/starred/alice/wild")
	w.do("bob", "GET /user/starred/alice/garden")
	for _, media := range []string{githubJSON, "application/vnd.github.v3.star+json"} {
		w.accept(media, "", "GET "+garden+"/stargazers")
		w.accept(media, "", "GET /users/bob/starred")
		w.accept(media, "bob", "GET /user/starred")
	}
	w.do("bob", "GET "+garden+"/subscription")
	w.do("erin", "PUT "+garden+"/subscription", `{"ignored": true}`)
	w.do("erin", "DELETE "+garden+"/subscription")
	w.do("", "GET "+garden+"/subscribers")
	w.do("alice", "PUT "+garden+"/topics", `{"names": ["gardening"]}`)
	w.do("", "GET "+garden)
	w.do("bob", "POST "+garden+"/commits/main/comments",
		`{"body": "Why?", "path": "README.md", "position": 1, "line": 1}`)
	w.do("", "GET "+garden+"/comments")
	w.do("", "GET /users/bob/subscriptions")
	w.do("bob", "GET /user/subscriptions")
	w.do("alice", "GET /user/repos")
}

// hooks sends events of an issue and a member to a receiver.
func (w *world) hooks() {
	receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "thanks")
	}))
	defer receiver.Close()
	made := map[string]string{}
	for place, event := range map[string]string{garden: "issues", "/orgs/orchard": "organization"} {
		hook := w.do("alice", "POST "+place+"/hooks", fmt.Sprintf(
			`{"name": "web", "config": {"url": %q, "content_type": "json", "secret": "peas"}, "events": [%q]}`, receiver.URL, event))
		made[place] = place + "/hooks/" + hook.get("id")
	}
	w.do("alice", "POST "+garden+"/issues", `{"title": "Snails"}`)
	w.do("alice", "PUT /orgs/orchard/memberships/erin", `{"role": "member"}`)
	w.do("alice", "DELETE /orgs/orchard/memberships/erin")
	for _, hook := range made {
		w.told(hook)
		w.do("alice", "DELETE "+hook)
	}
}

// told waits until a hook was told of more than its ping, and reads what it was told.
func (w *world) told(hook string) {
	w.t.Helper()
	for end := time.Now().Add(testkit.Patience); ; time.Sleep(20 * time.Millisecond) {
		var list []struct {
			ID     int64
			Action *string
		}
		w.Check(w.t, apitest.Case{Do: "GET " + hook + "/deliveries", As: "alice", Status: 200}).JSON(w.t,
			&list)
		if len(list) > 1 && list[0].Action != nil {
			w.do("alice", "GET "+hook+"/deliveries")
			w.do("alice", fmt.Sprintf("GET %s/deliveries/%d", hook, list[0].ID))
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s was not told within a minute", hook)
		}
	}
}

// refusals: what is not there, who is not known, what is not well said.
func (w *world) refusals() {
	for _, row := range w.rows {
		method, pattern := row.route.Method, row.route.Pattern
		nowhere := placeholder.ReplaceAllString(pattern, "1")
		if row.route.Right == route.App {
			w.refused(http.StatusUnauthorized, "erin", method+" "+nowhere)
			continue
		}
		switch {
		case row.route.Nobody && !row.route.Client:
			w.refused(http.StatusNotFound, "", method+" "+nowhere)
		case method != http.MethodGet:
			w.refused(http.StatusUnauthorized, "", method+" "+nowhere)
		case strings.HasPrefix(pattern, "/repos/") && row.route.Right != route.SignedIn:
			w.refused(http.StatusNotFound, "", method+" "+nowhere)
		}
		if strings.HasPrefix(pattern, "/repos/") {
			w.refused(http.StatusNotFound, "erin",
				method+" "+strings.Replace(placeholder.ReplaceAllString(pattern, "1"), "/repos/1/1",
					"/repos/alice/cellar", 1))
		}
	}
	w.refused(http.StatusNotFound, "", "GET /users/nobody")
	w.refused(http.StatusUnauthorized, "", "GET /user")
	w.refused(http.StatusForbidden, "erin", "PATCH /orgs/orchard", `{}`)
	w.refused(http.StatusForbidden, "erin", "PATCH "+garden, `{}`)
	w.refused(http.StatusForbidden, "erin", "POST "+garden+"/labels", `{"name": "x"}`)
	w.refused(http.StatusNotFound, "bob", "GET /user/starred/alice/wild")
	w.refused(http.StatusNotFound, "", "GET "+garden+"/pulls/7/merge")
	w.refused(http.StatusMethodNotAllowed, "alice", "PUT "+garden+"/pulls/6/merge")
	w.refused(http.StatusConflict, "alice", "PUT "+garden+"/pulls/8/merge",
		`{"sha": "`+strings.Repeat("0", 40)+`"}`)
	for do, body := range map[string]string{
		"POST " + garden + "/issues":             `{}`,
		"PATCH " + garden + "/issues/1":          `{"title": 5}`,
		"POST " + garden + "/labels":             `{"name": "bug"}`,
		"POST " + garden + "/milestones":         `{"title": "Spring"}`,
		"POST " + garden + "/pulls":              `{"title": "x"}`,
		"POST " + garden + "/git/trees":          `{"tree": []}`,
		"POST " + garden + "/git/refs":           `{"ref": "x"}`,
		"POST " + garden + "/git/blobs":          `{}`,
		"POST " + garden + "/git/tags":           `{}`,
		"POST " + garden + "/git/commits":        `{}`,
		"POST " + garden + "/issues/1/comments":  `{}`,
		"POST " + garden + "/issues/1/reactions": `{"content": "shrug"}`,
		"POST " + garden + "/pulls/7/reviews":    `{"event": "SHRUG"}`,
		"POST " + garden + "/pulls/7/comments":   `{}`,
		"POST " + garden + "/merges":             `{}`,
		"POST /user/repos":                       `{"name": "garden"}`,
		"GET " + garden + "/issues?state=odd":    "",
		"GET /search/issues?q=":                  "",
		"PATCH /user":                            `{"name": 5}`,
		"PUT " + garden + "/contents/new.txt":    `{}`,
	} {
		w.refused(http.StatusUnprocessableEntity, "alice", do, body)
	}
}

// searches: of each kind, also with what matched.
func (w *world) searches() {
	for _, path := range []string{"repositories?q=user:alice", "repositories?q=garden", "users?q=alice",
		"commits?q=a+user:alice", "commits?q=plant+user:alice", "code?q=a+user:alice",
		"topics?q=garden", "labels?q=bug&repository_id=1"} {
		w.do("alice", "GET /search/"+path)
		w.accept("application/vnd.github.text-match+json", "alice", "GET /search/"+path)
		kind, _, _ := strings.Cut(path, "?")
		w.refused(http.StatusUnprocessableEntity, "alice", "GET /search/"+kind+"?q=&repository_id=1")
	}
}

// farewell takes back what can be, at the end.
func (w *world) farewell() {
	w.searches()
	w.imports()
	w.do("bob", "DELETE "+garden+"/subscription")
}

// imports asks for an import from a server that does not answer.
func (w *world) imports() {
	w.do("alice", "POST /user/repos", `{"name": "moved"}`)
	const moved = "/repos/alice/moved/import"
	w.do("alice", "PUT "+moved, `{"vcs": "git", "vcs_url": "http://127.0.0.1:1/alice/garden", "vcs_password": "secret"}`)
	testkit.Eventually(w.t, func() bool { return w.do("alice", "GET "+moved).get("status") == "error" }, "the import fails")
	w.do("alice", "GET "+moved+"/authors")
	w.do("alice", "PATCH "+moved, `{"vcs_username": "octocat", "vcs_password": "secret"}`)
	w.do("alice", "DELETE "+moved)
}
