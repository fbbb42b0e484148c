package graphql_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// A repository is found by a former name, also together with its present one, by who may see it; to others it is absent.
func TestMovedRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.User(t, "bob")
		s.Repo(t, "alice/garden", false)
		const query = `{repository(owner:"alice",name:"garden"){name issues(first:1){totalCount}}}`
		absent := `{"data": {"repository": null}, "errors": [{"type": "NOT_FOUND",
			"message": "Could not resolve to a Repository with the name 'alice/garden'."}]}`
		found := `{"data": {"repository": {"name": "bed", "issues": {"totalCount": 0}}}}`
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"name": "bed"}`,
			Status: 200})
		ask{as: "bob", query: query, want: found}.check(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/issues", As: "alice", Send: `{"title": "x", "labels": ["bug"]}`,
			Status: 201})
		const lists = `{issues(first:1){nodes{number comments(first:1){totalCount} labels(first:1){nodes{name}}}}}`
		const shown = `{"issues": {"nodes": [{"number": 1, "comments": {"totalCount": 0},
			"labels": {"nodes": [{"name": "bug"}]}}]}}`
		ask{query: `{a:repository(owner:"alice",name:"garden")` + lists + ` b:repository(owner:"alice",name:"bed")` + lists + `}`,
			want: `{"data": {"a": ` + shown + `, "b": ` + shown + `}}`}.check(t, s)
		found = `{"data": {"repository": {"name": "bed", "issues": {"totalCount": 1}}}}`
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/bed", As: "alice", Send: `{"private": true}`,
			Status: 200})
		ask{as: "bob", query: query, want: absent}.check(t, s)
		ask{query: query, want: found}.check(t, s)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/bed", As: "alice", Status: 204})
		ask{query: query, want: absent}.check(t, s)
	})
}
