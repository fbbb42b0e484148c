package codeowner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/repo"
)

// parsed reads the text of a file.
func parsed(text string) *File {
	f := &File{Path: "CODEOWNERS"}
	f.parse(text)
	return f
}

// A pattern means what GitHub's documentation says: as in .gitignore, but that * at the end means files of one
// directory.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, matches, not string }{
		{"*", "a.go docs/a.go", ""},
		{"**", "a.go docs/a.go", ""},
		{"*.js", "a.js lib/a.js lib/a.js/b", "a.jsx js"},
		{"/build/logs/", "build/logs/a build/logs/b/c", "build/logs x/build/logs/a"},
		{"docs/*", "docs/a.md", "docs/b/a.md docs x/docs/a.md"},
		{"apps/", "apps/a x/apps/a/b", "apps x/apps"},
		{"/docs/", "docs/a docs/b/c", "docs x/docs/a"},
		{"/docs", "docs docs/b/c", "x/docs docs2"},
		{"docs", "docs x/docs x/docs/a", "docs2 x/mydocs"},
		{"/scripts/", "scripts/a", "a/scripts/a"},
		{"**/logs", "logs logs/a build/logs deeply/nested/logs/a", "logs2"},
		{"/a/**/z", "a/z a/b/z a/b/c/z/file", "a/bz b/a/z"},
		{"a/**", "a/b a/b/c", "a b/a/c"},
		{"/a/**/", "a/b a/b/c", "a"},
		{"src/*.go", "src/a.go src/a.go/b", "src/b/a.go a.go"},
		{"a?c", "abc aéc x/abc/y", "ac abbc a/c"},
		{`with\ space.txt`, "with\x01space.txt", "with"},
		{`a\*b`, "a*b", "axb"},
		{"*?", "a ab x/y", ""},
		{"Case", "Case", "case CASE"},
		{"a*b*c", "abc axbxc abcbc", "ab acb"},
	} {
		f := parsed(c.pattern + " @a")
		for _, path := range strings.Fields(c.matches) {
			path = strings.ReplaceAll(path, "\x01", " ")
			if _, line := f.Owner(path); line != 1 {
				t.Errorf("%q does not match %q: %v", c.pattern, path, f.Errors)
			}
		}
		for _, path := range strings.Fields(c.not) {
			if _, line := f.Owner(path); line != 0 {
				t.Errorf("%q matches %q", c.pattern, path)
			}
		}
	}
}

// The last line that matches counts, whatever kind its pattern is of, and one without owners takes them away.
func TestLastLineCounts(t *testing.T) {
	t.Parallel()
	f := parsed("# all\n* @all # comment\n\n*.go @go @org/go\r\n/docs/ docs@example.com\n/docs/free\n" +
		"  vendor @v #@no\n/docs/*.txt @text\n\"quo ted\" @q\n")
	for path, want := range map[string]string{
		"a": "2 @all", "a.go": "4 @go @org/go", "docs/a.go": "5 docs@example.com", "docs/free/x.go": "6 ",
		"docs/free": "6 ", "x/vendor/y.go": "7 @v", "docs/a.txt": "8 @text", "docs/b/a.txt": "5 docs@example.com",
		"a\nb.go": "4 @go @org/go", `"q".go`: "4 @go @org/go",
	} {
		owners, line := f.Owner(path)
		if got := fmt.Sprint(line, " ", strings.Join(owners, " ")); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	if len(f.Errors) != 1 || f.Errors[0].Line != 9 || f.Errors[0].Kind != invalidOwner || f.Errors[0].Column != 6 {
		t.Errorf("errors: %+v", f.Errors)
	}
}

// A line with an error is skipped, and the error says where it is.
func TestErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"***/*.rb @monalisa": "Invalid pattern on line 2: Did you mean `**/*.rb`?\n\n  ***/*.rb @monalisa\n  ^",
		"*.txt docs@":        "Invalid owner on line 2:\n\n  *.txt docs@\n        ^",
		"/ @a":               "Invalid pattern on line 2: The pattern `/` will never match anything, did you mean `*` instead?\n\n  / @a\n  ^",
		"!a @a":              "Invalid pattern on line 2: patterns cannot be negated with `!`\n\n  !a @a\n  ^",
		"[ab] @a":            "Invalid pattern on line 2: patterns cannot have ranges of characters in `[ ]`\n\n  [ab] @a\n  ^",
		`\#a @a`:             "Invalid pattern on line 2: patterns cannot begin with `#`\n\n  \\#a @a\n  ^",
		"a//b @a":            "Invalid pattern on line 2: patterns cannot have `//`\n\n  a//b @a\n  ^",
		" a @@a":             "Invalid owner on line 2:\n\n   a @@a\n     ^",
	} {
		f := parsed("* @a\n" + line + "\n")
		if len(f.Errors) != 1 || f.Errors[0].Message() != want || f.Errors[0].Path != "CODEOWNERS" {
			t.Errorf("%q: %+v, want %q", line, f.Errors, want)
			continue
		}
		if _, line := f.Owner("x.txt"); line != 1 {
			t.Errorf("%v counts", f.Errors[0])
		}
	}
}

// Whatever a file has, its costs stay in bounds, and the index finds what comparing with each line finds.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"* @a\n*.go @b", "/a/**/b* @a # x", `a\ b x@y.z`, "docs/ @o/t\n/docs/*", "**/*? @a\n?? @b",
		"a/*/c\n**/a/** @x\n\\", "*a*a*a*a*b @a"} {
		f.Add(seed, "docs/a.go")
		f.Add(seed, "a/b/aaaaaaaaa")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		file := parsed(text)
		for n := range file.Errors {
			_ = file.Errors[n].Message()
		}
		want := 0
		number := 0
		for source := range strings.SplitSeq(text, "\n") {
			number++
			if one := parsed(source); len(one.lines) == 1 {
				source = strings.TrimLeft(strings.TrimSuffix(source, "\r"), blanks)
				p, err := parsePattern(source[:patternLength(source)])
				steps := maxSteps
				if err == nil && p.match(strings.Split(path, "/"), &steps) {
					want = number
				}
			}
		}
		if owners, line := file.Owner(path); line != want || len(owners) > maxOwners {
			t.Errorf("line %d, want %d", line, want)
		}
	})
}

// The largest files and changes end at a bound, whatever their patterns are.
func TestCostIsBounded(t *testing.T) {
	t.Parallel()
	paths := make([]string, 3000)
	for n := range paths {
		paths[n] = fmt.Sprintf("services/team%d/internal/package%d/file%d.go", n%50, n%300, n)
	}
	fill := func(line func(n int) string) string {
		var b strings.Builder
		for n := 0; b.Len() < maxBytes-200 && n < maxLines; n++ {
			b.WriteString(line(n) + "\n")
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text  string
		whole bool
	}{
		"directories": {fill(func(n int) string { return fmt.Sprintf("/services/team%d/internal/package%d/ @user%d", n%60, n, n%900) }), true},
		"extensions":  {fill(func(n int) string { return fmt.Sprintf("*.ext%d @a", n) }), false},
		"stars":       {fill(func(int) string { return "/s*s*s*/**/*e*e*e*/**/*x @a" }), false},
		"one":         {"* @a", true},
	} {
		start := time.Now()
		f := parsed(c.text)
		parsed := time.Since(start)
		list, whole := f.Owned(paths)
		t.Logf("%s: %d bytes, %d lines, read in %v, matched in %v, %d owners", name, len(c.text), len(f.lines), parsed,
			time.Since(start)-parsed, len(list))
		if whole != c.whole {
			t.Errorf("%s: whole %v", name, whole)
		}
	}
}

// Nobody is needed for files whose owners do not count, and one of several owners is enough.
func TestMissing(t *testing.T) {
	t.Parallel()
	k := &Known{users: map[named]account.ID{{1, "@a"}: 1, {1, "@b"}: 2, {1, "c@x.y"}: 3}}
	list := []repo.Owned{{Owners: []string{"@A", "@gone"}, Files: 1, Path: "a"}, {Owners: []string{"@gone"}, Files: 2, Path: "b"},
		{Owners: []string{"@b", "c@x.y"}, Files: 1, Path: "c"}}
	if got := fmt.Sprint(k.Missing(1, list, nil)); got != "[{[@A] 1 a 0} {[@b c@x.y] 1 c 0}]" {
		t.Error(got)
	}
	if got := fmt.Sprint(k.Missing(1, list, []account.ID{3})); got != "[{[@A] 1 a 0}]" {
		t.Error(got)
	}
	if got := k.Missing(1, list, []account.ID{3, 1}); len(got) > 0 {
		t.Error(got)
	}
	if got := k.Missing(2, list, nil); len(got) > 0 {
		t.Error(got)
	}
}

// The owners that a page shows take no more steps together than one change may.
func TestOwnersOfAPageAreBounded(t *testing.T) {
	t.Parallel()
	f := parsed("*a*a*a*b @a\n* @b")
	if _, line := f.Owner("aaaaaaaaaaaa"); line != 2 || f.taken < 12 {
		t.Errorf("line %d in %d steps", line, f.taken)
	}
	f.taken = maxSteps - 5
	for range 2 {
		if owners, line := f.Owner("aaaaaaaaaaaa"); owners != nil || line != 0 {
			t.Errorf("line %d, %v", line, owners)
		}
	}
}
