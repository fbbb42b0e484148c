package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// formsOfCode are forms of code, releases and plants, each with what its change needs: push to alice/plot, a fork of
// it for somebody who may not push, a comment, or the plant store.
var formsOfCode = []struct{ name, as, to, send, needs string }{
	{"branch", "bob", "/alice/plot/branches", "name=NAME&from=main", "push"},
	{"rename", "bob", "/alice/plot/branches/rename", "name=spare-NAME&new_name=spare-NAME2", "push"},
	{"rename back", "bob", "/alice/plot/branches/rename", "name=spare-NAME2&new_name=spare-NAME", "push"},
	{"no branch", "bob", "/alice/plot/branches/delete", "name=spare-NAME", "push"},
	{"file", "bob", "/alice/plot/new/main", "path=NAME.txt&text=x&target=direct", "push"},
	{"release", "bob", "/alice/plot/releases/new", "tag=NAME&action=draft", "push"},
	{"notes", "bob", "/alice/plot/releases/new", "tag=NAME&action=generate", "notes"},
	{"proposal", "sam", "/alice/plot/new/main", "path=fork-NAME.txt&text=x&branch=NAME", "fork"},
	{"comment", "sam", "/alice/plot/commit/main/comments", "body=x", "comment"},
	{"plant", "sam", "/dashboard/plants", "id=1&name=NAME", "plants"},
}

// formsPlant makes alice's repository plot, which bob may push to, with a branch for each of the names to delete.
func formsPlant(t *testing.T, s *apitest.Server, names ...string) {
	t.Helper()
	releasesPlant(t, s)
	tip := s.Tip(t, "alice", "alice/plot", "main")
	for _, name := range names {
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/git/refs", As: "alice", Status: 201,
			Send: `{"ref": "refs/heads/spare-` + name + `", "sha": "` + tip + `"}`})
	}
}

// A token that is limited changes by the pages of code, releases and plants what it changes by the API, and no more.
func TestLimitedTokensOnCodePages(t *testing.T) {
	t.Parallel()
	may := map[string]map[string]bool{
		"code":   {"push": true, "notes": true, "fork": true, "comment": true},
		"people": {}, "read": {}, "elsewhere": {},
		"write":  {"push": true, "notes": true, "comment": true},
		"plants": {"plants": true},
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		formsPlant(t, s, "code", "people", "read", "elsewhere", "write", "plants")
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice", Send: `{"name": "other"}`, Status: 201})
		id := func(name string) int64 { return int64(s.Access(t, "alice", name).Repo.ID) }
		token := func(kind, login string) string {
			switch kind {
			case "code":
				return s.Scoped(t, login, "public_repo")
			case "people":
				return s.Scoped(t, login, "read:user")
			case "plants":
				return s.Scoped(t, login, "plants")
			case "elsewhere":
				return s.Fine(t, login, true, id("alice/other"))
			}
			return s.Fine(t, login, kind == "write", id("alice/plot"))
		}
		for kind, of := range may {
			for _, f := range formsOfCode {
				want := 403
				if of[f.needs] {
					want = map[bool]int{true: 200, false: 303}[f.needs == "notes"]
				}
				s.Check(t, apitest.Case{Name: kind + ": " + f.name, Do: "POST " + f.to, Status: want,
					Send: strings.ReplaceAll(f.send, "NAME", kind), Headers: map[string]string{"Accept": apitest.Browser,
						"Authorization": "Bearer " + token(kind, f.as),
						"Content-Type":  "application/x-www-form-urlencoded"}})
			}
		}
	})
}

// While the disk is nearly full, forms of code, releases and plants store nothing; a branch can be deleted.
func TestCodeFormsWithoutRoom(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		formsPlant(t, s, "x")
		narrow := s.WithoutRoom()
		for _, f := range formsOfCode {
			code := map[bool]int{true: 303, false: 507}[f.name == "no branch"]
			sendForms(t, narrow, s.Token(t, f.as), []sentForm{{f.to, strings.ReplaceAll(f.send, "NAME", "x"),
				code}})
		}
	})
}
