package pages_test

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// thin holds a page to add at most 100 KB of markup to what it shows.
func (v *visitor) thin(path string) {
	v.t.Helper()
	body := string(v.want(path, 200).Body)
	shown := len(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, "")))
	v.t.Logf("%s: %d bytes of markup beside %d of text", path, len(body)-shown, shown)
	if len(body)-shown > 100_000 {
		v.t.Errorf("%s has %d bytes of markup beside %d of text", path, len(body)-shown, shown)
	}
}

// aLongFile creates a repository with a Go program of 5,000 lines, and other files that need much markup.
func aLongFile(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.User(t, "alice")
	// dense
	root, err := exec.Command("go", "env", "GOROOT").Output()
	testkit.NoError(t, err)
	scanner, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src/go/scanner/scanner_test.go"))
	testkit.NoError(t, err)
	var program, dense strings.Builder
	for n := range 5000 {
		fmt.Fprintf(&program, "var line%d = 1 // the line %d\n", n+1, n+1)
	}
	for dense.Len() < 60_000 {
		dense.WriteString(`var a="b",1//c` + "\n" + `if a=="<"{return nil,true,12}` + "\n")
	}
	h := &history{}
	h.commit("main", "", "Begin", "program.go", program.String(), "dense.go", dense.String(),
		"scanner_test.go", string(scanner),
		"list.json", "[\n"+strings.Repeat(`  {"name": "a", "more": ["b", "c"], "n": 1},`+"\n", 1400)+"]\n")
	h.into(t, s, "alice/garden", false)
}

// A page of a file adds at most 100 KB to its contents for any file. A common file is shown completely; a
// long one on pages that link to their neighbors and to a line.
func TestPagesOfFiles(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	aLongFile(t, s)
	v := as(t, s, "")
	for _, file := range []string{"program.go", "program.go?page=3", "dense.go", "scanner_test.go",
		"list.json"} {
		v.thin("/alice/garden/blob/main/" + file)
		v.thin("/alice/garden/blame/main/" + file)
	}
	whole := string(v.want("/alice/garden/blob/main/scanner_test.go", 200).Body)
	if strings.Contains(whole, "More lines") ||
		strings.Count(whole, "<tr id=L") != strings.Count(whole, "<td><a href=#L") {
		t.Error("a common file does not show whole")
	}
	for page, has := range map[string][]string{"": {"line1 ", "line1500 "},
		"?page=2": {"line1501 ", "line3000 "}, "?page=4": {"line4501 ", "line5000 "},
		"?page=9": {"line5000 "}} {
		for _, kind := range []string{"blob", "blame"} {
			a := v.want("/alice/garden/"+kind+"/main/program.go"+page, 200, has...)
			if n := strings.Count(string(a.Body), "<tr id=L"); n > 1500 {
				t.Errorf("%s %s: %d lines", kind, page, n)
			}
		}
	}
	for line, to := range map[string]string{"2500": "?page=2#L2500", "1500": "?page=1#L1500",
		"1501": "?page=2#L1501", "0": "?page=1#L1", "99999": "?page=4#L5000"} {
		for _, kind := range []string{"blob", "blame"} {
			at := "/alice/garden/" + kind + "/main/program.go"
			v.get(at+"?line="+line).Leads(t, at+to)
		}
	}
	v.want("/alice/garden/blob/main/program.go?line=x", 200, "line1 ")
	second := string(v.want("/alice/garden/blob/main/program.go?page=2", 200).Body)
	for _, link := range []string{`href="/alice/garden/blame/main/program.go?page=2"`,
		`program.go?page=2" data-key="y"`, `href="?page=3"`, `href="?page=1"`, `href=#L2500>`} {
		if !strings.Contains(second, link) {
			t.Errorf("the second page has no %s", link)
		}
	}
}
