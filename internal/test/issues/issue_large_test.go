package issues_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// many is how many texts of 64 KiB a list of these tests has.
const many = 40

// Forty issues of 64 KiB each, which is six times that in JSON, must not take a
// server's memory: a list of them is sent while it is rendered, and so are comments,
// events and searches. Rendered Markdown costs once.
func TestLargeListsStream(t *testing.T) {
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		large(t, s, strings.Repeat("\x01", 64<<10), true)
		for n := range 15 {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/alice/garden/issues/%d", n+1), As: "alice",
				Send: `{"state": "closed"}`, Status: 200})
		}
		for path, accept := range map[string]string{
			"/repos/alice/garden/issues?per_page=100&state=all":  "",
			"/repos/alice/garden/issues/1/comments?per_page=100": "",
			"/repos/alice/garden/issues/events?per_page=100":     "",
			"/repos/alice/garden/issues/1/timeline?per_page=100": "",
			"/repos/alice/garden/issues/comments?per_page=100":   "",
			"/user/issues?filter=all&per_page=100":               "",
			"/search/issues?q=large&per_page=100":                "",
			"/repos/alice/garden/events?per_page=100":            "",
		} {
			m := s.Measure(t, path, "alice", accept)
			if m.Sent < 5<<20 {
				t.Errorf("%s: %d bytes, is this the list?", path, m.Sent)
			}
			if m.Held > 10<<20 { // a page's rows have 2.6 MB
				t.Errorf("%s: an answer of %d bytes held %d", path, m.Sent, m.Held)
			}
			if m.Header.Get("Etag") != "" {
				t.Errorf("%s: what is streamed has an ETag before its bytes are known", path)
			}
			if again := s.Measure(t, path, "alice", accept); again.Sent != m.Sent {
				t.Errorf("%s: %d bytes, and then %d", path, m.Sent, again.Sent)
			}
		}
		whole := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues?per_page=100&state=all",
			As: "alice", Status: 200})
		var list []struct{ Number int64 }
		if err := json.Unmarshal(whole.Body, &list); err != nil || len(list) != many {
			t.Errorf("%d issues, %v", len(list), err)
		}
		s.Check(t, apitest.Case{Do: "HEAD /repos/alice/garden/issues?per_page=100", As: "alice",
			Status: 200, Body: "-"})
	})
}

// Dense texts are parsed once: the second reader of a list costs only the bytes that are
// sent. And no text becomes many times its length.
func TestRenderedTextsAreKept(t *testing.T) {
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		large(t, s, strings.Repeat("[a](b)", 64<<10/6), false)
		const accept = "application/vnd.github.full+json"
		path := "/repos/alice/garden/issues?per_page=100&state=all"
		first := s.Measure(t, path, "alice", accept)
		second := s.Measure(t, path+"&direction=asc", "alice", accept)
		if second.Allocated > first.Allocated/5 || second.Allocated > 3*second.Sent {
			t.Errorf("the first reader costs %d bytes, the second %d; %d are sent", first.Allocated,
				second.Allocated, second.Sent)
		}
	})
}

// Setext headings of one letter are the densest that Markdown has: a page of them
// took half a gigabyte.
func TestDenseTextsAreBounded(t *testing.T) {
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		large(t, s, strings.Repeat("a\n=\n", 16<<10), false)
		m := s.Measure(t, "/repos/alice/garden/issues?per_page=100&state=all", "alice",
			"application/vnd.github.full+json")
		if m.Allocated > 48<<20 {
			t.Errorf("a list of forty texts of 64 KiB took %d bytes", m.Allocated)
		}
	})
}

// An issue that names many others links them without reading what they say.
func TestLinksDoNotReadWhatTheyLeadTo(t *testing.T) {
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		large(t, s, strings.Repeat("x", 64<<10), false)
		var text strings.Builder
		for n := range many {
			fmt.Fprintf(&text, "#%d ", n+1)
		}
		sent, _ := json.Marshal(map[string]string{"title": "all", "body": text.String()})
		s.Ask(t, "alice", "POST /repos/alice/garden/issues", string(sent), 201)
		m := s.Measure(t, "/repos/alice/garden/issues/41", "alice", "application/vnd.github.html+json")
		if m.Allocated > 2<<20 {
			t.Errorf("an issue that names forty took %d bytes", m.Allocated)
		}
	})
}

// large creates many issues with long bodies, and optionally as many comments on the first. One in ten has
// the same text.
func large(t *testing.T, s *apitest.Server, body string, comments bool) {
	t.Helper()
	post := func(path string, n int, what map[string]string) {
		what["body"] = fmt.Sprint(n%10) + body[1:]
		sent, err := json.Marshal(what)
		testkit.NoError(t, err)
		s.Ask(t, "alice", "POST "+path, string(bytes.TrimSpace(sent)), 201)
	}
	for n := range many {
		post("/repos/alice/garden/issues", n, map[string]string{"title": "large"})
		if comments {
			post("/repos/alice/garden/issues/1/comments", n, map[string]string{})
		}
	}
}

// Somebody with thousands of repositories gets the same lists, by a few statements:
// not one that names more than an engine takes, nor one for every few repositories.
func TestListsAcrossThousandsOfRepositories(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, count := apitest.StartCounted(t, engine)
		s.Users(t, "alice", "bob")
		s.ManyRepos(t, "alice", 2001)
		s.Repo(t, "bob/own", false)
		for n, r := range []string{"alice/r0", "alice/r1000", "bob/own", "alice/r2000", "alice/r0"} {
			s.Check(t, apitest.Case{Do: "POST /repos/" + r + "/issues", As: "alice",
				Send: fmt.Sprintf(`{"title": "%d", "labels": ["l%d"]}`, n, n%2), Status: 201})
		}
		s.Ask(t, "alice", "PATCH /repos/alice/r1000", `{"has_issues": false}`, 200)
		for query, want := range map[string]string{
			"filter=all":                    `[{"title": "4"}, {"title": "3"}, {"title": "0"}]`,
			"filter=all&direction=asc":      `[{"title": "0"}, {"title": "3"}, {"title": "4"}]`,
			"filter=created&labels=l0":      `[{"title": "4"}, {"title": "0"}]`,
			"filter=all&labels=l1,l0":       `[]`,
			"filter=assigned":               `[]`,
			"filter=all&per_page=2&page=2":  `[{"title": "0"}]`,
			"filter=all&per_page=2&page=99": `[]`,
		} {
			least := int64(maxStatements)
			for n := 0; n < 4 || n < 50 && least > 10; n++ { // one that takes long asks some things twice
				count.Store(0)
				s.Check(t, apitest.Case{Name: query, Do: fmt.Sprintf("GET /user/issues?%s&x=%d", query, n),
					As: "alice", Status: 200, Want: want})
				least = min(least, count.Load())
			}
			if least > 10 {
				t.Errorf("%s took %d statements", query, least)
			}
		}
	})
}
