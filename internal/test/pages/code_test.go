package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/page/diff"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// evilFile is the name of a file, which may hold no slash.
const evilFile = `"><img src=x onerror=alert(1)>#?%41.md`

// codeEvilBody is Markdown that would run, were it not sanitized.
const codeEvilBody = "**bold** <script>alert(3)</script> <img src=x onerror=alert(4)> [go](javascript:alert(5)) <b style=\"color:red\" onclick=alert(6)>b</b>"

// codePlant creates a repository of alice with files of many kinds and markup in all texts: main with three
// commits, the branch side/<i>, and the tag v1. sam may push.
func codePlant(t *testing.T, s *apitest.Server, name string, private bool) {
	t.Helper()
	s.Users(t, "alice", "sam", "stranger")
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
		commit("main", "", "Begin "+evil, "deep/"+evilFile, evil+"\n", "deep/er/x.go",
			"package x\n\n// "+evil+"\nfunc X() string { return \"<b>\" }\n", "bytes.bin", "a\x00b",
			"pic.svg", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(9)</script></svg>`, "pic.png",
			"\x89PNG\r\n\x1a\n....", "dos.txt", "one\r\ntwo\r\n")+
			commit("main", "", "Tell\n\nthe whole "+evil, "README.md",
				"# Of songs\n\n[the song](song.txt#L1) [away](https://example.org/x) [here](#of-songs) ![a picture](deep/../pic.png) ![far](https://example.org/p.png)\n\n"+codeEvilBody+"\n")+
			commit("main", "", "More", "song.txt", "one\n")+
			commit("side/<i>", "from refs/heads/main\n", "Change "+evil, "song.txt", evil+"\n")+
			"reset refs/tags/v1\nfrom refs/heads/main\n\ndone\n"))
	s.Import(t, r, dir)
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
		testkit.Eventually(t, func() bool { // a busy machine counts later
			return strings.Contains(string(as(t, s, "").get("/alice/garden/branches").Body), "behind ·")
		}, "how far branches are behind is known")
		for _, c := range []struct {
			path string
			has  []string
		}{
			{"", []string{"main", "2 branches", "1 tag", "deep", "song.txt", "Of songs", "the song", "bold",
				"More", "Begin " + evil, "About"}},
			{"/tree/main", []string{"deep", "song.txt", "Tell", "Of songs"}},
			{"/tree/side/%3Ci%3E", []string{"deep", "side/<i>", "Change " + evil}},
			{"/tree/main/deep", []string{evilFile, "er", "Begin " + evil}},
			{"/tree/v1/deep/er", []string{"x.go", "v1"}},
			{"/blob/main/deep/" + file + "?plain=1", []string{evil, evilFile}},
			{"/blob/main/deep/" + file, []string{evilFile}},
			{"/blob/main/deep/er/x.go", []string{"// " + evil, `func X() string { return "<b>" }`, "4 lines",
				"Raw", "Blame"}},
			{"/blob/side/%3Ci%3E/song.txt", []string{evil}},
			{"/blob/main/bytes.bin", []string{"A binary file."}},
			{"/blob/main/pic.svg?plain=1", []string{"alert(9)"}},
			{"/blob/main/README.md", []string{"Of songs", "bold"}},
			{"/blame/main/deep/er/x.go", []string{"Begin " + evil, "// " + evil,
				"A \"onx=y\" &lt;script&gt; B"}},
			{"/commits", []string{"Commits", "More", "Tell", "the whole " + evil, "Begin " + evil,
				"13 Mar 2011"}},
			{"/commits/side/%3Ci%3E/song.txt", []string{"Change " + evil, "More"}},
			{"/commit/main", []string{"More", "song.txt", "+1", `A "onx=y" &lt;script&gt; B`,
				"1 changed file", "one"}},
			{"/commit/side%2F%3Ci%3E?diff=split", []string{"Change " + evil, evil}},
			{"/compare", []string{"Compare changes"}},
			{"/compare/main...side%2F%3Ci%3E",
				[]string{"1 commit ahead", "Change " + evil, "song.txt", evil, "Create pull request"}},
			{"/compare/side/%3Ci%3E", []string{"1 commit ahead"}},
			{"/compare/side/%3Ci%3E...main", []string{"there is nothing to merge"}},
			{"/branches", []string{"main", "Default", "side/<i>", "behind ·", "Change " + evil}},
			{"/tags", []string{"v1", "More"}},
			{"/find/main", []string{evilFile, "deep/er/x.go"}},
			{"/find/main?q=erx", []string{"deep/er/x.go"}},
			{"/search?q=one", []string{"song.txt"}},
			{"/search?q=" + url.QueryEscape(evil), nil},
			{"/files/main/deep", []string{evilFile, "er"}},
			{"/last-changes/main/deep", []string{"B Begin " + evil, "History"}},
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
	"/compare/main...main", "/compare/main...side/%3Ci%3E.patch", "/branches", "/tags", "/contributors",
	"/find/main", "/search?q=one", "/last-changes/main", "/files/main", "/archive/main.zip"}

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
		message := strings.Repeat("é", 100_000)
		files := []string{"long.go", "package x\n" + strings.Repeat("var a = 1\n", 50_000),
			"wide.js", strings.Repeat("a(", 200_000), "lines", strings.Repeat("\n", 1_000_000),
			"huge", strings.Repeat("0123456789abcde\n", 80_000)}
		for n := range 101 {
			files = append(files, fmt.Sprintf("f%03d", n), strings.Repeat(fmt.Sprintln("line", n), 2000))
		}
		for n := range 1100 {
			files = append(files, fmt.Sprintf("many/%04d", n), "x\n")
		}
		h := &history{}
		h.commit("main", "", message+"\n\n"+message, files...)
		h.into(t, s, "alice/garden", false)
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
			"/files/main/many":     {"0099", "More files"},
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
		beside := string(v.want("/alice/garden/blob/main/many/0500", 200, "0099", "0500", "More files", "f000").Body)
		if strings.Contains(beside, "0100") || strings.Contains(beside, "0501") {
			t.Error("the tree beside a file has more than a hundred entries of a folder")
		}
		v.want("/alice/garden/blob/main/lines?page=350", 200, "too long to be shown whole",
			"Lines 523501 to 524288")
		second := string(v.want("/alice/garden/commit/main?page=2", 200, "f050").Body)
		if strings.Contains(second, `<section class="difffile box" id="diff-`+diff.ID("many/f049")) ||
			!strings.Contains(second, "f049") {
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
