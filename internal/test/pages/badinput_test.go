package pages_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// badInput is what hostile people send to pages, and the tests of each: "FILE TEST", or a function of this file that is run
// here.
var badInput = []struct {
	what string
	by   []string
	run  func(t *testing.T)
}{
	{"titles of 256 wide characters", []string{"../../../cmd/arbor/pageshostile_test.go TestPagesOfHostileNames"}, nil},
	{"titles that are written from right to left", []string{"../../../cmd/arbor/pageshostile_test.go TestPagesOfHostileNames"}, nil},
	{"titles without a space", []string{"../../../cmd/arbor/pageshostile_test.go TestPagesOfHostileNames"}, nil},
	{"3,000 changed files", []string{"pull_hostile_test.go TestChangeBounds"}, nil},
	{"3,000 files of a directory", []string{"code_test.go TestPagesAreBounded"}, nil},
	{"10,000 comments", nil, manyComments},
	{"a file of one line of 5 MB", nil, oneLine},
	{"a change of one line of 5 MB", []string{"pull_hostile_test.go TestChangeBounds"}, nil},
	{"images that lie about their type", []string{"imageproxy_test.go TestImagesOfOtherHosts"}, nil},
	{"images that are bombs", []string{"imageproxy_test.go TestImagesOfOtherHosts"}, nil},
	{"images that redirect inward", []string{"imageproxy_test.go TestImagesOfOtherHosts"}, nil},
	{"images that never end", []string{"imageproxy_test.go TestImagesOfOtherHosts"}, nil},
	{"thousands of images", []string{"imageproxy_test.go TestManyImages"}, nil},
	{"Mermaid that hangs a browser", []string{"code_diagrams_long_test.go TestHostileDiagram"}, nil},
	{"formulas that hang a browser", []string{"code_diagrams_long_test.go TestDiagramsAndFormulas"}, nil},
	{"a thousand tabs of one person", []string{"live_test.go TestLiveBounds"}, nil},
	{"events of what is private by the time they come", []string{"live_test.go TestLiveRights"}, nil},
	{"markup in names and texts", []string{"pull_hostile_test.go TestHostile", "code_test.go TestCodePagesShowWhatTheyAreOf"}, nil},
	{"files of a form that break off", []string{"releases_test.go TestFilesThatBreakOff"}, nil},
}

// Each kind of bad input has a test, which is here or where the table says.
func TestBadInput(t *testing.T) {
	t.Parallel()
	for _, row := range badInput {
		t.Run(row.what, func(t *testing.T) {
			t.Parallel()
			if (row.run == nil) == (len(row.by) == 0) {
				t.Fatal("a row names its tests, or runs one")
			}
			if row.run != nil {
				row.run(t)
			}
			for _, by := range row.by {
				file, name, _ := strings.Cut(by, " ")
				text, err := os.ReadFile(file)
				testkit.NoError(t, err)
				if !strings.Contains(string(text), "\nfunc "+name+"(t *testing.T) {") {
					t.Errorf("%s has no test %s", file, name)
				}
			}
		})
	}
}

// manyComments opens a conversation of 10,000 comments: a page has its beginning and end, and leads to the rest.
func manyComments(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/plot", false)
		api(t, s, "alice", "POST /repos/alice/plot/issues", 201, changeObject{"title": "Peas"}, nil)
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			err := tx.Run(`INSERT INTO issue_comments (repo_id, issue_id, author_id, body, created_at, updated_at)
				SELECT i.repo_id, i.id, i.author_id, 'Comment ' || k || '.', i.created_at + k, i.created_at + k
				FROM issues i, (WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 10000) SELECT k FROM n) n`)
			if err == nil {
				err = tx.Run(`UPDATE issues SET comments = 10000`)
			}
			return err
		}))
		for path, has := range map[string][]string{"": {"Comment 1.", "Comment 10000.", "Load more"},
			"?page=50": {"This is part 50 of the conversation", "Comment 2500."}} {
			body := string(s.Do(t, apitest.Case{Do: "GET /alice/plot/issues/1" + path, As: "alice", Headers: inBrowser}).Body)
			for _, text := range has {
				if !strings.Contains(body, text) {
					t.Errorf("%q has no %q", path, text)
				}
			}
			if len(body) > 1<<20 || strings.Contains(body, "Comment 5000.") {
				t.Errorf("%q has %d bytes, or what is elsewhere", path, len(body))
			}
		}
		for _, odd := range []string{"0", "-1", "1000", "99999999999999999999", "x"} {
			a := s.Do(t, apitest.Case{Do: "GET /alice/plot/issues/1?page=" + odd, Headers: inBrowser})
			if a.Status != 200 && a.Status != 422 || len(a.Body) > 1<<20 {
				t.Errorf("page %s: status %d, %d bytes", odd, a.Status, len(a.Body))
			}
		}
	})
}

// oneLine opens the pages of a file that is one line of 5 MB, and of such a file in Markdown, CSV and a notebook.
func oneLine(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	h := &history{}
	var files []string
	for _, name := range []string{"line", "line.go", "line.md", "line.csv", "line.ipynb", "line.svg", "README.md"} {
		files = append(files, name, strings.Repeat("a,<b>", 1<<20))
	}
	h.commit("main", "", "Begin", files...)
	h.into(t, s, "alice/plot", false)
	paths := []string{"", "/tree/main", "/commit/main", "/find/main", "/search?q=a"}
	for n := 0; n < len(files); n += 2 {
		for _, kind := range []string{"blob", "blame", "files", "edit", "delete", "commits"} {
			paths = append(paths, fmt.Sprintf("/%s/main/%s", kind, files[n]), fmt.Sprintf("/%s/main/%s?plain=1&line=1", kind, files[n]))
		}
	}
	for _, path := range paths {
		a := s.Do(t, apitest.Case{Do: "GET /alice/plot" + path, As: "alice", Headers: inBrowser})
		if a.Status >= 500 || len(a.Body) > 1<<20 {
			t.Errorf("%s: status %d, %d bytes", path, a.Status, len(a.Body))
		}
	}
	get(t, s, "", "/alice/plot/blob/main/line.go", 200, "too large to be shown here")
}
