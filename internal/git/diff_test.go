package git_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/gittest"
)

// odd is a history whose second commit does everything to files that a commit
// can do, under names that look like other things.
func odd(tb testing.TB) (dir string, first, second git.SHA) {
	tb.Helper()
	dir = gittest.Bare(tb)
	lines := strings.Repeat("one line of many\n", 30)
	var b bytes.Buffer
	file := func(mode, name, text string) {
		fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", mode, name, len(text), text)
	}
	commit := func(n int) {
		fmt.Fprintf(&b, "commit refs/heads/main\nmark :%d\ncommitter %s %d +0000\ndata 2\nc\n", n, gittest.Author, gittest.Start+n)
		if n > 1 {
			fmt.Fprintf(&b, "from :%d\n", n-1)
		}
	}
	commit(1)
	file("100644", "changed.txt", "a\nb\nc\n")
	file("100644", "gone.txt", "bye\n")
	file("100644", "old name.txt", lines)
	file("100644", "mode.sh", "#!/bin/sh\n")
	file("100644", "typed", "text\n")
	file("100644", "binary", "\x00\x01")
	file("100644", `"quoted\"\n+++ b/fake"`, "q\n")
	file("100644", `"diff --git a/x b/x\n"`, "q\n")
	file("100644", "long.txt", strings.Repeat("x\n", 4000))
	commit(2)
	file("100644", "changed.txt", "a\nB\nc\nd\n")
	fmt.Fprintln(&b, "D gone.txt")
	fmt.Fprintln(&b, "R \"old name.txt\" \"new \\303\\251.txt\"")
	file("100755", "mode.sh", "#!/bin/sh\n")
	file("120000", "typed", "changed.txt")
	file("100644", "binary", "\x00\x02\x03")
	file("100644", `"quoted\"\n+++ b/fake"`, "Q\n")
	file("100644", `"diff --git a/x b/x\n"`, "diff --git a/long.txt b/long.txt\n@@ -1 +1 @@\n")
	file("100644", "long.txt", strings.Repeat("y\n", 4000))
	file("100644", "wide.txt", strings.Repeat("w", 300_000))
	file("100644", "empty", "")
	fmt.Fprintf(&b, "M 160000 %s module\n", strings.Repeat("ab", 20))
	b.WriteString("done\n")
	gittest.Import(tb, dir, &b)
	return dir, git.SHA(gittest.Run(tb, dir, "rev-parse", "main~1")), git.SHA(gittest.Run(tb, dir, "rev-parse", "main"))
}

var bounds = git.DiffOptions{Max: 300, Lines: 3000, Bytes: 1 << 20, Sum: 8 << 20}

// A reviewer must see each change of a commit, under its own name, however odd.
func TestDiffOfOddChanges(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	got, err := r.Diff(t.Context(), first, second, bounds)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"changed.txt": "M +2 -1 @@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d", "gone.txt": "D +0 -1 @@ -1 +0,0 @@\n-bye",
		"new é.txt": "R +0 -0 none", "mode.sh": "M +0 -0 none", "binary": "M +0 -0 none", "empty": "A +0 -0 none",
		"quoted\"\n+++ b/fake": "M +1 -1 @@ -1 +1 @@\n-q\n+Q", "long.txt": "M +4000 -4000 none",
		"diff --git a/x b/x\n": "M +2 -1 @@ -1 +1,2 @@\n-q\n+diff --git a/long.txt b/long.txt\n+@@ -1 +1 @@",
		"wide.txt":             "A +1 -0 @@ -0,0 +1 @@\n+" + strings.Repeat("w", 300_000) + "\n\\ No newline at end of file",
		"module":               "A +1 -0 @@ -0,0 +1 @@\n+Subproject commit " + strings.Repeat("ab", 20),
		"typed":                "T +1 -1 @@ -1 +0,0 @@\n-text\n@@ -0,0 +1 @@\n+changed.txt\n\\ No newline at end of file",
	}
	additions := 0
	for _, f := range got.Files {
		patch := "none"
		if f.HasPatch {
			patch = f.Patch
		}
		have := fmt.Sprintf("%c +%d -%d %s", f.Status, f.Additions, f.Deletions, patch)
		if have != want[f.Path] {
			t.Errorf("%q is %.200q, want %.200q", f.Path, have, want[f.Path])
		}
		additions += f.Additions
		if f.Path == "new é.txt" && f.OldPath != "old name.txt" {
			t.Errorf("renamed from %q", f.OldPath)
		}
		if f.Binary != (f.Path == "binary") {
			t.Errorf("%q: binary is %v", f.Path, f.Binary)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 || got.Total != len(got.Files) || got.Additions != additions {
		t.Errorf("missing %q; %d files of %d, %d lines added of %d", want, len(got.Files), got.Total, additions, got.Additions)
	}
}

// A page of a large commit must be the same files as in the whole, and bounds
// must leave patches out rather than cut them.
func TestDiffPages(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	whole, err := r.Diff(t.Context(), first, second, bounds)
	if err != nil {
		t.Fatal(err)
	}
	for skip := range whole.Total + 1 {
		o := bounds
		o.Skip, o.Max = skip, 2
		page, err := r.Diff(t.Context(), first, second, o)
		if err != nil {
			t.Fatal(err)
		}
		if page.Total != whole.Total || page.Additions != whole.Additions || page.Deletions != whole.Deletions {
			t.Errorf("totals of a page: %d +%d -%d", page.Total, page.Additions, page.Deletions)
		}
		for i, f := range page.Files {
			if f != whole.Files[skip+i] {
				t.Errorf("file %d of the page at %d is %q, want %q", i, skip, f.Path, whole.Files[skip+i].Path)
			}
		}
	}
	for _, change := range []func(*git.DiffOptions){
		func(o *git.DiffOptions) { o.Lines = 2 }, func(o *git.DiffOptions) { o.Bytes = 20 }, func(o *git.DiffOptions) { o.Sum = 60 },
	} {
		o := bounds
		change(&o)
		cut, err := r.Diff(t.Context(), first, second, o)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for i, f := range cut.Files {
			sum += len(f.Patch)
			if f.HasPatch && f.Patch != whole.Files[i].Patch {
				t.Errorf("%q has a cut patch", f.Path)
			}
		}
		if sum > 100 {
			t.Errorf("%+v kept %d bytes", o, sum)
		}
	}
}

// A diff that takes git too long, or in which it stops half way, ends with an
// error, also when it wrote some of it: nobody takes a part for the whole.
func TestDiffEnds(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	for name, c := range map[string]struct {
		instead             string
		lateFiles, lateText bool // the error says that it took too long
	}{
		"says nothing":          {"sleep 30", true, true},
		"begins":                {`echo "diff --git a/x b/x"; sleep 30`, false, true}, // that is no list of files
		"never ends":            {`exec yes ""`, true, true},
		"fails after beginning": {`echo "diff --git a/x b/x"; exit 128`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t, git.Options{ReadTimeout: 30 * time.Millisecond, Binary: wrapped(t, "diff-tree", c.instead)}).Repository(dir)
			if _, err := r.Diff(t.Context(), first, second, bounds); err == nil || c.lateFiles && !errs.Is(err, errs.Unavailable) {
				t.Errorf("files: %v", err)
			}
			if err := r.WriteDiff(t.Context(), io.Discard, first, second); err == nil || c.lateText && !errs.Is(err, errs.Unavailable) {
				t.Errorf("as text: %v", err)
			}
		})
	}
}

// Somebody who applies what the server gives must get the tree that git would give.
func TestWriteDiffAndPatchesAreGitsOwn(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	var diff, patch, root bytes.Buffer
	for _, err := range []error{r.WriteDiff(t.Context(), &diff, first, second), r.WritePatches(t.Context(), &patch, second, first),
		r.WritePatches(t.Context(), &root, first)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		got  string
		args []string
	}{
		"diff": {diff.String(), []string{"diff", string(first), string(second)}}, "patch": {patch.String(), []string{"format-patch", "--stdout", "main~1..main"}},
		"root": {root.String(), []string{"format-patch", "--stdout", "--root", "main~1"}},
	} {
		if want := string(gittest.Pipe(t, dir, nil, c.args...)); c.got != want {
			t.Errorf("%s differs from git's: %d bytes, want %d", name, len(c.got), len(want))
		}
	}
}

// Walks give what git gives, within bounds, and nothing in a path or an
// address is more than text.
func TestLog(t *testing.T) {
	t.Parallel()
	dir := gittest.Repository(t, 50, 7)
	r := gittest.New(t, git.Options{}).Repository(dir)
	head := git.SHA(gittest.Run(t, dir, "rev-parse", "main"))
	all := strings.Fields(gittest.Run(t, dir, "rev-list", "main"))
	path := strings.Fields(gittest.Run(t, dir, "rev-list", "main", "--", "dir3"))
	page, total, more, err := r.Log(t.Context(), git.LogOptions{From: []git.SHA{head}, Skip: 10, Max: 5, Count: 100})
	if err != nil || total != 50 || more || len(page) != 5 || string(page[0]) != all[10] {
		t.Errorf("a page: %v, %d, %v, %v", page, total, more, err)
	}
	page, total, more, err = r.Log(t.Context(), git.LogOptions{From: []git.SHA{head}, Max: 5, Count: 20})
	if err != nil || total != 25 || !more || len(page) != 5 {
		t.Errorf("a bounded page: %v, %d, %v, %v", page, total, more, err)
	}
	for _, c := range []struct {
		name string
		o    git.LogOptions
		want int
	}{
		{"path", git.LogOptions{Path: "dir3"}, len(path)},
		{"glob", git.LogOptions{Path: "dir*"}, 0}, {"magic", git.LogOptions{Path: ":(glob)dir*"}, 0}, {"option", git.LogOptions{Path: "--all"}, 0},
		{"author", git.LogOptions{Author: []string{"AUTHOR@example.com"}}, 50}, {"part of an address", git.LogOptions{Author: []string{"author@example.co"}}, 0},
		{"expression", git.LogOptions{Author: []string{".*"}}, 0}, {"committer", git.LogOptions{Committer: []string{"author@example.com"}, Author: []string{"Author@Example.com"}}, 50},
		{"two authors", git.LogOptions{Author: []string{"x@example.com", "author@example.com"}, Committer: []string{"author@example.com"}}, 50},
		{"another committer", git.LogOptions{Author: []string{"author@example.com"}, Committer: []string{"x@example.com"}}, 0},
		{"since", git.LogOptions{Since: gittest.Start + 60*40}, 10}, {"until", git.LogOptions{Until: gittest.Start + 60*9}, 10},
	} {
		c.o.From, c.o.Max = []git.SHA{head}, 100
		page, _, _, err := r.Log(t.Context(), c.o)
		if err != nil || len(page) != c.want {
			t.Errorf("%s: %d commits, want %d (%v)", c.name, len(page), c.want, err)
		}
	}
	for _, path := range []string{"/etc", "..", "a/../b", "a//b", "a/", ".", "x/.GIT/y", "a\x00b", strings.Repeat("a", git.MaxPath+1)} {
		if _, _, _, err := r.Log(t.Context(), git.LogOptions{From: []git.SHA{head}, Max: 1, Path: path}); !errs.Is(err, errs.Invalid) {
			t.Errorf("path %.20q: %v", path, err)
		}
	}
}

// Comparing branches tells who has what the other lacks.
func TestDivergedAndMergeBase(t *testing.T) {
	t.Parallel()
	dir := gittest.Repository(t, 10, 3)
	main := git.SHA(gittest.Run(t, dir, "rev-parse", "main"))
	fork := git.SHA(gittest.Run(t, dir, "rev-parse", "main~4"))
	var b bytes.Buffer
	for i := range 3 {
		fmt.Fprintf(&b, "commit refs/heads/side\ncommitter %s %d +0000\ndata 1\ns\n", gittest.Author, gittest.Start+i)
		if i == 0 {
			fmt.Fprintf(&b, "from %s\n", fork)
		}
	}
	b.WriteString("commit refs/heads/alone\ncommitter A <a> 1 +0000\ndata 0\ndone\n")
	gittest.Import(t, dir, &b)
	side := git.SHA(gittest.Run(t, dir, "rev-parse", "side"))
	r := gittest.New(t, git.Options{}).Repository(dir)
	base, err := r.MergeBase(t.Context(), main, side)
	if err != nil || base != fork {
		t.Errorf("merge base %v, %v; want %v", base, err, fork)
	}
	a, c, page, err := r.Diverged(t.Context(), main, side, 1, 5)
	if err != nil || a != 4 || c != 3 || len(page) != 2 || page[1] != side {
		t.Errorf("diverged %d, %d, %v, %v", a, c, page, err)
	}
	if _, err := r.MergeBase(t.Context(), main, git.SHA(gittest.Run(t, dir, "rev-parse", "alone"))); !errs.Is(err, errs.NotFound) {
		t.Errorf("merge base of strangers: %v", err)
	}
}

// Abbreviations lead to commits alone, and to one only.
func TestFindCommit(t *testing.T) {
	t.Parallel()
	dir := gittest.Repository(t, 800, 3)
	r := gittest.New(t, git.Options{}).Repository(dir)
	seen := map[string]int{}
	all := strings.Fields(gittest.Run(t, dir, "rev-list", "main"))
	for _, sha := range all {
		seen[sha[:4]]++
	}
	ambiguous := false
	for _, sha := range all[:200] {
		got, err := r.FindCommit(t.Context(), strings.ToUpper(sha[:12]))
		if err != nil || string(got) != sha {
			t.Fatalf("%s: %s, %v", sha[:12], got, err)
		}
	}
	for prefix, n := range seen {
		if n > 1 {
			ambiguous = true
			if _, err := r.FindCommit(t.Context(), prefix); !errs.Is(err, errs.Invalid) {
				t.Errorf("%s, which begins %d commits: %v", prefix, n, err)
			}
		}
	}
	if !ambiguous {
		t.Error("the history has no ambiguous abbreviation")
	}
	tree := gittest.Run(t, dir, "rev-parse", "main^{tree}")
	for _, prefix := range []string{"abc", "", "HEAD", "main", tree[:20], "ffffffffffff", all[0]} {
		if _, err := r.FindCommit(t.Context(), prefix); !errs.Is(err, errs.NotFound) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	commits, err := r.Commits(t.Context(), shas(all))
	if err != nil || len(commits) != len(all) || string(commits[700].SHA) != all[700] || commits[700].Message != "Commit 99\n" {
		t.Errorf("%d commits, %v", len(commits), err)
	}
	if _, err := r.Commits(t.Context(), []git.SHA{shas(all)[0], git.SHA(tree)}); !errs.Is(err, errs.Invalid) {
		t.Errorf("a tree among commits: %v", err)
	}
	if _, err := r.Commits(t.Context(), []git.SHA{"0000000000000000000000000000000000000001", shas(all)[0]}); !errs.Is(err, errs.NotFound) {
		t.Errorf("a missing commit: %v", err)
	}
}

func shas(list []string) []git.SHA {
	out := make([]git.SHA, len(list))
	for i, s := range list {
		out[i] = git.SHA(s)
	}
	return out
}
