package pages_test

import (
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// codeEvil is what somebody writes wherever a text is taken.
const codeEvil = `"><img onerror=x><script>alert(2)</script>'`

// evilFile is the name of a file, which may hold no slash.
const evilFile = `"><img src=x onerror=alert(1)>#?%41.md`

// codeEvilBody is Markdown that would run, were it not sanitized.
const codeEvilBody = "**bold** <script>alert(3)</script> <img src=x onerror=alert(4)> [go](javascript:alert(5)) <b style=\"color:red\" onclick=alert(6)>b</b>"

// accepted is what a browser says that it takes.
var accepted = map[string]string{"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}

// codePlant creates a repository of alice with files of many kinds and markup in all texts: main with three
// commits, the branch side/<i>, and the tag v1. sam may push.
func codePlant(t *testing.T, s *apitest.Server, name string, private bool) {
	t.Helper()
	for _, login := range []string{"alice", "sam", "stranger"} {
		s.User(t, login)
	}
	r := s.Repo(t, name, private)
	s.Grant(t, r, "sam", account.Push)
	commit := func(ref, from, message string, files ...string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "commit refs/heads/%s\nauthor A \"onx=y\" &lt;script&gt; B <a@example.com> 1300000000 +0000\ncommitter %s 1300000000 +0000\ndata %d\n%s\n%s",
			ref, gittest.Author, len(message), message, from)
		for n := 0; n < len(files); n += 2 {
			quoted := `"` + strings.ReplaceAll(files[n], `"`, `\"`) + `"`
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", quoted, len(files[n+1]), files[n+1])
		}
		return b.String()
	}
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(
		commit("main", "", "Begin "+codeEvil, "deep/"+evilFile, codeEvil+"\n", "deep/er/x.go",
			"package x\n\n// "+codeEvil+"\nfunc X() string { return \"<b>\" }\n", "bytes.bin", "a\x00b",
			"pic.svg", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(9)</script></svg>`, "pic.png",
			"\x89PNG\r\n\x1a\n....", "dos.txt", "one\r\ntwo\r\n")+
			commit("main", "", "Tell\n\nthe whole "+codeEvil, "README.md",
				"# Of songs\n\n[the song](song.txt#L1) [away](https://example.org/x) [here](#of-songs) ![a picture](deep/../pic.png) ![far](https://example.org/p.png)\n\n"+codeEvilBody+"\n")+
			commit("main", "", "More", "song.txt", "one\n")+
			commit("side/<i>", "from refs/heads/main\n", "Change "+codeEvil, "song.txt", codeEvil+"\n")+
			"reset refs/tags/v1\nfrom refs/heads/main\n\ndone\n"))
	s.Import(t, r, dir)
}

func (v *visitor) want(path string, status int, has ...string) *apitest.Answer {
	v.t.Helper()
	a := v.get(path)
	if a.Status != status {
		v.t.Errorf("%s: status %d, want %d: %.300s", path, a.Status, status, a.Body)
		return a
	}
	_, text := codeInspect(v.t, path, a)
	for _, part := range has {
		if !strings.Contains(squeeze(text), squeeze(part)) {
			v.t.Errorf("%s has no %q: %s", path, part, squeeze(text))
		}
	}
	return a
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// visitor is somebody with a browser, signed in by a session or not.
type visitor struct {
	t       *testing.T
	s       *apitest.Server
	session string
}

// as is somebody's browser; nobody's without a login.
func as(t *testing.T, s *apitest.Server, login string) *visitor {
	v := &visitor{t: t, s: s}
	if login != "" {
		v.session = s.Session(t, login)
	}
	return v
}

func (v *visitor) headers(more ...string) map[string]string {
	h := map[string]string{"Accept": accepted["Accept"]}
	if v.session != "" {
		h["Cookie"] = "arbor_session=" + v.session
	}
	for n := 0; n < len(more); n += 2 {
		h[more[n]] = more[n+1]
	}
	return h
}

func (v *visitor) get(path string) *apitest.Answer {
	v.t.Helper()
	return v.s.Do(v.t, apitest.Case{Do: "GET " + path, Headers: v.headers()})
}

// post sends a form of names and values in turn.
func (v *visitor) post(path string, fields ...string) *apitest.Answer {
	v.t.Helper()
	form := url.Values{}
	for n := 0; n < len(fields); n += 2 {
		form.Add(fields[n], fields[n+1])
	}
	return v.s.Do(v.t, apitest.Case{Do: "POST " + path, Send: form.Encode(),
		Headers: v.headers("Content-Type", "application/x-www-form-urlencoded")})
}

// led posts a form that must be taken, and gives where the browser goes.
func (v *visitor) led(path string, fields ...string) string {
	v.t.Helper()
	a := v.post(path, fields...)
	if a.Status != 303 {
		_, text := codeInspect(v.t, path, a)
		v.t.Fatalf("%s: status %d: %s", path, a.Status, squeeze(text))
	}
	return a.Header.Get("Location")
}

// field is the value of a hidden field of a page.
func field(t *testing.T, a *apitest.Answer, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindSubmatch(a.Body)
	if m == nil {
		t.Fatalf("no field %s in %.2000s", name, a.Body)
	}
	return string(m[1])
}

// codeInspect reads a page as a browser does, and reports everything in it that could run or load something
// from elsewhere; it returns the ids and the text.
func codeInspect(t *testing.T, path string, a *apitest.Answer) (ids []string, text string) {
	t.Helper()
	if policy := a.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("%s: policy %q", path, policy)
	}
	if kind := a.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" ||
		a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: %v", path, a.Header)
	}
	own := func(address string) bool {
		return strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//")
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
			if slices.Contains([]string{"iframe", "object", "embed", "base"}, token.Data) {
				t.Errorf("%s: <%s> in %s", path, token.Data, a.Body)
			}
			source := false
			for _, at := range token.Attr {
				if strings.HasPrefix(at.Key, "on") || at.Key == "style" ||
					strings.HasPrefix(strings.ToLower(at.Val), "javascript:") ||
					at.Key == "src" && !own(at.Val) && token.Data != "img" ||
					at.Key == "action" && !own(at.Val) {
					t.Errorf("%s: %s", path, token)
				}
				source = source || at.Key == "src"
				if at.Key == "id" {
					if slices.Contains(ids, at.Val) {
						t.Errorf("%s: two elements with the id %s", path, at.Val)
					}
					ids = append(ids, at.Val)
				}
			}
			if token.Data == "script" && !source {
				t.Errorf("%s: a script in %s", path, a.Body)
			}
		}
	}
}

// Who follows a link finds what it is of, and nothing that others wrote runs in the browser.
func TestCodePagesShowWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		file := url.PathEscape(evilFile)
		// A page looks for its last changes for a moment only, which a busy machine may need for itself.
		for _, at := range []string{"main", "side%2F%3Ci%3E", "main/deep"} {
			as(t, s, "").get("/alice/garden/last-changes/" + at)
		}
		for _, c := range []struct {
			path string
			has  []string
		}{
			{"", []string{"main", "2 branches", "1 tag", "deep", "song.txt", "Of songs", "the song", "bold",
				"More", "Begin " + codeEvil, "About"}},
			{"/tree/main", []string{"deep", "song.txt", "Tell", "Of songs"}},
			{"/tree/side/%3Ci%3E", []string{"deep", "side/<i>", "Change " + codeEvil}},
			{"/tree/main/deep", []string{evilFile, "er", "Begin " + codeEvil}},
			{"/tree/v1/deep/er", []string{"x.go", "v1"}},
			{"/blob/main/deep/" + file + "?plain=1", []string{codeEvil, evilFile}},
			{"/blob/main/deep/" + file, []string{evilFile}},
			{"/blob/main/deep/er/x.go", []string{"// " + codeEvil, `func X() string { return "<b>" }`, "4 lines",
				"Raw", "Blame"}},
			{"/blob/side/%3Ci%3E/song.txt", []string{codeEvil}},
			{"/blob/main/bytes.bin", []string{"A binary file."}},
			{"/blob/main/pic.svg?plain=1", []string{"alert(9)"}},
			{"/blob/main/README.md", []string{"Of songs", "bold"}},
			{"/blame/main/deep/er/x.go", []string{"Begin " + codeEvil, "// " + codeEvil,
				"A \"onx=y\" &lt;script&gt; B"}},
			{"/commits", []string{"Commits", "More", "Tell", "the whole " + codeEvil, "Begin " + codeEvil,
				"13 March 2011"}},
			{"/commits/side/%3Ci%3E/song.txt", []string{"Change " + codeEvil, "More"}},
			{"/commit/main", []string{"More", "song.txt", "+1", `A "onx=y" &lt;script&gt; B`,
				"1 changed file", "one"}},
			{"/commit/side%2F%3Ci%3E?diff=split", []string{"Change " + codeEvil, codeEvil}},
			{"/compare", []string{"Compare changes"}},
			{"/compare/main...side%2F%3Ci%3E",
				[]string{"1 commit ahead", "Change " + codeEvil, "song.txt", codeEvil, "Create pull request"}},
			{"/compare/side/%3Ci%3E", []string{"1 commit ahead"}},
			{"/compare/side/%3Ci%3E...main", []string{"there is nothing to merge"}},
			{"/branches", []string{"main", "Default", "side/<i>", "behind ·", "Change " + codeEvil}},
			{"/tags", []string{"v1", "More"}},
			{"/find/main", []string{evilFile, "deep/er/x.go"}},
			{"/find/main?q=erx", []string{"deep/er/x.go"}},
			{"/search?q=one", []string{"song.txt"}},
			{"/search?q=" + url.QueryEscape(codeEvil), nil},
			{"/last-changes/main/deep", []string{"B Begin " + codeEvil, "History"}},
		} {
			as(t, s, "").want("/alice/garden"+c.path, 200, c.has...)
		}
		if body := as(t, s, "").get("/alice/garden/find/main?q=erx").Body; strings.Contains(string(body),
			"song.txt") {
			t.Error("a search by name finds everything")
		}
		body := string(as(t, s, "").get("/alice/garden").Body)
		for _, part := range []string{`href="/alice/garden/blob/main/song.txt#L1"`,
			`href="https://example.org/x"`, `src="/alice/garden/raw/main/pic.png"`,
			`href="#user-content-of-songs"`} {
			if !strings.Contains(body, part) {
				t.Errorf("the readme has no %s in\n%s", part, body)
			}
		}
	})
}

// The address of a file leads to a folder of that name, and the other way round. An absent path gets a 404
// page.
func TestPagesLeadOn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		to := func(path string) map[string]string { return map[string]string{"Location": path} }
		at := "GET /alice/garden"
		text := map[string]string{"Content-Type": "text/plain; charset=utf-8"}
		s.Run(t, []apitest.Case{
			{Do: "GET /alice/garden.git", Status: 302, Has: to("{base}/alice/garden")},
			{Do: "GET /alice/nothing.git", Status: 302, Has: to("{base}/alice/nothing")},
			{Do: at + "/tree/main/song.txt", Status: 303, Has: to("/alice/garden/blob/main/song.txt")},
			{Do: at + "/blob/side/%3Ci%3E/deep", Status: 303,
				Has: to("/alice/garden/tree/side/%3Ci%3E/deep")},
			{Do: at + "/blame/main/deep", Status: 303, Has: to("/alice/garden/tree/main/deep")},
			{Do: at + "/compare?base=main&head=side/%3Ci%3E", Status: 303,
				Has: to("/alice/garden/compare/main...side/%3Ci%3E")},
			{Do: at + "/commit/" + strings.Repeat("0", 40), Status: 404},
			{Do: at + "/commit/nothing", Status: 404},
			{Do: at + "/commit/main.diff", Status: 200, Has: text},
			{Do: at + "/commit/main.patch", Status: 200, Has: text},
			{Do: at + "/commit/nothing.diff", Status: 404},
			{Do: at + "/compare/main...side/%3Ci%3E.diff", Status: 200, Has: text},
			{Do: at + "/compare/main...nothing", Status: 404},
			{Do: at + "/compare/nothing", Status: 404},
			{Do: at + "/tree/nothing", Status: 404},
			{Do: at + "/tree/main/../../x", Status: 404},
			{Do: at + "/tree/main//deep", Status: 404},
			{Do: at + "/tree/main/%00", Status: 404},
			{Do: at + "/tree/%ff", Status: 404},
			{Do: at + "/blob/main/nothing", Status: 404},
			{Do: at + "/commits/main/nothing", Status: 404},
			{Do: at + "/find/nothing", Status: 404},
			{Do: at + "/blame/main/nothing", Status: 404},
			{Do: at + "/raw/main/pic.png", Status: 200,
				Has: map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff"}},
			{Do: at + "/raw/main/pic.svg", Status: 200,
				Has: map[string]string{"Content-Type": "image/svg+xml; charset=utf-8",
					"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}},
			{Do: at + "/raw/main/README.md", Status: 200, Has: text},
		})
		s.Repo(t, "alice/empty", false)
		for _, path := range []string{"/commit/main", "/tree/main", "/blob/main/a", "/commits",
			"/find/main"} {
			as(t, s, "").want("/alice/empty"+path, 404)
		}
		as(t, s, "").want("/alice/empty", 200, "This repository is empty", "git push -u origin main")
		as(t, s, "").want("/alice/empty/branches", 200, "There are none yet")
		as(t, s, "").want("/alice/empty/tags", 200, "There are none yet")
	})
}

// pages are the addresses of all kinds of pages of plant's repository.
var pages = []string{"", "/tree/main", "/blob/main/song.txt", "/raw/main/song.txt", "/blame/main/song.txt",
	"/commits", "/commits/main/song.txt", "/commit/main", "/commit/main.diff", "/compare",
	"/compare/main...main", "/compare/main...side/%3Ci%3E.patch", "/branches", "/tags",
	"/find/main", "/search?q=one", "/last-changes/main", "/archive/main.zip"}

var codeForms = []string{"/edit/main/song.txt", "/new/main", "/delete/main/song.txt", "/upload/main"}

// Whatever html_url a payload of code names, it leads to a page.
func TestAddressesOfPayloads(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		found := map[string]bool{}
		for _, path := range []string{"", "/commits", "/commits/main", "/commits/side/%3Ci%3E",
			"/branches/main", "/compare/main...side%2F%3Ci%3E", "/contents", "/contents/deep",
			"/contents/song.txt?ref=side/%3Ci%3E", "/readme"} {
			var payload any
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden" + path, Status: 200}).JSON(t, &payload)
			collect(payload, found)
		}
		if len(found) < 15 {
			t.Fatalf("only %d addresses: %v", len(found), found)
		}
		for address := range found {
			path, ok := strings.CutPrefix(address, s.URL)
			if !ok {
				t.Errorf("%s is elsewhere", address)
			} else if strings.HasPrefix(path, "/alice/garden") {
				as(t, s, "").want(path, 200)
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
			if text, ok := e.(string); ok && (name == "html_url" || name == "blob_url" ||
				name == "permalink_url" || name == "html") && text != "" {
				into[text] = true
			}
			collect(e, into)
		}
	}
}

// Pushed contents cannot make a page too large for a browser: of long messages, patches, files and lists it
// shows the beginning and a link to the rest.
func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/garden", false)
		var in strings.Builder
		message := strings.Repeat("é", 100_000)
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter %s 1300000000 +0000\ndata %d\n%s\n\n%s\n",
			gittest.Author, 2*len(message)+2, message, message)
		add := func(name, text string) {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
		}
		for n := range 101 {
			add(fmt.Sprintf("f%03d", n), strings.Repeat(fmt.Sprintln("line", n), 2000))
		}
		for n := range 1100 {
			add(fmt.Sprintf("many/%04d", n), "x\n")
		}
		add("long.go", "package x\n"+strings.Repeat("var a = 1\n", 50_000))
		add("wide.js", strings.Repeat("a(", 200_000))
		add("lines", strings.Repeat("\n", 1_000_000))
		add("huge", strings.Repeat("0123456789abcde\n", 80_000))
		dir := gittest.Bare(t)
		gittest.Import(t, dir, strings.NewReader(in.String()+"done\n"))
		s.Import(t, r, dir)
		v := as(t, s, "")
		for path, has := range map[string][]string{
			"/commit/main":         {"The message is longer.", "Large changes are collapsed.", "f049", "Older"},
			"/tree/main/many":      {"0299", "More entries"},
			"/blob/main/long.go":   {"Lines 1 to 1500", "50001 lines", "More lines"},
			"/blob/main/wide.js":   {"a(a("},
			"/blob/main/huge":      {"too large to be shown here"},
			"/blame/main/huge":     {"too large"},
			"/blame/main/long.go":  {"Lines 1 to 1500", "More lines"},
			"/blob/main/lines":     {"Lines 1 to 1500", "1000000 lines"},
			"/find/main":           {"files match; the best are shown"},
			"/last-changes/main":   {"f099"},
			"/commits":             {"é"},
			"/commit/main?page=99": nil,
		} {
			a := v.want("/alice/garden"+path, 200, has...)
			if len(a.Body) > 1<<20 || strings.Contains(string(a.Body), "\uFFFD") {
				t.Errorf("%s: %d bytes, or torn characters", path, len(a.Body))
			}
		}
		last := string(v.want("/alice/garden/tree/main/many?page=4", 200, "0900", "0999",
			"Previous entries", "more than a thousand entries").Body)
		if strings.Contains(last, "0899") || strings.Contains(last, "More entries") {
			t.Error("the last page of a directory has what is on another")
		}
		v.want("/alice/garden/last-changes/main/many?page=2", 200, "0300", "0599")
		for _, odd := range []string{"5", "0", "-1", "99999999999999999999", "x"} {
			v.want("/alice/garden/tree/main/many?page="+odd, 200)
		}
		v.thin("/alice/garden/tree/main/many")
		v.want("/alice/garden/blob/main/lines?page=350", 200, "too long to be shown whole",
			"Lines 523501 to 524288")
		second := string(v.want("/alice/garden/commit/main?page=2", 200, "f050").Body)
		if strings.Contains(second, "f049") {
			t.Error("the second page must not have the files of the first")
		}
	})
}

// The page of a commit does not hold fifty megabytes of patches to show their beginnings.
func TestLargePages(t *testing.T) {
	dir := gittest.LargePatches(t)
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		tip := gittest.Run(t, dir, "rev-parse", "main")
		m := s.Measure(t, "/alice/garden/commit/"+tip, "", "text/html")
		if m.Allocated > 150<<20 || m.Sent > 4<<20 {
			t.Errorf("the page of a commit: %d bytes took %d", m.Sent, m.Allocated)
		}
	})
}
