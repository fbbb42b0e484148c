package diff_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	gitdiff "arbor/internal/git/diff"
	"arbor/internal/highlight"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

const patch = "@@ -1,4 +1,4 @@ func main() {\n one\n-two old word\n+two new word\n three\n\\ No newline at end of file"

// slots are templates that a room defines again.
const slots = `{{define "diff-under"}}<i>under {{.Side}} {{.Line}} {{.Value}} {{.Extra}}</i>{{end}}` +
	`{{define "diff-file-acts"}}<b>acts {{.Value}}</b>{{end}}{{define "diff-file-top"}}<b>end {{.Value}}</b>{{end}}` +
	`{{define "diff-top"}}<b>top {{.Extra}}</b>{{end}}{{template "diff" .}}`

func render(t *testing.T, v *diff.View, room string) string {
	t.Helper()
	set := page.ReadTemplates(fstest.MapFS{"templates/room.html": {Data: []byte(room)}})
	r, w := httptest.NewRequest("GET", "/x", nil), httptest.NewRecorder()
	testkit.NoError(t, set.Page(w, web.With(r, &web.Info{}), "room.html", v))
	return w.Body.String()
}

func changed(name, patch string) page.ChangedFile {
	return page.ChangedFile{Filename: name, Status: "modified", Additions: 1, Deletions: 1, Changes: 2,
		Patch: &patch}
}

// Reviewers read what changed in both forms, find each line by GitHub's address, and see the words that
// changed.
func TestForms(t *testing.T) {
	t.Parallel()
	files := []page.ChangedFile{changed("main.go", patch)}
	unified := render(t, diff.New(httptest.NewRequest("GET", "/x?w=1", nil), files, diff.Options{}),
		`{{template "diff" .}}`)
	split := render(t, diff.New(httptest.NewRequest("GET", "/x?diff=split", nil), files, diff.Options{}),
		`{{template "diff" .}}`)
	// printf main.go | sha256sum
	at := "diff-2873f79a86c0d8b3335cd7731b0ecf7dd4301eb19a82ef7a1cba7589b5252261"
	for name, html := range map[string]string{"unified": unified, "split": split} {
		for _, part := range []string{`id="` + at + `"`, "two <mark>old</mark> word",
			"two <mark>new</mark> word", "func main() {", "No newline", `+1</span>`, `−1</span>`,
			`diff=unified`, `diff=split`} {
			if !strings.Contains(html, part) {
				t.Errorf("%s has no %q: %s", name, part, html)
			}
		}
	}
	if !strings.Contains(unified, "w=1") {
		t.Error("the links lose the rest of the query")
	}
	for _, row := range []string{"<tr><td>1<td>1<td>one", "<tr class=d><td>2<td><td>two <mark>old",
		"<tr class=a><td><td>2<td>two <mark>new", "<tr class=h><td colspan=3>@@"} {
		if !strings.Contains(unified, row) {
			t.Errorf("unified has no %s: %s", row, unified)
		}
	}
	if !strings.Contains(split,
		`<tr><td class=d>2<td>two <mark>old</mark> word<td class=a>2<td>two <mark>new`) ||
		!strings.Contains(split, `class="diff two"`) {
		t.Errorf("split: %s", split)
	}
}

// Rooms put their own below lines and around files, also where the line is not shown.
func TestSlots(t *testing.T) {
	t.Parallel()
	o := diff.Options{Extra: "more", OfFile: map[string]any{"a": "file"}, Under: map[diff.Position]any{
		{Path: "a", Side: diff.Right, Line: 2}: "new", {Path: "a", Side: diff.Left, Line: 2}: "old",
		{Path: "a", Side: diff.Right, Line: 99}: "far",
		{Path: "b", Side: diff.Right, Line: 2}:  "other"}}
	for _, address := range []string{"/x", "/x?diff=split"} {
		html := render(t, diff.New(httptest.NewRequest("GET", address, nil),
			[]page.ChangedFile{changed("a", patch)}, o), slots)
		for _, part := range []string{"under RIGHT 2 new more", "under LEFT 2 old more", "under RIGHT 99 far",
			"acts file", "end file", "top more"} {
			if strings.Count(html, part) != 1 {
				t.Errorf("%s has %d times %q: %s", address, strings.Count(html, part), part, html)
			}
		}
		if strings.Contains(html, "other") {
			t.Error("a slot of another file is shown")
		}
	}
}

// What is large, generated or binary is not in the page at first, and one link shows it.
func TestCollapsed(t *testing.T) {
	t.Parallel()
	long := "@@ -0,0 +1,2000 @@" + strings.Repeat("\n+line", 2000)
	gone := page.ChangedFile{Filename: "far.txt", Status: "modified", Additions: 5000, Changes: 5000}
	files := []page.ChangedFile{changed("long.txt", long), changed("go.sum", patch),
		changed("web/vendor/x.js", patch), gone, changed("seen.go", patch),
		{Filename: "new", Previous: "old", Status: "renamed"}}
	o := diff.Options{Collapse: func(f *page.ChangedFile) bool { return f.Filename == "seen.go" }}
	v := diff.New(httptest.NewRequest("GET", "/x", nil), files, o)
	for n, why := range []string{"large", "generated", "generated", "large", "collapsed", "same"} {
		f := v.Files[n]
		if f.Why != why || len(f.Rows) > 0 || (f.Href == "") != (f.Patch == nil) {
			t.Errorf("%s: %q, %d rows, %q", f.Filename, f.Why, len(f.Rows), f.Href)
		}
	}
	address, _, _ := strings.Cut(v.Files[0].Href, "#")
	again := diff.New(httptest.NewRequest("GET", "/x"+address, nil), files, o)
	if f := again.Files[0]; f.Why != "" || len(f.Rows) != 2001 || f.Rows[2000].New != 2000 {
		t.Errorf("%q %d", f.Why, len(f.Rows))
	}
	if again.Files[1].Why != "generated" || !strings.Contains(again.Files[1].Href, v.Files[0].ID[:12]) {
		t.Error("opening one more closes the first")
	}
	var many []page.ChangedFile
	for n := range 100 {
		many = append(many, changed(fmt.Sprint("f", n), "@@ -0,0 +1,900 @@"+strings.Repeat("\n+line", 900)))
	}
	first := diff.New(httptest.NewRequest("GET", "/x", nil), many, diff.Options{})
	rows := 0
	for _, f := range first.Files {
		if rows += len(f.Rows); f.Why == "" && len(f.Rows) == 0 || f.Why != "" && f.Href == "" {
			t.Errorf("%s is neither shown nor led to", f.Filename)
		}
	}
	if rows > 3000 || rows < 1800 || len(first.Files) != 50 || first.Around.Older != "?files=2" ||
		first.All != 100 || first.Additions != 100 {
		t.Errorf("a page shows %d lines of %d files, and leads to %q", rows, len(first.Files),
			first.Around.Older)
	}
	for _, address := range []string{"/x?files=2", "/x?files=9"} {
		if v := diff.New(httptest.NewRequest("GET", address, nil), many,
			diff.Options{}); v.Files[49].Filename != "f99" || v.Around.Newer != "?files=1" ||
			v.Around.Older != "" {
			t.Errorf("%s shows %q last, and leads to %+v", address, v.Files[49].Filename, v.Around)
		}
	}
}

// Nothing in a file's name or text runs, and no patch is too odd to be shown.
func TestHostile(t *testing.T) {
	t.Parallel()
	evil := `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	html := render(t, diff.New(httptest.NewRequest("GET", "/x?diff="+`"><script>`, nil), []page.ChangedFile{
		changed(evil, "@@ -1 +1 @@ "+evil+"\n-"+evil+"\n+"+evil+"x")}, diff.Options{}),
		`{{template "diff" .}}`)
	if strings.Contains(html, "<script") || strings.Contains(html, "<img") {
		t.Error(html)
	}
	for _, p := range []string{"", "\n", "@@", "@@ -1 +1 @@", "@@ -x +y @@\n+a", "+a", "@@ -1 +1 @@\n\n",
		"@@ -1,1 +9999999999999999999999 @@\n a", "@@ -1 +1 @@\n-\xff\n+\xffé", "@@ -1 +1 @@\n-é\n+è",
		"@@ -1 +1 @@\n+" + strings.Repeat("x", 100_000)} {
		for _, address := range []string{"/x", "/x?diff=split"} {
			html := render(t, diff.New(httptest.NewRequest("GET", address, nil),
				[]page.ChangedFile{changed("a", p)}, diff.Options{}), `{{template "diff" .}}`)
			if len(html) > 20_000 {
				t.Errorf("%q makes %d bytes", p[:20], len(html))
			}
		}
	}
}

// FuzzPatch: whatever a patch is, both forms show as many lines of it.
func FuzzPatch(f *testing.F) {
	f.Add(patch)
	f.Add("@@ -1,2 +1 @@\n-a\n-b\n+a\n\\ No newline\n@@ -9 +8 @@\n+x")
	f.Fuzz(func(t *testing.T, p string) {
		count := func(v *diff.View) (old, now int) {
			for _, row := range v.Files[0].Rows {
				if row.Kind == "d" {
					old++
				} else if row.Kind == "a" {
					now++
				}
			}
			for _, pair := range v.Files[0].Pairs {
				if pair.Old.Kind == "d" {
					old++
				}
				if pair.New.Kind == "a" {
					now++
				}
			}
			return old, now
		}
		files := []page.ChangedFile{changed("a", p)}
		a, b := count(diff.New(httptest.NewRequest("GET", "/x", nil), files, diff.Options{}))
		c, d := count(diff.New(httptest.NewRequest("GET", "/x?diff=split", nil), files, diff.Options{}))
		if a != c || b != d {
			t.Errorf("unified %d %d, split %d %d", a, b, c, d)
		}
	})
}

// With white space hidden one sees what else changed, with both numbers on lines that are the same but for it.
func TestWhiteSpaceIsHidden(t *testing.T) {
	t.Parallel()
	const indented = "@@ -1,4 +1,5 @@\n one\n-two\n-three\n+\ttwo\n+new\n+\tthree\n@@ -9,2 +10,2 @@\n-a b\n+a  b\n c"
	files := []page.ChangedFile{changed("x", indented), changed("y", "@@ -1 +1 @@\n-a\n+ a\n\\ No newline at end of file")}
	v := diff.New(httptest.NewRequest("GET", "/x?w=1", nil), files, diff.Options{})
	var rows []string
	for _, row := range v.Files[0].Rows {
		rows = append(rows, fmt.Sprint(row.Kind, row.Old, row.New, strings.TrimSpace(row.Text.Before)))
	}
	if got, want := strings.Join(rows, "|"), "h0 0@@ -1,4 +1,5 @@|1 1one|2 2two|a0 3new|3 4three"; strings.ReplaceAll(got, " ", "") !=
		strings.ReplaceAll(want, " ", "") || v.Files[0].Additions != 1 || v.Files[0].Deletions != 0 {
		t.Errorf("the rows are %s", got)
	}
	if v.Files[1].Why != "space" || v.Files[1].Href != "" || strings.Contains(v.OtherSpace, "w=1") {
		t.Errorf("%q, %q, %q", v.Files[1].Why, v.Files[1].Href, v.OtherSpace)
	}
	long := "@@ -1,3000 +1,3000 @@" + strings.Repeat("\n-a", 500) + strings.Repeat("\n+b", 500)
	if v := diff.New(httptest.NewRequest("GET", "/x?w=1&show="+diff.ID("x")[:diff.ShortID], nil),
		[]page.ChangedFile{changed("x", long)}, diff.Options{}); len(v.Files[0].Rows) != 1001 {
		t.Errorf("a long run has %d rows", len(v.Files[0].Rows))
	}
}

// Changed lines have the colours of their language, in both forms, and what changed within them is marked.
func TestLinesAreColoured(t *testing.T) {
	t.Parallel()
	texts := highlight.NewTexts()
	const code = "@@ -1,2 +1,2 @@\n func f() string {\n-\treturn \"old <word\"\n+\treturn \"new <word\""
	for _, address := range []string{"/x?colours=1", "/x?diff=split"} {
		var html string
		testkit.Eventually(t, func() bool { // a busy machine leaves lines plain at first
			html = render(t, diff.New(httptest.NewRequest("GET", address, nil), []page.ChangedFile{changed("main.go", code)},
				diff.Options{Texts: texts}), `{{template "diff" .}}`)
			return strings.Contains(html, "<k->return</k->")
		}, "the lines are coloured", func() string { return html })
		for _, part := range []string{"<k->func</k->", `<s->"</s-><mark><s->old</s-></mark><s-> &lt;word"</s->`,
			`<s->"</s-><mark><s->new</s-></mark><s-> &lt;word"</s->`} {
			if !strings.Contains(html, part) {
				t.Errorf("%s has no %s: %s", address, part, html)
			}
		}
	}
}

// The bar has the totals of all pages, and leads to each file of any of them.
func TestTotalsAreOfAllPages(t *testing.T) {
	t.Parallel()
	whole := &gitdiff.Changes{Total: 2000, Additions: 3000, Deletions: 4000}
	for n := range 2000 {
		whole.List = append(whole.List, gitdiff.Listed{Path: fmt.Sprintf("f%04d", n), Additions: n})
	}
	v := diff.New(httptest.NewRequest("GET", "/x?page=2&w=0", nil), []page.ChangedFile{changed("f0050", patch)},
		diff.Options{Whole: whole, Paged: true})
	if v.All != 2000 || v.Additions != 3000 || v.Deletions != 4000 || len(v.List) != 1000 {
		t.Errorf("%d files, +%d, -%d, %d listed", v.All, v.Additions, v.Deletions, len(v.List))
	}
	for n, want := range map[int]string{0: "?page=1&w=0#diff-", 50: "#diff-", 120: "?page=3&w=0#diff-"} {
		if got := v.List[n]; got.Href != want+diff.ID(got.Path) || got.Additions != n {
			t.Errorf("file %d leads to %s", n, got.Href)
		}
	}
	html := render(t, v, `{{template "diff" .}}`)
	if !strings.Contains(html, "2000 changed files") || !strings.Contains(html, "+3000") {
		t.Error("the page does not show the totals")
	}
}

// Both versions of a picture are shown.
func TestPicturesAreShown(t *testing.T) {
	t.Parallel()
	f := page.ChangedFile{Filename: "a.png", Status: "modified", Old: "/old", New: "/new", Brief: &page.FileBrief{Binary: true}}
	html := render(t, diff.New(httptest.NewRequest("GET", "/x", nil), []page.ChangedFile{f}, diff.Options{}),
		`{{template "diff" .}}`)
	if !strings.Contains(html, `<img src="/old"`) || !strings.Contains(html, `<img src="/new"`) {
		t.Error(html)
	}
}

// BenchmarkNew makes a page of fifty files with thirty lines each: plain, with colours that were made before, and
// with new ones.
func BenchmarkNew(b *testing.B) {
	var files []page.ChangedFile
	for n := range 50 {
		var text strings.Builder
		text.WriteString("@@ -1,30 +1,30 @@")
		for k := range 10 {
			fmt.Fprintf(&text, "\n func f%d(a int) error {\n-\treturn fmt.Errorf(\"%d of %d\", a)\n+\treturn errs.New(%d, \"%d\") // b", k, n, k, n, k)
		}
		files = append(files, changed(fmt.Sprintf("dir/f%d.go", n), text.String()))
	}
	kept := highlight.NewTexts()
	for name, texts := range map[string]func() *highlight.Texts{"plain": func() *highlight.Texts { return nil },
		"kept": func() *highlight.Texts { return kept }, "new": highlight.NewTexts} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				v := diff.New(httptest.NewRequest("GET", "/x", nil), files, diff.Options{Texts: texts()})
				for _, f := range v.Files {
					for n := range f.Rows {
						_ = f.Rows[n].HTML()
					}
				}
			}
		})
	}
}
