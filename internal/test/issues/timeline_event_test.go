package issues_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// Somebody who looks back at an issue sees each thing that happened, by whom, with
// names as they were then.
func TestEvents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const plot = "/repos/garden/plot"
		patch := func(body string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "PATCH " + plot + "/issues/1", As: "will", Send: body, Status: 200})
		}
		s.Ask(t, "will", "POST "+plot+"/milestones", `{"title": "Spring"}`, 201)
		s.Ask(t, "sam", "POST "+plot+"/issues", `{"title": "Slugs", "body": "Ask @rae"}`, 201)
		patch(`{"title": "Snails"}`)
		patch(`{"labels": ["pest"]}`)
		patch(`{"labels": []}`)
		patch(`{"assignee": "will"}`)
		patch(`{"assignee": null}`)
		patch(`{"milestone": 1}`)
		patch(`{"milestone": null}`)
		patch(`{"state": "closed", "state_reason": "not_planned"}`)
		patch(`{"state": "open"}`)
		lock := map[string]string{"Accept": "application/vnd.github.v3+json"}
		s.Check(t, apitest.Case{Do: "PUT " + plot + "/issues/1/lock", As: "will", Headers: lock,
			Send: `{"lock_reason": "spam"}`, Status: 204})
		s.Check(t, apitest.Case{Do: "DELETE " + plot + "/issues/1/lock", As: "will", Headers: lock,
			Status: 204})
		event := func(actor, name, more string) string {
			return fmt.Sprintf(`{"id": "$any", "node_id": "$any", "url": "$any", "actor": {"login": %q}, "event": %q, "commit_id": null,
				"commit_url": null, "created_at": "$any", "performed_via_github_app": null, "issue": "$absent"%s}`, actor, name, more)
		}
		want := []string{
			event("rae", "mentioned", ""), event("rae", "subscribed", ""),
			event("will", "renamed", `, "rename": {"from": "Slugs", "to": "Snails"}`),
			event("will", "labeled", `, "label": {"name": "pest", "color": "ededed"}`),
			event("will", "unlabeled", `, "label": {"name": "pest", "color": "ededed"}`),
			event("will", "assigned", `, "assignee": {"login": "will"}, "assigner": {"login": "will"}`),
			event("will", "unassigned", `, "assignee": {"login": "will"}, "assigner": {"login": "will"}`),
			event("will", "milestoned", `, "milestone": {"title": "Spring"}`),
			event("will", "demilestoned", `, "milestone": {"title": "Spring"}`),
			event("will", "closed", `, "state_reason": "not_planned"`),
			event("will", "reopened", `, "state_reason": "reopened"`),
			event("will", "locked", `, "lock_reason": "spam"`),
			event("will", "unlocked", ""),
		}
		all := "[" + strings.Join(want, ",") + "]"
		var list []struct{ ID int64 }
		s.Run(t, []apitest.Case{
			{Name: "of the issue, the oldest first", Do: "GET " + plot + "/issues/1/events", Status: 200,
				Want: all, Has: map[string]string{"Link": "-"},
				Keep: func(a *apitest.Answer) { a.JSON(t, &list) }},
			{Name: "its timeline has the same", Do: "GET " + plot + "/issues/1/timeline",
				Status: 200, Want: all},
			{Name: "by pages", Do: "GET " + plot + "/issues/1/events?per_page=5&page=3", Status: 200,
				Want: "[" + strings.Join(want[10:], ",") + "]",
				Has: map[string]string{"Link": `<{base}` + plot +
					`/issues/1/events?per_page=5&page=1>; rel="first", <{base}` + plot +
					`/issues/1/events?per_page=5&page=2>; rel="prev"`}},
			{Name: "first page", Do: "GET " + plot + "/issues/1/events?per_page=5", Status: 200,
				Want: "[" + strings.Join(want[:5], ",") + "]",
				Has: map[string]string{"Link": `<{base}` + plot +
					`/issues/1/events?per_page=5&page=2>; rel="next", <{base}` + plot +
					`/issues/1/events?per_page=5&page=3>; rel="last"`}},
			{Name: "past the end", Do: "GET " + plot + "/issues/1/events?per_page=5&page=9",
				Status: 200, Body: "[]"},
			{Name: "too deep", Do: "GET " + plot + "/issues/1/events?per_page=100&page=51", Status: 422,
				Want: `{"message": "$any"}`},
			{Name: "deeper than any number", Do: "GET " + plot + "/issues/1/timeline?page=99999999999999999",
				Status: 422},
			{Name: "no issue", Do: "GET " + plot + "/issues/2/events", Status: 404},
			{Name: "no issue", Do: "GET " + plot + "/issues/2/timeline", Status: 404},
			{Name: "of the repository, the newest first, with the issue",
				Do: "GET " + plot + "/issues/events?per_page=2", Status: 200,
				Want: `[{"event": "unlocked", "issue": {"number": 1, "title": "Snails", "user": {"login": "sam"}}}, {"event": "locked", "issue": {"number": 1}}]`},
			{Name: "too deep", Do: "GET " + plot + "/issues/events?per_page=100&page=51", Status: 422},
			{Name: "events of others are private", Do: "GET /repos/garden/shed/issues/events", As: "sam",
				Status: 404},
		})
		one := fmt.Sprint(list[2].ID)
		s.Run(t, []apitest.Case{
			{Name: "one", Do: "GET " + plot + "/issues/events/" + one, Status: 200,
				Want: `{"id": ` + one + `, "event": "renamed", "url": "{base}` + plot + `/issues/events/` +
					one + `", "issue": {"number": 1, "closed_by": "$absent"}}`},
			{Name: "of another repository", Do: "GET /repos/garden/shed/issues/events/" + one, As: "will",
				Status: 404},
			{Name: "none", Do: "GET " + plot + "/issues/events/999999", Status: 404},
			{Name: "no id", Do: "GET " + plot + "/issues/events/x", Status: 404},
			{Name: "an id beyond all numbers", Do: "GET " + plot + "/issues/events/99999999999999999999",
				Status: 404},
			{Name: "bodies are rendered", Do: "GET " + plot + "/issues/events/" + one,
				Headers: map[string]string{"Accept": "application/vnd.service.v3.html+json"}, Status: 200,
				Want: `{"issue": {"body": "$absent", "body_html": "$any"}}`},
			{Name: "issues are switched off", Do: "PATCH " + plot, As: "alice", Send: `{"has_issues": false}`,
				Status: 200},
			{Name: "gone", Do: "GET " + plot + "/issues/events", Status: 410},
			{Name: "gone", Do: "GET " + plot + "/issues/events/" + one, Status: 410},
			{Name: "gone", Do: "GET " + plot + "/issues/1/events", Status: 410},
			{Name: "gone", Do: "GET " + plot + "/issues/1/timeline", Status: 410},
		})
	})
}

// timelineKinds returns the kinds of the entries of a list of events or a timeline.
func timelineKinds(t testing.TB, a *apitest.Answer) string {
	t.Helper()
	var list []struct {
		Event  string
		Actor  struct{ Login string }
		Commit string `json:"commit_id"`
		Source struct {
			Issue struct {
				Number     int64
				Repository struct {
					FullName string `json:"full_name"`
				}
			}
		}
	}
	if err := json.Unmarshal(a.Body, &list); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
	var out []string
	for _, e := range list {
		text := e.Event + ":" + e.Actor.Login
		if i := e.Source.Issue; i.Number != 0 {
			text += fmt.Sprintf("(%s#%d)", i.Repository.FullName, i.Number)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// An issue shows where others name it, once for each, and what was said in it,
// in the order of time.
func TestTimeline(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		file := func(as, repository, body string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "POST /repos/" + repository + "/issues", As: as,
				Send: fmt.Sprintf(`{"title": "x", "body": %q}`, body), Status: 201})
		}
		// plot 1, which names itself
		file("alice", "garden/plot", "#1")
		file("alice", "garden/plot", "See #1, #1 and garden/PLOT#1, not #99 or `#1`") // plot 2
		file("rae", "garden/shed", "garden/plot#1")                                   // shed 1, private
		// plot 3, by an author who cannot see shed
		file("sam", "garden/plot", "garden/shed#1 and nobody/nothing#1")
		file("will", "garden/plot", "garden/shed#1") // plot 4, by an author who can
		s.Ask(t, "sam", "POST /repos/garden/plot/issues/1/comments", `{"body": "Hm. @will"}`, 201)
		s.Ask(t, "sam", "POST /repos/garden/plot/issues/2/comments", `{"body": "Again #1, #3"}`, 201)
		s.Ask(t, "will", "PATCH /repos/garden/plot/issues/4", `{"body": "And #1"}`, 200)
		const insider = "cross-referenced:alice(garden/plot#2) cross-referenced:rae(garden/shed#1) commented:sam mentioned:will subscribed:will cross-referenced:will(garden/plot#4)"
		outsider := strings.Replace(insider, "cross-referenced:rae(garden/shed#1) ", "", 1)
		for login, want := range map[string]string{"alice": insider, "will": insider, "rae": insider,
			"sam": outsider, "": outsider} {
			a := s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues/1/timeline", As: login,
				Status: 200})
			if got := timelineKinds(t, a); got != want {
				t.Errorf("%q reads %s, want %s", login, got, want)
			}
			if login == "sam" && strings.Contains(string(a.Body), "garden/shed") {
				t.Error("the private repository shows")
			}
			for page, n := 1, len(strings.Fields(want)); page <= n+1; page++ {
				a := s.Check(t, apitest.Case{
					Do: fmt.Sprintf("GET /repos/garden/plot/issues/1/timeline?per_page=1&page=%d", page),
					As: login, Status: 200})
				got, one := timelineKinds(t, a), ""
				if page <= n {
					one = strings.Fields(want)[page-1]
				}
				if got != one {
					t.Errorf("%q reads %q on page %d, want %q", login, got, page, one)
				}
				last := fmt.Sprintf(`page=%d>; rel="last"`, n)
				if page != n && !strings.Contains(a.Header.Get("Link"), last) {
					t.Errorf("%q on page %d: Link %s, want %s", login, page, a.Header.Get("Link"), last)
				}
			}
		}
		s.Run(t, []apitest.Case{
			{Name: "events are without them", Do: "GET /repos/garden/plot/issues/1/events", Status: 200,
				Want: `[{"event": "mentioned"}, {"event": "subscribed"}]`},
			{Name: "shapes", Do: "GET /repos/garden/plot/issues/1/timeline", Status: 200,
				Headers: issuetest.Graduated, Want: `[
				{"event": "cross-referenced", "id": "$absent", "created_at": "$any", "updated_at": "$any", "source": {"type": "issue", "issue": {"number": 2,
					"repository": {"full_name": "garden/plot"}, "labels": [], "url": "{base}/repos/garden/plot/issues/2"}}},
				{"event": "commented", "id": "$any", "body": "Hm. @will", "user": {"login": "sam"}, "actor": {"login": "sam"}, "author_association": "NONE",
					"issue_url": "{base}/repos/garden/plot/issues/1", "reactions": {"total_count": 0}},
				{"event": "mentioned"}, {"event": "subscribed"}, {"event": "cross-referenced"}]`},
			{Name: "only who saw it could name it", Do: "GET /repos/garden/shed/issues/1/timeline",
				As: "rae", Status: 200,
				Want: `[{"event": "cross-referenced", "source": {"issue": {"number": 4}}}]`},
			{Name: "in a comment", Do: "GET /repos/garden/plot/issues/3/timeline", Status: 200,
				Want: `[{"event": "cross-referenced", "actor": {"login": "sam"}, "source": {"issue": {"number": 2}}}]`},
			{Name: "a reference moves no updated_at",
				Do: "GET /repos/garden/plot/issues?sort=updated&direction=asc&per_page=1", Status: 200,
				Want: `[{"number": 3}]`},
		})
	})
}

// The source of a reference is visible by the same rule as everything else (decision 12), however the right
// was granted, and immediately.
func TestTimelineVisibility(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "owner", "member", "friend", "stranger", "author")
		s.Admin(t, "chief")
		s.Org(t, "guild", "owner")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/member", As: "owner", Status: 204})
		s.Repo(t, "stranger/open", false)
		vault := s.Repo(t, "guild/vault", true)
		s.Repo(t, "guild/hall", false)
		s.Repo(t, "author/own", true)
		s.Grant(t, vault, "friend", account.Pull)
		s.Ask(t, "stranger", "POST /repos/stranger/open/issues", `{"title": "x"}`, 201)
		file := func(as, repository string) {
			s.Check(t, apitest.Case{Do: "POST /repos/" + repository + "/issues", As: as,
				Send: `{"title": "x", "body": "stranger/open#1"}`, Status: 201})
		}
		file("friend", "guild/vault")
		file("stranger", "guild/hall")
		file("author", "author/own")
		check := func(want map[string]string) {
			t.Helper()
			for login, repos := range want {
				a := s.Check(t, apitest.Case{Do: "GET /repos/stranger/open/issues/1/timeline", As: login,
					Status: 200})
				var got []string
				for _, e := range strings.Fields(timelineKinds(t, a)) {
					_, from, _ := strings.Cut(e, "(")
					got = append(got, strings.TrimSuffix(from, "#1)"))
				}
				if strings.Join(got, " ") != repos {
					t.Errorf("%q sees %q, want %q", login, got, repos)
				}
			}
		}
		check(map[string]string{
			"owner": "guild/vault guild/hall", "member": "guild/vault guild/hall",
			"friend":   "guild/vault guild/hall",
			"stranger": "guild/hall", "author": "guild/hall author/own",
			"chief": "guild/vault guild/hall author/own", "": "guild/hall",
		})
		s.Ask(t, "owner", "PATCH /orgs/guild", `{"default_repository_permission": "none"}`, 200)
		s.Ask(t, "owner", "DELETE /repos/guild/vault/collaborators/friend", "", 204)
		check(map[string]string{"owner": "guild/vault guild/hall", "member": "guild/hall",
			"friend": "guild/hall"})
		s.Ask(t, "owner", "PATCH /repos/guild/hall", `{"has_issues": false}`, 200)
		check(map[string]string{"owner": "guild/vault", "": ""})
		s.Check(t, apitest.Case{Do: "DELETE /repos/guild/vault", As: "owner", Status: 204})
		check(map[string]string{"owner": "", "chief": "author/own"})
	})
}

// Who is mentioned finds it among the events as the one to whom it happened,
// once; who cannot see the repository is not (decision 14).
func TestMentionEvents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const shed = "/repos/garden/shed/issues"
		say := func(as, body string) {
			t.Helper()
			s.Ask(t, as, "POST "+shed+"/1/comments", fmt.Sprintf(`{"body": %q}`, body), 201)
		}
		expect := func(want string) {
			t.Helper()
			if got := timelineKinds(t, s.Check(t, apitest.Case{Do: "GET " + shed + "/1/events", As: "alice",
				Status: 200})); got != want {
				t.Errorf("events %s, want %s", got, want)
			}
		}
		s.Ask(t, "alice", "POST "+shed, `{"title": "x", "body": "@sam @garden @nobody and @RAE @rae"}`, 201)
		expect("mentioned:rae subscribed:rae")
		say("alice", "@rae, again, and `@will` or will@example.org")
		expect("mentioned:rae subscribed:rae")
		say("will", "I am here")
		say("alice", "@will")
		expect("mentioned:rae subscribed:rae mentioned:will") // who commented is subscribed
	})
}
