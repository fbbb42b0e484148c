package pages_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// issueJSON is what the API says of an issue.
type issueJSON struct {
	Title, State, Body string
	StateReason        string `json:"state_reason"`
	Locked             bool
	LockReason         string `json:"active_lock_reason"`
	Comments           int64
	Labels             []struct{ Name string }
	Assignees          []struct{ Login string }
	Milestone          *struct{ Number int64 }
	Reactions          struct {
		Heart int64
		Plus  int64 `json:"+1"`
	}
}

func (i *issueJSON) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s locked=%v%s comments=%d heart=%d", i.Title, i.State, i.StateReason, i.Locked,
		i.LockReason, i.Comments, i.Reactions.Heart)
	for _, l := range i.Labels {
		b.WriteString(" label=" + l.Name)
	}
	for _, a := range i.Assignees {
		b.WriteString(" to=" + a.Login)
	}
	if i.Milestone != nil {
		fmt.Fprintf(&b, " milestone=%d", i.Milestone.Number)
	}
	return b.String()
}

var graduated = map[string]string{"Accept": "application/vnd.github+json"}

// issue reads issue 1.
func issue(t *testing.T, s *apitest.Server, repo string) *issueJSON {
	t.Helper()
	i := &issueJSON{}
	s.Check(t, apitest.Case{Do: "GET /repos/" + repo + "/issues/1", As: "alice", Headers: graduated,
		Status: 200}).JSON(t, i)
	return i
}

// Each form of an issue works for permitted users. Others get an error, and nothing changes.
func TestForms(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		s.Repo(t, "alice/meadow", false)
		r := s.Repo(t, "alice/garden", false)
		s.Grant(t, r, "sam", account.Push)
		for _, send := range []string{`{"title": "Sun"}`, `{"title": "Moon"}`} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "rae", Send: send,
				Status: 201})
		}
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/milestones", As: "alice",
			Send: `{"title": "M"}`, Status: 201})
		const at = "/alice/garden/issues/1"
		for _, c := range []struct {
			path   string
			pairs  []string
			want   string // the issue afterwards
			author bool   // also allowed to the issue's author
			all    bool   // allowed to all signed-in users
		}{
			{"/comments", []string{"body", "One"}, "Sun open  locked=false comments=1 heart=0", true, true},
			{"/comments", []string{"body", "Two", "state", "not_planned"},
				"Sun closed not_planned locked=false comments=2 heart=0", true, false},
			{"/state", []string{"state", "open"}, "Sun open reopened locked=false comments=2 heart=0",
				true, false},
			{"/comments", []string{"body", " ", "state", "completed"},
				"Sun closed completed locked=false comments=2 heart=0", true, false},
			{"/edit", []string{"title", "Rain", "was", named("Sun")},
				"Rain closed completed locked=false comments=2 heart=0", true, false},
			{"/labels", []string{"label", "bug", "more", "wet, cold"},
				"Rain closed completed locked=false comments=2 heart=0 label=bug label=wet label=cold",
				false, false},
			{"/labels", []string{"label", "bug"},
				"Rain closed completed locked=false comments=2 heart=0 label=bug", false, false},
			{"/assignees", []string{"assignee", "alice"},
				"Rain closed completed locked=false comments=2 heart=0 label=bug to=alice", false, false},
			{"/assignees", []string{"me", "1"},
				"Rain closed completed locked=false comments=2 heart=0 label=bug to=alice to=sam",
				false, false},
			{"/milestone", []string{"milestone", "1"},
				"Rain closed completed locked=false comments=2 heart=0 label=bug to=alice to=sam milestone=1",
				false, false},
			{"/milestone", nil, "Rain closed completed locked=false comments=2 heart=0 label=bug to=alice to=sam", false, false},
			{"/assignees", nil, "Rain closed completed locked=false comments=2 heart=0 label=bug",
				false, false},
			{"/reactions", []string{"content", "heart", "comment", "0"},
				"Rain closed completed locked=false comments=2 heart=1 label=bug", true, true},
			{"/reactions", []string{"content", "heart"},
				"Rain closed completed locked=false comments=2 heart=0 label=bug", true, true},
			{"/comments/1/delete", nil, "Rain closed completed locked=false comments=1 heart=0 label=bug",
				false, false},
			{"/lock", []string{"reason", "spam"},
				"Rain closed completed locked=truespam comments=1 heart=0 label=bug", false, false},
			{"/lock", []string{"unlock", "1"},
				"Rain closed completed locked=false comments=1 heart=0 label=bug", false, false},
		} {
			before := issue(t, s, "alice/garden").String()
			refuse := func(as string, status int) {
				t.Helper()
				post(t, s, as, at+c.path, status, c.pairs...)
				if after := issue(t, s, "alice/garden").String(); after != before {
					t.Errorf("%s changed %s by %s: %s", as, before, c.path, after)
				}
			}
			if a := post(t, s, "", at+c.path, 303,
				c.pairs...); !strings.HasPrefix(a.Header.Get("Location"), "/login") {
				t.Errorf("%s leads a stranger to %q", c.path, a.Header.Get("Location"))
			}
			if !c.all && len(c.pairs) != 4 { // a comment that also closes is a comment at least
				refuse("stranger", 403)
			}
			if !c.author {
				// the API leaves these fields out
				if c.path != "/assignees" && c.path != "/milestone" && c.path != "/comments/1/delete" {
					refuse("rae", 403)
				}
			}
			a := post(t, s, "sam", at+c.path, 303, append(c.pairs, "return_to", at+"?page=1")...)
			if to := a.Header.Get("Location"); !strings.HasPrefix(to, at+"?page=1") {
				t.Errorf("%s leads to %q", c.path, to)
			}
			if got := issue(t, s, "alice/garden").String(); got != c.want {
				t.Errorf("%s %v: %s, want %s", c.path, c.pairs, got, c.want)
			}
		}
		// What somebody reacted is marked for them alone.
		post(t, s, "sam", at+"/reactions", 303, "content", "rocket", "comment", "2")
		post(t, s, "sam", at+"/reactions", 303, "content", "eyes")
		for as, want := range map[string]int{"sam": 2, "rae": 0} {
			if n := strings.Count(string(page(t, s, as, at, 200).Body), `aria-pressed="true"`); n != want {
				t.Errorf("%s sees %d own reactions, want %d", as, n, want)
			}
		}
		post(t, s, "sam", at+"/reactions", 303, "content", "eyes")
		// The pin, the subscription, the transfer and the deletion.
		post(t, s, "sam", at+"/state", 303, "state", "open")
		post(t, s, "rae", at+"/pin", 403)
		post(t, s, "sam", at+"/pin", 303)
		if a := page(t, s, "", "/alice/garden/issues", 200); !strings.Contains(string(a.Body),
			`aria-label="Pinned issues"`) {
			t.Error("the list shows no pinned issue")
		}
		shows(t, "a pinned issue", page(t, s, "sam", at, 200), "Unpin issue", "pinned this issue")
		post(t, s, "sam", at+"/pin", 303, "off", "1")
		shows(t, "an issue", page(t, s, "sam", at, 200), "Pin issue")
		post(t, s, "stranger", at+"/subscription", 303)
		shows(t, "subscribed", page(t, s, "stranger", at, 200), "Unsubscribe")
		post(t, s, "stranger", at+"/subscription", 303, "off", "1")
		shows(t, "unsubscribed", page(t, s, "stranger", at, 200), "You are not subscribed to")
		post(t, s, "rae", at+"/transfer", 403, "to", "meadow")
		a := post(t, s, "alice", at+"/transfer", 422, "to", "nothing/there")
		shows(t, "transfer", a, "No repository of that name")
		if !strings.Contains(string(a.Body), `value="nothing/there"`) {
			t.Error("what was typed is lost")
		}
		if a := post(t, s, "alice", at+"/transfer", 303, "to", "meadow", "labels",
			"1"); a.Header.Get("Location") != "/alice/meadow/issues/1" {
			t.Errorf("a transfer leads to %q", a.Header.Get("Location"))
		}
		const other = "/alice/garden/issues/2"
		for _, as := range []string{"stranger", "rae", "sam"} {
			post(t, s, as, other+"/delete", 403)
		}
		post(t, s, "alice", other+"/delete", 303)
		page(t, s, "alice", other, 410)
		for _, evil := range []string{"https://example.org/", "//example.org", "/\\example.org",
			"javascript:alert(1)"} {
			a := post(t, s, "sam", "/alice/meadow/issues/1/reactions", 303, "content", "heart",
				"return_to", evil)
			if to := a.Header.Get("Location"); !strings.HasPrefix(to, "/alice/meadow/issues/1") {
				t.Errorf("return_to=%s leads to %q", evil, to)
			}
		}
	})
}

// What cannot be taken is shown again with what was typed, and what to mend.
func TestWrongForms(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		long := strings.Repeat("x", 70_000)
		for _, c := range []struct {
			path  string
			pairs []string
			kept  string
		}{
			{"/issues", []string{"title", "", "body", "typed " + evil}, "typed " + evil},
			{"/issues", []string{"title", strings.Repeat("t", 300), "body", "typed"}, "typed"},
			{"/issues/1/comments", []string{"body", long}, long},
			{"/issues/1/comments", []string{"body", " "}, "Your comment"},
			{"/issues/1/comments/1", []string{"body", ""}, "Update comment"},
			{"/issues/1/edit", []string{"title", ""}, "Title"},
			{"/labels", []string{"name", "bug", "color", "zzz"}, "New label"},
			{"/labels", []string{"name", "x", "color", "#12", "was", evil}, "Save changes"},
			{"/milestones", []string{"title", "", "description", "typed"}, "typed"},
			{"/milestones", []string{"title", "M", "due", "soon"}, "New milestone"},
			{"/milestones/1", []string{"title", "", "description", "typed"}, "typed"},
		} {
			path := "/alice/garden" + c.path
			a := post(t, s, "sam", path, 422, c.pairs...)
			shows(t, path, a, c.kept)
			if !strings.Contains(string(a.Body), `role="alert"`) {
				t.Errorf("%s does not say what is wrong", path)
			}
		}
		a := page(t, s, "", "/alice/garden/issues?q="+url.QueryEscape(`is:nonsense "><i>`), 422)
		inspect(t, "a wrong search", a)
		if !strings.Contains(string(a.Body), `value="is:nonsense &#34;&gt;&lt;i&gt;"`) ||
			!strings.Contains(string(a.Body), `role="alert"`) {
			t.Errorf("a wrong search is not shown again: %s", a.Body)
		}
		for _, c := range []struct {
			path  string
			pairs []string
		}{
			{"/issues/1/reactions", []string{"content", "nonsense"}},
			{"/issues/1/lock", []string{"reason", "nonsense"}},
			{"/issues/bulk", []string{"do", "open"}},
			{"/issues/bulk", []string{"do", "nonsense", "number", "1"}},
			{"/issues/1/milestone", []string{"milestone", "99"}},
			{"/issues/1/assignees", []string{"assignee", "nobody-here"}},
		} {
			post(t, s, "sam", "/alice/garden"+c.path, 422, c.pairs...)
		}
		post(t, s, "sam", "/alice/garden/issues/1/comments/1/delete", 303)
		s.Check(t, apitest.Case{Do: "POST /alice/garden/issues/1/comments", As: "sam", Send: `{"body": "x"}`,
			Headers: inBrowser, Status: 415})
	})
}

// An archived repository cannot be changed, and a locked conversation only with push access.
func TestArchivedAndLocked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		const at = "/alice/garden/issues/1"
		post(t, s, "alice", at+"/lock", 303)
		locked := page(t, s, "rae", at, 200)
		shows(t, at, locked, "This conversation is locked")
		lacks(t, at, locked, `id="new-comment"`, "data-edit")
		post(t, s, "rae", at+"/comments", 403, "body", "kept")
		post(t, s, "sam", at+"/comments", 303, "body", "x")
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": true}`,
			Status: 200})
		for _, as := range []string{"alice", "sam", "rae"} {
			a := page(t, s, as, at, 200)
			shows(t, at, a, "This repository is archived")
			lacks(t, at+" as "+as, a, `id="new-comment"`, "data-edit", `action="/alice/garden/issues/1/lock`,
				`class="task"`, "Delete issue", "Pin issue")
			lacks(t, "the list as "+as, page(t, s, as, "/alice/garden/issues", 200), `id="bulk"`,
				">New issue<")
			lacks(t, "the labels as "+as, page(t, s, as, "/alice/garden/labels", 200), "New label")
			for path, pairs := range map[string][]string{at + "/comments": {"body", "x"},
				at + "/edit": {"title", "x"}, at + "/state": {"state", "closed"},
				at + "/labels": {"label", "bug"}, at + "/reactions": {"content", "heart"},
				"/alice/garden/issues":      {"title", "x"},
				"/alice/garden/labels":      {"name", "x", "color", "ff0000"},
				"/alice/garden/milestones":  {"title", "x"},
				"/alice/garden/issues/bulk": {"number", "1", "do", "completed"}} {
				post(t, s, as, path, 403, pairs...)
			}
		}
	})
}

// named is the guard of a title, as forms have it.
func named(title string) string {
	sum := sha256.Sum256([]byte(title))
	return hex.EncodeToString(sum[:9])
}

// What two people write at one time into one text is not lost: the second one sees what the first one wrote.
func TestTextsChangedMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		const at = "/alice/garden/issues/1"
		guard := func(path string) string {
			t.Helper()
			_, rest, _ := strings.Cut(string(page(t, s, "sam", path, 200).Body), `name="guard" value="`)
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
		titleIn := func(a *apitest.Answer) string {
			_, rest, _ := strings.Cut(string(a.Body), `name="was" value="`)
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
		was := titleIn(page(t, s, "sam", at+"/edit?only=title", 200))
		post(t, s, "alice", at+"/edit", 303, "title", "Alice's title", "was", was)
		a := post(t, s, "sam", at+"/edit", 409, "title", "Sam's title", "was", was)
		for _, want := range []string{`value="Alice&#39;s title" readonly`, `value="Sam&#39;s title"`,
			"Somebody changed this text"} {
			if !strings.Contains(string(a.Body), want) {
				t.Errorf("%s is not in %s", want, a.Body)
			}
		}
		post(t, s, "sam", at+"/edit", 409, "title", "Sam's title") // made by no form
		both := post(t, s, "sam", at+"/edit", 409, "title", "Sam's title", "body", "x", "was", was, "guard",
			guard(at+"/edit"))
		lacks(t, "only the title was changed", both, "Current text")
		post(t, s, "sam", at+"/edit", 303, "title", "Sam's title", "was", titleIn(a))
		for _, path := range []string{at + "/edit", at + "/comments/1"} {
			post(t, s, "sam", path, 409, "body", "made by no form")
			seen := guard(path)
			if len(seen) != 18 {
				t.Fatalf("%s: guard %q", path, seen)
			}
			post(t, s, "alice", path, 303, "body", "first "+path, "guard", seen)
			a := post(t, s, "sam", path, 409, "body", "second", "guard", seen)
			shows(t, path, a, "first "+path, "second", "Somebody changed this text")
			_, rest, _ := strings.Cut(string(a.Body), `name="guard" value="`)
			fresh, _, _ := strings.Cut(rest, `"`)
			post(t, s, "sam", path, 303, "body", "both", "guard", fresh)
			shows(t, path, page(t, s, "sam", path, 200), "both")
		}
	})
}

// Users who may edit a text can toggle its tasks. Nothing else changes, and concurrent edits are kept.
func TestTasks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		s.Repo(t, "alice/garden", false)
		const text = "Intro\r\n\r\n- [ ] one\r\n- [x] two [ ]\r\n  1. [X] *three*\r\n\r\n> - [ ] four\r\n\r\n    - [ ] code\r\n"
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "rae",
			Send: threadObject("title", "x", "body", text), Status: 201})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "rae",
			Send: threadObject("body", "- [ ] a\n- <input type=checkbox> b"), Status: 201})
		const at = "/alice/garden/issues/1"
		a := page(t, s, "rae", at, 200)
		if n := strings.Count(string(a.Body), `role="checkbox"`); n != 4 {
			t.Fatalf("%d tasks can be ticked, want 4 (none of a text where boxes are no tasks): %s", n,
				a.Body)
		}
		lacks(t, at, page(t, s, "stranger", at, 200), `role="checkbox"`)
		_, rest, _ := strings.Cut(string(a.Body), `name="guard" value="`)
		guard, _, _ := strings.Cut(rest, `"`)
		post(t, s, "stranger", at+"/tasks", 403, "comment", "0", "task", "0", "guard", guard)
		post(t, s, "rae", at+"/tasks", 409, "comment", "0", "task", "9", "guard", guard)
		post(t, s, "rae", at+"/tasks", 303, "comment", "0", "task", "2", "guard", guard)
		if got, want := issue(t, s, "alice/garden").Body, strings.Replace(text, "[X] *three*", "[ ] *three*",
			1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		post(t, s, "rae", at+"/tasks", 409, "comment", "0", "task", "0", "guard", guard)

		// A task's checkbox is labeled with its text, without markup.
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "rae", Status: 201,
			Send: threadObject("title", "x", "body", "- [ ] \" autofocus onfocus=alert(1) x=\"")})
		const named = "/alice/garden/issues/2"
		shows(t, named, page(t, s, "rae", named, 200), `" autofocus onfocus=alert(1) x="`)
	})
}

// A long conversation is shown by its beginning and its end; each comment is in one of its parts, and no page
// costs more statements than a short one.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var statements atomic.Int64
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
				Trace: func(ctx context.Context, _ string) {
					if account.CallerFrom(ctx) != nil { // background work has no caller
						statements.Add(1)
					}
				}})
		})
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		const at, most = "/alice/garden/issues/1", 27 // one is the mark for live updates
		count := func(path string) int64 {
			t.Helper()
			least := int64(1 << 30)                            // without background work
			for n := 0; n < 4 || n < 30 && least > most; n++ { // there is more background work on a busy machine
				// Somebody changes something, so that nothing is kept.
				s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice",
					Send: threadObject("description", fmt.Sprint(path, n)), Status: 200})
				s.Settle(t)
				statements.Store(0)
				page(t, s, "alice", fmt.Sprint(path, "?x=", n), 200)
				least = min(least, statements.Load())
			}
			return least
		}
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "sam",
			Send: threadObject("body", "The first. #2 @alice"), Status: 201})
		few, list := count(at), count("/alice/garden/issues")
		for n := range 120 {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "sam",
				Send: threadObject("body", fmt.Sprintf("said %d. #2 @alice", n)), Status: 201})
		}
		for n := range 30 {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "sam",
				Send: threadObject("title", fmt.Sprint("Issue ", n), "labels", []string{"bug"}), Status: 201})
		}
		many, longer := count(at), count("/alice/garden/issues")
		t.Logf("%s: an issue %d statements, a long one %d; a list %d, a longer one %d", engine, few, many,
			list, longer)
		if max(few, many, list, longer) > most || many > few+1 || longer > list {
			t.Errorf("an issue costs %d statements, a long one %d; a list %d, a longer one %d", few, many,
				list, longer)
		}
		whole := page(t, s, "", at, 200)
		shows(t, at, whole, "said 0", "said 119", "Load more")
		lacks(t, at, whole, "said 60.")
		seen := string(whole.Body) + string(page(t, s, "", at+"?page=2", 200).Body)
		for n := range 120 {
			if !strings.Contains(seen, fmt.Sprintf("said %d.", n)) {
				t.Errorf("comment %d is on no page", n)
			}
		}
		first := page(t, s, "", "/alice/garden/issues", 200)
		shows(t, "the list", first, "31 Open", "Issue 29")
		lacks(t, "the list", first, "Issue 4<")
		shows(t, "its second page", page(t, s, "", "/alice/garden/issues?page=2", 200), "Issue 4", "31 Open")
	})
}

// A form changes only the fields that a user changed, and keeps concurrent changes of the others.
func TestFieldsChangedMeanwhile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		s.Repo(t, "alice/garden", false)
		s.Org(t, "orchard", "alice")
		do := func(what, send string, status int) *apitest.Answer {
			t.Helper()
			return s.Check(t, apitest.Case{Do: what, As: "alice", Send: send, Status: status})
		}
		do("POST /repos/alice/garden/milestones",
			`{"title": "M", "description": "old", "due_on": "2030-01-02T00:00:00Z"}`, 201)
		do("POST /repos/alice/garden/labels", `{"name": "wet", "color": "aa0000", "description": "old"}`, 201)
		for _, c := range []struct {
			form, to string
			send     []string // the first one is what alice changes
			api      string   // a concurrent change
			body     string
			want     string
		}{
			{"/alice/garden/milestones/1/edit", "/alice/garden/milestones/1",
				[]string{"title", "New", "description", "old", "due", "2030-01-02"},
				"PATCH /repos/alice/garden/milestones/1", `{"description": "newer"}`,
				`"title":"New","description":"newer"`},
			{"/alice/garden/labels?edit=wet", "/alice/garden/labels",
				[]string{"color", "#00bb00", "name", "wet", "description", "old", "was", "wet"},
				"PATCH /repos/alice/garden/labels/wet", `{"description": "newer"}`,
				`"color":"00bb00","default":false,"description":"newer"`},
			{"/alice/garden/settings", "/alice/garden/settings",
				[]string{"homepage", "https://a.example", "do", "details", "name", "garden",
					"default_branch", "main", "has_issues", "1"}, "PATCH /repos/alice/garden",
				`{"description": "newer"}`, `"description":"newer"`},
			{"/settings/profile", "/settings/profile", []string{"bio", "I dig"}, "PATCH /user",
				`{"company": "newer"}`, `"company":"newer"`},
			{"/orgs/orchard/settings", "/orgs/orchard/settings",
				[]string{"name", "Trees", "default_repository_permission", "read", "private_forks", "1"},
				"PATCH /orgs/orchard", `{"location": "newer"}`, `"location":"newer"`},
		} {
			_, rest, _ := strings.Cut(string(page(t, s, "alice", c.form, 200).Body), `name="shown" value="`)
			shown, _, found := strings.Cut(rest, `"`)
			if !found || shown == "" {
				t.Fatalf("%s does not say what it shows", c.form)
			}
			do(c.api, c.body, 200)
			post(t, s, "alice", c.to, 303, append(c.send, "shown", shown)...)
			now := string(do("GET"+strings.TrimPrefix(c.api, "PATCH"), "", 200).Body)
			if !strings.Contains(strings.ReplaceAll(now, ": ", ":"), c.want) {
				t.Errorf("%s: %s, want %s", c.form, now, c.want)
			}
			if value := strings.TrimPrefix(c.send[1], "#"); !strings.Contains(now, value) {
				t.Errorf("%s: %s is not in %s", c.form, value, now)
			}
		}
	})
}
