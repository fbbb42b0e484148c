package seed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/seed"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// example is the example of the documentation.
func example(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "seed.md"))
	testkit.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "## An example\n")
	rest, _, found := strings.Cut(rest, "## Every key")
	if !found {
		t.Fatal("the documentation has no example")
	}
	return []byte(regexp.MustCompile(`(?m)^    `).ReplaceAllString(rest, ""))
}

func parse(t testing.TB, text []byte) *seed.Seed {
	t.Helper()
	s, err := seed.Parse("seed.yaml", ".", text)
	testkit.NoError(t, err)
	return s
}

// Git may take a part of the machine's memory, so what asks for it is held to the same memory, however large.
func TestExampleOnALargeMachine(t *testing.T) {
	t.Parallel()
	control := admission.New(64<<30, nil)
	o := git.Options{Memory: control.GitMemory(), Admit: control.Child}
	if err := seed.Rehearse(t.Context(), parse(t, example(t)), o, control); err != nil {
		t.Error(err)
	}
}

// filled is a server on a store that was filled with a seed.
func filled(t testing.TB, engine db.Engine, s *seed.Seed) http.Handler {
	t.Helper()
	dir, url := t.TempDir(), dbtest.URL(t, engine)
	err := seed.Fill(t.Context(), s, seed.Store{DataDir: dir, Database: db.Options{URL: url}})
	testkit.NoError(t, err)
	g := gittest.New(t, git.Options{})
	return server.New(server.Options{DB: dbtest.OpenURL(t, url), Git: g, DataDir: dir,
		Log: slog.New(slog.DiscardHandler), Graduated: true})
}

func get(t testing.TB, h http.Handler, token, path string) (int, string) {
	t.Helper()
	r := httptest.NewRequest("GET", "http://arbor"+path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// everything is what of the example can be read, by address.
var everything = strings.Fields(`
	/users /users/alice /users/bob /orgs/orchard /orgs/orchard/members /orgs/orchard/public_members /user/memberships/orgs
	/user/repos /users/alice/repos /orgs/orchard/repos /user/starred /user/subscriptions
	/repos/alice/garden /repos/alice/garden/collaborators /repos/alice/garden/forks /repos/alice/garden/stargazers /repos/alice/garden/subscribers
	/repos/alice/garden/branches /repos/alice/garden/tags /repos/alice/garden/git/matching-refs/heads /repos/alice/garden/git/matching-refs/pull
	/repos/alice/garden/commits /repos/alice/garden/commits?sha=conflict /repos/alice/garden/git/trees/main?recursive=1
	/repos/alice/garden/commits/main/status /repos/alice/garden/labels /repos/alice/garden/milestones?state=all
	/repos/alice/garden/issues?state=all /repos/alice/garden/issues/comments /repos/alice/garden/issues/events
	/repos/alice/garden/issues/1/timeline /repos/alice/garden/issues/1/reactions /repos/alice/garden/issues/2/timeline /repos/alice/garden/issues/3/timeline
	/repos/alice/garden/pulls?state=all /repos/alice/garden/pulls/4 /repos/alice/garden/pulls/5 /repos/alice/garden/pulls/6
	/repos/alice/garden/pulls/5/reviews /repos/alice/garden/pulls/5/comments /repos/alice/garden/pulls/5/requested_reviewers
	/repos/alice/garden/issues/5/timeline /repos/carol/garden /repos/carol/garden/branches /repos/orchard/plans /repos/orchard/plans/branches
	/repos/orchard/plans/labels /plants /search/issues?q=peas`)

func dump(t testing.TB, h http.Handler, token string) string {
	t.Helper()
	var b strings.Builder
	for _, path := range everything {
		code, body := get(t, h, token, path)
		if code != 200 {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
		fmt.Fprintf(&b, "%s\n%s\n", path, body)
	}
	return b.String()
}

// Factors and requirements of a seed hold from the first request on.
func TestFactors(t *testing.T) {
	t.Parallel()
	for _, required := range []struct{ by, site, org string }{{"the site", "require_two_factor: true\n", ""},
		{"an organization", "", ", require_two_factor: true"}} {
		h := filled(t, db.SQLite, parse(t, []byte(required.site+`
users:
  - {login: ann, tokens: [arb_ann1], totp: ABCDEFGHIJKLMNOPQRSTUVWXYZ234567}
  - {login: bob, tokens: [arb_bob1]}
orgs: [{login: acme, owners: [ann], members: [bob]`+required.org+`}]
repos: [{name: acme/plot, files: {README.md: text}}]
`)))
		for value, want := range map[string]int{"arb_ann1": 200, "arb_bob1": 403} {
			if code, body := get(t, h, value, "/user"); code != want {
				t.Errorf("required by %s, %s: %d %s", required.by, value, code, body)
			}
		}
	}
}

// A program whose client id and secret a seed names is known to the server, and an App that cannot be is an error.
func TestOAuthApps(t *testing.T) {
	t.Parallel()
	const text = `
users: [{login: ann}]
oauth_apps:
  - {owner: ann, name: Weeder, homepage: "https://weeder.example", callbacks: ["https://weeder.example/cb"],
     client_id: Ov23weeder1, client_secret: weeder-secret}
`
	h := filled(t, db.SQLite, parse(t, []byte(text)))
	for secret, want := range map[string]string{"weeder-secret": "bad_verification_code", "another": "incorrect_client_credentials"} {
		r := httptest.NewRequest("POST", "http://arbor/login/oauth/access_token", strings.NewReader(
			"client_id=Ov23weeder1&code=x&client_secret="+secret))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("with the secret %q: %d %s", secret, w.Code, w.Body)
		}
	}
	for _, wrong := range []string{"Ov23weeder1|weeder", "owner: ann|owner: nobody", "weeder-secret|short"} {
		from, to, _ := strings.Cut(wrong, "|")
		err := seed.Fill(t.Context(), parse(t, []byte(strings.ReplaceAll(text, from, to))),
			seed.Store{DataDir: t.TempDir(), Database: db.Options{URL: dbtest.URL(t, db.SQLite)}})
		if err == nil {
			t.Errorf("%s in the place of %s is taken", to, from)
		}
	}
}

// What the documentation shows works, on both engines, and makes the same store
// on each of them and each time: with the same ids, times and SHAs.
func TestExample(t *testing.T) {
	t.Parallel()
	s := parse(t, example(t))
	want := dump(t, filled(t, db.SQLite, s), "arb_alice1")
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		got := dump(t, filled(t, engine, parse(t, example(t))), "arb_alice1")
		if got != want {
			a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
			for i := range a {
				if a[i] != b[i] {
					t.Fatalf("the second time it is\n%s\nnot\n%s", b[i], a[i])
				}
			}
		}
	})
	if now := regexp.MustCompile(
		`"(created|updated|pushed|submitted|merged|closed)_at":"(20[^"]*)"`).FindAllStringSubmatch(want,
		-1); len(now) < 50 {
		t.Error("there are hardly any times")
	} else {
		for _, m := range now {
			if !strings.HasPrefix(m[2], "2026-01-") {
				t.Errorf("%s is a time of the day", m[0])
			}
		}
	}
}

// Each thing of the example is there as it was declared.
func TestExampleInDetail(t *testing.T) {
	t.Parallel()
	h := filled(t, db.SQLite, parse(t, example(t)))
	for _, c := range []struct{ token, path, want string }{
		{"arb_alice1", "/user",
			`{"login": "alice", "name": "Alice Ash", "email": "alice@example.org", "site_admin": true}`},
		{"arb_bob1", "/user/memberships/orgs",
			`[{"role": "member", "organization": {"login": "orchard", "description": "Trees"}}]`},
		{"arb_bob1", "/repos/orchard/plans",
			`{"private": true, "default_branch": "trunk", "has_issues": false, "permissions": {"push": true, "admin": false}}`},
		{"arb_bob1", "/repos/orchard/plans/labels", `[]`},
		{"arb_bob1", "/repos/alice/garden",
			`{"description": "A garden", "homepage": "https://example.org/garden", "stargazers_count": 2, "subscribers_count": 1, "forks_count": 1, "permissions": {"push": true, "admin": false}}`},
		{"", "/repos/alice/garden/contents/bin/run", `{"size": 10, "encoding": "base64"}`},
		{"", "/repos/alice/garden/git/trees/v0.1.0?recursive=1",
			`{"tree": [{"path": "README.md"}, {"path": "beds"}, {"path": "beds/east"}, {"path": "beds/west"}, {"path": "bin"}, {"path": "bin/run", "mode": "100755"}]}`},
		{"", "/repos/alice/garden/commits/v0.1.0",
			`{"commit": {"message": "Merge roses", "author": {"name": "Alice Ash"}}, "parents": [{}, {}]}`},
		{"", "/repos/alice/garden/labels/pest",
			`{"color": "00ff00", "description": "Something eats it", "default": false}`},
		{"", "/repos/alice/garden/labels/bug", `{"color": "ff0000", "default": true}`},
		{"", "/repos/alice/garden/milestones/1",
			`{"title": "Spring", "due_on": "2026-04-01T00:00:00Z", "open_issues": 1}`},
		{"", "/repos/alice/garden/milestones/2", `{"title": "Winter", "state": "closed"}`},
		{"", "/repos/alice/garden/issues/1",
			`{"title": "Slugs eat the peas", "user": {"login": "bob"}, "labels": [{"name": "pest"}], "assignees": [{"login": "alice"}], "milestone": {"title": "Spring"}, "comments": 1, "reactions": {"heart": 2, "+1": 1}, "created_at": "2026-01-01T01:01:00Z"}`},
		{"", "/repos/alice/garden/issues/1/comments",
			`[{"body": "I shall.", "user": {"login": "alice"}, "reactions": {"hooray": 1}}]`},
		{"", "/repos/alice/garden/issues/2",
			`{"user": {"login": "carol"}, "labels": [{"name": "bug"}], "state": "closed", "state_reason": "not_planned", "locked": true, "active_lock_reason": "resolved"}`},
		{"", "/repos/alice/garden/issues/3", `{"state": "closed", "closed_by": {"login": "alice"}}`},
		{"", "/repos/alice/garden/pulls/4",
			`{"merged": true, "merged_by": {"login": "alice"}, "user": {"login": "bob"}, "body": "Fixes #3."}`},
		{"", "/repos/alice/garden/pulls/5",
			`{"state": "open", "mergeable": true, "draft": false, "review_comments": 1, "labels": [{"name": "enhancement"}]}`},
		{"", "/repos/alice/garden/pulls/5/reviews",
			`[{"state": "COMMENTED", "user": {"login": "carol"}}, {"state": "APPROVED", "user": {"login": "bob"}, "body": "Nice"}]`},
		{"", "/repos/alice/garden/pulls/5/comments",
			`[{"path": "beds/east", "line": 1, "body": "Peas were better."}]`},
		{"", "/repos/alice/garden/commits/conflict/status",
			`{"state": "failure", "statuses": [{"context": "ci", "description": "no"}]}`},
		{"", "/repos/alice/garden/commits/main/status", `{"total_count": 0}`},
		{"", "/repos/alice/garden/pulls/6",
			`{"state": "closed", "merged": false, "head": {"label": "carol:climbers"}}`},
		{"", "/repos/carol/garden", `{"fork": true, "parent": {"full_name": "alice/garden"}}`},
		{"arb_bob1", "/plants", `[{"name": "Fig"}]`},
	} {
		code, body := get(t, h, c.token, c.path)
		if err := apitest.Contains([]byte(body), c.want); code != 200 || err != nil {
			t.Errorf("GET %s: %d: %v\n%s", c.path, code, err, body)
		}
	}
}

// A store that holds the seed stays as it is, whatever was done to it since; one
// that holds anything else is left alone.
func TestFillTwice(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		dir, url := t.TempDir(), dbtest.Empty(t, engine)
		to := seed.Store{DataDir: dir, Database: db.Options{URL: url}}
		one, other := parse(t, []byte("users: [{login: alice}]\n")),
			parse(t, []byte("users: [{login: bob}]\n"))
		if held, err := seed.Held(t.Context(), one, to.Database); held || err != nil {
			t.Fatalf("an empty store holds a seed: %v, %v", held, err)
		}
		for range 2 {
			testkit.NoError(t, seed.Fill(t.Context(), one, to))
		}
		if held, err := seed.Held(t.Context(), one, to.Database); !held || err != nil {
			t.Errorf("the seed is not known again: %v", err)
		}
		if err := seed.Fill(t.Context(), other, to); !errors.Is(err, seed.ErrNotEmpty) {
			t.Errorf("another seed: %v", err)
		}
	})
}

// What only the server finds out is told with its place, too, and a rehearsal
// leaves nothing.
func TestRehearse(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for text, want := range map[string]string{
		`
users: [{login: alice}, {login: bob}]
repos:
  - name: alice/a
    private: true
    issues:
      - title: t
        author: bob
`: `seed.yaml:7: repos[0].issues[0]: Not Found`,
		`
users: [{login: alice}]
repos:
  - name: alice/a
    files: {a: x}
    branches: [{name: same}]
    pulls:
      - title: t
        head: same
`: `seed.yaml:9: repos[0].pulls[0].head: Validation Failed: No commits between main and same`,
		`
users: [{login: alice}]
repos:
  - name: alice/a
    import: nowhere
`: `seed.yaml:4: repos[0]: `,
		`
users: [{login: alice, email: nobody}]
`: `seed.yaml:2: users[0].email: Validation Failed: email must be an e-mail address`,
		`
users: [{login: alice}]
plants:
  - {owner: alice, id: 1, name: ""}
`: `seed.yaml:4: plants[0]: `,
	} {
		s := parse(t, []byte(text))
		err := seed.Rehearse(context.Background(), s, git.Options{}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngives %v\nnot   %s", text, err, want)
		}
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Somebody who reads the log finds no token, nor the thousand requests of a seed.
func TestTokensAreNotLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := parse(t, example(t))
	dir := t.TempDir()
	err := seed.Fill(t.Context(), s, seed.Store{DataDir: dir, Git: git.Options{Log: logger},
		Database: db.Options{URL: filepath.Join(dir, "arbor.db"), Log: logger}})
	testkit.NoError(t, err)
	if text := log.String(); !strings.Contains(text, "database migrated") || strings.Contains(text, "arb_") ||
		strings.Contains(text, "/issues") {
		t.Errorf("the log:\n%.2000s", text)
	}
	stored, err := os.Open(filepath.Join(dir, "arbor.db"))
	testkit.NoError(t, err)
	defer stored.Close()
	all, err := io.ReadAll(stored)
	if err != nil || bytes.Contains(all, []byte("arb_alice1")) {
		t.Errorf("the database holds the token: %v", err)
	}
}

// A repository that exists comes along with all that it has, and the seed goes on
// from there.
func TestImport(t *testing.T) {
	t.Parallel()
	dir := gittest.Repository(t, 3, 4)
	s, err := seed.Parse("seed.yaml", filepath.Dir(dir), []byte(`
users: [{login: alice}]
repos:
  - name: alice/garden
    import: `+filepath.Base(dir)+`
    branches:
      - {name: more, from: main, files: {more: x}}
    pulls: [{title: More, head: more}]
  - {name: alice/empty}
`))
	testkit.NoError(t, err)
	h := filled(t, db.SQLite, s)
	tip := gittest.Run(t, dir, "rev-parse", "main")
	if code, body := get(t, h, "", "/repos/alice/garden/git/ref/heads/main"); code != 200 ||
		!strings.Contains(body, tip) {
		t.Errorf("the branch: %d %s", code, body)
	}
	if code, body := get(t, h, "", "/repos/alice/garden/commits/more"); code != 200 ||
		!strings.Contains(body, tip) {
		t.Errorf("the branch on top: %d %s", code, body)
	}
	if code, body := get(t, h, "", "/repos/alice/garden/pulls/1"); code != 200 ||
		apitest.Contains([]byte(body), `{"mergeable": true, "commits": 1}`) != nil {
		t.Errorf("the pull request: %d %s", code, body)
	}
}
