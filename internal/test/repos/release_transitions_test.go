package repos_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// releaseSee has the statuses of the release, its asset and the asset's bytes for each caller: alice, the
// owner; will, a writer; rae, a reader; sam, a stranger; anonymous.
type releaseSee map[string]int

var callers = []string{"alice", "will", "rae", "sam", ""}

// releaseTransitions are what happens to a repository with a release, and who sees the release afterwards.
// What a caller had before, with its ETag, helps nobody to more.
//
//	                    release and asset      bytes                           latest
//	turned private      its readers alone      theirs alone, known or not      theirs alone
//	published           everybody              everybody                       everybody
//	renamed             by the old address as other things: 301
//	transferred         those who see the repository; the rows and files go with it
//	archived            as before; no change, no upload
//	collaborator gone   no drafts, no changes
//	account suspended   no changes; nothing is seen with its tokens
//	account deleted     author and uploader are ghost
//	tag deleted         a draft again: those who push
//	tag moved           as before
//	repository deleted  nobody; no file is left
var releaseTransitions = []struct {
	name    string
	private bool // it is before
	do      []apitest.Case
	at      string // the repository afterwards; "": as before
	sees    releaseSee
	writes  int // what will gets for an edit
	author  string
}{
	{name: "nothing", sees: releaseSee{"alice": 200, "will": 200, "rae": 200, "sam": 200, "": 200}, writes: 200,
		author: "will"},
	{name: "turned private", do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice",
		Send: `{"private": true}`, Status: 200}},
		sees: releaseSee{"alice": 200, "will": 200, "rae": 200, "sam": 404, "": 404}, writes: 200, author: "will"},
	{name: "published", private: true,
		do:   []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200}},
		sees: releaseSee{"alice": 200, "will": 200, "rae": 200, "sam": 200, "": 200}, writes: 200, author: "will"},
	{name: "renamed", private: true, do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice",
		Send: `{"name": "beds"}`, Status: 200},
		{Do: "GET " + releases + "/1", As: "rae", Status: 301},
		{Do: "GET /alice/garden/releases/download/v1/a", As: "rae", Status: 301},
		{Do: "GET " + releases + "/1", As: "sam", Status: 404},
		{Do: "GET /alice/garden/releases/download/v1/a", As: "sam", Status: 404},
		{Do: "POST " + releases + "/1/assets?name=b", As: "will", Send: "x", Status: 307}},
		at: "alice/beds", sees: releaseSee{"alice": 200, "will": 200, "rae": 200, "sam": 404, "": 404}, writes: 200,
		author: "will"},
	{name: "transferred", private: true,
		do: []apitest.Case{{Do: "POST /repos/alice/garden/transfer", As: "chief",
			Send: `{"new_owner": "sam"}`, Status: 202}},
		at: "sam/garden", sees: releaseSee{"alice": 200, "will": 200, "rae": 200, "sam": 200, "": 404}, writes: 200,
		author: "will"},
	{name: "archived", do: []apitest.Case{{Do: "PATCH /repos/alice/garden", As: "alice",
		Send: `{"archived": true}`, Status: 200},
		{Do: "POST " + releases, As: "will", Send: `{"tag_name": "v2"}`, Status: 403},
		{Do: "POST " + releases + "/1/assets?name=b", As: "will", Send: "x", Status: 403},
		{Do: "DELETE " + releases + "/assets/1", As: "will", Status: 403},
		{Do: "DELETE " + releases + "/1", As: "alice", Status: 403}},
		sees: releaseSee{"alice": 200, "will": 200, "rae": 200, "sam": 200, "": 200}, writes: 403, author: "will"},
	{name: "collaborator removed", private: true,
		do:   []apitest.Case{{Do: "DELETE /repos/alice/garden/collaborators/will", As: "alice", Status: 204}},
		sees: releaseSee{"alice": 200, "will": 404, "rae": 200, "sam": 404, "": 404}, writes: 404, author: "will"},
	{name: "demoted", do: []apitest.Case{{Do: "PUT /repos/alice/garden/collaborators/will", As: "alice",
		Send: `{"permission": "pull"}`, Status: 204},
		{Do: "GET " + releases + "/2", As: "will", Status: 404},
		{Do: "GET " + releases + "/assets/2", As: "will", Status: 404},
		{Do: "GET /alice/garden/releases/download/untagged-00000000000000000002/d", As: "will", Status: 404},
		{Do: "GET " + releases, As: "will", Status: 200, Want: `[{"id": 1}]`}},
		sees: releaseSee{"alice": 200, "will": 200, "rae": 200, "sam": 200, "": 200}, writes: 403, author: "will"},
	{name: "suspended", do: []apitest.Case{{Do: "PUT /users/will/suspended", As: "chief", Status: 204}},
		sees: releaseSee{"alice": 200, "will": 403, "rae": 200, "sam": 200, "": 200}, writes: 403, author: "will"},
	{name: "account deleted", do: []apitest.Case{{Do: "DELETE /admin/users/will", As: "chief", Status: 204}},
		sees: releaseSee{"alice": 200, "will": 401, "rae": 200, "sam": 200, "": 200}, writes: 401, author: "ghost"},
	{name: "tag deleted", do: []apitest.Case{{Do: "DELETE /repos/alice/garden/git/refs/tags/v1", As: "alice",
		Status: 204},
		{Do: "GET " + releases + "/latest", Status: 404},
		{Do: "GET " + releases + "/tags/v1", As: "will", Status: 404},
		{Do: "GET /alice/garden/releases/download/v1/a", As: "will", Status: 404},
		{Do: "GET " + releases + "/1", As: "will", Status: 200,
			Want: `{"draft": true, "published_at": null}`}},
		sees: releaseSee{"alice": 200, "will": 200, "rae": 404, "sam": 404, "": 404}, writes: 200, author: "will"},
	{name: "tag moved", do: []apitest.Case{{Do: "PATCH /repos/alice/garden/git/refs/tags/v1", As: "alice",
		Send: `{"sha": "{parent}", "force": true}`, Status: 200},
		{Do: "GET " + releases + "/tags/v1", Status: 200, Want: `{"id": 1}`},
		{Do: "GET " + releases + "/latest", Status: 200, Want: `{"id": 1}`}},
		sees: releaseSee{"alice": 200, "will": 200, "rae": 200, "sam": 200, "": 200}, writes: 200, author: "will"},
	{name: "deleted", do: []apitest.Case{{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204}},
		sees: releaseSee{"alice": 404, "will": 404, "rae": 404, "sam": 404, "": 404}, writes: 404},
}

// A repository's releases are visible only to those with current access, and cached responses show no more.
func TestReleaseTransitions(t *testing.T) {
	t.Parallel()
	for _, row := range releaseTransitions {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				s.Admin(t, "chief")
				releaseGarden(t, s, row.private)
				parent := parentOf(t, s)
				made(t, s, "POST "+releases, `{"tag_name": "v1", "body": "x"}`)
				made(t, s, "POST "+releases+"/1/assets?name=a", "peas")
				made(t, s, "POST "+releases, `{"tag_name": "v3", "draft": true}`)
				made(t, s, "POST "+releases+"/2/assets?name=d", "draft")
				known := keep(t, s)
				for _, c := range row.do {
					c.Send = strings.ReplaceAll(c.Send, "{parent}", parent)
					s.Check(t, c)
				}
				at := row.at
				if at == "" {
					at = "alice/garden"
				}
				for _, login := range callers {
					want := row.sees[login]
					for _, path := range []string{"/releases/1", "/releases/assets/1", "/releases/1/assets"} {
						s.Check(t, apitest.Case{Do: "GET /repos/" + at + path, As: login, Status: want})
					}
					s.Check(t, apitest.Case{Do: "GET /repos/" + at + "/releases/assets/1", As: login,
						Headers: bytesOf, Status: want})
					if want >= 400 {
						for path, tag := range known {
							s.Check(t, apitest.Case{Do: "GET /repos/" + at + path, As: login, Status: want,
								Headers: map[string]string{"If-None-Match": tag,
									"Accept": "application/octet-stream, application/json"}})
						}
					}
				}
				s.Ask(t, "will", "PATCH /repos/"+at+"/releases/1", `{"name": "y"}`, row.writes)
				if row.author != "" {
					s.Check(t, apitest.Case{Do: "GET /repos/" + at + "/releases/1", As: "chief", Status: 200,
						Want: fmt.Sprintf(`{"author": {"login": %q}, "assets": [{"uploader": {"login": %q}}]}`, row.author, row.author)})
				} else {
					leaves(t, s, 0)
				}
				sound(t, s)
			})
		})
	}
}

// keep reads everything as a caller who can see all, with the ETags.
func keep(t *testing.T, s *apitest.Server) map[string]string {
	t.Helper()
	tags := map[string]string{}
	for _, path := range []string{"/releases/1", "/releases/assets/1", "/releases/latest", "/releases"} {
		a := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden" + path, As: "will", Status: 200,
			Headers: map[string]string{"Accept": "application/octet-stream, application/json"}})
		if tags[path] = a.Header.Get("Etag"); tags[path] == "" {
			t.Errorf("%s has no ETag", path)
		}
	}
	return map[string]string{"/releases/1": tags["/releases/1"],
		"/releases/assets/1": tags["/releases/assets/1"]}
}

// parentOf is the commit before the tip of main.
func parentOf(t *testing.T, s *apitest.Server) string {
	t.Helper()
	var list []struct{ SHA string }
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/commits?per_page=1&page=2", As: "alice",
		Status: 200}).JSON(t, &list)
	return list[0].SHA
}
