package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

const (
	changeEvil     = `"><img src=x onerror=alert(1)><script>alert(2)</script>'{{.}}`
	evilLabel      = `"><script>alert(7)</script>'{{.}}`
	changeEvilBody = changeEvil + "\n\n<b style=\"color:red\" onclick=alert(3)>b</b> [go](javascript:alert(4))\n\n```suggestion\n" + changeEvil + "\n```\n\n" +
		"<pre><code class=\"language-suggestion\"><b onclick=alert(5)>x</b></code></pre>"
)

// What people write runs nowhere: titles, texts, branches, names of files and their lines, suggestions,
// labels, checks.
func TestHostile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "sam")
		const branch, name = `x"><i>{{.}}`, `"><img src=x onerror=alert(1)>#?%41.md`
		h := &history{}
		h.commit("main", "", "Begin", "a", "a\n")
		h.commit(branch, "main", changeEvil+"\n\n"+changeEvil, name, changeEvil+"\n", "a", changeEvil+"\n")
		s.Grant(t, h.into(t, s, "alice/plot", false), "sam", account.Push)
		api(t, s, "alice", "POST /repos/alice/plot/labels", 201,
			changeObject{"name": evilLabel, "description": evilLabel, "color": "ff0000"}, nil)
		api(t, s, "alice", "POST /repos/alice/plot/milestones", 201, changeObject{"title": changeEvil}, nil)
		at := led(t, s, "alice", "/alice/plot/pulls/new", "base", "main", "head", branch, "title", changeEvil,
			"body", changeEvilBody, "label", evilLabel)
		api(t, s, "alice", "PATCH /repos/alice/plot/issues/1", 200, changeObject{"milestone": 1}, nil)
		sha := head(t, s, 1)
		for _, path := range []string{name, "a"} {
			led(t, s, "sam", at+"/comments", "commit", sha, "path", path, "side", "RIGHT", "line", "1",
				"body", changeEvilBody)
		}
		led(t, s, "sam", at+"/comments", "commit", sha, "path", name, "side", "RIGHT", "line", "1", "body",
			changeEvilBody, "review", "1")
		led(t, s, "alice", at+"/reviews", "event", "COMMENT", "body", changeEvilBody)
		api(t, s, "alice", "POST /repos/alice/plot/statuses/"+sha, 201,
			changeObject{"state": "failure", "context": changeEvil, "description": changeEvil,
				"target_url": "https://example.org/" + "'><b>"}, nil)
		for _, path := range []string{at, at + "/files", at + "/files?diff=split",
			at + "/files?comment=a:RIGHT:1", at + "/commits", at + "/checks",
			at + "/reviewers", "/alice/plot/pulls", "/alice/plot/pulls?q=" + `"><script>`,
			`/alice/plot/pulls/new?head="><script>&base="><script>&title="><script>&body=</textarea><script>`,
			"/alice/plot/pulls/new?head=x%22%3E%3Ci%3E%7B%7B.%7D%7D",
			at + `?return_to=javascript:alert(1)&q="><script>`,
			at + "/reviewers?return_to=javascript:alert(1)"} {
			a := s.Do(t, apitest.Case{Do: "GET " + strings.ReplaceAll(path, " ", "%20"), As: "sam",
				Headers: inBrowser})
			page := holds(t, path, a, 200)
			inspect(t, path, a)
			without(t, page, "<script>alert", "<img src=x", "<i>{{", "<b style", "ZgotmplZ")
		}
		post(t, s, "sam", at+"/viewed", 303, "view", sha+" "+name, "return_to", "//evil.example/x")
		if to := led(t, s, "sam", at+"/viewed", "view", sha+" "+name, "return_to",
			"https://evil.example"); strings.Contains(to, "evil.example") {
			t.Errorf("led to %s", to)
		}
	})
}

// A pull request of 3,000 files, and one of a large diff, are pages of a bounded size, with a way to the
// rest.
func TestChangeBounds(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	h := &history{}
	h.commit("main", "", "Begin", "a", "a\n")
	var many, large []string
	for n := range 3000 {
		many = append(many, fmt.Sprintf("d%d/f%d", n%10, n), "text\n")
	}
	for n := range 5 {
		large = append(large, fmt.Sprint("large", n), strings.Repeat(strings.Repeat("x", 99)+"\n", 10_500))
	}
	h.commit("many", "main", "Many", many...)
	h.commit("large", "main", "Large", large...)
	h.commit("wide", "main", "Wide", "wide", strings.Repeat("y", 5<<20))
	h.into(t, s, "alice/plot", false)
	for n, branch := range []string{"many", "large", "wide"} {
		propose(t, s, branch)
		at := fmt.Sprintf("/alice/plot/pull/%d", n+1)
		for _, path := range []string{"", "/files", "/files?diff=split", "/files?page=60", "/files?page=61"} {
			if page := get(t, s, "alice", at+path, 200); len(page) > 1<<20 {
				t.Errorf("%s%s has %d bytes", branch, path, len(page))
			}
		}
	}
	get(t, s, "alice", "/alice/plot/pull/1/files", 200, `rel="next"`)
	get(t, s, "alice", "/alice/plot/pull/1/files?page=60", 200, "d9/f999", `rel="prev"`)
	get(t, s, "alice", "/alice/plot/pulls/new?head=many", 200)
}
