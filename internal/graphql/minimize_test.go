package graphql_test

import (
	"fmt"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// Whoever sorts the issues of a repository, and the author, hide a comment and show it again. It stays readable.
func TestMinimizedComments(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		s.User(t, name)
	}
	r := s.Repo(t, "alice/garden", false)
	s.Grant(t, r, "carol", account.Triage)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": "Peas"}`, Status: 201})
	id := posted(t, s, "bob", "/repos/alice/garden/issues/1/comments", `{"body": "Buy seeds here"}`, "node_id")
	v := map[string]any{"id": id}
	const shown = `{minimizedComment{isMinimized minimizedReason viewerCanMinimize ...on IssueComment{body}}}}`
	const hide = `mutation($id:ID!){minimizeComment(input:{subjectId:$id,classifier:OFF_TOPIC})` + shown
	const show = `mutation($id:ID!){unminimizeComment(input:{subjectId:$id}){
		unminimizedComment{isMinimized minimizedReason}}}`
	const state = `query($id:ID!){node(id:$id){...on IssueComment{isMinimized minimizedReason viewerCanMinimize body}}}`
	for _, as := range []string{"alice", "carol", "bob"} {
		sorts := as != "bob" // the author hides it, and does not undo what is hidden
		ask{as: as, query: hide, variables: v, want: fmt.Sprintf(`{"data": {"minimizeComment": {"minimizedComment": {
			"isMinimized": true, "minimizedReason": "off-topic", "viewerCanMinimize": %t, "body": "Buy seeds here"}}}}`,
			sorts)}.check(t, s)
		ask{as: "dave", query: state, variables: v, want: `{"data": {"node": {"isMinimized": true, "viewerCanMinimize": false,
			"minimizedReason": "off-topic", "body": "Buy seeds here"}}}`}.check(t, s)
		if !sorts {
			ask{as: as, query: show, variables: v, want: `{"errors": [{"type": "FORBIDDEN"}]}`}.check(t, s)
			as = "carol"
		}
		ask{as: as, query: show, variables: v, want: `{"data": {"unminimizeComment": {"unminimizedComment": {
			"isMinimized": false, "minimizedReason": null}}}}`}.check(t, s)
	}
	ask{as: "dave", query: hide, variables: v, want: `{"data": {"minimizeComment": null}, "errors": [{"type": "FORBIDDEN",
		"message": "Must be the author of the comment or have triage access to Repository."}]}`}.check(t, s)
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/issues/1/lock", As: "alice", Status: 204,
		Headers: map[string]string{"Accept": "application/vnd.github.the-key-preview+json"}})
	ask{as: "bob", query: hide, variables: v, want: `{"errors": [{"type": "FORBIDDEN"}]}`}.check(t, s)
	ask{as: "carol", query: hide, variables: v, want: `{"data": {"minimizeComment": {"minimizedComment": {
		"isMinimized": true}}}}`}.check(t, s)
	ask{as: "carol", query: `mutation($id:ID!){minimizeComment(input:{subjectId:$id,classifier:OFF_TOPIC})` +
		`{clientMutationId}}`, variables: map[string]any{"id": "nonsense"},
		want: `{"errors": [{"type": "NOT_FOUND"}]}`}.check(t, s)
}

// posted posts something and returns a member of the answer.
func posted(t *testing.T, s *apitest.Server, as, path, send, name string) string {
	t.Helper()
	a := s.Check(t, apitest.Case{Do: "POST " + path, As: as, Send: send, Status: 201})
	return found(t, string(a.Body), name)
}
