//go:build long

package siege

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// attacker is one worker of an attack: a caller with mallory's token, one
// without, and an address of its own.
type attacker struct {
	address string
	signed  *caller
	unknown *caller
}

// newAttacker gives worker k of attack n an address. The workers of one attack share a
// network, like the machines of one company.
func newAttacker(w *world, n, k int) *attacker {
	address := fmt.Sprintf("127.66.%d.%d", n+1, k+1)
	return &attacker{address, newCaller(w, address, w.tokens["mallory"]), newCaller(w, address, "")}
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

// gets is an attack that asks one of the paths each time. RANDOM in a path is a
// number that makes the address another one.
func gets(name string, workers int, header http.Header, paths ...string) attack {
	return attack{name, workers, func(ctx context.Context, a *attacker) string {
		path := strings.ReplaceAll(paths[rand.IntN(len(paths))], "RANDOM", strconv.Itoa(rand.IntN(1e9)))
		status, _, err := a.unknown.do(ctx, "GET", path, "", header)
		return outcome(status, err)
	}}
}

func accept(kind string) http.Header {
	return http.Header{"Accept": {"application/vnd.github." + kind}}
}

// webAttacks are those by requests of the API.
func webAttacks(w *world) []attack {
	renames := string(w.tips["renames"])
	before := func(name string) string { return string(w.tips[name+"^"]) + "..." + string(w.tips[name]) }
	return []attack{
		gets("messages of control characters", 3, nil,
			"/repos/mallory/control/commits?per_page=100&x=RANDOM", "/repos/mallory/control/commits/main",
			"/repos/mallory/control/compare/"+before("control"),
			"/repos/mallory/control/commits?per_page=100&page=1&until=2030-01-01T00:00:00Z&x=RANDOM"),
		gets("tree bomb, read", 3, nil,
			"/repos/mallory/trees/commits/main", "/repos/mallory/trees/git/trees/main?recursive=1",
			"/repos/mallory/trees/commits?path=d0/d0/d0&x=RANDOM",
			"/repos/mallory/trees/compare/"+before("trees"),
			"/repos/mallory/trees/tarball/main", "/mallory/trees/commit/main"),
		gets("renamed giants", 2, nil,
			"/repos/mallory/renames/commits/"+renames, "/repos/mallory/renames/compare/"+before("renames")),
		gets("diff of giants", 1, accept("v3.diff"), "/repos/mallory/renames/commits/"+renames),
		gets("archives with export-subst", 2, nil,
			"/repos/mallory/subst/tarball/main", "/repos/mallory/subst/zipball/main"),
		gets("Markdown of setext headings", 3, accept("v3.full+json"),
			"/repos/mallory/heavy/issues?per_page=100&x=RANDOM",
			"/repos/mallory/heavy/issues?per_page=100&sort=updated&state=all",
			"/repos/mallory/heavy/issues?per_page=99&direction=asc", "/search/issues?per_page=100&q=heavy"),
		gets("searches", 3, nil,
			"/search/issues?q=RANDOM+slugs+a", "/search/issues?q=slugs+RANDOM+in:body&sort=updated",
			"/search/issues?q=garden&page=RANDOM"),
		gets("If-None-Match: *", 2, http.Header{"If-None-Match": {"*"}},
			"/repos/mallory/heavy/issues?per_page=100&x=RANDOM",
			"/repos/alice/garden/git/trees/main?recursive=1&x=RANDOM"),
		gets("requests without an end", 4, nil,
			"/repos/alice/garden", "/repos/alice/garden/issues?x=RANDOM", "/nobody/RANDOM",
			"/repos/alice/garden/commits?page=RANDOM", "/repos/alice/garden/issues?page=RANDOM"),
		gets("readings of a large file", 2, accept("raw"), "/repos/mallory/large/contents/file"),
		gets("a large file in JSON", 1, nil,
			"/repos/mallory/large/contents/file", "/repos/mallory/large/git/trees/main"),
		{"guessed tokens", 2, func(ctx context.Context, a *attacker) string {
			header := http.Header{"Authorization": {fmt.Sprintf("Bearer arb_%d", rand.IntN(1e9))}}
			status, _, err := a.unknown.do(ctx, "GET", "/user", "", header)
			return outcome(status, err)
		}},
		{"pull requests of a tree bomb", 1, func(ctx context.Context, a *attacker) string {
			status, _, err := a.signed.do(ctx, "POST", "/repos/mallory/trees/pulls",
				`{"title": "x", "head": "main", "base": "other"}`, nil)
			return outcome(status, err)
		}},
		{"deep JSON", 2, func(ctx context.Context, a *attacker) string {
			status, _, err := a.signed.do(ctx, "POST", "/repos/mallory/target/issues",
				strings.Repeat(`{"title":`, 100_000), nil)
			return outcome(status, err)
		}},
		{"Markdown of all kinds", 2, func(ctx context.Context, a *attacker) string {
			pieces := []string{
				"> ", "[", "*a **a ", "- ", "|a", "![", "<b>", "@a #1 ", "&amp;", "`a", "[^1]: x\n", "a\n=\n",
			}
			piece := pieces[rand.IntN(len(pieces))]
			text := strings.Repeat(piece, 60_000/len(piece))
			body := fmt.Sprintf(`{"title": "%d", "body": %q}`, rand.IntN(1e9), text)
			status, _, err := a.signed.do(ctx, "POST", "/repos/mallory/target/issues", body,
				accept("v3.full+json"))
			return outcome(status, err)
		}},
	}
}
