package issues_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// secret is in everything that is written in private.
const secret = "Nightshade"

// private fills the private repository garden/shed with one of each kind of thing, each containing secret,
// and returns the ids of its comment, event and reactions.
func private(t *testing.T, s *apitest.Server) (comment, event, onIssue, onComment int64) {
	t.Helper()
	post := func(do, send string) (id int64) {
		var made struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "POST /repos/garden/shed/" + do, As: "will", Headers: issuetest.Graduated,
			Send: send, Status: 201}).JSON(t, &made)
		return made.ID
	}
	post("labels", `{"name": "`+secret+`"}`)
	post("milestones", `{"title": "`+secret+`"}`)
	post("issues", `{"title": "`+secret+`", "body": "`+secret+` for @sam, as in garden/plot#1", "labels": ["`+
		secret+`"], "milestone": 1, "assignees": ["will"]}`)
	comment = post("issues/1/comments", `{"body": "`+secret+` again, @sam: garden/plot#1"}`)
	onIssue, onComment = post("issues/1/reactions", `{"content": "eyes"}`),
		post(fmt.Sprintf("issues/comments/%d/reactions", comment), `{"content": "eyes"}`)
	var events []struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "GET /repos/garden/shed/issues/1/events", As: "will", Status: 200}).JSON(t,
		&events)
	return comment, events[0].ID, onIssue, onComment
}

// Within a repository, too, a reaction belongs to one subject.
func TestReactionsOfOtherSubjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		issuetest.File(t, s, "will", "garden/plot")
		comment, _, onIssue, onComment := private(t, s)
		other := issuetest.File(t, s, "will", "garden/shed")
		otherComment := issuetest.Comment(t, s, "will", other, "x")
		for _, path := range []string{fmt.Sprintf("%s/reactions/%d", other, onIssue),
			fmt.Sprintf("/repos/garden/shed/issues/1/reactions/%d", onComment),
			fmt.Sprintf("/repos/garden/shed/issues/comments/%d/reactions/%d", comment, onIssue),
			fmt.Sprintf("/repos/garden/shed/issues/comments/%d/reactions/%d", otherComment, onComment)} {
			s.Check(t, apitest.Case{Do: "DELETE " + path, As: "will", Headers: issuetest.Graduated,
				Status: 404})
		}
	})
}

// addresses are all that can be read of a repository's tracker.
var addresses = []string{"issues?state=all", "issues/1", "issues/1/labels", "issues/1/comments",
	"issues/comments", "issues/1/events", "issues/events", "issues/1/timeline", "issues/1/reactions",
	"labels", "milestones?state=all", "milestones/1", "milestones/1/labels", "assignees"}

// seen is an answer that somebody got.
type seen struct{ path, status, link, body string }

// view is all that a caller can read of public things and of lists, with the
// totals that Link tells.
func view(t *testing.T, s *apitest.Server, as string) (all []seen) {
	t.Helper()
	paths := []string{"/repos/garden/plot", "/users/will", "/orgs/garden", "/users/will/repos",
		"/orgs/garden/repos"}
	for _, address := range addresses {
		separator := "?"
		if strings.Contains(address, "?") {
			separator = "&"
		}
		paths = append(paths, "/repos/garden/plot/"+address+separator+"per_page=1",
			"/repos/garden/plot/"+address)
	}
	if as != "" {
		for _, list := range []string{"/issues", "/user/issues", "/orgs/garden/issues"} {
			for _, filter := range []string{"assigned", "created", "mentioned", "subscribed", "all"} {
				paths = append(paths, list+"?state=all&filter="+filter,
					list+"?state=all&per_page=1&filter="+filter+"&labels="+secret)
			}
		}
	}
	for _, r := range s.Server.Routes() {
		if r.Pattern == "/search/issues" {
			paths = append(paths, "/search/issues?q="+secret, "/search/issues?q=author:will",
				"/search/issues?q=involves:sam", "/search/issues?q=org:garden",
				"/search/issues?q=label:"+secret)
		}
	}
	for _, path := range paths {
		for _, kind := range []string{"v3.full", "v3"} {
			a := s.Do(t, apitest.Case{Do: "GET " + path, As: as,
				Headers: map[string]string{"Accept": "application/vnd.github." + kind + "+json"}})
			all = append(all, seen{path, fmt.Sprint(a.Status, " ", kind), a.Header.Get("Link"),
				string(a.Body)})
		}
	}
	return all
}

// What happens in a private repository changes nothing that strangers see: no
// list, no total, no timeline, no count, and not what is kept of an answer that
// somebody else got. Nor does what was public before it became private.
func TestPrivateLeaksNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Ask(t, "will", "POST /repos/garden/plot/milestones", `{"title": "Spring"}`, 201)
		s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: "will",
			Send: `{"title": "Open", "body": "Not garden/shed#1, but #2", "milestone": 1}`, Status: 201})
		issuetest.Comment(t, s, "will", "/repos/garden/plot/issues/1",
			"See garden/shed#1 and https://example.org")
		before := map[string][]seen{}
		for _, as := range []string{"", "sam"} {
			before[as] = view(t, s, as)
		}
		private(t, s)
		unchanged := func(when string) {
			t.Helper()
			view(t, s, "rae") // fills what is kept
			for _, as := range []string{"", "sam"} {
				for n, now := range view(t, s, as) {
					if now != before[as][n] {
						t.Errorf("%s %q sees\n%.3000v\nand saw\n%.3000v", when, as, now, before[as][n])
					}
				}
			}
		}
		unchanged("after things in private")
		if all := fmt.Sprint(view(t, s, "rae")); !strings.Contains(all, `"cross-referenced"`) ||
			!strings.Contains(all, `title=\"`+secret) {
			t.Error("the reader of the private repository sees no reference to it either: this test shows nothing")
		}
		s.Ask(t, "alice", "PATCH /repos/garden/shed", `{"private": false}`, 200)
		s.Check(t, apitest.Case{Do: "GET /repos/garden/shed/issues/1", As: "sam", Status: 200})
		view(t, s, "sam")
		s.Ask(t, "alice", "PATCH /repos/garden/shed", `{"private": true}`, 200)
		unchanged("after it was public for a moment")
	})
}
