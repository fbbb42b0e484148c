package repos_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// Topics are found and counted only in what the caller may see, and labels in one repository.
func TestSearchTags(t *testing.T) {
	t.Parallel()
	match := map[string]string{"Accept": "application/vnd.github.text-match+json"}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		for name, topics := range map[string]string{"one": `"rose-garden", "go"`, "two": `"garden", "rose-garden"`, "hidden": `"secret-garden", "go"`} {
			s.Repo(t, "alice/"+name, name == "hidden")
			s.Ask(t, "alice", "PUT /repos/alice/"+name+"/topics", `{"names": [`+topics+`]}`, 200)
		}
		id := s.Access(t, "alice", "alice/one").ID.String()
		hidden := s.Access(t, "alice", "alice/hidden").ID.String()
		topics := func(as, q, want string) apitest.Case {
			return apitest.Case{Name: q, Do: "GET /search/topics?q=" + q, As: as, Status: 200, Want: want}
		}
		labels := func(q, want string) apitest.Case {
			return apitest.Case{Name: q, Do: "GET /search/labels?repository_id=" + id + "&q=" + q, Status: 200, Want: want}
		}
		s.Run(t, []apitest.Case{
			topics("", "garden", `{"total_count": 2, "incomplete_results": false, "items": [{"name": "garden", "repository_count": 1},
				{"name": "rose-garden", "repository_count": 2, "featured": false, "score": 1.0}]}`),
			topics("alice", "garden", `{"total_count": 3}`), topics("bob", "secret", `{"total_count": 0, "items": []}`),
			topics("alice", "go", `{"items": [{"name": "go", "repository_count": 2}]}`),
			topics("bob", "go", `{"items": [{"name": "go", "repository_count": 1}]}`),
			topics("", "%22rose+garden%22", `{"total_count": 1}`), topics("", "gard+-rose", `{"items": [{"name": "garden"}]}`),
			topics("", "garden+repositories:%3E1", `{"items": [{"name": "rose-garden"}]}`),
			topics("", "garden+is:featured", `{"total_count": 0}`), topics("", "%25", `{"total_count": 0}`),
			topics("", "garden+created:%3C2001-01-01", `{"total_count": 0}`),
			{Do: "GET /search/topics?q=garden&per_page=1&page=2", Status: 200, Want: `{"total_count": 2, "items": [{"name": "rose-garden"}]}`},
			{Do: "GET /search/topics?q=garden", Headers: match, Status: 200, Want: `{"items": [{"text_matches": [{"property": "name"}]}, {}]}`},
			{Do: "GET /search/topics", Status: 422}, {Do: "GET /search/topics?q=garden+is:x", Status: 422},

			{Do: "POST /repos/alice/one/labels", As: "alice", Send: `{"name": "Slugs", "color": "000000", "description": "not a Bug"}`, Status: 201},
			labels("bug", `{"total_count": 2, "items": [{"name": "bug", "default": true, "score": 1.0}, {"name": "Slugs"}]}`),
			labels("bug+question", `{"total_count": 3}`), labels("bug+-not", `{"items": [{"name": "bug"}]}`), labels("_", `{"total_count": 0}`),
			labels("bug&sort=created", `{"items": [{"name": "Slugs"}, {"name": "bug"}]}`),
			labels("bug&sort=created&order=asc", `{"items": [{"name": "bug"}, {"name": "Slugs"}]}`),
			{Do: "GET /search/labels?q=bug", Status: 422},
			{Do: "GET /search/labels?q=bug&repository_id=" + hidden, As: "bob", Status: 404},
			{Do: "GET /search/labels?q=bug&repository_id=" + hidden, As: "alice", Status: 200, Want: `{"total_count": 1}`},
			{Do: "PATCH /repos/alice/one", As: "alice", Send: `{"private": true}`, Status: 200},
			topics("bob", "go", `{"total_count": 0}`),
			{Do: "GET /search/labels?q=bug&repository_id=" + id, As: "bob", Status: 404},
		})
	})
}
