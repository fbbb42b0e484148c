//go:build long && linux

package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// attacker is one worker of an attack: a caller with mallory's token and one without, at an address of its
// own.
type attacker struct {
	address string
	signed  *caller
	unknown *caller
	stay    context.Context // until it is done, connections that were opened stay
	begun   *atomic.Int64   // connections of the whole attack, so far
}

// newAttacker returns worker k of attack n.
func newAttacker(w *world, a attack, n, k int) *attacker {
	address := fmt.Sprintf("127.66.%d.%d", n+1, k+1)
	if a.apart {
		address = fmt.Sprintf("127.%d.%d.1", 70+n, k+1)
	}
	return &attacker{address: address, signed: newCaller(w, address, w.tokens["mallory"]),
		unknown: newCaller(w, address, "")}
}

func (a *attacker) leave() {
	a.signed.client.CloseIdleConnections()
	a.unknown.client.CloseIdleConnections()
}

// outcome says in a word how a request ended.
func outcome(status int, err error) string {
	switch {
	case err == nil:
		return strconv.Itoa(status)
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return "out of time"
	case status != 0:
		return fmt.Sprint(status, " cut")
	default:
		return "refused"
	}
}

// by chooses the caller of a request.
type by func(a *attacker) *caller

func unknown(a *attacker) *caller { return a.unknown }
func mallory(a *attacker) *caller { return a.signed }

// accept returns an anonymous caller that requests a media type.
func accept(kind string) by { return func(a *attacker) *caller { return a.unknown.accepting(kind) } }

// asks is an attack by requests, each METHOD PATH or the path of a GET. Each time one of them is sent.
// RANDOM in path and body is a number.
func asks(name string, workers int, who by, body string, requests ...string) attack {
	return attack{name: name, workers: workers, try: func(ctx context.Context, a *attacker) string {
		number := strconv.Itoa(rand.IntN(1e9))
		method, path, found := strings.Cut(requests[rand.IntN(len(requests))], " ")
		if !found {
			method, path = "GET", method
		}
		status, _, err := who(a).do(ctx, method, strings.ReplaceAll(path, "RANDOM", number),
			strings.ReplaceAll(body, "RANDOM", number), nil)
		return outcome(status, err)
	}}
}

// requestAttacks ask for what costs more to answer than to ask.
func requestAttacks(w *world) []attack {
	renames := string(w.tips["renames"])
	before := func(name string) string { return string(w.tips[name+"^"]) + "..." + string(w.tips[name]) }
	return []attack{
		asks("messages of control characters", 3, unknown, "",
			"/repos/mallory/control/commits?per_page=100&x=RANDOM", "/repos/mallory/control/commits/main",
			"/repos/mallory/control/compare/"+before("control"),
			"/repos/mallory/control/commits?per_page=100&page=1&until=2030-01-01T00:00:00Z&x=RANDOM"),
		asks("tree bomb, read", 3, unknown, "",
			"/repos/mallory/trees/commits/main", "/repos/mallory/trees/git/trees/main?recursive=1",
			"/repos/mallory/trees/commits?path=d0/d0/d0&x=RANDOM",
			"/repos/mallory/trees/compare/"+before("trees"),
			"/repos/mallory/trees/tarball/main", "/mallory/trees/commit/main"),
		asks("renamed giants", 2, unknown, "",
			"/repos/mallory/renames/commits/"+renames, "/repos/mallory/renames/compare/"+before("renames")),
		asks("diff of giants", 1, accept("v3.diff"), "", "/repos/mallory/renames/commits/"+renames),
		asks("archives with export-subst", 2, unknown, "",
			"/repos/mallory/subst/tarball/main", "/repos/mallory/subst/zipball/main"),
		asks("Markdown of setext headings", 3, accept("v3.full+json"), "",
			"/repos/mallory/heavy/issues?per_page=100&x=RANDOM",
			"/repos/mallory/heavy/issues?per_page=100&sort=updated&state=all",
			"/repos/mallory/heavy/issues?per_page=99&direction=asc", "/search/issues?per_page=100&q=heavy"),
		asks("searches", 3, unknown, "",
			"/search/issues?q=RANDOM+slugs+a", "/search/issues?q=slugs+RANDOM+in:body&sort=updated",
			"/search/issues?q=garden&page=RANDOM"),
		{name: "If-None-Match: *", workers: 2, try: func(ctx context.Context, a *attacker) string {
			paths := []string{"/repos/mallory/heavy/issues?per_page=100&x=",
				"/repos/alice/garden/git/trees/main?recursive=1&x="}
			number := rand.IntN(1e9)
			status, _, err := a.unknown.do(ctx, "GET", fmt.Sprint(paths[number%2], number), "",
				http.Header{"If-None-Match": {"*"}})
			return outcome(status, err)
		}},
		asks("requests without an end", 4, unknown, "",
			"/repos/alice/garden", "/repos/alice/garden/issues?x=RANDOM", "/nobody/RANDOM",
			"/repos/alice/garden/commits?page=RANDOM", "/repos/alice/garden/issues?page=RANDOM"),
		asks("readings of a large file", 2, accept("raw"), "", "/repos/carol/large/contents/large.txt"),
		asks("a large file in JSON", 1, unknown, "",
			"/repos/carol/large/contents/large.txt", "/repos/carol/large/git/trees/main"),
		{name: "guessed tokens", workers: 2, try: func(ctx context.Context, a *attacker) string {
			header := http.Header{"Authorization": {fmt.Sprintf("Bearer arb_%d", rand.IntN(1e9))}}
			status, _, err := a.unknown.do(ctx, "GET", "/user", "", header)
			return outcome(status, err)
		}},
		asks("searches of code and histories", 3, unknown, "",
			"/search/code?q=RANDOM", "/search/code?q=line+in:file,path&x=RANDOM", "/search/commits?q=RANDOM",
			"/search/repositories?q=RANDOM+in:description", "/search/users?q=RANDOM",
			"/search/repositories?q=stars:>=0&page=RANDOM"),
		asks("comparisons across forks", 2, unknown, "",
			"/repos/alice/garden/compare/main...mallory:main",
			"/repos/alice/garden/compare/main...mallory:main?x=RANDOM",
			"/repos/mallory/garden/compare/alice:main..main?x=RANDOM"),
		{name: "forged JWTs", workers: 2, try: func(ctx context.Context, a *attacker) string {
			status, _, err := a.unknown.do(ctx, "GET", "/app", "", w.jwt(rand.IntN(3)))
			return outcome(status, err)
		}},
		{name: "tokens of an installation", workers: 1, try: func(ctx context.Context, a *attacker) string {
			status, _, err := a.unknown.do(ctx, "POST", "/app/installations/1/access_tokens", "", w.jwt(1))
			return outcome(status, err)
		}},
	}
}

// jwt is signed by mallory's App, which has the number 1; a forged one names another.
func (w *world) jwt(app int) http.Header {
	now := time.Now().Unix()
	signed := apitest.SignJWT(w.t, w.bot.key, `{"alg":"RS256","typ":"JWT"}`,
		fmt.Sprintf(`{"iss":%d,"iat":%d,"exp":%d}`, app, now-30, now+500))
	return http.Header{"Authorization": {"Bearer " + signed}}
}

// writeAttacks are requests of mallory's, and of her App.
func writeAttacks(w *world) []attack {
	const target, jsonType = "/repos/mallory/target", "v3.full+json"
	bot := newCaller(w, "127.66.200.1", w.bot.token)
	robot := func(*attacker) *caller { return bot }
	long, _ := json.Marshal(strings.Repeat("*moles* ", 8000))
	everybody := " @mallory @" + strings.Join(honestPeople, " @")
	var tip struct{ SHA string }
	testkit.NoError(w.t, json.Unmarshal(w.must(bot, "GET", target+"/commits/main", "", 200), &tip))
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
	return []attack{
		asks("pull requests of a tree bomb", 1, mallory, `{"title": "x", "head": "main", "base": "other"}`,
			"POST /repos/mallory/trees/pulls"),
		asks("deep JSON", 2, mallory, strings.Repeat(`{"title":`, 100_000), "POST "+target+"/issues"),
		{name: "Markdown of all kinds", workers: 2, try: func(ctx context.Context, a *attacker) string {
			pieces := []string{
				"> ", "[", "*a **a ", "- ", "|a", "![", "<b>", "@a #1 ", "&amp;", "`a", "[^1]: x\n", "a\n=\n",
			}
			piece := pieces[rand.IntN(len(pieces))]
			body := fmt.Sprintf(`{"title": "%d", "body": %q}`, rand.IntN(1e9),
				strings.Repeat(piece, 60_000/len(piece)))
			status, _, err := a.signed.accepting(jsonType).do(ctx, "POST", target+"/issues", body, nil)
			return outcome(status, err)
		}},
		asks("checks with long texts", 2, robot, fmt.Sprintf(
			`{"name": "moles RANDOM", "head_sha": %q, "output": {"title": "x", "summary": %s, "text": %s}}`,
			tip.SHA, long, long), "POST "+target+"/check-runs"),
		asks("mentions of everybody", 2, mallory, `{"body": "RANDOM`+everybody+`"}`,
			"POST "+target+"/issues/1/comments"),
		asks("events for hooks that nobody hears", 2, mallory, fmt.Sprintf(
			`{"event_type": "RANDOM", "client_payload": {"text": %s}}`, long), "POST "+target+"/dispatches"),
		asks("GraphQL that asks for half a million nodes", 2, mallory, graphQL(`history(first:100){nodes{
			history(first:100){nodes{history(first:40){nodes{oid message tree{oid}}}}}}}`), "POST /graphql"),
		asks("GraphQL with thousands of fields", 2, mallory, graphQL(fields.String()), "POST /graphql"),
		asks("polls of notifications", 2, mallory, "", "/notifications?all=true&per_page=50&x=RANDOM"),
		asks("releases with notes", 1, mallory, `{"tag_name": "vRANDOM", "generate_release_notes": true}`,
			"POST "+target+"/releases"),
	}
}
