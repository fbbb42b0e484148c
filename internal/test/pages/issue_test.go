package pages_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// threadEvilBody is Markdown that would run, were it not sanitized.
const threadEvilBody = "**bold** <script>alert(3)</script> <img src=x onerror=alert(4)> [go](javascript:alert(5)) <b style=\"color:red\" onclick=alert(6)>b</b>\n\n- [ ] one\n- [x] two"

// threadObject is a JSON object of names and values in turn.
func threadObject(pairs ...any) string {
	m := map[string]any{}
	for n := 0; n < len(pairs); n += 2 {
		m[pairs[n].(string)] = pairs[n+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// threadPlant creates a repository of alice with push access for sam, issue 1, pull request 2, milestone 1
// and markup in all texts.
func threadPlant(t *testing.T, s *apitest.Server, name string, private bool) {
	t.Helper()
	h := &history{}
	h.commit("main", "", "More", "f0", "x\n")
	h.commit("side", "main", "More", "f1", "x\n")
	r := h.into(t, s, name, private)
	s.Grant(t, r, "sam", account.Push)
	s.Grant(t, r, "rae", account.Pull)
	at := "POST /repos/" + name
	for _, c := range []apitest.Case{
		{Do: at + "/milestones", Send: threadObject("title", evil, "description", evil)},
		{Do: at + "/labels", Send: threadObject("name", evil, "description", evil, "color", "ff0000")},
		{Do: at + "/issues", Send: threadObject("title", "Issue "+evil, "body", threadEvilBody, "labels",
			[]string{evil},
			"assignee", "sam", "milestone", 1)},
		{Do: at + "/pulls", Send: threadObject("title", "Pull "+evil, "body", "See #1", "head", "side",
			"base", "main")},
		{Do: at + "/issues/1/comments", As: "sam", Send: threadObject("body", threadEvilBody)},
	} {
		if c.As == "" {
			c.As = "alice"
		}
		c.Status = 201
		s.Check(t, c)
	}
}

func people(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "sam", "rae", "stranger")
}

// Somebody who opens pages of issues finds what was written and what happened, and nothing that others wrote
// runs.
func TestThreadPagesShowWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		patch := func(send string) {
			s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/issues/1", As: "alice", Send: send,
				Status: 200})
		}
		patch(threadObject("title", "Renamed "+evil))
		patch(`{"state": "closed", "state_reason": "not_planned"}`)
		patch(`{"state": "open", "labels": ["bug"], "milestone": null}`)
		patch(threadObject("milestone", 1, "labels", []string{"bug", evil}))
		for _, c := range []struct {
			as, path string
			has      []string
		}{
			{"", "/issues", []string{"Renamed " + evil, "1 Open", "0 Closed", evil, "alice", "Sign in"}},
			{"sam", "/issues", []string{"Renamed " + evil, "With selected"}},
			{"", "/issues?q=is:pr", []string{"Pull " + evil}},
			{"alice", "/issues/1", []string{"Renamed " + evil, "bold", "open", "sam commented", "Owner",
				"Collaborator", "changed the title Issue " + evil, "closed this as not planned",
				"reopened this", "added bug and removed " + evil, "added this to the " + evil + " milestone",
				"assigned sam", "mentioned this in open Pull " + evil, "Delete issue", "Close as completed",
				"2 participants"}},
			{"rae", "/issues/1", []string{"Add a comment", "Subscribe"}},
			{"", "/issues/1", []string{"Sign in to comment"}},
			{"sam", "/issues/1/edit", []string{"Title", "Description"}},
			{"sam", "/issues/1/edit?only=title", []string{"Title", "Save"}},
			{"sam", "/issues/1/comments/1", []string{"Update comment"}},
			{"sam", "/issues/1/labels", []string{"bug", evil, "Apply"}},
			{"sam", "/issues/1/assignees", []string{"alice", "sam"}},
			{"sam", "/issues/1/milestone", []string{"No milestone", evil}},
			{"sam", "/issues/1/lock", []string{"Lock conversation", "too heated"}},
			{"sam", "/issues/1/reactions?comment=1", []string{"👍"}},
			{"sam", "/issues/1/transfer", []string{"New repository"}},
			{"sam", "/issues/1/delete", []string{"This cannot be undone"}},
			{"", "/issues/filter/label?q=is:open", []string{"bug", evil, "Without labels"}},
			{"", "/issues/filter/author", []string{"alice", "sam"}},
			{"", "/issues/filter/assignee", []string{"Assigned to nobody"}},
			{"", "/issues/filter/milestone", []string{evil, "Without a milestone"}},
			{"", "/issues/filter/sort", []string{"Most commented"}},
			{"sam", "/issues/new?title=" + url.QueryEscape(evil) + "&body=" + url.QueryEscape(threadEvilBody) +
				"&labels=bug", []string{"New issue", "alert(3)"}},
			{"", "/labels", []string{"bug", evil}},
			{"sam", "/labels?edit=" + url.QueryEscape(evil), []string{"Save changes"}},
			{"", "/milestones", []string{evil, "1 open", "0 closed"}},
			{"", "/milestones?state=closed", []string{"There are no closed milestones"}},
			{"", "/milestone/1", []string{evil, "Renamed " + evil, "1 open", "0% complete"}},
			{"sam", "/milestones/new", []string{"Due date"}},
			{"sam", "/milestones/1/edit", []string{"Save changes", evil}},
		} {
			path := "/alice/garden" + c.path
			shows(t, path+" as "+c.as, page(t, s, c.as, path, 200), c.has...)
		}
		for _, path := range []string{"/dashboard/issues", "/dashboard/pulls", "/dashboard/filter/sort"} {
			inspect(t, path, page(t, s, "alice", path, 200))
			if a := page(t, s, "", path, 303); !strings.HasPrefix(a.Header.Get("Location"),
				"/login?return_to=") {
				t.Errorf("%s leads a stranger to %q", path, a.Header.Get("Location"))
			}
		}
		shows(t, "created", page(t, s, "alice", "/dashboard/issues", 200), "alice/garden",
			"Renamed "+evil, "1 Open")
		shows(t, "assigned", page(t, s, "sam", "/dashboard/issues?q=is:open+assignee:sam", 200),
			"Renamed "+evil)
		shows(t, "nothing", page(t, s, "rae", "/dashboard/pulls", 200), "Nothing matches")
	})
}

// What html_url of issues, comments and milestones names is a page, and its anchor is there.
func TestEveryAddressOfAPageAnswers(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		for _, path := range []string{"/issues/1", "/issues/comments/1", "/milestones/1", "/issues/events"} {
			var one any
			a := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden" + path, Status: 200})
			a.JSON(t, &one)
			if list, ok := one.([]any); ok {
				one = list[0].(map[string]any)["issue"]
			}
			to, anchor, _ := strings.Cut(strings.TrimPrefix(one.(map[string]any)["html_url"].(string), s.URL),
				"#")
			ids, _ := inspect(t, to, page(t, s, "", to, 200))
			if anchor != "" && !slices.Contains(ids, anchor) {
				t.Errorf("%s has no %s", to, anchor)
			}
			seen := map[string]bool{}
			for _, id := range ids {
				if seen[id] {
					t.Errorf("%s has %q twice", to, id)
				}
				seen[id] = true
			}
		}
		to := func(path string) map[string]string { return map[string]string{"Location": path} }
		at := "GET /alice/garden"
		s.Run(t, []apitest.Case{
			{Name: "a pull request", Do: at + "/issues/2", Status: 303, Has: to("/alice/garden/pull/2")},
			{Do: at + "/issues/3", Status: 404},
			{Do: at + "/issues/01", Status: 404},
			{Do: at + "/issues/x", Status: 404},
			{Do: at + "/issues/" + strings.Repeat("9", 30), Status: 404},
			{Do: at + "/issues/1/comments/99", Status: 404},
			{Do: at + "/issues/filter/nothing", Status: 404},
			{Do: at + "/milestone/2", Status: 404},
			{Do: at + "/labels?edit=nothing", Status: 404},
			{Name: "a page behind the last", Do: at + "/issues?page=9", Status: 200},
			{Name: "a part behind the last", Do: at + "/issues/1?page=9", Status: 200},
			{Name: "farther than parts lead", Do: at + "/issues/1?page=999999", Status: 422},
			{Name: "farther than results lead", Do: at + "/issues?page=999999", Status: 422},
			{Name: "to sign in", Do: at + "/issues/new", Status: 303,
				Has: to("/login?return_to=%2Falice%2Fgarden%2Fissues%2Fnew")},
		})
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"has_issues": false}`,
			Status: 200})
		s.Run(t, []apitest.Case{
			{Name: "issues are off", Do: at + "/issues", Status: 410},
			{Name: "issues are off", Do: at + "/issues/1", Status: 410},
			{Name: "issues are off", Do: at + "/issues/new", As: "sam", Status: 410},
			{Name: "milestones stay", Do: at + "/milestone/1", Status: 200},
		})
	})
}

// What is private shows neither in searches nor in previews of those who do not see it.
func TestThreadPrivatePages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/vault", true)
		shows(t, "search", page(t, s, "stranger", "/dashboard/issues?q=bold", 200), "Nothing matches")
		s.Repo(t, "stranger/own", false)
		shows(t, "another repository in q", page(t, s, "stranger",
			"/stranger/own/issues?q="+url.QueryEscape("repo:alice/vault"), 200), "Nothing matches")
		post(t, s, "stranger", "/stranger/own/preview", 200, "text", "alice/vault#1 and @alice")
		if a := post(t, s, "stranger", "/stranger/own/preview", 200, "text",
			"alice/vault#1"); strings.Contains(string(a.Body), "<a") {
			t.Errorf("a preview links what its reader may not see: %s", a.Body)
		}
	})
}
