package pages_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// threadEvil is what somebody writes wherever a text is taken.
const threadEvil = `"><img onerror=x><script>alert(2)</script>'`

// threadEvilBody is Markdown that would run, were it not sanitized.
const threadEvilBody = "**bold** <script>alert(3)</script> <img src=x onerror=alert(4)> [go](javascript:alert(5)) <b style=\"color:red\" onclick=alert(6)>b</b>\n\n- [ ] one\n- [x] two"

var accept = map[string]string{"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}

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
	r := s.Repo(t, name, private)
	s.Grant(t, r, "sam", account.Push)
	s.Grant(t, r, "rae", account.Pull)
	dir := gittest.Bare(t)
	var in strings.Builder
	for n, branch := range []string{"main", "side"} {
		from := ""
		if n > 0 {
			from = "from refs/heads/main\n"
		}
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter %s 1300000000 +0000\ndata 4\nMore\n%sM 100644 inline f%d\ndata 2\nx\n\n", branch, gittest.Author, from, n)
	}
	gittest.Import(t, dir, strings.NewReader(in.String()+"done\n"))
	s.Import(t, r, dir)
	at := "POST /repos/" + name
	for _, c := range []apitest.Case{
		{Do: at + "/milestones", Send: threadObject("title", threadEvil, "description", threadEvil)},
		{Do: at + "/labels", Send: threadObject("name", threadEvil, "description", threadEvil, "color", "ff0000")},
		{Do: at + "/issues", Send: threadObject("title", "Issue "+threadEvil, "body", threadEvilBody, "labels", []string{threadEvil},
			"assignee", "sam", "milestone", 1)},
		{Do: at + "/pulls", Send: threadObject("title", "Pull "+threadEvil, "body", "See #1", "head", "side",
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
	for _, login := range []string{"alice", "sam", "rae", "stranger"} {
		s.User(t, login)
	}
}

// page asks for a page as a browser does.
func page(t *testing.T, s *apitest.Server, as, path string, status int) *apitest.Answer {
	t.Helper()
	return s.Check(t, apitest.Case{Do: "GET " + path, As: as, Headers: accept, Status: status})
}

// threadPost sends a form of names and values in turn.
func threadPost(t *testing.T, s *apitest.Server, as, path string, status int, pairs ...string) *apitest.Answer {
	t.Helper()
	v := url.Values{}
	for n := 0; n < len(pairs); n += 2 {
		v.Add(pairs[n], pairs[n+1])
	}
	return s.Check(t, apitest.Case{Do: "POST " + path, As: as, Send: v.Encode(), Status: status,
		Headers: map[string]string{"Accept": accept["Accept"],
			"Content-Type": "application/x-www-form-urlencoded"}})
}

// threadInspect reads a page as a browser does, and reports everything in it that could run or load
// something from elsewhere; it returns the ids and the text.
func threadInspect(t *testing.T, path string, a *apitest.Answer) (ids []string, text string) {
	t.Helper()
	if policy := a.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("%s: policy %q", path, policy)
	}
	if kind := a.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" ||
		a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: %v", path, a.Header)
	}
	z := html.NewTokenizer(strings.NewReader(string(a.Body)))
	inScript := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Errorf("%s: %v", path, z.Err())
			}
			return ids, strings.Join(strings.Fields(text), " ")
		case html.TextToken:
			if token := z.Token(); inScript && strings.TrimSpace(token.Data) != "" {
				t.Errorf("%s: a script in the page: %s", path, token.Data)
			} else {
				text += token.Data
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			inScript = token.Data == "script"
			if slices.Contains([]string{"iframe", "object", "embed", "base", "style"}, token.Data) {
				t.Errorf("%s: <%s>", path, token.Data)
			}
			for _, at := range token.Attr {
				if strings.HasPrefix(at.Key, "on") || at.Key == "style" ||
					strings.Contains(strings.ToLower(at.Val), "javascript:") ||
					at.Key == "src" && !strings.HasPrefix(at.Val, "/") && !strings.HasPrefix(at.Val, s0) &&
						at.Val != "x" {
					t.Errorf("%s: %s", path, token)
				}
				if at.Key == "id" {
					ids = append(ids, at.Val)
				}
			}
		case html.EndTagToken:
			inScript = false
		}
	}
}

const s0 = "http" // pictures of people's texts, which the policy does not load

// shows checks that a page has each of the texts.
func shows(t *testing.T, path string, a *apitest.Answer, parts ...string) {
	t.Helper()
	_, text := threadInspect(t, path, a)
	for _, part := range parts {
		if !strings.Contains(text, strings.Join(strings.Fields(part), " ")) {
			t.Errorf("%s has no %q: %s", path, part, text)
		}
	}
}

// lacks checks that a page has none of the pieces of markup.
func lacks(t *testing.T, path string, a *apitest.Answer, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(string(a.Body), part) {
			t.Errorf("%s has %q", path, part)
		}
	}
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
		patch(threadObject("title", "Renamed "+threadEvil))
		patch(`{"state": "closed", "state_reason": "not_planned"}`)
		patch(`{"state": "open", "labels": ["bug"], "milestone": null}`)
		patch(threadObject("milestone", 1, "labels", []string{"bug", threadEvil}))
		for _, c := range []struct {
			as, path string
			has      []string
		}{
			{"", "/issues", []string{"Renamed " + threadEvil, "1 Open", "0 Closed", threadEvil, "alice", "Sign in"}},
			{"sam", "/issues", []string{"Renamed " + threadEvil, "With selected"}},
			{"", "/issues?q=is:pr", []string{"Pull " + threadEvil}},
			{"alice", "/issues/1", []string{"Renamed " + threadEvil, "bold", "open", "sam commented", "Owner",
				"Collaborator", "changed the title Issue " + threadEvil, "closed this as not planned",
				"reopened this", "added bug and removed " + threadEvil, "added this to the " + threadEvil + " milestone",
				"assigned sam", "mentioned this in Pull " + threadEvil, "Delete issue", "Close as completed",
				"2 participants"}},
			{"rae", "/issues/1", []string{"Add a comment", "Subscribe"}},
			{"", "/issues/1", []string{"Sign in to comment"}},
			{"sam", "/issues/1/edit", []string{"Title", "Description"}},
			{"sam", "/issues/1/edit?only=title", []string{"Title", "Save"}},
			{"sam", "/issues/1/comments/1", []string{"Update comment"}},
			{"sam", "/issues/1/labels", []string{"bug", threadEvil, "Apply"}},
			{"sam", "/issues/1/assignees", []string{"alice", "sam"}},
			{"sam", "/issues/1/milestone", []string{"No milestone", threadEvil}},
			{"sam", "/issues/1/lock", []string{"Lock conversation", "too heated"}},
			{"sam", "/issues/1/reactions?comment=1", []string{"👍"}},
			{"sam", "/issues/1/transfer", []string{"New repository"}},
			{"sam", "/issues/1/delete", []string{"This cannot be undone"}},
			{"", "/issues/filter/label?q=is:open", []string{"bug", threadEvil, "Without labels"}},
			{"", "/issues/filter/author", []string{"alice", "sam"}},
			{"", "/issues/filter/assignee", []string{"Assigned to nobody"}},
			{"", "/issues/filter/milestone", []string{threadEvil, "Without a milestone"}},
			{"", "/issues/filter/sort", []string{"Most commented"}},
			{"sam", "/issues/new?title=" + url.QueryEscape(threadEvil) + "&body=" + url.QueryEscape(threadEvilBody) +
				"&labels=bug", []string{"New issue", "alert(3)"}},
			{"", "/labels", []string{"bug", threadEvil}},
			{"sam", "/labels?edit=" + url.QueryEscape(threadEvil), []string{"Save changes"}},
			{"", "/milestones", []string{threadEvil, "1 open", "0 closed"}},
			{"", "/milestones?state=closed", []string{"There are no closed milestones"}},
			{"", "/milestone/1", []string{threadEvil, "Renamed " + threadEvil, "1 open", "0% complete"}},
			{"sam", "/milestones/new", []string{"Due date"}},
			{"sam", "/milestones/1/edit", []string{"Save changes", threadEvil}},
		} {
			path := "/alice/garden" + c.path
			shows(t, path+" as "+c.as, page(t, s, c.as, path, 200), c.has...)
		}
		for _, path := range []string{"/dashboard/issues", "/dashboard/pulls", "/dashboard/filter/sort"} {
			threadInspect(t, path, page(t, s, "alice", path, 200))
			if a := page(t, s, "", path, 303); !strings.HasPrefix(a.Header.Get("Location"),
				"/login?return_to=") {
				t.Errorf("%s leads a stranger to %q", path, a.Header.Get("Location"))
			}
		}
		shows(t, "created", page(t, s, "alice", "/dashboard/issues", 200), "alice/garden",
			"Renamed "+threadEvil, "1 Open")
		shows(t, "assigned", page(t, s, "sam", "/dashboard/issues?q=is:open+assignee:sam", 200),
			"Renamed "+threadEvil)
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
			ids, _ := threadInspect(t, to, page(t, s, "", to, 200))
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
		threadPost(t, s, "stranger", "/stranger/own/preview", 200, "text", "alice/vault#1 and @alice")
		if a := threadPost(t, s, "stranger", "/stranger/own/preview", 200, "text",
			"alice/vault#1"); strings.Contains(string(a.Body), "<a") {
			t.Errorf("a preview links what its reader may not see: %s", a.Body)
		}
	})
}
