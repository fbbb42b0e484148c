package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account/savedreply"
	"arbor/internal/test/apitest"
)

// Saved replies are their owner's alone, have bounds, and what was not taken is shown again. GraphQL lists them for
// their owner.
func TestSavedReplies(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		const at = "/settings/replies"
		alice, bob := as(t, s, "alice"), as(t, s, "bob")
		alice.post(at, "do", "add", "title", "Thanks", "body", apitest.Markup).Leads(t, at)
		alice.show(at, "Thanks", "onerror=alert(1)&gt;")
		bob.show(at, "You have none.")
		bob.post(at, "do", "save", "id", "1", "title", "Mine", "body", "x")
		bob.post(at, "do", "remove", "id", "1").Leads(t, at)
		alice.show(at, "Thanks")
		alice.post(at, "do", "save", "id", "1", "title", "Many thanks", "body", "Thank *you*").Leads(t, at)
		alice.post(at, "do", "save", "id", "1", "title", "", "body", "typed").Shows(t, 422,
			"typed</textarea>", "Many thanks")
		alice.post(at, "do", "add", "title", strings.Repeat("x", savedreply.MaxTitle+1), "body", "typed").Shows(t, 422,
			"typed</textarea>")
		alice.post(at, "do", "add", "title", "x", "body", strings.Repeat("x", savedreply.MaxBody+1)).Shows(t,
			422, "too long")
		const query = `{"query": "{user(login: \"alice\") {savedReplies(first: 5) {totalCount nodes {title body bodyHTML user {login}}}}}"}`
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: query, Status: 200,
			Want: `{"data": {"user": {"savedReplies": {"totalCount": 1, "nodes": [{"title": "Many thanks",
				"body": "Thank *you*", "bodyHTML": "<p>Thank <em>you</em></p>", "user": {"login": "alice"}}]}}}}`})
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "bob", Send: query, Status: 200,
			Want: `{"data": {"user": {"savedReplies": null}}}`})
		for n := range savedreply.Max - 1 {
			alice.post(at, "do", "add", "title", fmt.Sprint("Reply ", n), "body", "x").Leads(t, at)
		}
		alice.post(at, "do", "add", "title", "One more", "body", "typed").Shows(t, 422, "which is the limit")
	})
}
