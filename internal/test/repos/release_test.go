package repos_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

const releases = "/repos/alice/garden/releases"

// releaseGarden is alice's repository with a history: will may push to it, sam is a stranger. It gives the
// tip of main.
func releaseGarden(t *testing.T, s *apitest.Server, private bool) string {
	t.Helper()
	s.Users(t, "alice", "will", "rae", "sam")
	r := s.Repo(t, "alice/garden", private)
	s.Grant(t, r, "will", account.Push)
	s.Grant(t, r, "rae", account.Pull)
	s.Import(t, r, gittest.Repository(t, 3, 2))
	return tip(t, s, "heads/main")
}

func tip(t *testing.T, s *apitest.Server, ref string) string {
	t.Helper()
	var found struct{ Object struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/git/ref/" + ref, As: "alice", Status: 200}).JSON(t,
		&found)
	return found.Object.SHA
}

// made creates something and returns its id.
func made(t *testing.T, s *apitest.Server, do, send string) string {
	t.Helper()
	var x struct{ ID int64 }
	s.Check(t, apitest.Case{Do: do, As: "will", Send: send, Status: 201}).JSON(t, &x)
	return fmt.Sprint(x.ID)
}

// A maintainer publishes a release, whose tag is made with it, and everybody finds it under each of its
// addresses.
func TestReleases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := releaseGarden(t, s, false)
		first := `{"url": "{base}` + releases +
			`/1", "html_url": "{base}/alice/garden/releases/tag/v1.0", "id": 1, "node_id": "$any",
			"assets_url": "{base}` + releases + `/1/assets", "upload_url": "{base}` + releases + `/1/assets{?name,label}",
			"tarball_url": "{base}/repos/alice/garden/tarball/v1.0", "zipball_url": "{base}/repos/alice/garden/zipball/v1.0",
			"author": {"login": "will"}, "tag_name": "v1.0", "target_commitish": "main", "name": "Spring", "body": "**Peas**", "draft": false,
			"prerelease": false, "immutable": false, "assets": [], "published_at": "$any", "created_at": "$any", "updated_at": "$any"}`
		s.Run(t, []apitest.Case{
			{Name: "none", Do: "GET " + releases, Status: 200, Body: "[]"},
			{Name: "no latest", Do: "GET " + releases + "/latest", Status: 404},
			{Name: "not for readers", Do: "POST " + releases, As: "rae", Send: `{"tag_name": "v1.0"}`,
				Status: 403},
			{Name: "notes or not", Do: "POST " + releases, As: "will",
				Send: `{"tag_name": "v1.0", "generate_release_notes": "x"}`, Status: 422},
			{Name: "a draft's address", Do: "POST " + releases, As: "will",
				Send: `{"tag_name": "untagged-1"}`, Status: 422},
			{Name: "make", Do: "POST " + releases, As: "will",
				Send: `{"tag_name": "v1.0", "name": "Spring", "body": "**Peas**"}`, Status: 201,
				Want: first, Has: map[string]string{"Location": "{base}" + releases + "/1"}},
			{Name: "its tag", Do: "GET /repos/alice/garden/git/ref/tags/v1.0", Status: 200,
				Want: `{"object": {"sha": "` + sha + `", "type": "commit"}}`},
			{Name: "the tag's activity, and its own", Do: "GET /repos/alice/garden/events?per_page=2",
				Status: 200, Want: `[
				{"type": "ReleaseEvent", "actor": {"login": "will"}, "payload": {"action": "published", "release": {"tag_name": "v1.0", "body": "**Peas**"}}},
				{"type": "CreateEvent", "actor": {"login": "will"}, "payload": {"ref": "v1.0", "ref_type": "tag"}}]`},
			{Do: "GET " + releases + "/1", Status: 200, Want: first},
			{Do: "GET " + releases + "/latest", Status: 200, Want: first},
			{Do: "GET " + releases + "/tags/v1.0", Status: 200, Want: first},
			{Do: "GET " + releases, Status: 200, Want: `[` + first + `]`},
			{Name: "as HTML", Do: "GET " + releases + "/1",
				Headers: map[string]string{"Accept": "application/vnd.github.full+json"}, Status: 200,
				Want: `{"body": "**Peas**", "body_text": "Peas", "body_html": "<p><strong>Peas</strong></p>"}`},
			{Name: "its page", Do: "GET /alice/garden/releases/tag/v1.0", Status: 200},
			{Name: "all on a page", Do: "GET /alice/garden/releases", Status: 200},
			{Name: "the latest", Do: "GET /alice/garden/releases/latest", Status: 302,
				Has: map[string]string{"Location": "{base}/alice/garden/releases/tag/v1.0"}},
			{Name: "its files", Do: "GET /repos/alice/garden/zipball/v1.0", Status: 302},
			{Name: "edit", Do: "PATCH " + releases + "/1", As: "alice",
				Send: `{"name": "", "body": null, "prerelease": true}`, Status: 200,
				Want: `{"name": null, "body": null, "prerelease": true, "author": {"login": "will"}, "tag_name": "v1.0"}`},
			{Name: "a prerelease is not the latest", Do: "GET " + releases + "/latest", Status: 404},
			{Name: "a tag with slashes, at an old commit", Do: "POST " + releases, As: "will", Status: 201,
				Send: `{"tag_name": "beds/east/1", "target_commitish": "` + sha + `"}`,
				Want: `{"target_commitish": "` + sha + `", "name": null,
				"html_url": "{base}/alice/garden/releases/tag/beds/east/1"}`},
			{Do: "GET " + releases + "/tags/beds/east/1", Status: 200, Want: `{"id": 2}`},
			{Do: "GET " + releases + "/tags/beds%2Feast%2F1", Status: 200, Want: `{"id": 2}`},
			{Do: "GET /alice/garden/releases/tag/beds/east/1", Status: 200},
			{Name: "pages", Do: "GET " + releases + "?per_page=1", Status: 200, Want: `[{"id": 2}]`,
				Has: map[string]string{
					"Link": `<{base}` + releases + `?per_page=1&page=2>; rel="next", <{base}` + releases +
						`?per_page=1&page=2>; rel="last"`}},
			{Name: "a reader deletes none", Do: "DELETE " + releases + "/2", As: "rae", Status: 403},
			{Name: "delete", Do: "DELETE " + releases + "/2", As: "alice", Status: 204},
			{Do: "GET " + releases + "/2", Status: 404},
			{Do: "DELETE " + releases + "/2", As: "alice", Status: 404},
			{Name: "the tag stays", Do: "GET /repos/alice/garden/git/ref/tags/beds/east/1", Status: 200},
			{Name: "for a tag that is there", Do: "POST " + releases, As: "will", Status: 201,
				Send: `{"tag_name": "beds/east/1", "target_commitish": "nowhere"}`,
				Want: `{"target_commitish": "nowhere"}`},
		})
	})
}

// Drafts are there for those who push, make no tag and are not the latest, until they are published.
func TestDrafts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		draft := "{base}/alice/garden/releases/tag/untagged-00000000000000000001"
		s.Run(t, []apitest.Case{
			{Do: "POST " + releases, As: "will",
				Send: `{"tag_name": "v1", "draft": true, "make_latest": "true"}`, Status: 201,
				Want: `{"draft": true, "published_at": null, "tarball_url": null, "zipball_url": null, "html_url": "` + draft + `"}`},
			{Name: "another one of the tag", Do: "POST " + releases, As: "will",
				Send: `{"tag_name": "v1", "draft": true}`, Status: 201},
			{Name: "no tag", Do: "GET /repos/alice/garden/git/ref/tags/v1", Status: 404},
			{Name: "no event", Do: "GET /repos/alice/garden/events?per_page=1", Status: 200,
				Want: `[{"type": "MemberEvent"}]`},
			{Name: "strangers see none", Do: "GET " + releases, As: "rae", Status: 200, Want: `[]`},
			{Name: "those who push do", Do: "GET " + releases, As: "will", Status: 200,
				Want: `[{"id": 2}, {"id": 1}]`},
			{Do: "GET " + releases + "/1", As: "rae", Status: 404},
			{Do: "GET " + releases + "/1/assets", As: "rae", Status: 404},
			{Do: "GET " + releases + "/1", As: "alice", Status: 200},
			{Do: "GET " + releases + "/tags/v1", As: "will", Status: 404},
			{Do: "GET " + releases + "/latest", As: "will", Status: 404},
			{Do: "GET /alice/garden/releases/tag/untagged-00000000000000000001", As: "will", Status: 200},
			{Do: "GET /alice/garden/releases/tag/untagged-00000000000000000001", As: "rae", Status: 404},
			{Do: "GET /alice/garden/releases/tag/untagged-1", As: "will", Status: 404},
			{Do: "GET /alice/garden/releases/tag/untagged-x", As: "will", Status: 404},
			{Name: "publish", Do: "PATCH " + releases + "/1", As: "alice",
				Send: `{"draft": false}`, Status: 200,
				Want: `{"draft": false, "published_at": "$any", "author": {"login": "will"}, "html_url": "{base}/alice/garden/releases/tag/v1"}`},
			{Name: "its tag", Do: "GET /repos/alice/garden/git/ref/tags/v1", Status: 200},
			{Name: "by who published", Do: "GET /repos/alice/garden/events?per_page=2", Status: 200,
				Want: `[{"type": "ReleaseEvent", "actor": {"login": "alice"}}, {"type": "CreateEvent"}]`},
			{Do: "GET " + releases + "/latest", Status: 200, Want: `{"id": 1}`},
			{Name: "the other one cannot be", Do: "PATCH " + releases + "/2", As: "will",
				Send: `{"draft": false}`, Status: 422,
				Want: `{"errors": [{"resource": "Release", "field": "tag_name", "code": "already_exists"}]}`},
			{Name: "with another tag", Do: "PATCH " + releases + "/2", As: "will",
				Send: `{"draft": false, "tag_name": "v2"}`, Status: 200, Want: `{"tag_name": "v2"}`},
			{Name: "withdrawn", Do: "PATCH " + releases + "/2", As: "will", Send: `{"draft": true}`,
				Status: 200, Want: `{"published_at": null}`},
			{Name: "its event, too", Do: "GET /repos/alice/garden/events?per_page=3", Status: 200,
				Want: `[{"type": "CreateEvent", "payload": {"ref": "v2"}}, {"type": "ReleaseEvent"}, {"type": "CreateEvent"}]`},
			{Name: "the latest is the other", Do: "GET " + releases + "/latest", Status: 200,
				Want: `{"id": 1}`},
		})
	})
}

// The latest release is the one that people download: it must be what the maintainer said.
func TestLatest(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		latest := func(tag string) apitest.Case {
			return apitest.Case{Name: "latest " + tag, Do: "GET " + releases + "/latest", Status: 200,
				Want: `{"tag_name": "` + tag + `"}`}
		}
		make := func(send string) apitest.Case {
			return apitest.Case{Do: "POST " + releases, As: "will", Send: send, Status: 201}
		}
		edit := func(id, send string) apitest.Case {
			return apitest.Case{Do: "PATCH " + releases + "/" + id, As: "will", Send: send, Status: 200}
		}
		s.Run(t, []apitest.Case{
			make(`{"tag_name": "v9.0"}`), latest("v9.0"),
			make(`{"tag_name": "v8.1", "make_latest": "false"}`), latest("v9.0"),
			make(`{"tag_name": "v11-rc1", "prerelease": true}`), latest("v9.0"),
			// of one commit the highest version
			make(`{"tag_name": "v10.0", "make_latest": "legacy"}`), latest("v10.0"),
			make(`{"tag_name": "v7.0", "make_latest": "legacy"}`), latest("v10.0"),
			make(`{"tag_name": "v6.0", "make_latest": "true"}`), latest("v6.0"),
			edit("1", `{"name": "x"}`), latest("v6.0"),
			edit("1", `{"make_latest": "true"}`), latest("v9.0"),
			edit("1", `{"make_latest": "false"}`), latest("v10.0"),
			edit("4", `{"draft": true}`), latest("v7.0"),
			edit("3", `{"prerelease": false}`), latest("v11-rc1"),
			{Do: "DELETE " + releases + "/3", As: "will", Status: 204}, latest("v7.0"),
			{Do: "DELETE " + releases + "/6", As: "will", Status: 204}, latest("v7.0"),
			{Do: "DELETE " + releases + "/5", As: "will", Status: 204},
			{Do: "GET " + releases + "/latest", Status: 404}, // two are left that are not to be it
		})
	})
}

// What cannot be a release is refused, and nothing is left of it.
func TestBadReleases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := releaseGarden(t, s, false)
		made(t, s, "POST "+releases, `{"tag_name": "v1"}`)
		for _, c := range []struct{ send, field, code string }{
			{`{}`, "tag_name", "missing_field"},
			{`{"tag_name": ""}`, "tag_name", "missing_field"},
			{`{"tag_name": 1}`, "tag_name", "invalid"},
			{`{"tag_name": "a b"}`, "tag_name", "custom"},
			{`{"tag_name": "../x"}`, "tag_name", "custom"},
			{`{"tag_name": "-x/"}`, "tag_name", "custom"},
			{`{"tag_name": "v1"}`, "tag_name", "already_exists"},
			{`{"tag_name": "` + strings.Repeat("v", 256) + `"}`, "tag_name", "custom"},
			{`{"tag_name": "v2", "target_commitish": "nowhere"}`, "target_commitish", "invalid"},
			{`{"tag_name": "v2", "target_commitish": "--all"}`, "target_commitish", "invalid"},
			{`{"tag_name": "v2", "target_commitish": "` + strings.Repeat("0", 40) + `"}`,
				"target_commitish", "invalid"},
			{`{"tag_name": "v2", "target_commitish": "` + strings.Repeat("a", 40) + `"}`,
				"target_commitish", "invalid"},
			{`{"tag_name": "v2", "draft": "true"}`, "draft", "invalid"},
			{`{"tag_name": "v2", "make_latest": "yes"}`, "make_latest", "invalid"},
			{`{"tag_name": "v2", "make_latest": true}`, "make_latest", "invalid"},
			{`{"tag_name": "v2", "body": "` + strings.Repeat("ä", 125_001) + `"}`, "body", "custom"},
			{`{"tag_name": "v2", "name": "` + strings.Repeat("x", 256) + `"}`, "name", "custom"},
		} {
			s.Check(t, apitest.Case{Do: "POST " + releases, As: "will", Send: c.send, Status: 422,
				Want: `{"errors": [{"resource": "Release", "field": "` + c.field + `", "code": "` +
					c.code + `"}]}`})
		}
		s.Run(t, []apitest.Case{
			{Name: "beside a folder", Do: "POST " + releases, As: "will", Send: `{"tag_name": "v1/x"}`,
				Status: 422},
			{Name: "a discussion", Do: "POST " + releases, As: "will",
				Send: `{"tag_name": "v2", "discussion_category_name": "x"}`, Status: 404},
			{Name: "no tag came", Do: "GET /repos/alice/garden/tags?per_page=100", Status: 200,
				Want: `[{"name": "v1"}]`},
			{Do: "PATCH " + releases + "/1", As: "will", Send: `{"tag_name": ""}`, Status: 422},
			{Do: "PATCH " + releases + "/1", As: "will", Send: `{"tag_name": null}`, Status: 422},
			{Do: "PATCH " + releases + "/7", As: "will", Send: `{}`, Status: 404},
			{Do: "PATCH " + releases + "/01", As: "will", Send: `{}`, Status: 404},
			{Do: "GET " + releases + "/x", Status: 404},
			{Name: "a body as long as may be", Do: "PATCH " + releases + "/1", As: "will",
				Send: `{"body": "` + strings.Repeat("ä", 125_000) + `"}`, Status: 200},
			{Name: "moved to another tag", Do: "PATCH " + releases + "/1", As: "will",
				Send: `{"tag_name": "v3", "target_commitish": "` + sha + `"}`, Status: 200},
			{Do: "GET /repos/alice/garden/git/ref/tags/v3", Status: 200,
				Want: `{"object": {"sha": "` + sha + `"}}`},
		})
		s.Repo(t, "alice/empty", false)
		s.Ask(t, "alice", "POST /repos/alice/empty/releases", `{"tag_name": "v1"}`, 422)
		s.Ask(t, "alice", "POST /repos/alice/empty/releases", `{"tag_name": "v1", "draft": true}`, 201)
	})
}

// However many publish one tag at the same time, there is one release of it.
func TestReleasesAtTheSameTime(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		var all sync.WaitGroup
		var mu sync.Mutex
		count := map[int]int{}
		for range 12 {
			all.Go(func() {
				a := s.Do(t, apitest.Case{Do: "POST " + releases, As: "will", Send: `{"tag_name": "v1"}`})
				mu.Lock()
				defer mu.Unlock()
				count[a.Status]++
			})
		}
		all.Wait()
		if count[201] != 1 || count[422] != 11 {
			t.Errorf("the statuses were %v", count)
		}
		s.Check(t, apitest.Case{Do: "GET " + releases, Status: 200, Want: `[{"tag_name": "v1"}]`})
	})
}
