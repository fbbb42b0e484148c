package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"arbor/internal/apidoc/check"
	"arbor/internal/apitest"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/server"
	"arbor/internal/web"
)

// asked collects what the handlers of a server look for in requests, by method
// and pattern.
type asked struct {
	mu   sync.Mutex
	seen map[string]map[string]bool
}

// option makes a server tell what its handlers look for, beside whom it tells
// already.
func (a *asked) option(o *server.Options) {
	told := o.Watch
	o.Watch = func(w http.ResponseWriter, r *http.Request, info *web.Info) (http.ResponseWriter, func()) {
		w, done := told(w, r, info)
		first := info.Asked
		info.Asked = func(in, name string) {
			first(in, name)
			a.mu.Lock()
			defer a.mu.Unlock()
			at := r.Method + " " + info.Pattern
			if a.seen[at] == nil {
				a.seen[at] = map[string]bool{}
			}
			a.seen[at][in+" "+name] = true
		}
		return w, done
	}
}

// missing are the described parameters and fields that nobody has looked for.
func (a *asked) missing(c *check.Checker, r *route.Route) (list []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := a.seen[r.Method+" "+r.Pattern]
	query, fields := c.Inputs(r.Method, r.Pattern)
	for _, name := range query {
		if !seen[web.InQuery+" "+name] {
			list = append(list, "the query parameter "+name)
		}
	}
	for _, name := range fields {
		if !seen[web.InBody+" "+name] {
			list = append(list, "the body's field "+name)
		}
	}
	return list
}

// plot is alice/garden with one of everything, and what to put into the
// patterns of routes that begin so: the longest counts.
type plot struct {
	main  string // SHA of its branch
	fills map[string]*strings.Replacer
}

// newPlot makes it.
func newPlot(t *testing.T, s *apitest.Server) *plot {
	t.Helper()
	s.User(t, "alice")
	s.User(t, "bob")
	s.Org(t, "guild", "alice")
	do := func(as, what, body string) *apitest.Answer {
		t.Helper()
		a := s.Do(t, apitest.Case{Do: what, As: as, Headers: github, Send: body})
		if a.Status/100 != 2 {
			t.Fatalf("%s: status %d\n%s", what, a.Status, a.Body)
		}
		return a
	}
	id := func(a *apitest.Answer) (made struct{ ID int64 }) { a.JSON(t, &made); return made }
	do("alice", "POST /user/repos", `{"name": "garden", "auto_init": true}`)
	var main struct{ Object struct{ SHA string } }
	do("", "GET /repos/alice/garden/git/ref/heads/main", "").JSON(t, &main)
	do("alice", "POST /repos/alice/garden/git/refs", fmt.Sprintf(`{"ref": "refs/heads/shears", "sha": %q}`, main.Object.SHA))
	do("alice", "PUT /repos/alice/garden/contents/hedge", `{"message": "Cut it", "content": "bG93Cg==", "branch": "shears"}`)
	do("alice", "POST /repos/alice/garden/issues", `{"title": "The hedge is too high"}`)
	do("alice", "POST /repos/alice/garden/pulls", `{"title": "Cut it", "head": "shears", "base": "main"}`)
	do("alice", "POST /repos/alice/garden/milestones", `{"title": "Spring"}`)
	comment := id(do("bob", "POST /repos/alice/garden/issues/1/comments", `{"body": "Yes"}`))
	review := id(do("bob", "POST /repos/alice/garden/pulls/2/reviews", `{"event": "COMMENT", "comments": [{"path": "hedge", "line": 1, "body": "Low?"}]}`))
	var said []struct{ ID int64 }
	do("", "GET /repos/alice/garden/pulls/2/comments", "").JSON(t, &said)
	p := &plot{main: main.Object.SHA}
	const on = "/repos/{owner}/{repo}"
	p.fills = map[string]*strings.Replacer{
		"":                              p.fill(1, comment.ID, "main"),
		on + "/git":                     p.fill(1, 1, "heads/main"),
		on + "/git/refs/":               p.fill(1, 1, "heads"),
		on + "/pulls":                   p.fill(2, review.ID, "main"),
		on + "/pulls/comments":          p.fill(2, said[0].ID, "main"),
		on + "/pulls/{number}/comments": p.fill(2, said[0].ID, "main"),
		on + "/statuses":                p.fill(1, 1, p.main),
	}
	return p
}

func (p *plot) fill(number int, id int64, ref string) *strings.Replacer {
	return strings.NewReplacer("{owner}", "alice", "{repo}", "garden", "{org}", "guild", "{username}", "bob", "{assignee}", "alice",
		"{name}", "bug", "{number}", fmt.Sprint(number), "{id}", fmt.Sprint(id), "{reaction_id}", "1", "{ref...}", ref, "{sha...}", "main", "{sha}", p.main,
		"{branch...}", "main", "{path...}", "README.md", "{dir...}", "docs", "{file...}", "main.zip", "{target}", "bob", "{basehead...}", "main...shears")
}

// address fills a pattern.
func (p *plot) address(t *testing.T, pattern string) string {
	t.Helper()
	longest := ""
	for begins := range p.fills {
		if strings.HasPrefix(pattern, begins) && len(begins) > len(longest) {
			longest = begins
		}
	}
	path := p.fills[longest].Replace(pattern)
	if strings.Contains(path, "{") {
		t.Fatalf("there is nothing to put into %s", path)
	}
	return path
}

// github are headers with which all previews are on.
var github = map[string]string{"Accept": "application/vnd.github.v3+json, application/json", "Content-Type": "application/json"}

// A parameter or a field that the documentation promises, and that no handler
// looks for, is a promise that nobody keeps. (The other way round every test
// server watches: what is looked for must be described.)
func TestWhatIsDescribedIsLookedFor(t *testing.T) {
	t.Parallel()
	c, err := check.Default()
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{seen: map[string]map[string]bool{}}
	s := apitest.Start(t, db.SQLite, a.option)
	p := newPlot(t, s)
	for _, r := range s.Server.Routes() {
		for _, body := range append([]string{"{}"}, c.Samples(r.Method, r.Pattern)...) {
			if len(a.missing(c, &r)) == 0 {
				break // so that no more happens to the garden than must
			}
			send := apitest.Case{Do: r.Method + " " + p.address(t, r.Pattern), As: "alice", Headers: github}
			if r.Method == http.MethodGet {
				send.Do += "?q=hedge"
			} else {
				send.Send = body
			}
			s.Do(t, send)
		}
		for _, what := range a.missing(c, &r) {
			t.Errorf("%s %s: %s is described, and the handler does not look for it", r.Method, r.Pattern, what)
		}
	}
}
