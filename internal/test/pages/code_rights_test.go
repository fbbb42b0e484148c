package pages_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/account/token"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
)

// formsOfCode are forms of code, releases and plants, each with what its change needs: push to alice/plot, a fork of
// it for somebody who may not push, a comment, or the plant store.
var formsOfCode = []struct{ name, as, to, send, needs string }{
	{"branch", "bob", "/alice/plot/branches", "name=NAME&from=main", "push"},
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
	var main struct{ Object struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/git/ref/heads/main", Status: 200,
		Keep: func(a *apitest.Answer) { a.JSON(t, &main) }})
	for _, name := range names {
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/git/refs", As: "alice", Status: 201,
			Send: `{"ref": "refs/heads/spare-` + name + `", "sha": "` + main.Object.SHA + `"}`})
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
			fine := token.NewToken{Login: login, Note: "fine", Repos: []int64{id("alice/plot")}}
			switch kind {
			case "code":
				return s.Scoped(t, login, "public_repo")
			case "people":
				return s.Scoped(t, login, "read:user")
			case "plants":
				return s.Scoped(t, login, "plants")
			case "elsewhere":
				fine.Repos = []int64{id("alice/other")}
			}
			fine.Changes = kind != "read"
			made, _, err := s.Forge.Tokens.CreateToken(t.Context(), fine)
			if err != nil {
				t.Fatal(err)
			}
			return made
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
		narrow := server.New(server.Options{DB: s.DB, Git: s.Git, DataDir: s.Dir, MinFree: 1 << 60,
			Log: slog.New(slog.DiscardHandler)})
		for _, f := range formsOfCode {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, f.to,
				strings.NewReader(strings.ReplaceAll(f.send, "NAME", "x")))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept", apitest.Browser)
			r.Header.Set("Authorization", "Bearer "+s.Token(t, f.as))
			answer := httptest.NewRecorder()
			narrow.ServeHTTP(answer, r)
			if want := map[bool]int{true: 303, false: 507}[f.name == "no branch"]; answer.Code != want {
				t.Errorf("%s is %d, want %d", f.name, answer.Code, want)
			}
		}
	})
}
