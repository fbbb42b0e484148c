package pages_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	markup "golang.org/x/net/html"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

const (
	changeEvil     = `"><img src=x onerror=alert(1)><script>alert(2)</script>'{{.}}`
	evilLabel      = `"><script>alert(7)</script>'{{.}}`
	changeEvilBody = changeEvil + "\n\n<b style=\"color:red\" onclick=alert(3)>b</b> [go](javascript:alert(4))\n\n```suggestion\n" + changeEvil + "\n```\n\n" +
		"<pre><code class=\"language-suggestion\"><b onclick=alert(5)>x</b></code></pre>"
)

// inspect reports what in a page could run, or load something from elsewhere.
func changeInspect(t *testing.T, path string, a *apitest.Answer) {
	t.Helper()
	if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") ||
		strings.Contains(p, "unsafe") {
		t.Errorf("%s: policy %q", path, p)
	}
	z := markup.NewTokenizer(bytes.NewReader(a.Body))
	for kind := z.Next(); kind != markup.ErrorToken; kind = z.Next() {
		token := z.Token()
		if kind != markup.StartTagToken && kind != markup.SelfClosingTagToken {
			continue
		}
		if slices.Contains([]string{"iframe", "object", "embed", "base"}, token.Data) {
			t.Errorf("%s: <%s>", path, token.Data)
		}
		for _, at := range token.Attr {
			u, err := url.Parse(at.Val)
			own := err == nil && u.Scheme == "" && u.Host == "" // Markdown may name pictures of this site
			if strings.HasPrefix(at.Key, "on") || at.Key == "style" ||
				strings.HasPrefix(strings.ToLower(strings.TrimSpace(at.Val)), "javascript:") ||
				at.Key == "src" && !own || at.Key == "action" && !own {
				t.Errorf("%s: %s", path, token)
			}
		}
	}
}

// What people write runs nowhere: titles, texts, branches, names of files and their lines, suggestions,
// labels, checks.
func TestHostile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, login := range []string{"alice", "sam"} {
			s.User(t, login)
		}
		const branch, name = `x"><i>{{.}}`, `"><img src=x onerror=alert(1)>#?%41.md`
		h := &history{}
		h.commit("main", "", "Begin", "a", "a\n")
		h.commit(branch, "main", changeEvil+"\n\n"+changeEvil, name, changeEvil+"\n", "a", changeEvil+"\n")
		r := s.Repo(t, "alice/plot", false)
		dir := gittest.Bare(t)
		gittest.Import(t, dir, strings.NewReader(h.String()+"done\n"))
		s.Import(t, r, dir)
		s.Grant(t, r, "sam", account.Push)
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
			at + "/files?comment=a:RIGHT:1", at + "/commits", at + "/checks", at + "/merging",
			at + "/reviewers", "/alice/plot/pulls", "/alice/plot/pulls?q=" + `"><script>`,
			`/alice/plot/pulls/new?head="><script>&base="><script>&title="><script>&body=</textarea><script>`,
			"/alice/plot/pulls/new?head=x%22%3E%3Ci%3E%7B%7B.%7D%7D",
			at + `?return_to=javascript:alert(1)&q="><script>`,
			at + "/reviewers?return_to=javascript:alert(1)"} {
			a := s.Do(t, apitest.Case{Do: "GET " + strings.ReplaceAll(path, " ", "%20"), As: "sam",
				Headers: map[string]string{"Accept": "text/html"}})
			page := holds(t, path, a, 200)
			changeInspect(t, path, a)
			without(t, page, "<script>alert", "<img src=x", "<i>{{", "<b style", "ZgotmplZ")
		}
		changePost(t, s, "sam", at+"/viewed", 303, "view", sha+" "+name, "return_to", "//evil.example/x")
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
	r := s.Repo(t, "alice/plot", false)
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(h.String()+"done\n"))
	s.Import(t, r, dir)
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

// statements are those that a server sends to its database.
type statements struct {
	mu   sync.Mutex
	list []string
}

func (s *statements) add(_ context.Context, query string) {
	if strings.Contains(query, "texts_changed") {
		return // a worker looks for work
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, strings.Join(strings.Fields(query), " "))
}

func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}

// A conversation of a hundred comments on lines costs as many statements as one of two.
func TestChangeStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		count := &statements{}
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: count.add})
		})
		changePlant(t, s)
		number := propose(t, s, "tune")
		at, sha := fmt.Sprintf("/alice/plot/pull/%d", number), head(t, s, number)
		say := func(n int) {
			t.Helper()
			list := []changeObject{}
			for k := range n {
				list = append(list, changeObject{"path": "song.txt", "line": 3, "side": "RIGHT",
					"body": fmt.Sprint("comment ", k)})
			}
			api(t, s, "will", fmt.Sprintf("POST /repos/alice/plot/pulls/%d/reviews", number), 200,
				changeObject{"event": "COMMENT", "body": "x", "commit_id": sha, "comments": list}, nil)
		}
		n := 0
		cost := func(path string) []string {
			t.Helper()
			if err := s.Server.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			best := []string(nil)
			for range 4 { // workers ask for work now and then
				n++
				get(t, s, "sam", "/alice/plot/issues", 200)
				// nothing kept answers
				api(t, s, "alice", "POST /repos/alice/plot/issues", 201, changeObject{"title": fmt.Sprint(n)}, nil)
				count.take()
				get(t, s, "will", path, 200)
				if list := count.take(); best == nil || len(list) < len(best) {
					best = list
				}
			}
			return best
		}
		say(2)
		paths := []string{at, at + "/files", at + "/merging", at + "/commits", "/alice/plot/pulls"}
		before := map[string][]string{}
		for _, path := range paths {
			before[path] = cost(path)
		}
		say(98)
		for _, path := range paths {
			after := cost(path)
			t.Logf("%s: %d statements, %d of a hundred comments", path, len(before[path]), len(after))
			if len(after) > len(before[path])+6 { // workers ask in between, but not a hundred times
				t.Errorf("%s costs %d statements and then %d:\n%s", path, len(before[path]), len(after),
					strings.Join(after, "\n"))
			}
		}
	})
}
