package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

func explorePlant(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "bob")
	s.Org(t, "garden", "alice")
	for _, name := range []string{"compost", "secret-compost"} {
		h := &history{}
		h.commit("main", "", "Turn it <b>over</b>", "turn.txt", "compost heap\n"+evil+"\n\n")
		h.into(t, s, "alice/"+name, name != "compost")
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/" + name, As: "alice", Status: 200,
			Send: `{"description": "compost \"><script>alert(1)</script>"}`})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/" + name + "/issues", As: "alice", Status: 201,
			Send: `{"title": "compost smells <script>alert(1)</script>"}`})
	}
	s.Settle(t)
}

// People find what is there: public repositories, people and organizations.
func TestExplore(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Visit(t, "", "GET /explore").Shows(t, 200, "No public repositories yet")
		explorePlant(t, s)
		for _, as := range []string{"", "alice"} {
			s.Visit(t, as, "GET /explore").Shows(t, 200, `href="/alice/compost"`, "!secret-compost",
				`href="/bob"`, `href="/garden"`)
		}
		s.Visit(t, "", "GET /explore?page=999").Shows(t, 404)
	})
}

// One goes to pages, repositories, people and issues by a part of the name, and to nothing that one may not see.
func TestGoTo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		explorePlant(t, s)
		for _, c := range []struct {
			as, query string
			shows     []string
		}{
			{"", "", []string{`href="/explore"`, "!Notifications"}},
			{"alice", "?q=notif", []string{`href="/dashboard/notifications"`, "!API reference"}},
			{"", "?q=compost", []string{`href="/alice/compost"`, "!secret-compost"}},
			{"alice", "?q=compost", []string{`href="/alice/secret-compost"`}},
			{"", "?q=compo", []string{`href="/alice/compost"`}},
			{"", "?q=bob", []string{`href="/bob"`}},
			{"", "?q=smells&in=alice/compost", []string{`href="/alice/compost/issues/1"`}},
			{"", "?q=smells&in=alice/secret-compost", []string{"Nothing has this name"}},
			{"", "?q=%2312&in=alice/compost", []string{`href="/alice/compost/issues/12"`}},
			{"", "?q=bran&in=alice/compost", []string{`href="/alice/compost/branches"`, "!Milestones"}},
			{"", `?q=%22%28%28is:nonsense&in="`, []string{"Nothing has this name"}},
		} {
			s.Visit(t, c.as, "GET /explore/go"+c.query).Shows(t, 200, c.shows...)
		}
	})
}

// Each kind of search finds what its viewer may see, and shows it harmlessly.
func TestSearch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		explorePlant(t, s)
		s.Visit(t, "", "GET /search").Shows(t, 200, "What are you looking for?")
		for kind, text := range map[string]string{
			"repositories": `href="/alice/compost"`,
			"code":         "<mark>compost</mark>",
			"issues":       "compost smells <script>alert(1)</script>",
			"commits":      "Turn it <b>over</b>",
		} {
			words := map[string]string{"commits": "over"}[kind]
			if words == "" {
				words = "compost"
			}
			at := "GET /search?type=" + kind + "&q=" + words
			s.Visit(t, "", at).Shows(t, 200, text, "1 result", "!secret-compost")
			s.Visit(t, "alice", at).Shows(t, 200, text, "2 results", "secret-compost")
			s.Visit(t, "bob", at).Shows(t, 200, "!secret-compost")
		}
		s.Visit(t, "", "GET /search?type=users&q=alice").Shows(t, 200, `href="/alice"`, "1 result")
		s.Visit(t, "", "GET /search?type=pullrequests&q=compost").Shows(t, 200, "0 results",
			"No results")
		s.Visit(t, "", "GET /search?q="+url.QueryEscape(evil)).Shows(t, 200)
		s.Visit(t, "", "GET /search?type=issues&sort=created&q=compost").Shows(t, 200,
			`<option value="created" selected>`)
	})
}

// The search box at the top of a repository searches it alone, and finds nothing that the caller may not see.
func TestSearchInRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		explorePlant(t, s)
		s.Visit(t, "", "GET /search?in=alice/compost&q=heap").Shows(t, 200, "turn.txt", "Search everywhere",
			"!Repositories</a>")
		s.Visit(t, "", "GET /search?in=alice/compost&type=issues&q=smells").Shows(t, 200, "1 result")
		hidden := s.Visit(t, "bob", "GET /search?in=alice/secret-compost&q=heap")
		absent := s.Visit(t, "bob", "GET /search?in=alice/absent&q=heap")
		if a, b := string(hidden.Body), strings.ReplaceAll(string(absent.Body), "absent",
			"secret-compost"); a != b {
			t.Errorf("a private repository shows: %s\n%s", a, b)
		}
		s.Visit(t, "alice", "GET /search?in=alice/secret-compost&q=heap").Shows(t, 200, "turn.txt")
		s.Visit(t, "", "GET /search?in=alice/compost+user:bob&q=heap").Shows(t, 200, "!Search everywhere")
	})
}

// What cannot be understood is shown again with what is wrong, and nothing that is typed makes an error of
// the server.
func TestSearchThatCannotBe(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		explorePlant(t, s)
		s.Visit(t, "", "GET /search?type=issues&q=created:never").Shows(t, 422, `value="created:never"`)
		for _, q := range []string{"%00", "%ff", "a&page=99", "a&page=-1", "a&type=x&sort=y",
			strings.Repeat("x+", 200), "%22", "(", "NOT", "repo:alice/nothing", "user:nobody", "is:", ":",
			"-", "label:%22"} {
			for _, kind := range []string{"repositories", "code", "issues", "commits", "users"} {
				if a := s.Visit(t, "", "GET /search?type="+kind+"&q="+q); a.Status != 200 &&
					a.Status != 422 && a.Status != 400 {
					t.Errorf("%s of %s: %d", kind, q, a.Status)
				}
			}
		}
	})
}

// A page takes the same few statements for any number of results.
func TestExploreStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		s.User(t, "alice")
		s.ManyRepos(t, "alice", 1)
		paths := []string{"/explore", "/search?q=r", "/search?type=users&q=alice"}
		few := map[string]int64{}
		measure := func(path string) int64 {
			least := int64(1 << 30)
			for n := range 4 { // not what is kept
				least = min(least, s.Cost(t, statements, "alice",
					path+fmt.Sprint(map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")],
						"per=", n)))
			}
			return least
		}
		for _, path := range paths {
			few[path] = measure(path)
		}
		s.User(t, "bob")
		s.ManyRepos(t, "bob", 40)
		s.Settle(t)
		for _, path := range paths {
			if many := measure(path); many > few[path]+2 || many > 20 {
				t.Errorf("%s: %d statements for one row, %d for many", path, few[path], many)
			}
		}
	})
}
