package repos_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/release"
	"arbor/internal/test/apitest"
)

// merge opens a pull request by somebody that changes a file, and merges it.
func merge(t *testing.T, s *apitest.Server, by, branch, title string) {
	t.Helper()
	var ref struct{ Object struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/ref/heads/main", As: "alice",
		Status: 200}).JSON(t, &ref)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": %q}`, branch, ref.Object.SHA)})
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + branch, As: "alice", Status: 201,
		Send: fmt.Sprintf(`{"message": "m", "content": "eA==", "branch": %q}`, branch)})
	var pull struct{ Number int }
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: by, Status: 201,
		Send: fmt.Sprintf(`{"title": %q, "head": %q, "base": "main"}`, title, branch)}).JSON(t, &pull)
	s.Ask(t, "alice", fmt.Sprintf("PUT /repos/alice/garden/pulls/%d/merge", pull.Number), "", 200)
}

// Notes tell what was merged since the previous tag, by whom, and who is new.
func TestNotes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		r := s.Repo(t, "alice/other", false)
		s.Grant(t, r, "will", account.Push)
		merge(t, s, "will", "peas", "Sow peas")
		made(t, s, "POST "+releases, `{"tag_name": "v1"}`)
		merge(t, s, "will", "beans", "Sow  beans")
		merge(t, s, "sam", "roses", "Cut *roses*")
		notes := func(tag, since string) string {
			return "## What's Changed\n* Sow beans by @will in {base}/alice/garden/pull/2\n* Cut *roses* by @sam in {base}/alice/garden/pull/3\n" +
				"\n## New Contributors\n* @sam made their first contribution in {base}/alice/garden/pull/3\n\n\n" +
				"**Full Changelog**: {base}/alice/garden/compare/" + since + "..." + tag
		}
		quoted := func(text string) string {
			return fmt.Sprintf("%q", strings.ReplaceAll(text, "{base}", s.URL))
		}
		to := "POST " + releases + "/generate-notes"
		s.Run(t, []apitest.Case{
			{Do: to, As: "rae", Send: `{"tag_name": "v2"}`, Status: 403},
			{Name: "since the nearest tag", Do: to, As: "will", Send: `{"tag_name": "v2"}`, Status: 200,
				Want: `{"name": "v2", "body": ` + quoted(notes("v2", "v1")) + `}`},
			{Name: "nothing was made", Do: "GET /repos/alice/garden/git/ref/tags/v2", Status: 404},
			{Name: "since a tag", Do: to, As: "will", Send: `{"tag_name": "v2", "previous_tag_name": "v1"}`,
				Status: 200, Want: `{"body": ` + quoted(notes("v2", "v1")) + `}`},
			{Name: "of the first tag", Do: to, As: "will", Send: `{"tag_name": "v1"}`, Status: 200,
				Want: `{"body": ` + quoted(
					"## What's Changed\n* Sow peas by @will in {base}/alice/garden/pull/1\n\n## New Contributors\n"+
						"* @will made their first contribution in {base}/alice/garden/pull/1\n\n\n**Full Changelog**: {base}/alice/garden/commits/v1") + `}`},
			{Name: "of nothing", Do: to, As: "will",
				Send:   `{"tag_name": "v2", "target_commitish": "peas", "previous_tag_name": "v1"}`,
				Status: 200,
				Want:   `{"body": ` + quoted("**Full Changelog**: {base}/alice/garden/compare/v1...v2") + `}`},
			{Do: to, As: "will", Send: `{"tag_name": "v2", "previous_tag_name": "v7"}`, Status: 422,
				Want: `{"errors": [{"field": "previous_tag_name", "code": "invalid"}]}`},
			{Do: to, As: "will", Send: `{"tag_name": "v2", "target_commitish": "nowhere"}`, Status: 422,
				Want: `{"errors": [{"field": "target_commitish"}]}`},
			{Do: to, As: "will", Send: `{}`, Status: 422,
				Want: `{"errors": [{"field": "tag_name", "code": "missing_field"}]}`},
			{Do: to, As: "will", Send: `{"tag_name": "a b"}`, Status: 422},
			{Do: to, As: "will", Send: `{"tag_name": "v2", "configuration_file_path": "x.yml"}`, Status: 422},
			{Name: "with a release", Do: "POST " + releases, As: "will",
				Send: `{"tag_name": "v2", "body": "Look:", "generate_release_notes": true}`, Status: 201,
				Want: `{"name": "v2", "body": ` + quoted("Look:\n\n"+notes("v2", "v1")) + `}`},
			{Name: "too long with it", Do: "POST " + releases, As: "will", Status: 422,
				Send: `{"tag_name": "v3", "body": "` + strings.Repeat("x",
					124_990) + `", "generate_release_notes": true}`},
		})
	})
}

// Of the tags of one commit, and of releases of one date, the highest version counts.
func TestCompareVersions(t *testing.T) {
	order := []string{"v1", "v1.0", "v1.2-rc1", "v1.2-rc2", "v1.2-rc10", "v1.2", "v1.9", "v1.10",
		"v02", "v10"}
	for i := range order {
		for j := range order {
			got := release.CompareVersions(order[i], order[j])
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s and %s compare as %d", order[i], order[j], got)
			}
		}
	}
}
