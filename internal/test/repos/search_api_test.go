package repos_test

import (
	"net/url"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// find is a search and the numbers or OWNER/NAME#number that it must find, in
// order; total is their number unless it is given.
type find struct {
	q, as, rest string
	want        string // numbers of alice/garden, parted by spaces, others with their repository
	total       int
}

// check asks until the answer says that it is complete: the worker of the index may be late.
func (f find) check(t *testing.T, s *apitest.Server) {
	t.Helper()
	type answer struct {
		Total int    `json:"total_count"`
		Part  bool   `json:"incomplete_results"`
		Type  string `json:"search_type"`
		Items []struct {
			URL        string
			Repository any
		}
	}
	var got answer
	testkit.Eventually(t, func() bool {
		got = answer{}
		s.Check(t, apitest.Case{Do: "GET /search/issues?q=" + url.QueryEscape(f.q) + f.rest, As: f.as,
			Status: 200}).JSON(t, &got)
		return !got.Part
	}, "complete results")
	var list []string
	for _, item := range got.Items {
		at := strings.TrimPrefix(strings.Replace(item.URL, "/issues/", "#", 1), s.URL+"/repos/")
		list = append(list, strings.TrimPrefix(at, "alice/garden#"))
		if item.Repository != nil {
			t.Error("a result shows its repository")
		}
	}
	if f.total == 0 {
		f.total = len(strings.Fields(f.want))
	}
	if items := strings.Join(list, " "); items != f.want || got.Total != f.total || got.Type != "lexical" {
		t.Errorf("%s%s as %q: %d: %s, want %d: %s", f.q, f.rest, f.as, got.Total, items, f.total, f.want)
	}
}

// plant fills a small garden: a public tracker with a bit of everything, and a
// private one.
func plant(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "bob", "carol")
	s.Org(t, "guild", "alice")
	s.Grant(t, s.Repo(t, "alice/garden", false), "bob", account.Push)
	s.Repo(t, "alice/diary", true)
	s.Repo(t, "guild/hall", false)
	const issues = "/repos/alice/garden/issues"
	s.Ask(t, "alice", "POST /repos/alice/garden/milestones", `{"title": "Spring, early"}`, 201)
	s.Ask(t, "alice", "POST "+issues,
		`{"title": "Crash on start", "body": "The parser reads too far", "labels": ["bug"], "assignee": "bob", "milestone": 1}`, 201)
	s.Ask(t, "bob", "POST "+issues,
		`{"title": "Parser is slow", "body": "crash course", "labels": ["bug", "help wanted"]}`, 201)
	s.Ask(t, "carol", "POST "+issues, `{"title": "Café au lait", "body": "for @bob, please"}`, 201)
	s.Ask(t, "carol", "POST "+issues, `{"title": "東京 needs a map", "body": null}`, 201)
	s.Ask(t, "alice", "POST "+issues, `{"title": "Old news", "labels": ["wontfix"]}`, 201)
	s.Ask(t, "alice", "POST "+issues+"/3/comments", `{"body": "With the parser it would not crash"}`, 201)
	s.Ask(t, "bob", "POST "+issues+"/3/comments", `{"body": "indeed"}`, 201)
	s.Ask(t, "alice", "PATCH "+issues+"/5", `{"state": "closed"}`, 200)
	s.Ask(t, "alice", "PUT "+issues+"/4/lock", "", 415)
	s.Check(t, apitest.Case{Do: "PUT " + issues + "/4/lock", As: "alice", Status: 204,
		Headers: map[string]string{"Accept": "application/vnd.github.v3+json"}})
	s.Ask(t, "alice", "POST /repos/alice/diary/issues",
		`{"title": "Crash of my heart", "body": "secretword", "labels": ["bug"], "assignee": "alice"}`, 201)
	s.Ask(t, "bob", "POST /repos/guild/hall/issues", `{"title": "Roof leaks", "body": "no crash"}`, 201)
}

// Each qualifier finds what it says, on both engines the same.
func TestSearch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		for _, f := range []find{
			{q: "crash", want: "1 guild/hall#1 2 3"}, // title, bodies, comment
			{q: "crash", as: "alice", want: "alice/diary#1 1 guild/hall#1 2 3"},
			{q: "CRASH parser", want: "2 1 3"},
			{q: "crash -parser", want: "guild/hall#1"},
			{q: `"parser is"`, want: "2"},
			{q: `"is parser"`},
			{q: "cafe", want: "3"},
			{q: "東京", want: "4"},
			{q: "京東"},
			{q: "lait crash", want: "3"},
			{q: "crash in:title", want: "1"},
			{q: "crash in:body", want: "guild/hall#1 2"},
			{q: "crash in:comments", want: "3"},
			{q: "crash in:title,body repo:alice/garden", want: "1 2"},
			{q: "crash repo:ALICE/Garden", want: "1 2 3"},
			{q: "crash user:guild", want: "guild/hall#1"},
			{q: "crash org:guild repo:alice/garden", want: "1 guild/hall#1 2 3"},
			{q: "crash -repo:alice/garden", want: "guild/hall#1"},
			{q: "crash -user:alice", want: "guild/hall#1"},
			{q: "nothinglikeit"},
			{q: "repo:alice/garden", want: "5 4 3 2 1"},
			{q: "repo:alice/garden is:open", want: "4 3 2 1"},
			{q: "repo:alice/garden state:closed", want: "5"},
			{q: "repo:alice/garden -is:open is:issue", want: "5"},
			{q: "is:open is:closed"},
			{q: "type:pr"},
			{q: "is:locked", want: "4"},
			{q: "repo:alice/garden is:unlocked", want: "5 3 2 1"},
			{q: "is:private", as: "alice", want: "alice/diary#1"},
			{q: "is:public author:bob", as: "alice", want: "guild/hall#1 2"},
			{q: "author:bob author:carol", want: "guild/hall#1 4 3 2"},
			{q: "author:@me", as: "carol", want: "4 3"},
			{q: "user:alice -author:carol", want: "5 2 1"},
			{q: "assignee:bob", want: "1"},
			{q: "assignee:@me", as: "bob", want: "1"},
			{q: "mentions:bob", want: "3"},
			{q: "commenter:alice", want: "3"},
			{q: "commenter:alice commenter:bob", want: "3"},
			{q: "commenter:alice -commenter:bob"},
			{q: "involves:bob", want: "guild/hall#1 3 2 1"},
			{q: "involves:bob -involves:carol", want: "guild/hall#1 2 1"},
			{q: "label:bug", want: "2 1"},
			{q: "label:BUG", as: "alice", want: "alice/diary#1 2 1"},
			{q: `label:bug label:"help wanted"`, want: "2"},
			{q: `label:bug -label:"help wanted"`, want: "1"},
			{q: `label:"help wanted",wontfix`, want: "5 2"},
			{q: "label:absent"},
			{q: "no:label repo:alice/garden", want: "4 3"},
			{q: "-no:label repo:alice/garden", want: "5 2 1"},
			{q: "no:assignee no:milestone label:bug", want: "2"},
			{q: `milestone:"spring, EARLY"`, want: "1"},
			{q: `-milestone:"spring, early" label:bug`, want: "2"},
			{q: "milestone:*", want: "1"},
			{q: "assignee:*", want: "1"},
			{q: "comments:2", want: "3"},
			{q: "comments:>0", want: "3"},
			{q: "comments:0..1 repo:alice/garden label:bug", want: "2 1"},
			{q: "-comments:0", want: "3"},
			{q: "created:<2000-01-01"},
			{q: "created:>2000-01-01 closed:>2000-01-01", want: "5"},
			{q: "-closed:>2000-01-01"},
			{q: "updated:*..2999-01-01 author:alice", want: "5 1"},
			{q: "merged:>2000-01-01"},
			{q: "is:merged"},
			{q: "-is:merged draft:false author:alice archived:false", want: "5 1"},
			{q: "archived:true"},
			{q: "+++ user:guild", want: "guild/hall#1"},
			{q: "+++"},
			{q: "crash", rest: "&sort=created", want: "guild/hall#1 3 2 1"},
			{q: "crash", rest: "&sort=created&order=asc", want: "1 2 3 guild/hall#1"},
			{q: "crash", rest: "&order=asc", want: "1 guild/hall#1 2 3"},
			{q: "crash sort:comments", rest: "&sort=created&order=asc", want: "3 guild/hall#1 2 1"},
			{q: "user:alice", rest: "&sort=updated", want: "4 5 3 2 1"},
			{q: "user:alice sort:updated-asc", want: "1 2 3 5 4"},
			{q: "user:alice", rest: "&per_page=2&page=2", want: "3 2", total: 5},
			{q: "user:alice", rest: "&per_page=2&page=4", total: 5},
			{q: "crash", rest: "&per_page=2&page=2", want: "2 3", total: 4},
			{q: "crash", rest: "&per_page=4&page=2", total: 4},
			{q: "crash repo:alice/garden repo:alice/nowhere", want: "1 2 3"}, // existing ones count
		} {
			f.check(t, s)
		}
	})
}

// Clients read scores, addresses of pages and, if they ask, texts rendered.
func TestSearchAnswer(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		s.Run(t, []apitest.Case{
			{Do: "GET /search/issues?q=crash+parser&per_page=1", Status: 200,
				Want: `{"items": [{"score": 6.0, "title": "Parser is slow", "user": {"login": "bob"}, "labels": [{"name": "bug"}, {"name": "help wanted"}],
					"url": "{base}/repos/alice/garden/issues/2", "assignees": "$absent", "body": "crash course"}]}`,
				Has: map[string]string{
					"Link": `<{base}/search/issues?q=crash+parser&per_page=1&page=2>; rel="next", <{base}/search/issues?q=crash+parser&per_page=1&page=3>; rel="last"`}},
			{Do: "GET /api/v3/search/issues?q=is:closed", Status: 200,
				Want: `{"items": [{"score": 1.0, "repository_url": "{base}/api/v3/repos/alice/garden", "assignees": [], "state": "closed"}]}`},
			{Do: "GET /search/issues?q=mentions:bob",
				Headers: map[string]string{"Accept": "application/vnd.service.v3.html+json"}, Status: 200,
				Want: `{"items": [{"body": "$absent", "body_html": "$any"}]}`},
		})
	})
}

// Errors explain what is wrong with a search.
func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		const users = `{"message": "Validation Failed", "errors": [{"resource": "Search", "field": "q", "code": "invalid",
			"message": "The listed users cannot be searched either because the users do not exist or you do not have permission to view the users."}]}`
		s.Run(t, []apitest.Case{
			{Do: "GET /search/issues", Status: 422,
				Want: `{"message": "Validation Failed", "errors": [{"resource": "Search", "field": "q", "code": "missing"}]}`},
			{Do: "GET /search/issues?q=++", Status: 422, Want: `{"errors": [{"code": "missing"}]}`},
			{Do: "GET /search/issues?q=" + strings.Repeat("x", 257), Status: 422,
				Want: `{"errors": [{"code": "invalid", "message": "The search is longer than 256 characters."}]}`},
			{Do: "GET /search/issues?q=%ff", Status: 422},
			{Do: "GET /search/issues?q=a%00b", Status: 422},
			{Do: "GET /search/issues?q=x&sort=stars", Status: 422,
				Want: `{"errors": [{"field": "sort", "code": "invalid"}]}`},
			{Do: "GET /search/issues?q=x&order=up", Status: 422, Want: `{"errors": [{"field": "order"}]}`},
			{Do: "GET /search/issues?q=x&page=11&per_page=100", Status: 422,
				Want: `{"message": "Only the first 1000 search results are available"}`},
			{Do: "GET /search/issues?q=x&page=10&per_page=100", Status: 200},
			{Do: "GET /search/issues?q=x&page=34", Status: 200},
			{Do: "GET /search/issues?q=x&page=35", Status: 422},
			{Do: "GET /search/issues?q=author:nobody", Status: 422, Want: users},
			{Do: "GET /search/issues?q=involves:@me", Status: 422, Want: users},
			{Do: "GET /search/issues?q=-author:nobody+crash", Status: 200, Want: `{"total_count": 4}`},
		})
	})
}

// What somebody writes is found the moment it is acknowledged, by its new words
// only, and not at all once it is gone.
func TestSearchFollowsChanges(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		find{q: "walrus"}.check(t, s)
		s.Ask(t, "bob", "PATCH /repos/alice/garden/issues/2", `{"title": "Walrus!"}`, 200)
		find{q: "walrus", want: "2"}.check(t, s)
		find{q: "parser crash", want: "1 3"}.check(t, s)
		s.Ask(t, "bob", "PATCH /repos/alice/garden/issues/2", `{"title": "Seal", "body": ""}`, 200)
		find{q: "walrus"}.check(t, s)
		var comment struct{ URL string }
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/5/comments", As: "bob",
			Send: `{"body": "a walrus"}`, Status: 201}).JSON(t, &comment)
		path := strings.TrimPrefix(comment.URL, s.URL)
		find{q: "walrus", want: "5"}.check(t, s)
		s.Ask(t, "bob", "PATCH "+path, `{"body": "an otter"}`, 200)
		find{q: "walrus"}.check(t, s)
		find{q: "otter", want: "5"}.check(t, s)
		s.Ask(t, "bob", "DELETE "+path, "", 204)
		find{q: "otter"}.check(t, s)
		find{q: "roof", want: "guild/hall#1"}.check(t, s)
		s.Ask(t, "alice", "PATCH /repos/guild/hall", `{"has_issues": false}`, 200)
		find{q: "roof"}.check(t, s)
		find{q: "is:issue author:bob", want: "2"}.check(t, s)
		s.Ask(t, "alice", "PATCH /repos/guild/hall", `{"has_issues": true}`, 200)
		find{q: "roof", want: "guild/hall#1"}.check(t, s)
		s.Ask(t, "alice", "DELETE /repos/guild/hall", "", 204)
		find{q: "roof"}.check(t, s)
		s.Ask(t, "alice", "PATCH /repos/alice/garden", `{"name": "park"}`, 200)
		find{q: "seal", want: "alice/park#2"}.check(t, s)
	})
}

// A private repository shows in no result, no count and no error of anybody who
// may not see it: the answers are the same bytes as if it were not there.
func TestSearchLeaksNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		s.Admin(t, "chief")
		get := func(q, as string) *apitest.Answer {
			t.Helper()
			return s.Do(t, apitest.Case{Do: "GET /search/issues?q=" + url.QueryEscape(q), As: as})
		}
		for _, q := range []string{"secretword", "heart", `"crash of my heart"`, "label:bug assignee:alice",
			"is:private", "heart in:title", "assignee:alice"} {
			for as, want := range map[string]int{"": 0, "bob": 0, "carol": 0, "alice": 1, "chief": 1} {
				var found struct {
					Total int `json:"total_count"`
					Items []any
				}
				if get(q, as).JSON(t, &found); found.Total != want || len(found.Items) != want {
					t.Errorf("%s as %q: %d results", q, as, found.Total)
				}
			}
		}
		same := func(q, absent, as string) {
			t.Helper()
			a, b := get(q, as), get(absent, as)
			if got, want := strings.ReplaceAll(string(a.Body), "diary",
				"x"), strings.ReplaceAll(string(b.Body), "none", "x"); a.Status != b.Status || got != want {
				t.Errorf("%s as %q: %d %s\n%s: %d %s", q, as, a.Status, got, absent, b.Status, want)
			}
		}
		for _, as := range []string{"", "bob"} {
			same("repo:alice/diary", "repo:alice/none", as)
			same("crash repo:alice/diary", "crash repo:alice/none", as)
			same("crash -repo:alice/diary", "crash -repo:alice/none", as)
			same("crash repo:alice/diary repo:alice/garden", "crash repo:alice/none repo:alice/garden", as)
			if a := get("repo:alice/diary", as); a.Status != 422 ||
				!strings.Contains(string(a.Body), "The listed users and repositories cannot be searched") {
				t.Errorf("as %q: %d %s", as, a.Status, a.Body)
			}
		}
		if a := get("crash user:nobody", "alice"); a.Status != 422 {
			t.Errorf("an owner who is not there: %d", a.Status)
		}
		find{q: "crash user:carol"}.check(t, s) // people are public
		// A right that is given or taken counts at once.
		s.Ask(t, "alice", "PUT /repos/alice/diary/collaborators/bob", `{"permission": "pull"}`, 204)
		find{q: "secretword", as: "bob", want: "alice/diary#1"}.check(t, s)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/diary/collaborators/bob", As: "alice", Status: 204})
		find{q: "secretword", as: "bob"}.check(t, s)
		s.Ask(t, "alice", "PATCH /repos/alice/garden", `{"private": true}`, 200)
		find{q: "crash", want: "guild/hall#1"}.check(t, s)
		find{q: "crash", as: "bob", want: "1 guild/hall#1 2 3"}.check(t, s)
	})
}
