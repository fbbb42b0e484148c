package issues_test

import (
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
)

// subscribers are the logins in the index that lists of subscribed issues read.
func subscribers(t *testing.T, s *apitest.Server) (logins []string, counted int64) {
	t.Helper()
	return dbtest.Column[string](t, s.DB, `SELECT a.login FROM postings p JOIN accounts a ON a.id = p.value
			WHERE p.kind = $1 ORDER BY a.login`, int64(posting.BySubscriber)),
		dbtest.Number(t, s.DB, `SELECT CAST(COALESCE(sum(n), 0) AS BIGINT) FROM posting_counts WHERE kind = $1`,
			int64(posting.BySubscriber))
}

// Who takes part in an issue follows it, and says so or otherwise (decision 14).
func TestSubscription(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const on = "/repos/garden/plot/issues/1"
		s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: "alice",
			Send: `{"title": "Slugs", "body": "@rae?", "assignee": "will"}`, Status: 201})
		issuetest.Comment(t, s, "sam", on, "Salt.")
		by := func(reason string) string {
			return `{"subscribed": true, "ignored": false, "reason": "` + reason +
				`", "created_at": "$any", "url": "{base}` + on + `/subscription",
				"issue_url": "{base}` + on + `", "repository_url": "{base}/repos/garden/plot"}`
		}
		const ignored = `{"subscribed": false, "ignored": true, "reason": "manual", "created_at": "$any"}`
		const neither = `{"subscribed": false, "ignored": false, "reason": null, "created_at": null}`
		get := func(as string, status int, want string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "GET " + on + "/subscription", As: as, Status: status, Want: want})
		}
		put := func(as, send, want string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "PUT " + on + "/subscription", As: as, Send: send,
				Status: 200, Want: want})
		}
		del := func(as string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "DELETE " + on + "/subscription", As: as, Status: 204, Body: "-"})
		}
		follow := func(want ...string) {
			t.Helper()
			if got, n := subscribers(t, s); !slices.Equal(got, want) || n != int64(len(want)) {
				t.Errorf("subscribed are %q, %d; want %q", got, n, want)
			}
		}
		s.User(t, "nobody")
		get("alice", 200, by("author"))
		get("will", 200, by("assign"))
		get("rae", 200, by("mention"))
		get("sam", 200, by("comment"))
		get("nobody", 404, "")
		follow("alice", "rae", "sam", "will")

		del("sam") // one's own part
		get("sam", 404, "")
		issuetest.Comment(t, s, "sam", on, "More salt.")
		issuetest.Comment(t, s, "alice", on, "@sam, no.")
		get("sam", 404, "")
		follow("alice", "rae", "will")
		put("sam", "", by("manual"))
		get("sam", 200, by("manual"))
		follow("alice", "rae", "sam", "will")

		put("rae", `{"ignored": true}`, ignored)
		get("rae", 200, ignored)
		issuetest.Comment(t, s, "alice", on, "@rae, see?")
		get("rae", 200, ignored)
		follow("alice", "sam", "will")
		put("rae", `{"subscribed": true, "ignored": true}`, ignored)
		put("rae", `{"subscribed": false}`, neither)
		get("rae", 404, "")
		put("rae", `{"subscribed": true, "ignored": false}`, by("manual"))
		del("rae")
		del("rae")

		put("nobody", "null", by("manual"))
		put("nobody", `{}`, by("manual"))
		follow("alice", "nobody", "sam", "will")
		del("nobody")
		get("nobody", 404, "")
		s.Check(t, apitest.Case{Do: "PATCH " + on, As: "will", Send: `{"state": "closed"}`, Status: 200})
		put("nobody", "", by("manual"))
		follow("alice", "nobody", "sam", "will")
		wishes := strings.Join(dbtest.Column[string](t, s.DB, `
			SELECT a.login || CASE e.kind WHEN $1 THEN '+' ELSE '-' END FROM issue_events e JOIN accounts a ON a.id = e.user_id WHERE e.kind IN ($1, $2) ORDER BY e.id`,
			int64(issue.EventSubscribed), int64(issue.EventUnsubscribed)), " ")
		// rae was mentioned; then sam -+, rae -+-, nobody +-+, as each changed something
		if want := "rae+ sam- sam+ rae- rae+ rae- nobody+ nobody- nobody+"; wishes != want {
			t.Errorf("events %q, want %q", wishes, want)
		}
	})
}

// A subscription is the caller's own, for issues that the caller sees.
func TestSubscriptionRefusals(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on, private := issuetest.File(t, s, "sam", "garden/plot"), issuetest.File(t, s, "rae", "garden/shed")
		for _, method := range []string{"GET ", "PUT ", "DELETE "} {
			s.Run(t, []apitest.Case{
				{Name: "anonymous", Do: method + on + "/subscription", Status: 401,
					Want: `{"message": "Requires authentication"}`},
				{Name: "anonymous, private", Do: method + private + "/subscription", Status: 401},
				{Name: "private", Do: method + private + "/subscription", As: "sam", Status: 404},
				{Name: "no issue", Do: method + "/repos/garden/plot/issues/9/subscription", As: "sam",
					Status: 404},
				{Name: "no number", Do: method + "/repos/garden/plot/issues/one/subscription", As: "sam",
					Status: 404},
			})
		}
		for _, field := range []string{"subscribed", "ignored"} {
			for _, value := range []string{`1`, `"true"`, `[]`, `{}`, `[true]`} {
				s.Check(t, apitest.Case{Do: "PUT " + on + "/subscription", As: "rae",
					Send: `{"` + field + `": ` + value + `}`, Status: 422,
					Want: `{"errors": [{"resource": "Subscription", "field": "` + field +
						`", "code": "invalid"}]}`})
			}
			s.Ask(t, "rae", "PUT "+on+"/subscription", `{"`+field+`": null}`, 200)
		}
		s.Check(t, apitest.Case{Do: "PUT " + on + "/subscription", As: "rae", Send: `[]`, Status: 400})
		s.Check(t, apitest.Case{Do: "GET " + private + "/subscription", As: "rae", Status: 200,
			Want: `{"reason": "author"}`})
	})
}

// Somebody who looks for what was subscribed finds it at once, also behind answers
// that were kept.
func TestSubscribedIssuesAreFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		plot := s.Repo(t, "sam/own", false)
		on := issuetest.File(t, s, "sam", "sam/own")
		s.Grant(t, plot, "rae", account.Pull)
		generation := func() int64 {
			return dbtest.Number(t, s.DB, `SELECT issues_generation FROM repos WHERE id = $1`, plot.ID)
		}
		before := generation()
		s.Check(t, apitest.Case{Do: "PUT " + on + "/subscription", As: "rae", Status: 200})
		if generation() <= before {
			t.Error("what was kept of the repository's issues still counts")
		}
	})
}
