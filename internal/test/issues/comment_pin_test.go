package issues_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// A comment of an issue can be pinned with push access. Pinning another one, or deleting it, leaves no
// second pin.
func TestPinComment(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const at = "/repos/garden/plot"
		s.Check(t, apitest.Case{Do: "POST " + at + "/issues", As: "will", Send: `{"title": "x"}`,
			Status: 201})
		for _, text := range []string{"one", "two"} {
			s.Check(t, apitest.Case{Do: "POST " + at + "/issues/1/comments", As: "sam",
				Send: `{"body": "` + text + `"}`, Status: 201})
		}
		s.Run(t, []apitest.Case{
			{Do: "GET " + at + "/issues/comments/1", Status: 200, Want: `{"pin": null}`},
			{Name: "its author alone cannot", Do: "PUT " + at + "/issues/comments/1/pin", As: "sam",
				Status: 403},
			{Name: "nobody", Do: "PUT " + at + "/issues/comments/1/pin", Status: 401},
			{Name: "absent", Do: "PUT " + at + "/issues/comments/9/pin", As: "will", Status: 404},
			{Do: "PUT " + at + "/issues/comments/1/pin", As: "will", Status: 200,
				Want: `{"id": 1, "pin": {"pinned_by": {"login": "will"}}}`},
			{Name: "again", Do: "PUT " + at + "/issues/comments/1/pin", As: "alice", Status: 200,
				Want: `{"pin": {"pinned_by": {"login": "will"}}}`},
			{Name: "another", Do: "PUT " + at + "/issues/comments/2/pin", As: "alice", Status: 200,
				Want: `{"pin": {"pinned_by": {"login": "alice"}}}`},
			{Do: "GET " + at + "/issues/1/comments", Status: 200,
				Want: `[{"id": 1, "pin": null}, {"id": 2, "pin": {"pinned_by": {"login": "alice"}}}]`},
			{Do: "DELETE " + at + "/issues/comments/2/pin", As: "sam", Status: 403},
			{Do: "DELETE " + at + "/issues/comments/2/pin", As: "will", Status: 204},
			{Name: "again", Do: "DELETE " + at + "/issues/comments/2/pin", As: "will", Status: 204},
			{Do: "GET " + at + "/issues/comments/2", Status: 200, Want: `{"pin": null}`},
			{Do: "PUT " + at + "/issues/comments/2/pin", As: "will", Status: 200},
			{Name: "a pinned one is edited", Do: "PATCH " + at + "/issues/comments/2", As: "sam",
				Send: `{"body": "more"}`, Status: 200, Want: `{"pin": {"pinned_by": {"login": "will"}}}`},
			{Name: "a pinned one is deleted", Do: "DELETE " + at + "/issues/comments/2", As: "sam",
				Status: 204},
			{Do: "PUT " + at + "/issues/comments/1/pin", As: "will", Status: 200},
			{Name: "archived", Do: "PATCH " + at, As: "alice", Send: `{"archived": true}`, Status: 200},
			{Do: "DELETE " + at + "/issues/comments/1/pin", As: "will", Status: 403},
		})
	})
}
