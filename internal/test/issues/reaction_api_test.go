// Tests of reactions against a whole server.
package issues_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/web"
)

// Subjects of the tests' own. Any other number is an open conversation.
const (
	lockedID = 13 // its conversation is locked
	goneID   = 14 // was deleted since it was found
)

// changes is the generation that each change of a subject's reactions bumps.
const changes = "changes of reactions"

// each runs fn on a server, of each engine, whose issues and comments are there
// under every number, and on which alice has the repository garden.
func each(t *testing.T, fn func(t *testing.T, s *apitest.Server)) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "bob")
		s.User(t, "carol")
		s.Admin(t, "chief")
		s.Grant(t, s.Repo(t, "alice/garden", false), "carol", account.Push)
		h := httptest.NewServer(routes(s))
		t.Cleanup(h.Close)
		s.URL = h.URL
		fn(t, s)
	})
}

// routes does what the server and a subject's package do around this package.
func routes(s *apitest.Server) http.Handler {
	mux := http.NewServeMux()
	add := func(method, path string, do repo.Handler) {
		mux.HandleFunc(method+" /repos/{owner}/{repo}"+path, func(w http.ResponseWriter, r *http.Request) {
			self := "http://" + r.Host
			info := &web.Info{ID: "test", Site: self, Prefix: self,
				Media: web.ParseAccept(r.Header["Accept"]), Form: web.APIErrors}
			for _, name := range []string{"owner", "repo", "id", "reaction_id"} {
				info.SetParam(name, r.PathValue(name))
			}
			caller, _, err := s.Forge.Tokens.Authenticate(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			r = web.With(r.WithContext(account.WithCaller(r.Context(), caller)), info)
			r.Body = http.MaxBytesReader(w, r.Body, web.MaxJSON)
			web.Handle(&web.Writer{ResponseWriter: w}, r, s.Repos.With(account.Pull, do))
		})
	}
	for path, kind := range map[string]reaction.Kind{"/issues/{id}/reactions": reaction.Issue,
		"/issues/comments/{id}/reactions": reaction.IssueComment} {
		api := reaction.NewAPI(s.DB, func(r *http.Request, _ *repo.Access) (reaction.Subject, error) {
			id, err := web.Number(r, "id")
			return reaction.Subject{Kind: kind, ID: id, Locked: id == lockedID,
				Changed: func(tx *db.Tx) error {
					if id == goneID {
						return errs.Absent()
					}
					return tx.Bump(changes)
				}}, err
		})
		add("GET", path, api.List)
		add("POST", path, api.Create)
		add("DELETE", path+"/{reaction_id}", api.Delete)
	}
	return mux
}

// preview is the header that reactions need.
func preview() map[string]string {
	return map[string]string{"Accept": "application/vnd.service.squirrel-girl-preview+json"}
}

// with adds the preview's header to each case.
func with(cases ...apitest.Case) []apitest.Case {
	for i := range cases {
		cases[i].Headers = preview()
	}
	return cases
}

// add creates a reaction and returns its id.
func add(t *testing.T, s *apitest.Server, login, subject, content string) (id int64) {
	t.Helper()
	var made struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden" + subject + "/reactions", As: login,
		Headers: preview(),
		Send:    fmt.Sprintf(`{"content": %q}`, content), Status: 201}).JSON(t, &made)
	return made.ID
}

func generation(t *testing.T, s *apitest.Server) int64 {
	t.Helper()
	n, err := s.DB.Generation(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A reader reacts with GitHub's clients, sees who else did, and takes a
// reaction back.
func TestReact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const heart = `{"id": "$any", "node_id": "$any", "user": {"login": "bob", "url": "{base}/users/bob"}, "content": "heart", "created_at": "$any"}`
		var first, second struct{ ID int64 }
		s.Run(t, with(
			apitest.Case{Name: "none yet", Do: "GET /repos/alice/garden/issues/1/reactions",
				Status: 200, Body: "[]"},
			apitest.Case{Name: "new", Do: "POST /repos/alice/garden/issues/1/reactions", As: "bob",
				Send: `{"content": "heart"}`, Status: 201, Want: heart,
				Keep: func(a *apitest.Answer) { a.JSON(t, &first) }},
			apitest.Case{Name: "again", Do: "POST /repos/alice/garden/issues/1/reactions", As: "bob",
				Send: `{"content": "heart"}`, Status: 200, Want: heart,
				Keep: func(a *apitest.Answer) { a.JSON(t, &second) }},
			apitest.Case{Name: "another", Do: "POST /repos/alice/garden/issues/1/reactions", As: "bob",
				Send: `{"content": "+1", "x": 1}`, Status: 201, Want: `{"content": "+1"}`},
			apitest.Case{Name: "another's", Do: "POST /repos/alice/garden/issues/1/reactions", As: "alice",
				Send: `{"content": "heart"}`, Status: 201},
			apitest.Case{Name: "a comment with the issue's number",
				Do: "POST /repos/alice/garden/issues/comments/1/reactions", As: "bob",
				Send: `{"content": "heart"}`, Status: 201},
			apitest.Case{Name: "oldest first, for everyone",
				Do: "GET /repos/alice/garden/issues/1/reactions", Status: 200,
				Want: `[{"user": {"login": "bob"}, "content": "heart"}, {"user": {"login": "bob"}, "content": "+1"}, {"user": {"login": "alice"}, "content": "heart"}]`,
				Has:  map[string]string{"Link": "-"}},
			apitest.Case{Name: "of the comment", Do: "GET /repos/alice/garden/issues/comments/1/reactions",
				Status: 200, Want: "[" + heart + "]"},
			apitest.Case{Name: "one content", Do: "GET /repos/alice/garden/issues/1/reactions?content=%2B1",
				Status: 200, Want: `[{"content": "+1"}]`},
			apitest.Case{Name: "a plus sign as it is",
				Do: "GET /repos/alice/garden/issues/1/reactions?content=+1", Status: 200,
				Want: `[{"content": "+1"}]`},
			apitest.Case{Name: "a content nobody used",
				Do: "GET /repos/alice/garden/issues/1/reactions?content=eyes", Status: 200, Body: "[]"},
			apitest.Case{Name: "a content that there is not",
				Do: "GET /repos/alice/garden/issues/1/reactions?content=tada", Status: 422,
				Want: `{"errors": [{"resource": "Reaction", "field": "content", "code": "invalid", "value": "tada"}]}`},
			apitest.Case{Name: "first page",
				Do: "GET /repos/alice/garden/issues/1/reactions?per_page=1&content=heart", Status: 200,
				Want: `[{"user": {"login": "bob"}}]`, Has: map[string]string{
					"Link": `<{base}/repos/alice/garden/issues/1/reactions?per_page=1&content=heart&page=2>; rel="next", <{base}/repos/alice/garden/issues/1/reactions?per_page=1&content=heart&page=2>; rel="last"`}},
			apitest.Case{Name: "last page",
				Do: "GET /repos/alice/garden/issues/1/reactions?per_page=2&page=2", Status: 200,
				Want: `[{"user": {"login": "alice"}}]`, Has: map[string]string{
					"Link": `<{base}/repos/alice/garden/issues/1/reactions?per_page=2&page=1>; rel="first", <{base}/repos/alice/garden/issues/1/reactions?per_page=2&page=1>; rel="prev"`}},
			apitest.Case{Name: "past the end",
				Do: "GET /repos/alice/garden/issues/1/reactions?per_page=2&page=9", Status: 200, Body: "[]",
				Has: map[string]string{
					"Link": `<{base}/repos/alice/garden/issues/1/reactions?per_page=2&page=2>; rel="last", <{base}/repos/alice/garden/issues/1/reactions?per_page=2&page=1>; rel="first", <{base}/repos/alice/garden/issues/1/reactions?per_page=2&page=2>; rel="prev"`}},
		))
		if first != second {
			t.Errorf("reacting again gave %d instead of %d", second.ID, first.ID)
		}
		if n := generation(t, s); n != 4 {
			t.Errorf("four new reactions counted as %d changes", n)
		}
		own := fmt.Sprintf("DELETE /repos/alice/garden/issues/1/reactions/%d", first.ID)
		s.Run(t, with(
			apitest.Case{Name: "take it back", Do: own, As: "bob", Status: 204, Body: "-"},
			apitest.Case{Name: "once", Do: own, As: "bob", Status: 404},
			apitest.Case{Name: "it is gone", Do: "GET /repos/alice/garden/issues/1/reactions?content=heart",
				Status: 200, Want: `[{"user": {"login": "alice"}}]`},
			apitest.Case{Name: "and may come again", Do: "POST /repos/alice/garden/issues/1/reactions",
				As: "bob", Send: `{"content": "heart"}`, Status: 201},
		))
		if n := generation(t, s); n != 6 {
			t.Errorf("six changes counted as %d", n)
		}
	})
}

// Nobody takes another's reaction away: not its issue's repository's owner, and
// not by an address of another subject or repository that one controls.
func TestDeleteIsForOnesOwn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Repo(t, "bob/plot", false)
		id := add(t, s, "bob", "/issues/1", "heart")
		other := add(t, s, "bob", "/issues/2", "heart")
		path := func(format string, id int64) string { return "DELETE /repos/" + fmt.Sprintf(format, id) }
		s.Run(t, with(
			apitest.Case{Name: "a repository's owner", Do: path("alice/garden/issues/1/reactions/%d", id),
				As: "alice", Status: 403,
				Want: `{"message": "Must be the user who made the reaction."}`},
			apitest.Case{Name: "who may push", Do: path("alice/garden/issues/1/reactions/%d", id),
				As: "carol", Status: 403},
			apitest.Case{Name: "through another issue", Do: path("alice/garden/issues/2/reactions/%d", id),
				As: "bob", Status: 404},
			apitest.Case{Name: "through a comment",
				Do: path("alice/garden/issues/comments/1/reactions/%d", id), As: "bob", Status: 404},
			apitest.Case{Name: "through another repository", Do: path("bob/plot/issues/1/reactions/%d", id),
				As: "bob", Status: 404},
			apitest.Case{Name: "no such id", Do: path("alice/garden/issues/1/reactions/%d", other+1),
				As: "bob", Status: 404},
			apitest.Case{Name: "no id", Do: "DELETE /repos/alice/garden/issues/1/reactions/heart", As: "bob",
				Status: 404},
			apitest.Case{Name: "an id beyond counting",
				Do: "DELETE /repos/alice/garden/issues/1/reactions/99999999999999999999", As: "bob",
				Status: 404},
			apitest.Case{Name: "still there", Do: "GET /repos/alice/garden/issues/1/reactions", Status: 200,
				Want: `[{"content": "heart"}]`},
			apitest.Case{Name: "not listed through another repository",
				Do: "GET /repos/bob/plot/issues/1/reactions", Status: 200, Body: "[]"},
			apitest.Case{Name: "an administrator of the site",
				Do: path("alice/garden/issues/1/reactions/%d", id), As: "chief", Status: 204},
			apitest.Case{Name: "gone", Do: "GET /repos/alice/garden/issues/1/reactions",
				Status: 200, Body: "[]"},
		))
	})
}

// A client that sends nonsense learns which field it is, and changes nothing.
func TestBadContent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const invalid, missing = `{"errors": [{"resource": "Reaction", "field": "content", "code": "invalid"}]}`,
			`{"errors": [{"resource": "Reaction", "field": "content", "code": "missing_field"}]}`
		for _, c := range []struct {
			body   string
			status int
			want   string
		}{
			{``, 400, ""}, {`heart`, 400, ""}, {`"heart"`, 400, ""}, {`["heart"]`, 400, ""},
			{`null`, 400, ""}, {`{"content": "heart"`, 400, ""},
			{"{\"content\": \"\xff\"}", 400, ""},
			{`{}`, 422, missing}, {`{"content": null}`, 422, missing}, {`{"content": ""}`, 422, missing},
			{`{"Content": "heart"}`, 422, missing},
			{`{"content": "tada"}`, 422, invalid}, {`{"content": "HEART"}`, 422, invalid},
			{`{"content": " heart"}`, 422, invalid},
			{`{"content": 1}`, 422, invalid}, {`{"content": true}`, 422, invalid},
			{`{"content": ["heart"]}`, 422, invalid},
			{`{"content": {"heart": 1}}`, 422, invalid}, {`{"content": "heart\u0000"}`, 422, invalid},
			{`{"content": "heart", "content": 5}`, 422, invalid},
		} {
			t.Run(c.body, func(t *testing.T) {
				s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/reactions", As: "bob",
					Headers: preview(), Send: c.body, Status: c.status, Want: c.want})
			})
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/1/reactions", Headers: preview(),
			Status: 200, Body: "[]"})
	})
}

// Errors in the interface's own dialect name the media type that enables reactions; GitHub's clients need
// none (decisions 2, 3, 6).
func TestPreview(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		id := add(t, s, "bob", "/issues/1", "heart")
		own := fmt.Sprintf("/repos/alice/garden/issues/1/reactions/%d", id)
		const told = `{"message": "Reactions are the preview squirrel-girl-preview: send an 'Accept' header with application/vnd.service.squirrel-girl-preview+json"}`
		accept := func(types string) map[string]string { return map[string]string{"Accept": types} }
		s.Run(t, []apitest.Case{
			{Name: "list without", Do: "GET /repos/alice/garden/issues/1/reactions", Status: 415, Want: told},
			{Name: "react without", Do: "POST /repos/alice/garden/issues/1/reactions", As: "bob",
				Send: `{"content": "eyes"}`, Status: 415, Want: told},
			{Name: "delete without", Do: "DELETE " + own, As: "bob", Status: 415, Want: told},
			{Name: "another preview", Do: "DELETE " + own, As: "bob",
				Headers: accept("application/vnd.service.the-key-preview+json"), Status: 415, Want: told},
			{Name: "among others", Do: "GET /repos/alice/garden/issues/1/reactions",
				Headers: accept("application/json, application/vnd.service.v3.squirrel-girl-preview"),
				Status:  200, Want: `[{"content": "heart"}]`},
			{Name: "GitHub's client reacts", Do: "POST /repos/alice/garden/issues/1/reactions",
				As: "bob", Headers: accept("application/vnd.github+json"), Send: `{"content": "eyes"}`,
				Status: 201},
			{Name: "and deletes", Do: "DELETE " + own, As: "bob",
				Headers: accept("application/vnd.github.v3+json"), Status: 204},
		})
	})
}

// A locked conversation accepts reactions only from users with push access (decision 34).
func TestLocked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error { // bob's, from before
			_, err := tx.Exec(`INSERT INTO reactions (id, repo_id, subject_kind, subject_id, user_id, content,
				created_at)
				SELECT 1000, r.id, 1, $1, a.id, 8, 1 FROM repos r, accounts a
				WHERE a.login = 'bob'`, lockedID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/repos/alice/garden/issues/%d/reactions", lockedID)
		const locked = `{"message": "The conversation is locked: must have push access to Repository."}`
		s.Run(t, with(
			apitest.Case{Name: "a reader", Do: "POST " + path, As: "bob", Send: `{"content": "heart"}`,
				Status: 403, Want: locked},
			apitest.Case{Name: "the reader's own", Do: "DELETE " + path + "/1000", As: "bob", Status: 403,
				Want: locked},
			apitest.Case{Name: "who may push", Do: "POST " + path, As: "carol", Send: `{"content": "heart"}`,
				Status: 201},
			apitest.Case{Name: "the owner", Do: "POST " + path, As: "alice", Send: `{"content": "heart"}`,
				Status: 201},
			apitest.Case{Name: "everyone looks", Do: "GET " + path + "?content=heart", Status: 200,
				Want: `[{"user": {"login": "carol"}}, {"user": {"login": "alice"}}]`},
		))
	})
}

// A comment that was deleted while someone reacted to it keeps no reaction.
func TestSubjectGoneMeanwhile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		path := fmt.Sprintf("/repos/alice/garden/issues/%d/reactions", goneID)
		s.Run(t, with(
			apitest.Case{Do: "POST " + path, As: "bob", Send: `{"content": "heart"}`, Status: 404},
			apitest.Case{Do: "GET " + path, Status: 200, Body: "[]"},
		))
	})
}

// Impatient clicks make one reaction.
func TestReactAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const clicks = 12
		var status [clicks]int
		var wg sync.WaitGroup
		for i := range clicks {
			wg.Go(func() {
				status[i] = s.Do(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/reactions", As: "bob",
					Headers: preview(), Send: `{"content": "rocket"}`}).Status
			})
		}
		wg.Wait()
		count := map[int]int{}
		for _, code := range status {
			count[code]++
		}
		if count[201] != 1 || count[200] != clicks-1 || generation(t, s) != 1 {
			t.Errorf("%d clicks gave %v, and %d changes", clicks, count, generation(t, s))
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/1/reactions", Headers: preview(),
			Status: 200, Want: `[{"content": "rocket"}]`})
	})
}
