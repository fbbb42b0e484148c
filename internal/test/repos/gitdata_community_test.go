package repos_test

import (
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Newcomers' tools see which files a community expects, wherever these may stand.
func TestCommunityProfile(t *testing.T) {
	t.Parallel()
	const at = "/repos/guild/plot"
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Org(t, "guild", "alice")
		s.Repo(t, "alice/empty", false)
		s.Import(t, s.Repo(t, "guild/plot", false), gittest.Repository(t, 1, 1))
		profile := func(want string) apitest.Case {
			return apitest.Case{Do: "GET " + at + "/community/profile", As: "alice", Status: 200, Want: want}
		}
		put := func(path string) apitest.Case {
			return apitest.Case{Do: "PUT " + at + "/contents/" + path, As: "alice", Send: `{"message": "m", "content": "eA=="}`, Status: 201}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/empty/community/profile", Status: 200, Want: `{"health_percentage": 0, "updated_at": null,
				"content_reports_enabled": "$absent", "files": {"readme": null, "license": null, "code_of_conduct": null}}`},
			profile(`{"health_percentage": 0, "content_reports_enabled": false, "documentation": null, "updated_at": "$any"}`),
			{Do: "PATCH " + at, As: "alice", Send: `{"description": "Roses", "homepage": "https://x.example"}`, Status: 200},
			put("README.md"), put("docs/contributing.rst"), put("CODE_OF_CONDUCT.md"), put(".github/ISSUE_TEMPLATE/bug.md"),
			put("PULL_REQUEST_TEMPLATE"), put("contributing-more.md"),
			profile(`{"health_percentage": 85, "description": "Roses", "documentation": "https://x.example", "files": {
				"readme": {"url": "{base}` + at + `/contents/README.md", "html_url": "{base}/guild/plot/blob/main/README.md"},
				"contributing": {"html_url": "{base}/guild/plot/blob/main/docs/contributing.rst"},
				"code_of_conduct": {"key": "other"}, "code_of_conduct_file": {"url": "{base}` + at + `/contents/CODE_OF_CONDUCT.md"},
				"issue_template": {"html_url": "{base}/guild/plot/tree/main/.github/ISSUE_TEMPLATE"},
				"pull_request_template": {"html_url": "$any"}, "license": null}}`),
			{Do: "GET " + at + "/contents/.github/ISSUE_TEMPLATE", Status: 200},
			{Do: "POST " + at + "/forks", As: "bob", Status: 202},
			{Name: "a fork", Do: "GET /repos/bob/plot/community/profile", Status: 404},
			{Do: "PATCH " + at, As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: "GET " + at + "/community/profile", As: "bob", Status: 404},
		})
	})
}
