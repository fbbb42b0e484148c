//go:build long

package conformance

import (
	"strings"

	"bytes"
	"fmt"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// tracker: labels, milestones and issues in every state.
func (w *world) tracker() {
	w.do("alice", "POST "+garden+"/labels",
		`{"name": "wilting", "color": "ff0000", "description": "Needs water"}`)
	w.do("alice", "PATCH "+garden+"/labels/wilting", `{"new_name": "thirsty", "color": "00ff00"}`)
	w.do("alice", "POST "+garden+"/labels", `{"name": "gone"}`)
	w.do("", "GET "+garden+"/labels/gone")
	w.do("alice", "DELETE "+garden+"/labels/gone")
	w.do("", "GET "+garden+"/labels")
	for _, title := range []string{"Spring", "Summer", "Never"} {
		w.do("alice", "POST "+garden+"/milestones",
			fmt.Sprintf(`{"title": %q, "description": "Before it ends", "due_on": "2030-06-01T00:00:00Z"}`,
				title))
	}
	w.do("alice", "DELETE "+garden+"/milestones/3")

	// 1 has everything; 2 is closed; 3 is filed by a stranger; 4 is a duplicate.
	w.do("alice", "POST "+garden+"/issues",
		`{"title": "Roses wilt", "body": "Water **them**, @bob", "assignees": ["bob", "carol"], "milestone": 1, "labels": ["bug", "thirsty"]}`)
	w.do("alice", "POST "+garden+"/issues",
		`{"title": "Too many weeds", "body": "See #1", "milestone": 1, "assignees": ["alice"]}`)
	w.do("erin", "POST "+garden+"/issues", `{"title": "May I visit?"}`)
	w.do("bob", "POST "+garden+"/issues", `{"title": "Roses wilt, too"}`)
	w.do("alice", "PATCH "+garden+"/issues/4", `{"milestone": 2}`)
	w.do("bob", "PATCH "+garden+"/issues/4", `{"state": "closed", "state_reason": "not_planned"}`)
	w.do("alice", "PATCH "+garden+"/milestones/2", `{"state": "closed"}`)
	w.do("", "GET "+garden+"/milestones?state=all")
	w.do("", "GET "+garden+"/milestones/1")
	w.do("", "GET "+garden+"/milestones/2")
	w.do("alice", "PATCH "+garden+"/issues/2", `{"state": "closed"}`)
	w.do("alice", "PATCH "+garden+"/issues/1", `{"title": "The roses wilt", "state": "closed"}`)
	w.do("alice", "PATCH "+garden+"/issues/1", `{"state": "open"}`)
	w.do("alice", "PATCH "+garden+"/issues/1", `{"milestone": null}`)
	w.do("alice", "PATCH "+garden+"/issues/1", `{"milestone": 1}`)
	w.do("alice", "DELETE "+garden+"/issues/1/assignees", `{"assignees": ["carol"]}`)
	w.do("alice", "POST "+garden+"/issues/1/assignees", `{"assignees": ["alice"]}`)
	w.do("", "GET "+garden+"/issues/1/assignees/bob")
	w.do("alice", "POST "+garden+"/issues/1/labels", `{"labels": ["question", "help wanted"]}`)
	w.do("alice", "DELETE "+garden+"/issues/1/labels/question")
	w.do("", "GET "+garden+"/issues/1/labels")
	w.do("alice", "PUT "+garden+"/issues/3/labels", `{"labels": ["invalid"]}`)
	w.do("alice", "DELETE "+garden+"/issues/3/labels")
	w.do("", "GET "+garden+"/milestones/1/labels")
	w.do("", "GET "+garden+"/assignees")
	w.do("", "GET "+garden+"/assignees/bob")
	w.do("alice", "PUT "+garden+"/issues/2/lock", `{"lock_reason": "too heated"}`)
	w.do("", "GET "+garden+"/issues/2")
	w.do("alice", "DELETE "+garden+"/issues/2/lock")
	w.do("alice", "PUT "+garden+"/issues/2/lock", `{"lock_reason": "resolved"}`)
	for _, body := range []string{`{"subscribed": true}`, `{"subscribed": false}`} {
		w.Check(w.t, apitest.Case{Do: "PUT " + garden + "/issues/1/subscription", As: "carol", Send: body,
			Status: http.StatusOK})
	}
	w.Check(w.t, apitest.Case{Do: "DELETE " + garden + "/issues/1/subscription", As: "carol",
		Status: http.StatusNoContent})
	// A commit that names an issue; it is read a little later.
	w.do("alice", "PUT "+garden+"/contents/water.txt",
		`{"message": "Water, for #1\n\ncloses #4", "content": "d2V0Cg=="}`)
}

// comments: on issues, with every reaction.
func (w *world) comments() {
	one := w.do("bob", "POST "+garden+"/issues/1/comments",
		`{"body": "They *do*, @alice. See #3."}`).get("id")
	two := w.do("erin", "POST "+garden+"/issues/1/comments", `{"body": "Never mind"}`).get("id")
	w.do("bob", "PATCH "+garden+"/issues/comments/"+one, `{"body": "They **do**, @alice. See #3."}`)
	for _, content := range []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"} {
		w.do("bob", "POST "+garden+"/issues/1/reactions", fmt.Sprintf(`{"content": %q}`, content))
		w.do("carol", "POST "+garden+"/issues/comments/"+one+"/reactions",
			fmt.Sprintf(`{"content": %q}`, content))
	}
	// 200: it is there
	again := w.do("bob", "POST "+garden+"/issues/1/reactions", `{"content": "eyes"}`).get("id")
	w.do("", "GET "+garden+"/issues/1/reactions")
	w.do("bob", "DELETE "+garden+"/issues/1/reactions/"+again)
	w.do("", "GET "+garden+"/issues/comments/"+one+"/reactions")
	extra := w.do("bob", "POST "+garden+"/issues/comments/"+two+"/reactions",
		`{"content": "heart"}`).get("id")
	w.do("bob", "DELETE "+garden+"/issues/comments/"+two+"/reactions/"+extra)
	w.do("", "GET "+garden+"/issues/comments/"+one)
	for _, kind := range []string{"raw", "text", "html", "full"} {
		media := "application/vnd.github.v3." + kind + "+json"
		w.accept(media, "", "GET "+garden+"/issues/comments/"+one)
		w.accept(media, "", "GET "+garden+"/issues/1")
		w.accept(media, "", "GET "+garden+"/issues")
	}
	w.do("", "GET "+garden+"/issues/1/comments")
	w.do("alice", "PUT "+garden+"/issues/comments/"+one+"/pin")
	w.do("", "GET "+garden+"/issues/comments")
	w.do("erin", "DELETE "+garden+"/issues/comments/"+two)
	w.do("", "GET "+garden+"/issues/1")
}

// departures: an issue is transferred, pinned and unpinned, and a pull request is ready and a draft again,
// for which the API has no addresses.
func (w *world) departures() {
	who, err := w.Accounts.Find(w.t.Context(), "alice")
	testkit.NoError(w.t, err)
	access := func(r *repo.Repo) *repo.Access {
		return &repo.Access{Repo: r, Role: account.Admin,
			Caller: &account.Caller{ID: who.ID, Login: who.Login}}
	}
	from, to := access(w.Repo(w.t, "alice/lawn", false)), access(w.Repo(w.t, "alice/meadow", false))
	w.do("alice", "POST /repos/alice/lawn/issues", `{"title": "Moles"}`)
	ctx, issues := w.t.Context(), w.Forge.Issues
	if _, err = issues.Transfer(ctx, from, 1, issue.Transfer{To: to}); err == nil {
		if _, err = issues.Pin(ctx, to, 1); err == nil {
			_, err = issues.Unpin(ctx, to, 1)
		}
	}
	testkit.NoError(w.t, err)
	w.do("", "GET /repos/alice/meadow/issues/1/events")
	grass := w.Access(w.t, "alice", strings.TrimPrefix(garden, "/repos/"))
	for _, draft := range []bool{false, true} {
		testkit.NoError(w.t, w.Forge.Pulls.SetDraft(ctx, grass, 7, draft))
	}
	w.do("", "GET "+garden+"/issues/7/timeline?per_page=100")
}

// lists: what happened, what is found, and across repositories.
func (w *world) lists() {
	w.await("GET "+garden+"/issues/1/events?per_page=100", `"referenced"`)
	for _, n := range []string{"1", "2", "4", "5", "6", "7"} {
		w.do("", "GET "+garden+"/issues/"+n)
		w.do("", "GET "+garden+"/issues/"+n+"/events?per_page=100")
		w.do("", "GET "+garden+"/issues/"+n+"/timeline?per_page=100")
		w.accept("application/vnd.github.full+json", "", "GET "+garden+"/issues/"+n+"/timeline?per_page=100")
	}
	w.departures()
	event := w.do("", "GET "+garden+"/issues/events?per_page=100").get("0.id")
	w.do("", "GET "+garden+"/issues/events/"+event)
	w.do("alice", "POST /repos/orchard/apples/issues",
		`{"title": "Codling moths", "assignees": ["alice"], "labels": ["bug"]}`)
	w.do("", "GET "+garden+"/issues?state=all&per_page=100")
	for _, path := range []string{"/issues?filter=all&state=all", "/user/issues?filter=all&state=all",
		"/orgs/orchard/issues?filter=all", "/search/issues?q=roses",
		"/search/issues?q=is:pr+repo:alice/garden"} {
		w.do("alice", "GET "+path)
	}
}

// await reads until the answer holds a text.
func (w *world) await(do, text string) {
	w.t.Helper()
	testkit.Eventually(w.t, func() bool {
		return bytes.Contains(w.Do(w.t, apitest.Case{Do: do}).Body, []byte(text))
	}, do+" shows "+text)
}
