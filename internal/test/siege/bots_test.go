//go:build long

package siege

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"arbor/internal/test/apitest"
)

// bot is a GitHub App of mallory's, installed on her account.
type bot struct {
	key   *rsa.PrivateKey
	token string // of its installation
}

// employ registers and installs the App, before the server starts.
func (w *world) employ() {
	w.t.Helper()
	manifest := filepath.Join(filepath.Dir(w.data), "manifest.json")
	err := os.WriteFile(manifest,
		[]byte(`{"name": "moles", "url": "https://moles.example", "hook_attributes": {"url": "http://127.0.0.1:1/"},
		"default_permissions": {"checks": "write", "contents": "write", "issues": "write"}, "default_events": ["push", "issues", "check_run"]}`), 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	block, _ := pem.Decode([]byte(w.arbor("app", "create", "mallory", "--manifest", manifest) + "\n"))
	if w.bot.key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
		w.t.Fatal(err)
	}
	w.arbor("app", "install", "moles", "mallory")
}

// jwt is what the App signs; a forged one says so of another.
func (w *world) jwt(app int) http.Header {
	now := time.Now().Unix()
	signed := apitest.SignJWT(w.t, w.bot.key, `{"alg":"RS256","typ":"JWT"}`,
		fmt.Sprintf(`{"iss":%d,"iat":%d,"exp":%d}`, app, now-30, now+500))
	return http.Header{"Authorization": {"Bearer " + signed}}
}

// breed makes what the attacks of bots need, by requests: a token, a fork and hooks that nobody hears.
func (w *world) breed(mallory *caller) {
	w.t.Helper()
	unknown := newCaller(w, "127.0.0.1", "")
	status, text, err := unknown.do(w.t.Context(), "POST", "/app/installations/1/access_tokens", "", w.jwt(1))
	var made struct{ Token string }
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil || status != 201 {
		w.t.Fatalf("a token of the App: %d %s, %v", status, text, err)
	}
	w.bot.token = made.Token
	w.must(mallory, "POST", "/repos/alice/garden/forks", "", 202)
	w.must(mallory, "POST", "/repos/mallory/target/issues", `{"title": "A place to talk"}`, 201)
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { deaf.Close() })
	for n := range 10 {
		w.must(mallory, "POST", "/repos/mallory/target/hooks",
			fmt.Sprintf(`{"config": {"url": "http://%s/%d"}, "events": ["*"]}`, deaf.Addr(), n), 201)
	}
}

// botAttacks are those by what is there for automation, and by its queries.
func botAttacks(w *world) []attack {
	long, _ := json.Marshal(strings.Repeat("*moles* ", 8000))
	var crowd strings.Builder
	for _, login := range append([]string{"mallory"}, honestPeople...) {
		crowd.WriteString(" @" + login)
	}
	var tip struct{ SHA string }
	_, text, err := newCaller(w, "127.0.0.1", "").do(w.t.Context(), "GET",
		"/repos/mallory/target/commits/main", "", nil)
	if err == nil {
		err = json.Unmarshal(text, &tip)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	graphQL := func(ofCommit string) string {
		query, _ := json.Marshal(map[string]string{
			"query": `query QRANDOM{repository(owner:"mallory",name:"target"){object(expression:"main"){
			...on Commit{` + ofCommit + `}}}}`})
		return string(query)
	}
	var fields strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&fields, "f%d:history(first:1,path:\"p%d\"){totalCount} ", n, n)
	}
	// writes is an attack by a request as mallory, or as her bot. RANDOM is a number.
	writes := func(name string, workers int, as *caller, do, body string) attack {
		return attack{name, workers, func(ctx context.Context, a *attacker) string {
			number := fmt.Sprint(rand.IntN(1e9))
			by := a.signed
			if as != nil {
				by = as
			}
			method, path, _ := strings.Cut(strings.ReplaceAll(do, "RANDOM", number), " ")
			status, _, err := by.do(ctx, method, path, strings.ReplaceAll(body, "RANDOM", number), nil)
			return outcome(status, err)
		}}
	}
	robot := newCaller(w, "127.66.200.1", w.bot.token)
	return []attack{
		gets("searches of code and histories", 3, nil,
			"/search/code?q=RANDOM", "/search/code?q=line+in:file,path&x=RANDOM", "/search/commits?q=RANDOM",
			"/search/repositories?q=RANDOM+in:description", "/search/users?q=RANDOM",
			"/search/repositories?q=stars:>=0&page=RANDOM"),
		gets("comparisons across forks", 2, nil,
			"/repos/alice/garden/compare/main...mallory:main",
			"/repos/alice/garden/compare/main...mallory:main?x=RANDOM",
			"/repos/mallory/garden/compare/alice:main..main?x=RANDOM"),
		{"forged JWTs", 2, func(ctx context.Context, a *attacker) string {
			status, _, err := a.unknown.do(ctx, "GET", "/app", "", w.jwt(rand.IntN(3)))
			return outcome(status, err)
		}},
		{"tokens of an installation", 1, func(ctx context.Context, a *attacker) string {
			status, _, err := a.unknown.do(ctx, "POST", "/app/installations/1/access_tokens", "", w.jwt(1))
			return outcome(status, err)
		}},
		writes("checks with long texts", 2, robot, "POST /repos/mallory/target/check-runs", fmt.Sprintf(
			`{"name": "moles RANDOM", "head_sha": %q, "output": {"title": "x", "summary": %s, "text": %s}}`,
			tip.SHA, long, long)),
		writes("mentions of everybody", 2, nil, "POST /repos/mallory/target/issues/1/comments",
			fmt.Sprintf(`{"body": "RANDOM%s"}`, &crowd)),
		writes("events for hooks that nobody hears", 2, nil,
			"POST /repos/mallory/target/dispatches", fmt.Sprintf(
				`{"event_type": "RANDOM", "client_payload": {"text": %s}}`, long)),
		writes("GraphQL that asks for half a million nodes", 2, nil, "POST /graphql",
			graphQL(`history(first:100){nodes{
			history(first:100){nodes{history(first:40){nodes{oid message tree{oid}}}}}}}`)),
		writes("GraphQL with thousands of fields", 2, nil, "POST /graphql", graphQL(fields.String())),
		writes("polls of notifications", 2, nil, "GET /notifications?all=true&per_page=50&x=RANDOM", ""),
		writes("releases with notes", 1, nil, "POST /repos/mallory/target/releases",
			`{"tag_name": "vRANDOM", "generate_release_notes": true}`),
	}
}
