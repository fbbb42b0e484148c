package diff_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
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
	b.WriteString(gittest.CommitLine("main", 1, "c"))
	file("100644", "changed.txt", "a\nb\nc\n")
	file("100644", "gone.txt", "bye\n")
	file("100644", "old name.txt", lines)
	file("100644", "mode.sh", "#!/bin/sh\n")
	file("100644", "typed", "text\n")
	file("100644", "binary", "\x00\x01")
	file("100644", `"quoted\"\n+++ b/fake"`, "q\n")
	file("100644", `"diff --git a/x b/x\n"`, "q\n")
	file("100644", "long.txt", strings.Repeat("x\n", 4000))
	b.WriteString(gittest.CommitLine("main", 2, "c"))
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
	return dir, gittest.Resolve(tb, dir, "main~1"), gittest.Resolve(tb, dir, "main")
}

var bounds = diff.Options{Max: 300, Lines: 3000, Bytes: 1 << 20, Sum: 8 << 20}

// A reviewer must see each change of a commit, under its own name, however odd.
func TestDiffOfOddChanges(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	got, err := diff.Compare(t.Context(), r, first, second, bounds)
	testkit.NoError(t, err)
	want := map[string]string{
		"changed.txt": "M +2 -1 @@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d",
		"gone.txt":    "D +0 -1 @@ -1 +0,0 @@\n-bye",
		"new é.txt":   "R +0 -0 none", "mode.sh": "M +0 -0 none", "binary": "M +0 -0 none", "empty": "A +0 -0 none",
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
		t.Errorf("missing %q; %d files of %d, %d lines added of %d", want, len(got.Files), got.Total,
			additions, got.Additions)
	}
}

// A page of a large commit must be the same files as in the whole, and bounds
// must leave patches out rather than cut them.
func TestDiffPages(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	whole, err := diff.Compare(t.Context(), r, first, second, bounds)
	testkit.NoError(t, err)
	for skip := range whole.Total + 1 {
		o := bounds
		o.Skip, o.Max = skip, 2
		page, err := diff.Compare(t.Context(), r, first, second, o)
		testkit.NoError(t, err)
		if page.Total != whole.Total || page.Additions != whole.Additions ||
			page.Deletions != whole.Deletions {
			t.Errorf("totals of a page: %d +%d -%d", page.Total, page.Additions, page.Deletions)
		}
		for i, f := range page.Files {
			if f != whole.Files[skip+i] {
				t.Errorf("file %d of the page at %d is %q, want %q", i, skip, f.Path,
					whole.Files[skip+i].Path)
			}
		}
	}
	for _, change := range []func(*diff.Options){
		func(o *diff.Options) {
			o.Lines = 2
		}, func(o *diff.Options) { o.Bytes = 20 }, func(o *diff.Options) { o.Sum = 60 },
	} {
		o := bounds
		change(&o)
		cut, err := diff.Compare(t.Context(), r, first, second, o)
		testkit.NoError(t, err)
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
		"says nothing": {"sleep 30", true, true},
		// that is no list of files
		"begins":                {`echo "diff --git a/x b/x"; sleep 30`, false, true},
		"never ends":            {`exec yes ""`, true, true},
		"fails after beginning": {`echo "diff --git a/x b/x"; exit 128`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t, git.Options{ReadTimeout: 30 * time.Millisecond,
				Binary: gittest.Wrapped(t, "diff-tree", c.instead)}).Repository(dir)
			if _, err := diff.Compare(t.Context(), r, first, second, bounds); err == nil ||
				c.lateFiles && !errs.Is(err, errs.Unavailable) {
				t.Errorf("files: %v", err)
			}
			if err := diff.Write(t.Context(), io.Discard, r, first, second); err == nil ||
				c.lateText && !errs.Is(err, errs.Unavailable) {
				t.Errorf("as text: %v", err)
			}
		})
	}
}
