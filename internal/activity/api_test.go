package activity_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

func users(t *testing.T, s *apitest.Server, logins ...string) {
	t.Helper()
	for _, login := range logins {
		s.User(t, login)
	}
}

// told reads a feed as lines of what it tells: TYPE ACTOR REPOSITORY.
func told(t *testing.T, s *apitest.Server, as, path string) []string {
	t.Helper()
	var list []struct {
		Type    string
		Actor   struct{ Login string }
		Repo    struct{ Name string }
		Payload map[string]any
	}
	s.Check(t, apitest.Case{Do: "GET " + path, As: as, Status: 200}).JSON(t, &list)
	lines := []string{}
	for _, e := range list {
		what := strings.TrimSuffix(e.Type, "Event")
		for _, key := range []string{"action", "ref_type"} {
			if v, ok := e.Payload[key].(string); ok {
				what += " " + v
			}
		}
		lines = append(lines, fmt.Sprint(what, " ", e.Actor.Login, " ", e.Repo.Name))
	}
	return lines
}

// holds fails unless the feed tells just this, the newest first.
func holds(t *testing.T, s *apitest.Server, as, path string, want ...string) {
	t.Helper()
	if got := told(t, s, as, path); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s as %q tells\n\t%s\nwant\n\t%s", path, as, strings.Join(got, "\n\t"),
			strings.Join(want, "\n\t"))
	}
}

// put writes a file on a branch, which makes a commit.
func put(t *testing.T, s *apitest.Server, as, repository, path, branch string) {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "PUT /repos/" + repository + "/contents/" + path, As: as,
		Send: `{"message": "Add ` + path + `", "content": "` + "aGVsbG8K" + `", "branch": "` + branch + `"}`})
	if a.Status != 201 {
		t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
}

// garden creates a public repository in which each kind of activity has happened once, oldest first.
func garden(t *testing.T, s *apitest.Server) {
	t.Helper()
	users(t, s, "alice", "bob", "carol")
	s.Run(t, []apitest.Case{{Do: "POST /user/repos", As: "alice",
		Send: `{"name": "garden", "description": "Beds"}`, Status: 201}})
	put(t, s, "alice", "alice/garden", "README.md", "main")
	put(t, s, "alice", "alice/garden", "seeds.txt", "main")
	var ref struct{ Object struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/ref/heads/main", Status: 200}).JSON(t, &ref)
	newRef := func(name string) apitest.Case {
		return apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"ref": "refs/%s", "sha": "%s"}`, name, ref.Object.SHA)}
	}
	s.Run(t, []apitest.Case{
		newRef("tags/v1"),
		newRef("heads/gone"),
		{Do: "DELETE /repos/alice/garden/git/refs/heads/gone", As: "alice", Status: 204},
		{Do: "POST /repos/alice/garden/forks", As: "carol", Status: 202},
		{Do: "PUT /repos/alice/garden/collaborators/bob", As: "alice", Status: 204},
		{Name: "again tells nothing", Do: "PUT /repos/alice/garden/collaborators/bob", As: "alice",
			Status: 204},
		{Do: "POST /repos/alice/garden/issues", As: "carol", Send: `{"title": "Slugs"}`, Status: 201},
		{Do: "POST /repos/alice/garden/issues/1/comments", As: "bob", Send: `{"body": "Salt"}`, Status: 201},
		{Do: "PATCH /repos/alice/garden/issues/1", As: "bob", Send: `{"state": "closed"}`, Status: 200},
		{Do: "PATCH /repos/alice/garden/issues/1", As: "bob", Send: `{"state": "open"}`, Status: 200},
		newRef("heads/beds"),
	})
	put(t, s, "bob", "alice/garden", "beds.txt", "beds")
	s.Run(t, []apitest.Case{
		{Do: "POST /repos/alice/garden/pulls", As: "bob",
			Send: `{"title": "Beds", "head": "beds", "base": "main"}`, Status: 201},
		{Do: "POST /repos/alice/garden/pulls/2/reviews", As: "carol", Status: 200,
			Send: `{"event": "COMMENT", "body": "Fine", "comments": [{"path": "beds.txt", "position": 1, "body": "Here"}]}`},
		{Name: "pending tells nothing", Do: "POST /repos/alice/garden/pulls/2/reviews", As: "alice",
			Send: `{"body": "Later"}`, Status: 200},
		{Do: "PUT /repos/alice/garden/pulls/2/merge", As: "alice", Status: 200},
		{Do: "PUT /user/starred/alice/garden", As: "bob", Status: 204},
		{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
		{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200},
	})
}

var ofGarden = []string{
	"Public alice alice/garden",
	"PullRequest merged alice alice/garden",
	"Push alice alice/garden",
	"PullRequestReviewComment created carol alice/garden",
	"PullRequestReview created carol alice/garden",
	"PullRequest opened bob alice/garden",
	"Push bob alice/garden",
	"Create branch alice alice/garden",
	"Issues reopened bob alice/garden",
	"Issues closed bob alice/garden",
	"IssueComment created bob alice/garden",
	"Issues opened carol alice/garden",
	"Member added alice alice/garden",
	"Delete branch alice alice/garden",
	"Create branch alice alice/garden",
	"Create tag alice alice/garden",
	"Push alice alice/garden",
	"Create branch alice alice/garden",
	"Create repository alice alice/garden",
}

// only keeps the lines that hold a text.
func only(lines []string, text string) []string {
	var kept []string
	for _, l := range lines {
		if strings.Contains(l, text) {
			kept = append(kept, l)
		}
	}
	return kept
}

// A feed lists all events in the format of GitHub's clients, except stars (decision 42).
func TestFeeds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		// That the repository was hidden in between took its fork out of the network.
		holds(t, s, "", "/repos/alice/garden/events", append(append([]string{}, ofGarden[:13]...),
			append([]string{"Fork forked carol alice/garden"}, ofGarden[13:]...)...)...)
		all := told(t, s, "", "/repos/alice/garden/events")
		holds(t, s, "", "/users/bob/events", only(all, " bob ")...)
		holds(t, s, "bob", "/users/bob/events", only(all, " bob ")...)
		holds(t, s, "", "/users/carol/events/public", only(all, " carol ")...)
		holds(t, s, "", "/networks/alice/garden/events", all...)
		holds(t, s, "", "/users/alice/received_events")
		holds(t, s, "", "/events?per_page=2", all[:2]...)
		s.Run(t, []apitest.Case{
			{Do: "PUT /user/following/bob", As: "carol", Status: 204},
			{Name: "past the end", Do: "GET /events?page=9", Status: 200, Body: "[]"},
		})
		holds(t, s, "", "/users/carol/received_events", only(all, " bob ")...)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/subscription", As: "carol", Status: 200})
		holds(t, s, "carol", "/users/carol/received_events", all...)
		holds(t, s, "", "/users/carol/received_events/public", all...)
		shapes(t, s)
	})
}

// shapes holds a payload of each type against GitHub's.
func shapes(t *testing.T, s *apitest.Server) {
	t.Helper()
	var list []json.RawMessage
	a := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/events", Status: 200,
		Has: map[string]string{"X-Poll-Interval": "60", "Link": ""}})
	a.JSON(t, &list)
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/events", Status: 304,
		Headers: map[string]string{"If-None-Match": a.Header.Get("ETag")}})
	repo := `{"id": "$any", "name": "garden", "url": "{base}/repos/alice/garden"}`
	pull := `{"id": "$any", "number": 2, "url": "{base}/repos/alice/garden/pulls/2",
		"head": {"ref": "beds", "sha": "$any", "repo": ` + repo + `}, "base": {"ref": "main", "sha": "$any", "repo": ` + repo + `}}`
	for n, want := range map[int]string{
		0: `{"id": "$any", "type": "PublicEvent", "public": true, "created_at": "$any", "org": "$absent", "payload": {},
			"actor": {"id": "$any", "login": "alice", "display_login": "alice", "gravatar_id": "", "url": "{base}/users/alice", "avatar_url": "$any"},
			"repo": {"id": "$any", "name": "alice/garden", "url": "{base}/repos/alice/garden"}}`,
		1: `{"payload": {"action": "merged", "number": 2, "pull_request": ` + pull + `}}`,
		2: `{"payload": {"repository_id": "$any", "push_id": "$any", "ref": "refs/heads/main", "head": "$any", "before": "$any"}}`,
		3: `{"payload": {"action": "created", "pull_request": ` + pull +
			`, "comment": {"path": "beds.txt", "body": "Here", "user": {"login": "carol"}}}}`,
		4: `{"payload": {"action": "created", "pull_request": ` + pull +
			`, "review": {"state": "commented", "body": "Fine",
			"pull_request_url": "{base}/repos/alice/garden/pulls/2"}}}`,
		7:  `{"payload": {"ref": "beds", "ref_type": "branch", "full_ref": "refs/heads/beds", "master_branch": "main", "description": "Beds", "pusher_type": "user"}}`,
		9:  `{"payload": {"action": "closed", "issue": {"number": 1, "title": "Slugs", "user": {"login": "carol"}}}}`,
		10: `{"payload": {"action": "created", "issue": {"number": 1}, "comment": {"body": "Salt", "html_url": "$any"}}}`,
		12: `{"payload": {"action": "added", "member": {"login": "bob"}}}`,
		13: `{"payload": {"action": "forked", "forkee": {"full_name": "carol/garden"}}}`,
		14: `{"payload": {"ref": "gone", "ref_type": "branch", "full_ref": "refs/heads/gone", "pusher_type": "user"}}`,
		19: `{"payload": {"ref": null, "ref_type": "repository"}}`,
	} {
		if err := apitest.Contains(list[n], strings.ReplaceAll(want, "{base}", s.URL)); err != nil {
			t.Errorf("event %d: %v\n%s", n, err, list[n])
		}
	}
}

// What somebody may not see is in no feed, nor in the number of pages: not while
// a repository is private, not after one was hidden, deleted or left, and not
// when a comment is gone (decision 13).
func TestFeedsHideWhatIsHidden(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		users(t, s, "alice", "bob", "eve", "mary")
		s.Admin(t, "chief")
		s.Org(t, "guild", "alice")
		s.Run(t, []apitest.Case{
			{Do: "PUT /orgs/guild/members/mary", As: "alice", Status: 204},
			{Do: "POST /orgs/guild/repos", As: "alice", Send: `{"name": "hall"}`, Status: 201},
			{Do: "POST /orgs/guild/repos", As: "alice", Send: `{"name": "vault", "private": true}`,
				Status: 201},
			{Do: "PUT /repos/guild/vault/collaborators/bob", As: "alice", Status: 204},
			{Do: "POST /repos/guild/vault/issues", As: "bob", Send: `{"title": "Secret"}`, Status: 201},
			{Do: "POST /repos/guild/hall/issues", As: "bob", Send: `{"title": "Open"}`, Status: 201},
			{Do: "POST /repos/guild/hall/issues/1/comments", As: "bob", Send: `{"body": "oops"}`,
				Status: 201},
			{Do: "PUT /repos/guild/vault/subscription", As: "bob", Status: 200},
			{Do: "PUT /user/following/bob", As: "eve", Status: 204},
		})
		comment, hall := "IssueComment created bob guild/hall",
			[]string{"Issues opened bob guild/hall", "Create repository alice guild/hall"}
		vault := []string{"Issues opened bob guild/vault", "Member added alice guild/vault",
			"Create repository alice guild/vault"}
		open := append([]string{comment}, hall...)
		for _, as := range []string{"", "eve", "bob", "alice", "chief"} {
			holds(t, s, as, "/orgs/guild/events", open...)
			holds(t, s, as, "/events", open...)
			holds(t, s, as, "/users/bob/events/public", comment, hall[0])
		}
		for _, as := range []string{"", "eve", "alice", "chief"} {
			holds(t, s, as, "/users/bob/events", comment, hall[0])
			holds(t, s, as, "/users/bob/received_events")
		}
		holds(t, s, "bob", "/users/bob/events", comment, hall[0], vault[0])
		holds(t, s, "bob", "/users/bob/received_events", vault...)
		holds(t, s, "bob", "/users/bob/received_events/public")
		holds(t, s, "eve", "/users/eve/received_events", comment, hall[0])
		holds(t, s, "bob", "/repos/guild/vault/events", vault...)
		holds(t, s, "mary", "/users/mary/events/orgs/guild", comment, hall[0], vault[0], vault[1],
			vault[2], hall[1])
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/guild/vault/events", As: "eve", Status: 404},
			{Do: "GET /networks/guild/vault/events", Status: 404},
			{Do: "GET /users/mary/events/orgs/guild", As: "alice", Status: 404},
			{Do: "GET /users/mary/events/orgs/guild", Status: 401},
			{Do: "GET /users/bob/events/orgs/guild", As: "bob", Status: 404},
			{Do: "GET /users/mary/events/orgs/nobody", As: "mary", Status: 404},
			{Do: "GET /orgs/bob/events", Status: 404},
			{Do: "GET /orgs/nobody/events", Status: 404},
			{Do: "GET /users/nobody/events", Status: 404},
			{Do: "GET /users/nobody/received_events", Status: 404},
			{Name: "as many pages as are seen", Do: "GET /users/bob/events?per_page=1&page=2", As: "eve",
				Status: 200, Has: map[string]string{
					"Link": `<{base}/users/bob/events?per_page=1&page=1>; rel="first", <{base}/users/bob/events?per_page=1&page=1>; rel="prev"`}},
			{Name: "a pull request from nowhere", Do: "PATCH /orgs/guild", As: "alice",
				Send: `{"default_repository_permission": "none"}`, Status: 200},
		})
		holds(t, s, "mary", "/users/mary/events/orgs/guild", open...)
		s.Check(t, apitest.Case{Do: "DELETE /repos/guild/vault/collaborators/bob", As: "alice", Status: 204})
		holds(t, s, "bob", "/users/bob/events", comment, hall[0])
		holds(t, s, "bob", "/users/bob/received_events")
		var id struct{ ID int64 }
		var comments []json.RawMessage
		s.Check(t, apitest.Case{Do: "GET /repos/guild/hall/issues/1/comments", Status: 200}).JSON(t,
			&comments)
		testkit.NoError(t, json.Unmarshal(comments[0], &id))
		s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE /repos/guild/hall/issues/comments/%d", id.ID),
			As: "bob", Status: 204})
		holds(t, s, "", "/events", hall...)
		s.Check(t, apitest.Case{Do: "PATCH /repos/guild/hall", As: "alice", Send: `{"has_issues": false}`,
			Status: 200})
		holds(t, s, "", "/events", hall[1])
		s.Check(t, apitest.Case{Do: "PATCH /repos/guild/hall", As: "alice",
			Send: `{"private": true, "has_issues": true}`, Status: 200})
		for _, path := range []string{"/events", "/orgs/guild/events", "/users/bob/events",
			"/users/eve/received_events"} {
			holds(t, s, "eve", path)
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/guild/vault", As: "alice", Send: `{"private": false}`,
			Status: 200})
		holds(t, s, "eve", "/orgs/guild/events", "Public alice guild/vault")
		s.Check(t, apitest.Case{Do: "DELETE /repos/guild/vault", As: "alice", Status: 204})
		holds(t, s, "eve", "/orgs/guild/events")
		holds(t, s, "bob", "/users/bob/events")
	})
}

// A feed ends after Newest events.
func TestFeedsEnd(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		users(t, s, "alice", "bob")
		r := s.Repo(t, "alice/garden", false)
		s.Grant(t, r, "bob", account.Push)
		for n := range 16 {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "bob",
				Send: fmt.Sprintf(`{"title": "%d"}`, n), Status: 201})
			for range 20 {
				s.Check(t, apitest.Case{Do: fmt.Sprintf("POST /repos/alice/garden/issues/%d/comments", n+1),
					As: "alice", Send: `{"body": "x"}`, Status: 201})
			}
		}
		for _, path := range []string{"/events", "/repos/alice/garden/events",
			"/networks/alice/garden/events"} {
			s.Run(t, []apitest.Case{
				{Do: "GET " + path + "?per_page=100&page=3", Status: 200, Has: map[string]string{
					"Link": `<{base}` + path + `?per_page=100&page=1>; rel="first", <{base}` + path +
						`?per_page=100&page=2>; rel="prev"`}},
				{Do: "GET " + path + "?per_page=100&page=4", Status: 200, Body: "[]"},
			})
			if n := len(told(t, s, "", path+"?per_page=100&page=3")); n != 100 {
				t.Errorf("the last page of %s has %d events", path, n)
			}
		}
		if got := told(t, s, "", "/users/bob/events"); len(got) != 16 {
			t.Errorf("bob's feed: %q", got)
		}
	})
}

// A push of many tags fills nobody's feed.
func TestFeedsTellOfPartOfALargePush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		users(t, s, "alice")
		r := s.Repo(t, "alice/garden", false)
		put(t, s, "alice", "alice/garden", "README.md", "main")
		var ref struct{ Object struct{ SHA git.SHA } }
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/ref/heads/main", Status: 200}).JSON(t, &ref)
		var moved []repo.RefUpdate
		for n := range 50 {
			moved = append(moved, repo.RefUpdate{Name: fmt.Sprintf("refs/tags/v%02d", n), Old: git.ZeroSHA,
				New: ref.Object.SHA, By: r.OwnerID})
		}
		if _, err := s.Repos.MoveRefs(t.Context(),
			repo.Push{RepoID: r.ID, Updates: moved, Atomic: true}); err != nil {
			t.Fatal(err)
		}
		if got := only(told(t, s, "", "/events"), "Create tag"); len(got) != 20 {
			t.Errorf("%d of 50 tags are told of", len(got))
		}
	})
}
