package old_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/git/gittest"
	"arbor/internal/server"
)

// evil is what somebody writes wherever a text is taken.
const evil = `"><img onerror=x><script>alert(2)</script>'`

// evilFile is the name of a file, which may hold no slash.
const evilFile = `"><img src=x onerror=alert(1)>#?%41.md`

// evilBody is Markdown that would run, were it not sanitized.
const evilBody = "**bold** <script>alert(3)</script> <img src=x onerror=alert(4)> [go](javascript:alert(5)) <b style=\"color:red\" onclick=alert(6)>b</b>"

// plant makes a repository with issue 1, pull request 2 from the branch
// "side/<i>", milestone 1, and evil in all that people write. Alice owns it, sam
// comments and reviews.
func plant(t *testing.T, s *apitest.Server, name string, private bool) {
	t.Helper()
	r := s.Repo(t, name, private)
	s.Grant(t, r, "sam", account.Push)
	commit := func(ref, from, message, path, text string) string {
		quoted := `"` + strings.ReplaceAll(path, `"`, `\"`) + `"`
		return fmt.Sprintf("commit refs/heads/%s\nauthor A \"onx=y\" &lt;script&gt; B <a@example.com> 1300000000 +0000\ncommitter %s 1300000000 +0000\ndata %d\n%s\n%sM 100644 inline %s\ndata %d\n%s\n",
			ref, gittest.Author, len(message), message, from, quoted, len(text), text)
	}
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(
		commit("main", "", "Begin "+evil, "deep/"+evilFile, evil+"\n")+
			commit("main", "", "Tell", "README.md", "# Of songs\n\n[the song](song.txt#L1) ![pic](deep/p.png) [away](https://example.org/x) [here](#of-songs)\n\n"+evilBody+"\n")+
			commit("main", "", "More", "song.txt", "one\n")+
			commit("side/<i>", "from refs/heads/main\n", "Change "+evil, "song.txt", evil+"\n")+"done\n"))
	s.Import(t, r, dir)
	at := "POST /repos/" + name
	for _, c := range []apitest.Case{
		{Do: at + "/milestones", Send: object("title", evil, "description", evil)},
		{Do: at + "/labels", Send: object("name", evil, "description", evil, "color", "ff0000")},
		{Do: at + "/issues", Send: object("title", "Issue "+evil, "body", evilBody, "labels", []string{evil}, "assignee", "sam", "milestone", 1)},
		{Do: at + "/pulls", Send: object("title", "Pull "+evil, "body", evilBody, "head", "side/<i>", "base", "main")},
		{Do: at + "/issues/1/comments", As: "sam", Send: object("body", evilBody)},
		{Do: at + "/issues/2/comments", As: "sam", Send: object("body", evilBody)},
		{Do: at + "/pulls/2/reviews", As: "sam", Send: object("body", evilBody, "event", "COMMENT",
			"comments", []any{map[string]any{"path": "song.txt", "body": evilBody, "line": 1, "side": "RIGHT"}})},
	} {
		if c.As == "" {
			c.As = "alice"
		}
		if a := s.Do(t, c); a.Status != 201 && a.Status != 200 {
			t.Fatalf("%s: %d %s", c.Do, a.Status, a.Body)
		}
	}
}

// object is a JSON object of names and values in turn.
func object(pairs ...any) string {
	m := map[string]any{}
	for n := 0; n < len(pairs); n += 2 {
		m[pairs[n].(string)] = pairs[n+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func people(t *testing.T, s *apitest.Server) {
	for _, login := range []string{"alice", "sam", "stranger"} {
		s.User(t, login)
	}
}

// browser is what a browser says that it takes.
var browser = map[string]string{"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}

// inspect reads a page as a browser does, and reports everything in it that
// could run or load something; it returns the ids and the text.
func inspect(t *testing.T, path string, a *apitest.Answer) (ids []string, text string) {
	t.Helper()
	if policy := a.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") || strings.Contains(policy, "unsafe") {
		t.Errorf("%s: policy %q", path, policy)
	}
	if kind := a.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: %v", path, a.Header)
	}
	z := html.NewTokenizer(strings.NewReader(string(a.Body)))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Errorf("%s: %v", path, z.Err())
			}
			return ids, text
		case html.TextToken:
			text += z.Token().Data
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if slices.Contains([]string{"script", "iframe", "object", "embed", "form", "svg", "base", "link"}, token.Data) {
				t.Errorf("%s: <%s> in %s", path, token.Data, a.Body)
			}
			for _, at := range token.Attr {
				if strings.HasPrefix(at.Key, "on") || at.Key == "style" || strings.Contains(strings.ToLower(at.Val), "javascript:") {
					t.Errorf("%s: %s", path, token)
				}
				if at.Key == "id" {
					ids = append(ids, at.Val)
				}
			}
		}
	}
}

// A browser that opens the server finds what this is and what lies open; a program
// at the same address finds the API, and at the API's own address so does everybody.
func TestHome(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		plant(t, s, "alice/garden", false)
		s.Repo(t, "alice/cellar", true)
		home := s.Check(t, apitest.Case{Do: "GET /", Headers: browser, Status: 200, Has: map[string]string{"Vary": "Accept, Authorization"}})
		_, text := inspect(t, "/", home)
		for _, part := range []string{"GitHub's REST API", "curl " + s.URL + "/", "alice/garden", "Last push"} {
			if !strings.Contains(text, part) {
				t.Errorf("the page has no %q: %s", part, text)
			}
		}
		if !strings.Contains(string(home.Body), `href="/alice/garden"`) || strings.Contains(string(home.Body), "cellar") {
			t.Errorf("it shows %s", home.Body)
		}
		s.Run(t, []apitest.Case{
			{Name: "who knows the private one sees the same", Do: "GET /", As: "alice", Headers: browser, Status: 200, Body: string(home.Body)},
			{Name: "a program", Do: "GET /", Status: 200, Want: `{"documentation_url": "` + s.URL + `/docs"}`},
			{Name: "any type", Do: "GET /", Headers: map[string]string{"Accept": "*/*"}, Status: 200, Want: `{"user_url": "$any"}`},
			{Name: "GitHub's type", Do: "GET /", Headers: map[string]string{"Accept": "application/vnd.github+json"}, Status: 200, Want: `{"user_url": "$any"}`},
			{Name: "a page alone", Do: "GET /", Headers: map[string]string{"Accept": "text/html"}, Status: 200, Body: string(home.Body)},
			{Name: "a page alone at the API's own address", Do: "GET /api/v3/", Headers: map[string]string{"Accept": "text/html"}, Status: 415},
			{Name: "an image", Do: "GET /", Headers: map[string]string{"Accept": "image/png"}, Status: 415},
			{Name: "the API's own address", Do: "GET /api/v3/", Headers: browser, Status: 200, Want: `{"user_url": "$any"}`},
			{Name: "public no longer", Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
		})
		if home := s.Check(t, apitest.Case{Do: "GET /", As: "alice", Headers: browser, Status: 200}); strings.Contains(string(home.Body), "garden") {
			t.Errorf("a private repository is on %s", home.Body)
		}
	})
}

// The page at the root shows the public repositories that were pushed to last, however
// many private ones were pushed to since: else it would tell of these.
func TestHomeDoesNotTellOfPrivatePushes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		for n := range 22 {
			s.Repo(t, fmt.Sprintf("alice/open%02d", n), false)
		}
		for n := range 100 {
			s.Repo(t, fmt.Sprint("alice/private", n), true)
		}
		home := s.Check(t, apitest.Case{Do: "GET /", Headers: browser, Status: 200})
		if n := strings.Count(string(home.Body), `href="/alice/open`); n != 20 ||
			strings.Contains(string(home.Body), "open01") || !strings.Contains(string(home.Body), "open02") {
			t.Errorf("it lists %d public repositories: %s", n, home.Body)
		}
	})
}

// Who follows a link finds what it is of, and nothing that others wrote runs in
// the browser.
func TestPagesShowWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		plant(t, s, "alice/garden", false)
		file := url.PathEscape(evilFile)
		for _, c := range []struct {
			path string
			has  []string
		}{
			{"", []string{"Issues", "Pull requests", "Files", "Of songs", "the song", "bold"}},
			{"/pulls", []string{"Pull " + evil}},
			{"/pull/2", []string{"Pull " + evil, "bold", "sam said on", "alice:side/<i>", "alice:main", "Change " + evil, "It merges without a conflict", "sam gave a review", "song.txt, line 1,", "+" + evil}},
			{"/commit/main", []string{"More", "song.txt", "+one", `A "onx=y" &lt;script&gt; B`, "1 lines added"}},
			{"/compare/main...side%2F%3Ci%3E", []string{"main...side/<i>", "ahead", "1 commits ahead, 0 behind", "Change " + evil, "song.txt", "+" + evil}},
			{"/tree/main", []string{"deep", "song.txt"}},
			{"/tree/side/%3Ci%3E", []string{"deep", "side/<i>"}},
			{"/tree/main/deep", []string{evilFile}},
			{"/blob/main/deep/" + file, []string{evil, evilFile}},
			{"/blob/side/%3Ci%3E/song.txt", []string{evil}},
		} {
			path := "/alice/garden" + c.path
			a := s.Check(t, apitest.Case{Do: "GET " + path, Headers: browser, Status: 200})
			_, text := inspect(t, path, a)
			for _, part := range c.has {
				if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(part), " ")) {
					t.Errorf("%s has no %q: %s", path, part, text)
				}
			}
		}
	})
}

// What is of another kind leads there, and what is not there is a page that
// says so.
func TestPagesLeadOn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		plant(t, s, "alice/garden", false)
		to := func(path string) map[string]string { return map[string]string{"Location": "{base}" + path} }
		at := "GET /alice/garden"
		s.Run(t, []apitest.Case{
			{Do: at + "/pull/1", Status: 302, Has: to("/alice/garden/issues/1")},
			{Do: at + "/tree/main/song.txt", Status: 302, Has: to("/alice/garden/blob/main/song.txt")},
			{Do: at + "/blob/side/%3Ci%3E/deep", Status: 302, Has: to("/alice/garden/tree/side/%3Ci%3E/deep")},
			{Do: at + "/pull/2.diff", Status: 200, Has: map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
			{Do: at + "/pull/1.diff", Status: 404},
			{Do: at + "/pull/2.html", Status: 404},
			{Do: at + "/pull/x", Status: 404},
			{Do: at + "/commit/" + strings.Repeat("0", 40), Status: 404},
			{Do: at + "/commit/nothing", Status: 404},
			{Do: at + "/compare/main...side/%3Ci%3E.diff", Status: 200, Has: map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
			{Do: at + "/compare/main...nothing", Status: 404},
			{Do: at + "/compare/main", Status: 404},
			{Do: at + "/tree/nothing", Status: 404},
			{Do: at + "/tree/main/../../x", Status: 404},
			{Do: at + "/blob/main/nothing", Status: 404},
		})
		s.Repo(t, "alice/empty", false)
		for _, path := range []string{"/commit/main", "/tree/main", "/blob/main/a"} {
			a := s.Check(t, apitest.Case{Do: "GET /alice/empty" + path, Headers: browser, Status: 404})
			inspect(t, path, a)
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"has_issues": false}`, Status: 200})
		s.Run(t, []apitest.Case{
			{Name: "pull requests stay", Do: at + "/pull/2", Status: 200},
			{Name: "an issue that is hidden", Do: at + "/pull/1", Status: 404},
		})
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"name": "meadow"}`, Status: 200})
		s.Run(t, []apitest.Case{
			{Name: "the old name", Do: at + "/pull/2?page=1", Status: 301, Has: to("/alice/meadow/pull/2?page=1")},
		})
	})
}

// A private repository has pages for who may see it, with a token as browsers
// and programs send it; to anyone else they are what is not there.
func TestPrivatePages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		plant(t, s, "alice/vault", true)
		basic := map[string]string{"Accept": "text/html", "Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("sam:"+s.Token(t, "sam")))}
		for _, page := range []string{"/pulls", "/pull/2", "/pull/2.diff", "/commit/main", "/compare/main...main", "/tree/main", "/blob/main/song.txt"} {
			for _, login := range []string{"", "stranger"} {
				hidden := s.Check(t, apitest.Case{Do: "GET /alice/vault" + page, As: login, Headers: browser, Status: 404})
				absent := s.Check(t, apitest.Case{Do: "GET /alice/nothing" + page, As: login, Headers: browser, Status: 404})
				if string(hidden.Body) != string(absent.Body) {
					t.Errorf("%s as %q tells that it is there: %s", page, login, hidden.Body)
				}
			}
			a := s.Do(t, apitest.Case{Do: "GET /alice/vault" + page, Headers: basic})
			if a.Status != 200 || a.Status == 200 && !strings.HasPrefix(a.Header.Get("Cache-Control"), "private") && page != "/pull/2.diff" {
				t.Errorf("%s: %d %v", page, a.Status, a.Header)
			}
		}
	})
}

// Whatever html_url a payload names, it leads to a page; its anchor is there.
func TestEveryAddressOfAPageAnswers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		plant(t, s, "alice/garden", false)
		pages := map[string]bool{}
		for _, path := range []string{"", "/pulls", "/pulls/2", "/pulls/2/commits", "/pulls/2/files",
			"/pulls/2/reviews", "/pulls/comments", "/commits", "/commits/main", "/commits/side/%3Ci%3E", "/branches/main", "/compare/main...side%2F%3Ci%3E", "/contents", "/contents/deep", "/contents/song.txt?ref=side/%3Ci%3E"} {
			var payload any
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden" + path, Status: 200}).JSON(t, &payload)
			collect(payload, pages)
		}
		if len(pages) < 20 {
			t.Fatalf("only %d addresses: %v", len(pages), pages)
		}
		for address := range pages {
			path, ok := strings.CutPrefix(address, s.URL)
			path, anchor, _ := strings.Cut(path, "#")
			if !ok {
				t.Errorf("%s is elsewhere", address)
				continue
			}
			a := s.Check(t, apitest.Case{Do: "GET " + path, Headers: browser, Status: 200})
			ids, _ := inspect(t, path, a)
			if anchor != "" && !slices.Contains(ids, anchor) {
				t.Errorf("%s: no such anchor among %v", address, ids)
			}
		}
	})
}

// collect adds the addresses of pages in a payload, at any depth.
func collect(v any, into map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collect(e, into)
		}
	case map[string]any:
		for name, e := range v {
			if text, ok := e.(string); ok && (name == "html_url" || name == "blob_url" || name == "permalink_url" || name == "html") && text != "" {
				into[text] = true
			}
			collect(e, into)
		}
	}
}

// What somebody pushes cannot make a page that no browser shows: of long
// messages, patches and lists it has the beginning.
func TestCommitPageIsBounded(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		r := s.Repo(t, "alice/garden", false)
		var in strings.Builder
		message := strings.Repeat("é", 100_000)
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter %s 1300000000 +0000\ndata %d\n%s\n", gittest.Author, len(message), message)
		for n := range 101 {
			text := strings.Repeat(fmt.Sprintln("line", n), 2000)
			fmt.Fprintf(&in, "M 100644 inline f%03d\ndata %d\n%s\n", n, len(text), text)
		}
		dir := gittest.Bare(t)
		gittest.Import(t, dir, strings.NewReader(in.String()+"done\n"))
		s.Import(t, r, dir)
		const path = "/alice/garden/commit/main"
		first := s.Check(t, apitest.Case{Do: "GET " + path, Headers: browser, Status: 200})
		_, text := inspect(t, path, first)
		if len(first.Body) > 1<<20 || strings.ContainsRune(text, '\uFFFD') {
			t.Errorf("%d bytes, or torn characters", len(first.Body))
		}
		for _, part := range []string{"(cut here: it is longer)", "There is more than this page shows.", "f099", "More"} {
			if !strings.Contains(text, part) {
				t.Errorf("the page has no %q", part)
			}
		}
		second := s.Check(t, apitest.Case{Do: "GET " + path + "?page=2", Headers: browser, Status: 200})
		if _, text := inspect(t, path, second); !strings.Contains(text, "f100") || strings.Contains(text, "f099") {
			t.Error("the second page must have the last file only")
		}
	})
}

// Pages cost what the API's answers do, so they are limited as those are.
func TestPagesCountAgainstTheLimit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Run(t, []apitest.Case{
			{Do: "GET /alice/garden/pulls", Status: 200},
			{Do: "GET /alice/garden/pulls", Status: 200},
			{Do: "GET /alice/garden/pulls", Status: 403},
			{Name: "what costs little", Do: "GET /alice/garden", Status: 200},
		})
	}, func(o *server.Options) { o.RateLimit = 2 })
}

// Links of a readme lead to the files that they name; what leads elsewhere
// stays.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		plant(t, s, "alice/garden", false)
		body := string(s.Check(t, apitest.Case{Do: "GET /alice/garden", Headers: browser, Status: 200}).Body)
		for _, part := range []string{`href="` + s.URL + `/alice/garden/blob/main/song.txt#L1"`, `href="https://example.org/x"`, `href="#user-content-of-songs"`} {
			if !strings.Contains(body, part) {
				t.Errorf("no %s in\n%s", part, body)
			}
		}
	})
}
