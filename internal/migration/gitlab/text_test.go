package gitlab

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/migration"
	"arbor/internal/test/testkit"
)

// A text names merge requests, issues and pages by what they are here.
func TestTexts(t *testing.T) {
	t.Parallel()
	s := source(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v4/projects/42/uploads/0123456789abcdef0123456789abcdef/a b.png" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, "png")
	})
	s.numbers = map[string]int64{"1": 1, "7": 30, "!1": 20, "!2": 21}
	home := s.Base.String() + "/acme/tools/cli"
	for text, want := range map[string]string{
		"!1 and (!2), #1, #7.":                                                  "#20 and (#21), #1, #30.",
		"!3 #8 x!1 &#1; /#1 a/b!1 other/cli#7":                                  "!3 #8 x!1 &#1; /#1 a/b!1 other/cli#7",
		"acme/tools/cli!1 cli#7 tools/cli!1":                                    "#20 #30 tools/cli!1",
		"`!1` and\n```\n!1\n```\n":                                              "`!1` and\n```\n!1\n```\n",
		"![a](b) [!1](x)":                                                       "![a](b) [!1](x)",
		home + "/-/merge_requests/1/diffs#note_5.":                              home + "/pull/20.",
		home + "/-/issues/7#note_1 and":                                         home + "/issues/30 and",
		home + "/issues/1":                                                      home + "/issues/1",
		home + "/-/blob/main/a.go#L3":                                           home + "/blob/main/a.go#L3",
		home + "/-/releases/v1":                                                 home + "/releases/tag/v1",
		home + "-other/-/issues/7":                                              home + "-other/-/issues/7",
		"/uploads/ffffffffffffffffffffffffffffffff/x":                           "/uploads/ffffffffffffffffffffffffffffffff/x",
		"![p](/uploads/0123456789abcdef0123456789abcdef/a%20b.png){width=3}":    "![p](/acme/tools-cli/attachments/aerukz4jvpg66ajdivtytk6n54)",
		"[p](/-/project/42/uploads/0123456789abcdef0123456789abcdef/a%20b.png)": "[p](/acme/tools-cli/attachments/aerukz4jvpg66ajdivtytk6n54)",
		"<" + home + "/uploads/0123456789abcdef0123456789abcdef/a%20b.png>":     "</acme/tools-cli/attachments/aerukz4jvpg66ajdivtytk6n54>",
		"/-/project/43/uploads/0123456789abcdef0123456789abcdef/a%20b.png stays the file there": "/-/project/43/uploads/0123456789abcdef0123456789abcdef/a%20b.png stays the file there",
		"http://x.example/acme/tools/cli/uploads/0123456789abcdef0123456789abcdef/a%20b.png":    "http://x.example/acme/tools/cli/uploads/0123456789abcdef0123456789abcdef/a%20b.png",
		"See /uploads/0123456789abcdef0123456789abcdef/a%20b.png.":                              "See /acme/tools-cli/attachments/aerukz4jvpg66ajdivtytk6n54.",
	} {
		got, err := s.text(t.Context(), text, "ann")
		if err != nil || got != want {
			t.Errorf("%q became %q, %v; want %q", text, got, err, want)
		}
	}
}

// The token goes to no page, no other project and no other server; a page that wants somebody to sign in is
// no file.
func TestFiles(t *testing.T) {
	t.Parallel()
	inner := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("an inner address is asked for %s", r.URL)
	}))
	t.Cleanup(inner.Close)
	open := false
	var s *Source
	s = source(t, func(w http.ResponseWriter, r *http.Request) {
		api := strings.HasPrefix(r.URL.Path, "/api/v4/projects/42/")
		if strings.Contains(r.URL.Path, "/packages/") && s.about.Visibility == "public" {
			api, open = false, true
		}
		if token := r.Header.Get("Private-Token"); (token == "secret") != api {
			t.Errorf("%s is asked for with the token %q", r.URL.Path, token)
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/inner"):
			http.Redirect(w, r, inner.URL, http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "/private"):
			http.Redirect(w, r, "/users/sign_in", http.StatusFound)
		default:
			fmt.Fprint(w, "data")
		}
	})
	for n, name := range []string{"a.png", "%2E%2E", "a%2Fb", "%00"} {
		u, err := s.uploadOf(t.Context(), fmt.Sprintf("%032d", n), name)
		if testkit.NoError(t, err); (u.size == 4) != (n == 0) {
			t.Errorf("the file %q has %d bytes", name, u.size)
		}
	}
	if _, _, err := s.fileOf(t.Context(), &linkAnswer{ID: 2, URL: s.At("projects/42/packages/generic/a")}); err != nil || !open {
		t.Errorf("a package of a public project: %v, without the token: %v", err, open)
	}
	s.about.Visibility = "private"
	for path, want := range map[string]bool{
		"/acme/tools/cli/-/package_files/1/download": true, "/acme/tools/cli/private": false, "/acme/tools/cli/inner": false,
		"/api/v4/projects/42/packages/generic/a/1/b": true, "/api/v4/projects/acme%2Ftools%2Fcli/packages/generic/a/1/b": false,
		"/api/v4/projects/43/packages/generic/a/1/b": false, "/api/v4/user": false, "/acme/tools/cli/../../x": false,
		"/acme/tools/other/file": false, "/api/v4/projects/42/packages/../../43/x": false,
	} {
		if strings.Contains(path, "%2F") {
			continue // the handler's paths are decoded
		}
		got, size, err := s.fileOf(t.Context(), &linkAnswer{ID: 1, Name: "x", URL: s.Base.String() + path})
		testkit.NoError(t, err)
		if (got != "") != want || want && size != 4 {
			t.Errorf("%s: %q of %d bytes", path, got, size)
		}
	}
}

// A server that shows discussions to nobody without a token is asked once, and the report says so.
func TestSilence(t *testing.T) {
	t.Parallel()
	asked := 0
	s := source(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"401 Unauthorized"}`)
	})
	for n := range int64(3) {
		of := &migration.Issue{Number: n + 1, State: "open"}
		testkit.NoError(t, s.finish(t.Context(), &conversation{s: s, of: of, at: "projects/42/issues/1"}))
	}
	if left := s.Left(); asked != 1 || len(left) != 1 || !strings.Contains(left[0], "discussions, timelines") {
		t.Errorf("%d requests, left %q", asked, left)
	}
}

// Comments on lines without an end take a bounded amount of memory.
func TestEndlessComments(t *testing.T) {
	t.Parallel()
	page, long := 0, strings.Repeat("x", 8<<20)
	s := source(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/discussions") {
			fmt.Fprint(w, "[]")
			return
		}
		page++
		w.Header().Set("X-Next-Page", fmt.Sprint(page+1))
		fmt.Fprint(w, `[{"notes":[{"id":`, page, `,"type":"DiffNote","position":{"new_path":"a","new_line":1},"body":"`, long, `"}]}]`)
	})
	of := &migration.Issue{Number: 1, State: "open", Former: "!1", Pull: &migration.Pull{}}
	err := s.finish(t.Context(), &conversation{s: s, of: of, at: "projects/42/merge_requests/1"})
	if err == nil || !strings.Contains(err.Error(), "!1 are too large") || page > 20 {
		t.Errorf("%d pages: %v", page, err)
	}
}

// Whatever a server says in texts of its own, it becomes events that are whole.
func FuzzNotes(f *testing.F) {
	for _, seed := range []string{"assigned to @bob and unassigned @ann", "requested review from @a, @b and @c and removed review request for @d",
		"changed title from **Fi{-s-}t** to **Fi{+rs+}t**", "mentioned in merge request !1", "mentioned in #1",
		"mentioned in commit 0123456789012345678901234567890123456789", "locked this issue", "changed target branch from `a` to `b`",
		"marked this merge request as **ready**", "unmarked as a **Work In Progress**", "merged", "closed via merge request !1"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, pull bool) {
		s := sourceAt(t, "http://gitlab.example")
		s.numbers = map[string]int64{"1": 1, "!1": 2}
		c := &conversation{s: s, of: &migration.Issue{Number: 1}, approved: nil}
		if pull {
			c.of.Pull = &migration.Pull{}
		}
		seen := map[string]bool{}
		for _, e := range c.noted(text) {
			if e.Event == "" || e.Event == "cross-referenced" && e.Source == 0 || seen[e.ID] {
				t.Errorf("%q became %+v", text, e)
			}
			seen[e.ID] = true
		}
	})
}

// A text keeps what it does not say about the project, and a server's answer decodes or is refused.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{"!1 #7 `!1` /uploads/0123456789abcdef0123456789abcdef/x", "http://gitlab.example/acme/tools/cli/-/issues/7.",
		`{"position":{"new_line":"5","line_range":{"start":{"old_line":null}}}}`, "![a](b){width=1}", "acme/tools/cli!1#7"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := sourceAt(t, "http://gitlab.example")
		s.uploads["0123456789abcdef0123456789abcdef"] = &upload{size: -1}
		s.numbers = map[string]int64{"7": 30, "!1": 20}
		if strings.Contains(text, "/uploads/") {
			text = strings.ReplaceAll(text, "/uploads/", "/upload/")
		}
		got, err := s.text(t.Context(), text, "ann")
		testkit.NoError(t, err)
		if !strings.ContainsAny(text, "!#") && !strings.Contains(text, "gitlab.example") && got != text {
			t.Errorf("%q became %q", text, got)
		}
		var n noteAnswer
		if json.Unmarshal([]byte(text), &n) == nil && n.Position != nil && (n.Position.NewLine < 0 || n.Position.OldLine < 0) {
			t.Errorf("%q has the position %+v", text, n.Position)
		}
	})
}
