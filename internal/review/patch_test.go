package review

import (
	"strings"
	"testing"
)

const song = "@@ -2,7 +2,8 @@ verse\n two\n three\n four\n-five\n+FIVE\n+five and a half\n six\n seven\n eight\n@@ -14,0 +16,2 @@\n+a\n+b\n@@ -20 +24,0 @@\n-twenty\n\\ No newline at end of file"

// Who clicks on a line must find the comment at that line: positions, numbers
// and sides are three names of one thing.
func TestPatchLines(t *testing.T) {
	t.Parallel()
	lines := parsePatch(song)
	for _, c := range []struct {
		side     Side
		number   int64
		position int64 // -1: not in the patch
	}{
		{Right, 2, 1}, {Left, 2, 1}, {Left, 5, 4}, {Right, 5, 5}, {Right, 6, 6}, {Right, 7, 7}, {Left, 6, 7},
		{Right, 9, 9}, {Left, 8, 9},
		{Right, 1, -1}, {Right, 10, -1}, {Left, 9, -1}, {Left, 14, -1}, {Left, 15, -1}, {Right, 16, 11},
		{Right, 17, 12}, {Right, 18, -1},
		{Left, 20, 14}, {Right, 24, -1}, {Right, 0, -1}, {Left, -1, -1},
	} {
		got := int64(-1)
		if at := find(lines, c.side, c.number); at >= 0 {
			got = lines[at].position
		}
		if got != c.position {
			t.Errorf("%v %d: position %d, want %d", c.side, c.number, got, c.position)
		}
	}
	if find(parsePatch(""), Right, 1) >= 0 {
		t.Error("an empty patch has lines")
	}
}

// A comment follows its line through later changes, or is outdated.
func TestAfter(t *testing.T) {
	t.Parallel()
	lines := parsePatch(song)
	for _, c := range []struct{ from, to int64 }{
		{1, 1}, {2, 2}, {4, 4}, {5, 0}, {6, 7}, {8, 9}, {9, 10}, {13, 14}, {14, 15}, {15, 18}, {19, 22},
		{20, 0}, {21, 23},
	} {
		to, ok := after(lines, c.from)
		if !ok {
			to = 0
		}
		if to != c.to {
			t.Errorf("line %d is %d afterwards, want %d", c.from, to, c.to)
		}
	}
}

// The hunk of a comment is limited and valid text for any file contents.
func TestHunkText(t *testing.T) {
	t.Parallel()
	lines := parsePatch(song)
	if got, want := hunkText(lines, 5),
		"@@ -2,7 +2,8 @@ verse\n two\n three\n four\n-five\n+FIVE"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := hunkText(lines, 12), "@@ -14,0 +16,2 @@\n+a\n+b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	odd := hunkText(parsePatch("@@ -0,0 +1,2 @@\n+\xff\x00\n+b"), 2)
	if odd != "@@ -0,0 +1,2 @@\n+\uFFFD\uFFFD\n+b" {
		t.Errorf("got %q", odd)
	}
	long := "@@ -0,0 +1,3000 @@" + strings.Repeat("\n+0123456789", 2999) + "\n+last"
	got := hunkText(parsePatch(long), 3000)
	if len(got) > 2*maxHunk || !strings.HasPrefix(got, "@@ -0,0") || !strings.HasSuffix(got, "\n+last") {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
	if wide := hunkText(parsePatch("@@ -0,0 +1 @@\n+"+strings.Repeat("w", 1<<20)), 1); len(wide) > 2*maxHunk {
		t.Errorf("%d bytes", len(wide))
	}
}

// Patches can contain any file contents.
func FuzzPatch(f *testing.F) {
	f.Add(song, int64(5))
	f.Add("@@\n\n@@ -x +y @@\n+\n", int64(1))
	f.Add("@@ -1 + @@", int64(0))
	f.Fuzz(func(t *testing.T, patch string, number int64) {
		lines := parsePatch(patch)
		for _, s := range []Side{Left, Right} {
			if at := find(lines, s, number); at >= 0 {
				hunkText(lines, at)
			}
		}
		after(lines, number)
	})
}
