package pages_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// square is a picture of one colour.
func square(t *testing.T, c color.Color) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 40, 40))
	for n := range 1600 {
		img.Set(n%40, n/40, c)
	}
	var b bytes.Buffer
	testkit.NoError(t, png.Encode(&b, img))
	return b.String()
}

// put writes a file of alice's garden through the API, on a branch if there is one.
func put(t *testing.T, s *apitest.Server, path, text, branch string) {
	t.Helper()
	send := changeObject{"message": "Add " + path, "content": base64.StdEncoding.EncodeToString([]byte(text))}
	if branch != "" {
		send["branch"] = branch
	}
	api(t, s, "alice", "PUT /repos/alice/garden/contents/"+path, 201, send, nil)
}

// aNotebook has a cell of each kind, and tries to run scripts in the reader's browser.
func aNotebook(t *testing.T) string {
	book := changeObject{"nbformat": 4, "metadata": changeObject{"language_info": changeObject{"file_extension": ".py"}},
		"cells": []any{
			changeObject{"cell_type": "markdown", "source": []string{"# Harvest\n", "[the data](data.csv) <script>alert(1)</script>"}},
			changeObject{"cell_type": "code", "execution_count": 3, "source": "import plants # <b>",
				"outputs": []any{
					changeObject{"output_type": "stream", "text": []string{"watered\n", "<i>twice</i>"}},
					changeObject{"output_type": "display_data", "data": changeObject{
						"image/png": base64.StdEncoding.EncodeToString([]byte(square(t, color.White)))}},
					changeObject{"output_type": "execute_result", "data": changeObject{
						"text/html": "<table onclick=alert(2)><tr><td>berries</td></tr></table><img src=/leave-now>"}},
					changeObject{"output_type": "display_data", "data": changeObject{
						"image/png": "no picture", "text/plain": "a figure"}},
					changeObject{"output_type": "error", "ename": "Drought", "evalue": "dry", "traceback": []string{"\x1b[31mline 1\x1b[0m"}},
				}},
			changeObject{"cell_type": "raw", "source": "raw words"},
		}}
	text, err := json.Marshal(book)
	testkit.NoError(t, err)
	return string(text)
}

// Data is shown as what it is, its source stays at hand, and nothing of it runs.
func TestDataIsShown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		put(t, s, "data.csv", "plant,\"how <b>many</b>\"\nrose,1\nlily,\"2, or 3\"\n", "")
		put(t, s, "data.tsv", "a\tb\n1\t2\n", "")
		put(t, s, "broken.csv", "a,b\n\"c", "")
		put(t, s, "long.csv", strings.Repeat("x,y\n", 2000), "")
		put(t, s, "book.ipynb", aNotebook(t), "")
		put(t, s, "no.ipynb", "{}", "")
		v := as(t, s, "sam")
		for _, c := range []struct {
			path      string
			has, lack []string
		}{
			{"data.csv", []string{"<th>plant</th><th>how &lt;b&gt;many&lt;/b&gt;</th>", "<td>2</td><td>lily</td><td>2, or 3</td>",
				"?plain=1", "/blame/main/data.csv"}, []string{`id=L1`}},
			{"data.csv?plain=1", []string{`id=L3`, "Preview"}, []string{`class="data"`}},
			{"data.tsv", []string{"<td>1</td><td>1</td><td>2</td>"}, nil},
			{"broken.csv", []string{"c"}, nil},
			{"long.csv", []string{"The table is longer", "<td>1000</td>"}, []string{"<td>1001</td>"}},
			{"book.ipynb", []string{"Harvest", `href="/alice/garden/blob/main/data.csv"`, "[3]", "# &lt;b&gt;", "&lt;i&gt;twice&lt;/i&gt;",
				`src="data:image/png;base64,`, `width="40" height="40"`, "<td>berries</td>", "a figure", "Drought: dry\nline 1", "raw words"},
				[]string{"<script>alert", "onclick", "/leave-now", "\x1b"}},
			{"book.ipynb?plain=1", []string{"cell_type"}, []string{"data:image/png;base64"}},
			{"no.ipynb", []string{"{}"}, nil},
			{"bytes.bin", []string{"A binary file."}, []string{"/blame/"}},
		} {
			page := v.show("/alice/garden/blob/main/"+c.path, c.has...)
			without(t, page, c.lack...)
		}
	})
}

// The list of branches begins with the default branch and the newest, says what became of their pull requests, and
// can be searched.
func TestBranchesInOrder(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		tip := s.Tip(t, "alice", "alice/garden", "main")
		for n, name := range []string{"a-old", "b-open", "c-merged", "d-closed", "e-draft"} {
			api(t, s, "alice", "POST /repos/alice/garden/git/refs", 201, changeObject{"ref": "refs/heads/" + name, "sha": tip}, nil)
			if n == 0 {
				continue
			}
			put(t, s, name, "x\n", name)
			api(t, s, "alice", "POST /repos/alice/garden/pulls", 201,
				changeObject{"title": name, "head": name, "base": "main", "draft": name == "e-draft"}, nil)
		}
		api(t, s, "alice", "PUT /repos/alice/garden/pulls/2/merge", 200, changeObject{}, nil)
		api(t, s, "alice", "PATCH /repos/alice/garden/pulls/3", 200, changeObject{"state": "closed"}, nil)
		v := as(t, s, "sam")
		page := v.show("/alice/garden/branches", "#1 open", "#2 merged", "#3 closed", "#4 draft")
		last := 0
		for n, name := range []string{"main", "b-open", "a-old"} {
			at := strings.Index(page, fmt.Sprintf(`href="/alice/garden/tree/%s"`, name))
			if at < last {
				t.Errorf("branch %d, %s, stands at %d, behind %d", n, name, at, last)
			}
			last = at
		}
		found := v.show("/alice/garden/branches?q=MERG", "c-merged")
		without(t, found, "b-open", "a-old")
		v.want("/alice/garden/branches?q=nothing", 200, "No branches match.")
	})
}

// Contributors are people with accounts by their logins, and others by their names, with most commits first.
func TestContributorsPage(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		for n := range 4 {
			put(t, s, fmt.Sprint("f", n), "x\n", "")
		}
		v := as(t, s, "sam")
		page := v.show("/alice/garden/contributors", `href="/alice"`, "4 commits", "3 commits", "&amp;lt;script&amp;gt; B")
		without(t, page, "a@example.com", "<script> B")
		if strings.Index(page, "4 commits") > strings.Index(page, "3 commits") {
			t.Error("who has fewer commits comes first")
		}
		s.Repo(t, "alice/empty", false)
		v.want("/alice/empty/contributors", 200, "There are no commits yet.")
	})
}

// A person finds files and lines: Enter opens the first file, lines that match have numbers that lead to them, and
// blame leads to the file before a change.
func TestFilesAndLinesAreFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		put(t, s, "deep/lines.txt", strings.Repeat("nothing\n", 99)+"the nightingale\nsings\n", "")
		s.Settle(t)
		v := as(t, s, "sam")
		v.get("/alice/garden/find/main?open=1&q=lines").Leads(t, "/alice/garden/blob/main/deep/lines.txt")
		v.want("/alice/garden/find/main?open=1&q=nosuchfile", 200, "No files match.")
		v.want("/alice/garden/find/main?open=1", 200, "song.txt")
		v.show("/alice/garden/search?q=nightingale", `href="/alice/garden/blob/main/deep/lines.txt#L100">100</a>`,
			"the <mark>nightingale</mark>")
		v.want("/alice/garden/blame/side/%3Ci%3E/song.txt", 200, "before this change", "Older")
	})
}
