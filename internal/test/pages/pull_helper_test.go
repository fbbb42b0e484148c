package pages_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// get opens a page, and wants all texts in it.
func get(t testing.TB, s *apitest.Server, who, path string, status int, texts ...string) string {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "GET " + path, As: who, Headers: inBrowser})
	return holds(t, "GET "+path+" as "+who, a, status, texts...)
}

func holds(t testing.TB, what string, a *apitest.Answer, status int, texts ...string) string {
	t.Helper()
	if a.Status != status {
		t.Fatalf("%s: status %d, want %d: %.3000s", what, a.Status, status, a.Body)
	}
	for _, text := range texts {
		if !strings.Contains(string(a.Body), text) {
			t.Errorf("%s: %q is not in %s", what, text, inner(string(a.Body)))
		}
	}
	return string(a.Body)
}

// led is where a form that was taken leads.
func led(t testing.TB, s *apitest.Server, who, path string, pairs ...string) string {
	t.Helper()
	return post(t, s, who, path, 303, pairs...).Header.Get("Location")
}

// api asks the API, and reads its answer into a value if there is one.
func api(t testing.TB, s *apitest.Server, who, do string, status int, body, into any) {
	t.Helper()
	send := ""
	if body != nil {
		b, err := json.Marshal(body)
		testkit.NoError(t, err)
		send = string(b)
	}
	a := s.Check(t, apitest.Case{Do: do, As: who, Send: send, Status: status,
		Headers: map[string]string{"Accept": "application/vnd.github.v3+json"}})
	if into != nil {
		a.JSON(t, into)
	}
}

type changeObject = map[string]any

// without wants none of the texts in a page.
func without(t testing.TB, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("%q is in %s", text, inner(page))
		}
	}
}

// history is a repository as fast-import reads one.
type history struct{ strings.Builder }

// commit adds a commit to a branch; from is the branch where a new one begins, or empty.
func (h *history) commit(branch, from, message string, files ...string) {
	fmt.Fprintf(h, "commit refs/heads/%s\ncommitter %s %d +0000\ndata %d\n%s\n", branch, gittest.Author,
		gittest.Start+h.Len(), len(message), message)
	if from != "" {
		fmt.Fprintf(h, "from refs/heads/%s\n", from)
	}
	for n := 0; n+1 < len(files); n += 2 {
		name := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(files[n]) + `"`
		fmt.Fprintf(h, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[n+1]), files[n+1])
	}
}

// into creates a repository with the history.
func (h *history) into(t testing.TB, s *apitest.Server, name string, private bool) *repo.Repo {
	t.Helper()
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(h.String()+"done\n"))
	r := s.Repo(t, name, private)
	s.Import(t, r, dir)
	return r
}

// song is lines "line 1" to "line 20", some of them replaced.
func song(replaced ...string) string {
	var b strings.Builder
	for n := range 20 {
		line := fmt.Sprint("line ", n+1)
		for k := 0; k+1 < len(replaced); k += 2 {
			if replaced[k] == fmt.Sprint(n+1) {
				line = replaced[k+1]
			}
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// changePlant is alice's repository: will may push, sam and stranger may not. Branches: tune (two commits),
// solo (one commit), clash (conflicts with tune and with main's next), low.
func changePlant(t testing.TB, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "will", "sam", "stranger")
	h := &history{}
	h.commit("main", "", "Begin", "song.txt", song(), ".github/pull_request_template.md", "## Why\n")
	h.commit("tune", "main", "Tune the third line\n\nIt was flat.", "song.txt", song("3", "third line"))
	h.commit("tune", "", "Tune more", "song.txt", song("3", "third line", "5", "fifth line"),
		"chords.txt", "C\nG\n")
	h.commit("solo", "main", "Sing alone\n\nNobody else came.", "solo.txt", "la\n")
	h.commit("clash", "main", "Clash", "song.txt", song("3", "another third line"))
	s.Grant(t, h.into(t, s, "alice/plot", false), "will", account.Push)
}

// propose creates a pull request of a branch as alice through the API.
func propose(t testing.TB, s *apitest.Server, head string) (number int) {
	t.Helper()
	var made struct{ Number int }
	api(t, s, "alice", "POST /repos/alice/plot/pulls", 201,
		changeObject{"title": "About " + head, "head": head, "base": "main"}, &made)
	return made.Number
}

// head is the commit that a pull request has.
func head(t testing.TB, s *apitest.Server, number int) string {
	t.Helper()
	var p struct{ Head struct{ SHA string } }
	api(t, s, "alice", fmt.Sprintf("GET /repos/alice/plot/pulls/%d", number), 200, nil, &p)
	return p.Head.SHA
}

// file is the text of a file of a branch.
func file(t testing.TB, s *apitest.Server, branch, path string) string {
	t.Helper()
	a := s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/contents/" + path + "?ref=" + branch,
		As: "alice", Status: 200,
		Headers: map[string]string{"Accept": "application/vnd.github.raw+json"}})
	return string(a.Body)
}

// inner is what a page shows within its frame.
func inner(page string) string {
	_, after, found := strings.Cut(page, "<main")
	if !found {
		return page
	}
	return after
}
