package pulls_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

const reviewPlot = "/repos/alice/plot"

// reviewWorld is a repository of alice's in which sam proposes, in pull request 1, to
// change lines 5 and 15 of the 20 lines of song.txt. Will may push, rita only
// looks.
func reviewWorld(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "will", "sam", "rita")
	r := s.Repo(t, "alice/plot", false)
	s.Grant(t, r, "will", account.Push)
	s.Import(t, r, gittest.Repository(t, 2, 2))
	write(t, s, "main", "song.txt", song(nil))
	write(t, s, "main", "other.txt", "other\n")
	branch(t, s, "verse", s.Tip(t, "alice", "alice/plot", "main"))
	write(t, s, "verse", "song.txt", song(map[int]string{5: "FIVE", 15: "FIFTEEN"}))
	s.Check(t, apitest.Case{Do: "POST " + reviewPlot + "/pulls", As: "sam",
		Send: `{"title": "Sing", "head": "verse", "base": "main"}`, Status: 201})
}

// song returns 20 lines with replacements; an empty one is omitted.
func song(other map[int]string) string {
	var b strings.Builder
	for n := 1; n <= 20; n++ {
		line, ok := other[n]
		if !ok {
			line = fmt.Sprint("line ", n)
		}
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func branch(t *testing.T, s *apitest.Server, name, sha string) {
	t.Helper()
	s.Check(t, apitest.Case{Do: "POST " + reviewPlot + "/git/refs", As: "alice", Status: 201,
		Send: `{"ref": "refs/heads/` + name + `", "sha": "` + sha + `"}`})
}

// write commits a file to a branch and returns the commit.
func write(t *testing.T, s *apitest.Server, branch, path, text string) string {
	t.Helper()
	var old struct{ SHA string }
	if a := s.Do(t, apitest.Case{Do: "GET " + reviewPlot + "/contents/" + path + "?ref=" + branch,
		As: "alice"}); a.Status == 200 {
		a.JSON(t, &old)
	}
	sha := ""
	if old.SHA != "" {
		sha = `, "sha": "` + old.SHA + `"`
	}
	var made struct{ Commit struct{ SHA string } }
	a := s.Do(t, apitest.Case{Do: "PUT " + reviewPlot + "/contents/" + path, As: "alice",
		Send: `{"message": "Write ` + path + `", "branch": "` + branch + `", "content": "` +
			base64.StdEncoding.EncodeToString([]byte(text)) + `"` + sha + `}`})
	if a.Status != 200 && a.Status != 201 {
		t.Fatalf("writing %s: %d %s", path, a.Status, a.Body)
	}
	a.JSON(t, &made)
	return made.Commit.SHA
}

// say comments and returns the id.
func say(t *testing.T, s *apitest.Server, as, send string) int64 {
	t.Helper()
	var made struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "POST " + reviewPlot + "/pulls/1/comments", As: as, Send: send,
		Status: 201}).JSON(t, &made)
	return made.ID
}
