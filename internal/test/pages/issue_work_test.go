package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// Somebody finds issues by all that the language of searches has, and the menus lead to what they say.
func TestLists(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		for _, send := range []string{threadObject("title", "Slugs eat it", "labels", []string{"bug"}),
			threadObject("title", "Snails", "labels", []string{"good first issue"}, "milestone", 1),
			threadObject("title", "Moles")} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "sam", Send: send,
				Status: 201})
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/issues/5", As: "sam",
			Send: `{"state": "closed"}`, Status: 200})
		s.Settle(t)
		list := func(as, q string) string {
			_, text := inspect(t, q, page(t, s, as, "/alice/garden/issues?q="+url.QueryEscape(q), 200))
			return text
		}
		for _, c := range []struct {
			q         string
			has, lack string
		}{
			{"slugs", "Slugs eat it", "Snails"},
			{"is:closed", "Moles", "Snails"},
			{"is:open author:sam", "Snails", "Renamed"},
			{`label:"good first issue"`, "Snails", "Slugs"},
			{page1(evil), "Snails", "Slugs"},
			{"slugs OR snails sort:created-asc", "Slugs eat it", "Moles"},
			{"", "Moles", "Nothing matches"},
			{"no:label is:issue", "Moles", "Slugs"},
		} {
			text := list("", c.q)
			if !strings.Contains(text, c.has) || strings.Contains(text, c.lack) {
				t.Errorf("%q: %s", c.q, text)
			}
		}
		if text := list("", "is:issue is:open"); !strings.Contains(text, "3 Open") ||
			!strings.Contains(text, "1 Closed") {
			t.Errorf("counts: %s", text)
		}
		// The menu of labels leads to a list with the label, and back.
		menu := string(page(t, s, "", "/alice/garden/issues/filter/label?q=is:open&at=/alice/garden/pulls",
			200).Body)
		if !strings.Contains(menu, `href="/alice/garden/pulls?q=is%3Aopen&#43;label%3Abug"`) &&
			!strings.Contains(menu, `href="/alice/garden/pulls?q=is%3Aopen+label%3Abug"`) {
			t.Errorf("the menu does not lead on: %s", menu)
		}
		if menu := string(page(t, s, "", "/alice/garden/issues/filter/label?at=https://example.org/",
			200).Body); strings.Contains(menu, "example.org/?q") {
			t.Error("a menu leads away")
		}
		// Several at once.
		const bulk = "/alice/garden/issues/bulk"
		post(t, s, "rae", bulk, 403, "number", "3", "do", "completed")
		post(t, s, "sam", bulk, 303, "number", "3", "number", "4", "do", "completed")
		if text := list("sam", "is:issue is:open"); !strings.Contains(text, "1 Open") {
			t.Errorf("closed: %s", text)
		}
		shows(t, bulk, post(t, s, "sam", bulk, 200, "number", "3", "number", "4", "do", "sort"),
			"Sort 2 issues", "bug")
		post(t, s, "sam", bulk, 303, "number", "3", "number", "4", "do", "apply", "label", "wontfix",
			"assignee", "alice", "milestone", "1")
		if text := list("", "label:wontfix assignee:alice"); !strings.Contains(text, "Slugs") ||
			!strings.Contains(text, "Snails") {
			t.Errorf("sorted: %s", text)
		}
	})
}

// page1 is the search for what is in a milestone.
func page1(title string) string {
	return `milestone:"` + strings.ReplaceAll(title, `"`, `\"`) + `" author:sam`
}

// A new issue is prefilled from the address or a template, and labels require the right.
func TestNewIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		h := &history{}
		h.commit("main", "", "Add templates", ".github/ISSUE_TEMPLATE/config.yml", "x",
			".github/ISSUE_TEMPLATE/bug_report.md",
			"---\nname: Bug\nabout: It fails\ntitle: \"Bug: \"\nlabels: bug, 'help wanted'\nassignees:\n  - sam\n---\n\n## What <happened>\n")
		s.Grant(t, h.into(t, s, "alice/garden", false), "sam", account.Push)
		const at = "/alice/garden/issues/new"
		first := page(t, s, "rae", at, 200)
		shows(t, at, first, "Bug", "It fails", "Open a blank issue")
		lacks(t, at, first, "config", "<textarea")
		filled := string(page(t, s, "sam", at+"?template=bug_report.md", 200).Body)
		for _, part := range []string{`value="Bug: "`, "## What &lt;happened&gt;", `value="bug" checked`,
			`value="help wanted" checked`, `value="sam" checked`} {
			if !strings.Contains(filled, part) {
				t.Errorf("the form has no %s: %s", part, filled)
			}
		}
		for _, name := range []string{"nothing.md", "../../README.md", "..", "blank", "config.yml"} {
			page(t, s, "sam", at+"?template="+url.QueryEscape(name), 200)
		}
		lacks(t, at, page(t, s, "rae", at+"?title=x&labels=bug", 200), `name="label"`)
		a := post(t, s, "rae", "/alice/garden/issues", 303, "title", "By a reader", "body", "one\r\ntwo",
			"label", "bug")
		if a.Header.Get("Location") != "/alice/garden/issues/1" {
			t.Errorf("leads to %v", a.Header)
		}
		if i := issue(t, s, "alice/garden"); len(i.Labels) != 0 || i.Body != "one\ntwo" {
			t.Errorf("made %+v", i)
		}
		post(t, s, "sam", "/alice/garden/issues", 303, "title", "By a writer", "label", "bug",
			"assignee", "sam")
		shows(t, "issue 2", page(t, s, "", "/alice/garden/issues/2", 200), "By a writer", "bug", "sam")
	})
}

// Labels and milestones are created, changed and deleted with push access.
func TestLabelsAndMilestones(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		s.Grant(t, s.Repo(t, "alice/garden", false), "sam", account.Push)
		const at = "/alice/garden"
		for path, pairs := range map[string][]string{"/labels": {"name", "x", "color", "ff0000"},
			"/milestones": {"title", "x"}} {
			post(t, s, "rae", at+path, 403, pairs...)
			post(t, s, "", at+path, 303, pairs...)
		}
		lacks(t, "labels", page(t, s, "rae", at+"/labels", 200), "New label", ">Edit<")
		lacks(t, "milestones", page(t, s, "rae", at+"/milestones", 200), "New milestone", ">Edit<")
		post(t, s, "sam", at+"/labels", 303, "name", "slugs / ?", "color", "#AABBCC",
			"description", "They eat")
		shows(t, "labels", page(t, s, "sam", at+"/labels", 200), "slugs / ?", "They eat")
		post(t, s, "sam", at+"/labels", 303, "was", "slugs / ?", "name", "snails", "color", "#001122",
			"description", "")
		s.Check(t, apitest.Case{Do: "GET /repos" + at + "/labels/snails", Status: 200,
			Want: `{"color": "001122"}`})
		post(t, s, "sam", at+"/labels", 303, "was", "snails", "delete", "1")
		s.Check(t, apitest.Case{Do: "GET /repos" + at + "/labels/snails", Status: 404})
		if a := post(t, s, "sam", at+"/milestones", 303, "title", "Spring", "due", "2030-03-20",
			"description", "All"); a.Header.Get("Location") != at+"/milestone/1" {
			t.Errorf("leads to %v", a.Header)
		}
		shows(t, "milestone", page(t, s, "", at+"/milestone/1", 200), "Spring", "Due by 20 March 2030", "All",
			"created now by sam")
		if a := page(t, s, "sam", at+"/milestones/1/edit", 200); !strings.Contains(string(a.Body),
			`value="2030-03-20"`) {
			t.Error("the form has not the day")
		}
		post(t, s, "sam", at+"/milestones/1", 303, "title", "Summer", "due", "")
		post(t, s, "sam", at+"/milestones/1", 303, "do", "closed")
		shows(t, "closed", page(t, s, "", at+"/milestones?state=closed", 200), "Summer", "No due date")
		post(t, s, "rae", at+"/milestones/1", 403, "do", "delete")
		post(t, s, "sam", at+"/milestones/1", 303, "do", "delete")
		page(t, s, "", at+"/milestone/1", 404)
	})
}

// The editor previews as texts will be shown, and completes people and issues.
func TestAssistance(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		s.Settle(t)
		const at = "/alice/garden"
		shown := post(t, s, "rae", at+"/preview", 200, "text", "**bold** #1 @sam "+threadEvilBody)
		inspect(t, "preview", shown)
		for _, part := range []string{"<strong>bold</strong>", at + "/issues/1", `/sam"`} {
			if !strings.Contains(string(shown.Body), part) {
				t.Errorf("the preview has no %s: %s", part, shown.Body)
			}
		}
		for q, want := range map[string]string{"@sa": "sam", "@": "alice", "@stra": "stranger",
			"#1": "#1 Issue " + evil, "#pull": "#2 Pull " + evil} {
			shows(t, q, page(t, s, "rae", at+"/suggest?q="+url.QueryEscape(q), 200), want)
		}
		for _, q := range []string{"", "x", "@\"><", "#99", "#\"):(nothing", "@" + strings.Repeat("a", 99),
			"#is:private"} {
			if a := page(t, s, "", at+"/suggest?q="+url.QueryEscape(q), 200); strings.Contains(string(a.Body),
				"<li") && q != "@\"><" {
				t.Errorf("%q: %s", q, a.Body)
			}
		}
		quoted := page(t, s, "rae", at+"/issues/1?quote=1", 200)
		if !strings.Contains(string(quoted.Body), "&gt; **bold**") {
			t.Error("the comment is not quoted")
		}
		page(t, s, "rae", at+"/issues/1?quote=99", 200)
	})
}
