package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/test/gittest"
)

// Last commits and blame are what git itself says, for names and texts of any kind.
func TestLastCommitsAndBlame(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	var in strings.Builder
	commit := func(branch, message, from string, files ...string) {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter %s %d +0000\ndata %d\n%s\n%s", branch,
			gittest.Author, gittest.Start+in.Len(), len(message), message, from)
		for n := 0; n < len(files); n += 2 {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", files[n], len(files[n+1]), files[n+1])
		}
	}
	commit("main", "first", "", "a", "one\ntwo\n", "-n", "x\n", "d/x", "1\n", `"d/\001\nodd"`, "odd\n",
		`"\377bytes"`, "b\n", "*", "star\n")
	commit("main", "", "", "d/sub/deep", "2\n")
	commit("side", "on the side\n\nbody", "from refs/heads/main\n", "a", "one\ntwo side\n")
	commit("main", "more\x01\x02", "", "d/x", "3\n")
	commit("main", "merge", "merge refs/heads/side\n", "a", "one\ntwo side\n")
	gittest.Import(t, dir, strings.NewReader(in.String()+"done\n"))
	r := gittest.New(t, git.Options{}).Repository(dir)
	head := gittest.Resolve(t, dir, "main")
	last := func(path string) string {
		return gittest.Run(t, dir, "log", "-1", "--format=%H", "main", "--", ":(literal)"+path)
	}

	found, err := history.LastChanges(t.Context(), r, head, "", []string{"a", "-n", "d", "*", "nothing"}, time.Minute)
	if err != nil || !found.Whole || found.Latest.SHA != head || found.Latest.Subject != "merge" ||
		len(found.Entries) != 4 {
		t.Fatalf("%+v %v", found, err)
	}
	for name, c := range found.Entries {
		if string(c.SHA) != last(name) {
			t.Errorf("%q: %s %q, git says %s", name, c.SHA, c.Subject, last(name))
		}
	}
	if s := found.Entries["a"].Subject; s != "on the side" {
		t.Errorf("subject %q", s)
	}
	found, err = history.LastChanges(t.Context(), r, head, "d", []string{"x", "sub", "\x01\nodd"}, time.Minute)
	if err != nil || len(found.Entries) != 3 || found.Entries["sub"].Subject != "" ||
		string(found.Entries["x"].SHA) != last("d/x") || found.Latest.SHA != found.Entries["x"].SHA {
		t.Errorf("%+v %v", found, err)
	}
	found, err = history.LastChanges(t.Context(), r, head, "a", nil, time.Minute)
	if err != nil || string(found.Latest.SHA) != last("a") {
		t.Errorf("%+v %v", found, err)
	}
	if found, err = history.LastChanges(t.Context(), r, head, "", []string{"a"}, time.Nanosecond); err != nil ||
		found.Whole || len(found.Entries) > 0 {
		t.Errorf("no time: %+v %v", found, err)
	}

	hunks, err := history.Blame(t.Context(), r, head, "a")
	if err != nil || len(hunks) != 2 || hunks[0].Start != 1 || hunks[1].Start != 2 ||
		hunks[1].Lines[0] != "two side" {
		t.Fatalf("%+v %v", hunks, err)
	}
	if c := hunks[1].Commit; string(c.SHA) != last("a") || c.Author != "A U Thor" ||
		c.Email != "author@example.com" || c.Summary != "on the side" || c.BeforePath != "a" ||
		c.Before == "" {
		t.Errorf("%+v", c)
	}
	for _, path := range []string{"-n", "*", "d/\x01\nodd"} {
		if hunks, err := history.Blame(t.Context(), r, head, path); err != nil || len(hunks) != 1 ||
			len(hunks[0].Lines) != 1 {
			t.Errorf("%q: %+v %v", path, hunks, err)
		}
	}
	for _, path := range []string{"", "..", "/etc/passwd", "a\x00b", "x/.git/y"} {
		if _, err := history.Blame(t.Context(), r, head, path); !errs.Is(err, errs.Invalid) {
			t.Errorf("blame of %q: %v", path, err)
		}
		if _, err := history.LastChanges(t.Context(), r, head, path, nil, time.Minute); path != "" &&
			!errs.Is(err, errs.Invalid) {
			t.Errorf("last commit of %q: %v", path, err)
		}
	}
}
