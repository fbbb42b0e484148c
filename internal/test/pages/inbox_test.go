package pages_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

const inboxAt = "/dashboard/notifications"

// inboxPlant creates issues with bob as a participant, and notifies people.
func inboxPlant(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "bob", "sam")
	for _, name := range []string{"plot", "shed"} {
		s.Repo(t, "alice/"+name, name == "shed")
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/" + name + "/collaborators/bob", As: "alice",
			Send: `{"permission": "push"}`, Status: 204})
		body, _ := json.Marshal(map[string]any{"title": name + " " + evil, "body": "@bob look"})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/" + name + "/issues", As: "alice", Send: string(body),
			Status: 201})
	}
	s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/issues/1/comments", As: "alice",
		Send: `{"body": "@bob again"}`, Status: 201})
	s.Settle(t)
}

// threads are the ids of bob's threads, by repository.
func threads(t *testing.T, s *apitest.Server) map[string]string {
	t.Helper()
	var list []struct {
		ID         string
		Repository struct{ Name string }
	}
	s.Check(t, apitest.Case{Do: "GET /notifications?all=true", As: "bob", Status: 200}).JSON(t, &list)
	ids := map[string]string{}
	for _, thread := range list {
		ids[thread.Repository.Name] = thread.ID
	}
	return ids
}

// A user is notified, sees why, and opens the subject, which marks the thread as read.
func TestInbox(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		inboxPlant(t, s)
		s.Visit(t, "", "GET "+inboxAt).Leads(t, "/login?return_to=%2Fdashboard%2Fnotifications")
		s.Visit(t, "sam", "GET "+inboxAt).Shows(t, 200, "All read", "!plot")
		s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, "plot "+evil, "shed", "you were mentioned",
			"Notifications, some unread")
		s.Visit(t, "bob", "GET "+inboxAt+"?repo=alice/plot").Shows(t, 200, "plot", "!shed "+evil,
			"Mark these as read")
		s.Visit(t, "bob", "GET "+inboxAt+"?repo=alice/none").Shows(t, 404)
		ids := threads(t, s)
		var comments []struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/issues/1/comments", Status: 200}).JSON(t,
			&comments)
		open := s.Visit(t, "bob", "GET "+inboxAt+"/"+ids["plot"])
		open.Leads(t, fmt.Sprintf("/alice/plot/issues/1#issuecomment-%d", comments[0].ID))
		s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, "!plot "+evil, "shed")
		s.Visit(t, "bob", "GET "+inboxAt+"?box=all").Shows(t, 200, "plot "+evil, "shed")
		s.Visit(t, "bob", "GET "+inboxAt+"?box=participating").Shows(t, 200, "plot "+evil)
		s.Visit(t, "sam", "GET "+inboxAt+"/"+ids["plot"]).Shows(t, 404)
		s.Visit(t, "bob", "GET "+inboxAt+"/x").Shows(t, 404)
	})
}

// A link of another site, a picture, and a browser that looks ahead, mark nothing as read; who goes there
// does.
func TestOnlyPeopleOpen(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	inboxPlant(t, s)
	id := threads(t, s)["shed"]
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Purpose": "prefetch",
		"Sec-Fetch-Dest": "image"} {
		a := s.Do(t, apitest.Case{Do: "GET " + inboxAt + "/" + id, As: "bob",
			Headers: map[string]string{"Accept": apitest.Browser, name: value}})
		a.Leads(t, "/alice/shed/issues/1")
		s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, "shed "+evil)
	}
	person := map[string]string{"Accept": apitest.Browser, "Sec-Fetch-Site": "same-origin",
		"Sec-Fetch-Dest": "document"}
	s.Do(t, apitest.Case{Do: "GET " + inboxAt + "/" + id, As: "bob", Headers: person}).Leads(t,
		"/alice/shed/issues/1")
	s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, "!shed "+evil)
}

// Selected threads are marked as read, done or unsubscribed, in one form or with their own buttons.
func TestActs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		inboxPlant(t, s)
		ids := threads(t, s)
		s.Visit(t, "bob", "POST "+inboxAt, "action", "read", "thread", ids["plot"], "thread", ids["shed"],
			"return_to", inboxAt+"?box=all").Leads(t, inboxAt+"?box=all")
		s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, "All read")
		s.Visit(t, "bob", "POST "+inboxAt, "one", "done", "of", ids["plot"], "return_to",
			"https://evil.example").Leads(t, inboxAt)
		s.Visit(t, "bob", "GET "+inboxAt+"?box=all").Shows(t, 200, "!plot "+evil, "shed")
		s.Visit(t, "bob", "POST "+inboxAt, "one", "mute", "of", ids["shed"]).Leads(t, inboxAt)
		s.Check(t, apitest.Case{Do: "GET /notifications/threads/" + ids["shed"] + "/subscription", As: "bob",
			Status: 200, Want: `{"ignored": true}`})
		s.Visit(t, "bob", "POST "+inboxAt, "action", "unsubscribe", "thread", ids["shed"]).Leads(t, inboxAt)
		s.Check(t, apitest.Case{Do: "GET /notifications/threads/" + ids["shed"] + "/subscription", As: "bob",
			Status: 404})
		s.Visit(t, "bob", "POST "+inboxAt, "action", "dance", "thread", ids["shed"]).Shows(t, 422)
		s.Visit(t, "bob", "POST "+inboxAt, "action", "read", "thread", "../x").Shows(t, 404)
		s.Visit(t, "sam", "POST "+inboxAt, "action", "done", "thread", ids["shed"]).Shows(t, 404)
		many := []string{"action", "read"}
		for range 26 {
			many = append(many, "thread", ids["shed"])
		}
		s.Visit(t, "bob", "POST "+inboxAt, many...).Shows(t, 422, "at most 25")
		s.Visit(t, "", "POST "+inboxAt, "action", "read-all").Leads(t, "/login")
	})
}

// What was told after the page was made is not marked with the rest.
func TestReadAll(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		inboxPlant(t, s)
		s.Visit(t, "bob", "POST "+inboxAt, "action", "read-all", "until", "2001-01-01T00:00:00Z").Leads(t, inboxAt)
		s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, "plot "+evil)
		s.Visit(t, "bob", "POST "+inboxAt, "action", "read-all", "repo", "alice/plot").Leads(t, inboxAt)
		s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, "!plot "+evil, "shed "+evil)
		s.Visit(t, "bob", "POST "+inboxAt, "action", "read-all", "until", "no time").Shows(t, 422)
		s.Visit(t, "bob", "POST "+inboxAt, "action", "read-all").Leads(t, inboxAt)
		s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, "All read")
	})
}

// A thread about what its reader may not see any more is on no page.
func TestHidden(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		inboxPlant(t, s)
		id := threads(t, s)["shed"]
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/shed/collaborators/bob", As: "alice", Status: 204})
		s.Visit(t, "bob", "GET "+inboxAt+"?box=all").Shows(t, 200, "!shed")
		s.Visit(t, "bob", "GET "+inboxAt+"/"+id).Shows(t, 404)
	})
}

// A page costs the same few statements for one thread and for many.
func TestInboxStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		inboxPlant(t, s)
		costsAsMuch(t, s, statements, "bob", []string{inboxAt}, func() {
			for n := range 30 {
				s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/issues", As: "alice",
					Send: fmt.Sprintf(`{"title": "x%d", "body": "@bob"}`, n), Status: 201})
			}
		})
		first := s.Visit(t, "bob", "GET "+inboxAt).Shows(t, 200, `rel="next"`)
		if n := strings.Count(string(first.Body), `class="letter new"`); n != 25 {
			t.Errorf("%d threads on the first page", n)
		}
	})
}
