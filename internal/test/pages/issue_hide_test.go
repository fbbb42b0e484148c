package pages_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// Hidden comments are folded with the reason, and everybody can open them.
func TestHiddenComments(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	for _, name := range []string{"alice", "bob", "carol"} {
		s.User(t, name)
	}
	s.Grant(t, s.Repo(t, "alice/garden", false), "carol", account.Triage)
	const at, form = "/alice/garden/issues/1", "/alice/garden/issues/1/comments/1/hide"
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": "Peas"}`, Status: 201})
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "bob", Send: `{"body": "Buy seeds"}`,
		Status: 201})
	get(t, s, "carol", at, 200, "comments/1/hide?", ">Hide</a>")
	without(t, get(t, s, "", at, 200), "/hide?")
	get(t, s, "carol", form, 200, "off-topic", "Hide comment")
	post(t, s, "carol", form, 422, "reason", "dull")
	post(t, s, "carol", form, 303, "reason", "spam")
	get(t, s, "", at, 200, "<details><summary class=\"soft\">This comment was marked as spam.</summary>", "Buy seeds")
	without(t, get(t, s, "bob", at, 200), "/hide?") // what others hid
	get(t, s, "alice", at, 200, ">Show</a>")
	get(t, s, "alice", form, 200, "hidden as spam", "Show comment")
	s.User(t, "dave")
	post(t, s, "dave", form, 403)
	post(t, s, "bob", form, 403)
	post(t, s, "alice", form, 303)
	without(t, get(t, s, "", at, 200), "marked as")
	page(t, s, "bob", "/alice/garden/issues/1/comments/9/hide", 404)
}
