package repos_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

func sha(s string) git.SHA { return git.SHA(s) }

// family creates alice's garden with forks by bob and carol, a fork of bob's by dora, and one of dora's by
// emil. It returns their common tip.
func family(t *testing.T, s *apitest.Server, private bool) (tip string) {
	t.Helper()
	s.Users(t, "alice", "bob", "carol", "dora", "emil")
	s.Admin(t, "chief")
	r := s.Repo(t, "alice/garden", private)
	tip = forkable(t, s, r)
	for _, step := range [][2]string{{"alice", "bob"}, {"alice", "carol"}, {"bob", "dora"},
		{"dora", "emil"}} {
		if private {
			found, err := s.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, step[0], "garden")
			testkit.NoError(t, err)
			s.Grant(t, found.Repo, step[1], account.Pull)
			if step[0] != "alice" {
				s.Grant(t, r, step[1], account.Pull) // who forks a private fork sees the root, too
			}
		}
		s.Check(t, apitest.Case{Do: "POST /repos/" + step[0] + "/garden/forks", As: step[1], Status: 202})
	}
	return tip
}

// kin checks, as the site's administrator, who is whose parent and source and
// how many forks each has: "parent source forks network".
func kin(t *testing.T, s *apitest.Server, want map[string]string) {
	t.Helper()
	for login, line := range want {
		a := s.Check(t, apitest.Case{Do: "GET /repos/" + login + "/garden", As: "chief", Status: 200})
		var got struct {
			Fork           bool
			Forks          int
			NetworkCount   int `json:"network_count"`
			Parent, Source *struct{ Owner struct{ Login string } }
		}
		a.JSON(t, &got)
		parent, source := "-", "-"
		if got.Parent != nil {
			parent = got.Parent.Owner.Login
		}
		if got.Source != nil {
			source = got.Source.Owner.Login
		}
		if text := fmt.Sprintf("%s %s %d %d", parent, source, got.Forks, got.NetworkCount); text != line ||
			got.Fork != (parent != "-") {
			t.Errorf("%s: %s, want %s", login, text, line)
		}
		a = s.Check(t, apitest.Case{Do: "GET /repos/" + login + "/garden/forks", As: "chief", Status: 200})
		var list []struct{}
		if a.JSON(t, &list); len(list) != got.Forks {
			t.Errorf("%s: %d forks are listed of %d", login, len(list), got.Forks)
		}
	}
}

// intact clones what is left and looks at every object.
func intact(t *testing.T, s *apitest.Server, tip string, logins ...string) {
	t.Helper()
	for _, login := range logins {
		clone := filepath.Join(t.TempDir(), "clone.git")
		gittest.Run(t, t.TempDir(), "clone", "-q", "--mirror", s.Remote(t, login, login+"/garden"), clone)
		gittest.Run(t, clone, "fsck", "--strict", "--full")
		gittest.Run(t, clone, "cat-file", "-e", tip+"^{tree}")
	}
}

// Who deletes a repository, or hides it, takes nothing from those who forked it: their work stays whole. Public
// forks stay one network, and know where they belong; private ones stand alone, without the parent that held
// them together.
func TestNetworks(t *testing.T) {
	t.Parallel()
	whole := map[string]string{"alice": "- - 2 4", "bob": "alice alice 1 4", "carol": "alice alice 0 4",
		"dora": "bob alice 1 4", "emil": "dora alice 0 4"}
	const public, private = false, true
	remove := func(login string) apitest.Case {
		return apitest.Case{Do: "DELETE /repos/" + login + "/garden", As: login, Status: 204}
	}
	edit := func(login, send string, status int, want string) apitest.Case {
		return apitest.Case{Do: "PATCH /repos/" + login + "/garden", As: login, Send: send, Status: status,
			Want: want}
	}
	for _, c := range []struct {
		name    string
		private bool
		do      apitest.Case
		want    map[string]string
		left    string // whose objects are all there
	}{
		{"the root is deleted", public, remove("alice"), map[string]string{"bob": "- - 2 3",
			"carol": "bob bob 0 3", "dora": "bob bob 1 3", "emil": "dora bob 0 3"}, "bob carol dora emil"},
		{"the root is deleted", private, remove("alice"), map[string]string{"bob": "- - 0 0",
			"carol": "- - 0 0", "dora": "- - 0 0", "emil": "- - 0 0"}, "bob carol dora emil"},
		{"the root is hidden", public, edit("alice", `{"private": true}`, 200, ""),
			map[string]string{"alice": "- - 0 0", "bob": "- - 2 3", "carol": "bob bob 0 3",
				"dora": "bob bob 1 3", "emil": "dora bob 0 3"}, "alice bob carol dora emil"},
		{"the root is shown", private, edit("alice", `{"private": false}`, 200, ""),
			map[string]string{"alice": "- - 0 0", "bob": "- - 0 0", "carol": "- - 0 0", "dora": "- - 0 0",
				"emil": "- - 0 0"}, "alice bob"},
		{"a fork is deleted", public, remove("bob"), map[string]string{"alice": "- - 2 3",
			"carol": "alice alice 0 3", "dora": "alice alice 1 3", "emil": "dora alice 0 3"},
			"alice carol dora emil"},
		{"a fork is deleted", private, remove("bob"), map[string]string{"alice": "- - 2 3",
			"carol": "alice alice 0 3", "dora": "alice alice 1 3", "emil": "dora alice 0 3"},
			"carol dora emil"},
		{"the last in line is deleted", public, remove("emil"), map[string]string{"alice": "- - 2 3",
			"bob": "alice alice 1 3", "carol": "alice alice 0 3", "dora": "bob alice 0 3"}, "dora"},
		{"a fork cannot hide", public, edit("bob", `{"visibility": "private"}`, 422, `{"errors": [{"field":
			"private", "message": "Public forks can't be made private. Please duplicate the repository."}]}`),
			whole, "bob"},
		{"nothing changes", public, edit("bob", `{"private": false}`, 200, `{"fork": true}`), whole, "bob"},
		{"a new description", public, edit("alice", `{"description": "x"}`, 200, `{"network_count": 4}`), whole, ""},
	} {
		t.Run(fmt.Sprintf("%s, private %v", c.name, c.private), func(t *testing.T) {
			t.Parallel()
			apitest.Each(t, func(t *testing.T, s *apitest.Server) {
				tip := family(t, s, c.private)
				kin(t, s, whole)
				s.Check(t, c.do)
				kin(t, s, c.want)
				intact(t, s, tip, strings.Fields(c.left)...)
			})
		})
	}
}

// What a repository gets after it was hidden stays out of those that were forked
// from it before, and the other way round.
func TestHiddenParentLeaksNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "eve")
		forkable(t, s, s.Repo(t, "alice/garden", false))
		public := newBlob(t, s, "alice/garden", "alice", "seen by all")
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/garden/forks", As: "bob", Status: 202},
			{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
		})
		s.Run(t, []apitest.Case{
			{Name: "what was public stays so", Do: "GET /repos/bob/garden/git/trees/main",
				As: "eve", Status: 200},
			{Name: "what no ref led to did not come along", Do: "GET /repos/bob/garden" + public,
				As: "bob", Status: 404},
			{Name: "for a stranger neither", Do: "GET /repos/bob/garden" + public, As: "eve", Status: 404},
			{Name: "of the parent", Do: "GET /repos/bob/garden" + newBlob(t, s, "alice/garden", "alice", "secret"),
				As: "bob", Status: 404},
			{Name: "of the fork", Do: "GET /repos/alice/garden" + newBlob(t, s, "bob/garden", "bob", "more"),
				As: "alice", Status: 404},
			{Name: "the fork names nobody", Do: "GET /repos/bob/garden", As: "eve", Status: 200,
				Want: `{"fork": false, "parent": "$absent", "source": "$absent"}`},
			{Name: "the former parent is not counted", Do: "GET /repos/bob/garden", As: "bob", Status: 200,
				Want: `{"network_count": 0}`},
			{Name: "the parent begins anew", Do: "GET /repos/alice/garden", As: "alice", Status: 200,
				Want: `{"forks_count": 0, "private": true}`},
		})
	})
}

// A pull request names a fork by its owner alone.
func TestForkOf(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		family(t, s, true)
		chief, err := s.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, "emil", "garden")
		testkit.NoError(t, err)
		bob := s.Repo(t, "bob/other", true)
		admin := &account.Caller{SiteAdmin: true}
		for login, want := range map[string]string{"alice": "alice/garden", "BOB": "bob/garden",
			"dora": "dora/garden", "chief": "", "nobody": ""} {
			a, err := s.Forge.Network.ForkOf(t.Context(), admin, chief.NetworkID, login)
			if want == "" && !errs.Is(err, errs.NotFound) ||
				want != "" && (err != nil || a.FullName() != want) {
				t.Errorf("%s: %v, %v", login, a, err)
			}
		}
		if _, err := s.Forge.Network.ForkOf(t.Context(), &account.Caller{ID: bob.OwnerID, Login: "bob"},
			chief.NetworkID, "carol"); !errs.Is(err, errs.NotFound) {
			t.Errorf("bob finds carol's private fork: %v", err)
		}
	})
}
