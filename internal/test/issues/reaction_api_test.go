// Tests of reactions against a whole server.
package issues_test

import (
	"fmt"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue/comment"
	"arbor/internal/reaction"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// each runs fn on a server, of each engine, on which alice has the repository garden with two issues. The first
// has a comment.
func each(t *testing.T, fn func(t *testing.T, s *apitest.Server)) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Admin(t, "chief")
		s.Grant(t, s.Repo(t, "alice/garden", false), "carol", account.Push)
		issuetest.Comment(t, s, "carol", issuetest.File(t, s, "carol", "alice/garden"), "Salt.")
		issuetest.File(t, s, "carol", "alice/garden")
		fn(t, s)
	})
}

// with adds the preview's header to each case.
func with(cases ...apitest.Case) []apitest.Case {
	for i := range cases {
		cases[i].Headers = issuetest.Media("squirrel-girl-preview")
	}
	return cases
}

// add creates a reaction and returns its id.
func add(t *testing.T, s *apitest.Server, login, subject, content string) (id int64) {
	t.Helper()
	var made struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden" + subject + "/reactions", As: login,
		Headers: issuetest.Graduated, Send: fmt.Sprintf(`{"content": %q}`, content), Status: 201}).JSON(t, &made)
	return made.ID
}

// changes is how often the issues of the repository changed.
func changes(t *testing.T, s *apitest.Server) int64 {
	t.Helper()
	return dbtest.Number(t, s.DB, `SELECT issues_generation FROM repos WHERE name = 'garden'`)
}

// A reader reacts with GitHub's clients, sees who else did, and takes a
// reaction back.
func TestReact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const heart = `{"id": "$any", "node_id": "$any", "user": {"login": "bob", "url": "{base}/users/bob"}, "content": "heart", "created_at": "$any"}`
		var first, second struct{ ID int64 }
		before := changes(t, s)
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
		if n := changes(t, s) - before; n != 4 {
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
		if n := changes(t, s) - before; n != 6 {
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
		issuetest.File(t, s, "bob", "bob/plot")
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
					Headers: issuetest.Graduated, Send: c.body, Status: c.status, Want: c.want})
			})
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/1/reactions", Headers: issuetest.Graduated,
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

// A comment that is deleted while someone reacts to it keeps no reaction.
func TestSubjectGoneMeanwhile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		bob := s.Access(t, "bob", "alice/garden")
		found, err := comment.New(s.DB, s.Forge.Issues).Subject(t.Context(), bob, 1)
		testkit.NoError(t, err)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden/issues/comments/1", As: "alice", Status: 204})
		err = reaction.Toggle(t.Context(), s.DB, bob, found, "heart")
		if !errs.Is(err, errs.NotFound) || dbtest.Number(t, s.DB, `SELECT count(*) FROM reactions`) != 0 {
			t.Errorf("reacted to a comment that is gone: %v", err)
		}
	})
}

// Impatient clicks make one reaction.
func TestReactAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		const clicks = 12
		var status [clicks]int
		before := changes(t, s)
		var wg sync.WaitGroup
		for i := range clicks {
			wg.Go(func() {
				status[i] = s.Do(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/reactions", As: "bob",
					Headers: issuetest.Graduated, Send: `{"content": "rocket"}`}).Status
			})
		}
		wg.Wait()
		count := map[int]int{}
		for _, code := range status {
			count[code]++
		}
		if n := changes(t, s) - before; count[201] != 1 || count[200] != clicks-1 || n != 1 {
			t.Errorf("%d clicks gave %v, and %d changes", clicks, count, n)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/1/reactions", Headers: issuetest.Graduated,
			Status: 200, Want: `[{"content": "rocket"}]`})
	})
}

// Hearts stand under what they were given to: an issue, a pull request, or a
// comment, each with its own count, until they or it go.
func TestReactions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on, pull := issuetest.File(t, s, "sam", "garden/plot"), issuetest.FilePull(t, s, "sam", "garden/plot")
		id := issuetest.Comment(t, s, "rae", on, "Salt.")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d", id)
		ids := map[string]int64{}
		for _, subject := range []string{on, pull, at} {
			var made struct{ ID int64 }
			s.Check(t, apitest.Case{Do: "POST " + subject + "/reactions", As: "sam",
				Headers: issuetest.Graduated, Send: `{"content": "heart"}`, Status: 201}).JSON(t, &made)
			ids[subject] = made.ID
			s.Run(t, []apitest.Case{
				{Name: "once", Do: "POST " + subject + "/reactions", As: "sam", Headers: issuetest.Graduated,
					Send: `{"content": "heart"}`, Status: 200},
				{Name: "another's", Do: "POST " + subject + "/reactions", As: "rae",
					Headers: issuetest.Graduated, Send: `{"content": "rocket"}`, Status: 201},
				{Name: "listed", Do: "GET " + subject + "/reactions", Headers: issuetest.Graduated,
					Status: 200, Want: `[{"content": "heart", "user": {"login": "sam"}}, {"content": "rocket"}]`},
				{Name: "counted", Do: "GET " + subject,
					Headers: issuetest.Media("squirrel-girl-preview"), Status: 200,
					Want: `{"reactions": {"url": "{base}` + subject +
						`/reactions", "total_count": 2, "heart": 1, "rocket": 1, "eyes": 0}}`},
				{Name: "a preview", Do: "GET " + subject, Status: 200, Want: `{"reactions": "$absent"}`},
				{Name: "a preview to list", Do: "GET " + subject + "/reactions", Status: 415},
				{Name: "anonymous", Do: "POST " + subject + "/reactions", Headers: issuetest.Graduated,
					Send: `{"content": "heart"}`, Status: 401},
				{Name: "nonsense", Do: "POST " + subject + "/reactions", As: "sam",
					Headers: issuetest.Graduated, Send: `{"content": "snail"}`, Status: 422},
			})
		}
		for subject := range ids { // one's own, under what it was given to
			for other, reaction := range ids {
				if other != subject {
					s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE %s/reactions/%d", subject, reaction),
						As: "sam", Headers: issuetest.Graduated, Status: 404})
				}
			}
			s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE %s/reactions/%d", subject, ids[subject]),
				As: "will", Headers: issuetest.Graduated, Status: 403})
		}
		for subject, reaction := range ids {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE %s/reactions/%d", subject, reaction), As: "sam",
				Headers: issuetest.Graduated, Status: 204})
			s.Check(t, apitest.Case{Do: "GET " + subject, Headers: issuetest.Graduated, Status: 200,
				Want: `{"reactions": {"total_count": 1, "heart": 0, "rocket": 1}}`})
		}
		s.Check(t, apitest.Case{Do: "DELETE " + at, As: "rae", Status: 204})
		s.Check(t, apitest.Case{Do: "GET " + at + "/reactions", Headers: issuetest.Graduated, Status: 404})
		var left int64
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT count(*) FROM reactions`).Scan(&left)
		})
		if err != nil || left != 2 {
			t.Errorf("%d reactions are left, %v; want one to the issue and one to the pull request", left,
				err)
		}
	})
}
