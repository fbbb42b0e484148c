package git_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// checkMerge holds a merge against git's own: the same tree, or conflicts both.
func checkMerge(tb testing.TB, r *git.Repository, base, head, want git.SHA) {
	tb.Helper()
	got, err := r.MergeTree(tb.Context(), base, head)
	if err != nil {
		tb.Fatalf("merging %s into %s: %v", head, base, err)
	}
	if got.Conflict != (want == "") || got.Tree != want {
		tb.Errorf("merging %s into %s gives %q, conflict %v %q; git gives %q", head, base, got.Tree,
			got.Conflict, got.Paths, want)
	}
}

// A merge on the server must be the one that a developer would make at home,
// whatever the two sides did.
func TestMergeIsGits(t *testing.T) {
	t.Parallel()
	base := side{"a.txt": text("a"), "b.txt": text("b"), "dir/c.txt": text("c"), "dir/d.txt": text("d"),
		"dir/sub/e.txt": text("e"),
		"link":          "120000 a.txt", "module": "160000 " + strings.Repeat("12", 20), "binary": "100644 \x00\x01\x02", "run.sh": text("run"),
		"-x": text("option"), "--output=x": text("another"), "\"odd\\\n": text("odd")}
	longer := func(name string) string { return text(name) + "more\n" }
	first := func(name string) string { return strings.Replace(text(name), " ", " first\n", 1) }
	exec := func(file string) string { return strings.Replace(file, "100644", "100755", 1) }
	for name, c := range map[string]struct{ ours, theirs side }{
		"different files":          {base.with("a.txt", longer("a")), base.with("dir/c.txt", longer("c"))},
		"one directory":            {base.with("dir/c.txt", longer("c"), "dir/new", text("new")), base.with("dir/d.txt", longer("d"))},
		"one file":                 {base.with("a.txt", longer("a")), base.with("a.txt", first("a"))},
		"one file the same":        {base.with("a.txt", longer("a"), "n", text("n")), base.with("a.txt", longer("a"))},
		"one file, conflict":       {base.with("a.txt", longer("a")+"x\n"), base.with("a.txt", longer("a")+"y\n")},
		"renamed and changed":      {base.moved("a.txt", "moved.txt"), base.with("a.txt", longer("a"))},
		"renamed, another changed": {base.moved("a.txt", "moved.txt"), base.with("b.txt", longer("b"))},
		"both renamed the same":    {base.moved("a.txt", "moved.txt"), base.moved("a.txt", "moved.txt").with("b.txt", longer("b"))},
		"renamed to two names":     {base.moved("a.txt", "one.txt"), base.moved("a.txt", "two.txt")},
		"two renamed to one name":  {base.moved("a.txt", "one.txt"), base.moved("b.txt", "one.txt")},
		"directory renamed":        {base.moved("dir", "folder"), base.with("dir/new", text("new"))},
		"directory into the root":  {base.moved("dir", ""), base.with("dir/new", text("new"))},
		"directory below another":  {base.moved("dir", "deep/er"), base.with("dir/sub/new", text("new"))},
		"root into a directory":    {base.moved("a.txt", "in/a.txt").moved("b.txt", "in/b.txt"), base.with("new.txt", text("new"))},
		"into a renamed directory": {base.moved("dir", "folder"), base.moved("a.txt", "dir/a.txt")},
		"directory removed and used": {base.with("dir/sub/e.txt", ""),
			base.with("dir/sub/new", text("new"))},
		"removed and changed":         {base.with("a.txt", ""), base.with("a.txt", longer("a"))},
		"removed on both sides":       {base.with("a.txt", ""), base.with("a.txt", "", "b.txt", longer("b"))},
		"directory emptied in two":    {base.with("dir/c.txt", "", "dir/d.txt", ""), base.with("dir/sub/e.txt", "")},
		"all removed":                 {base.with("a.txt", ""), side{"a.txt": base["a.txt"]}},
		"added the same":              {base.with("new", text("new")), base.with("new", text("new"), "b.txt", longer("b"))},
		"added two":                   {base.with("new", text("new")), base.with("new", text("other"))},
		"added one directory":         {base.with("new/x", text("x")), base.with("new/y", text("y"))},
		"a file where a directory is": {base.with("new", text("x")), base.with("new/y", text("y"))},
		"a directory becomes a file": {base.with("dir/c.txt", "", "dir/d.txt", "", "dir/sub/e.txt", "",
			"dir", text("f")), base.with("b.txt", longer("b"))},
		"a directory where a file was": {base.with("a.txt", "", "a.txt/x", text("x")),
			base.with("b.txt", longer("b"))},
		"names that sort oddly":    {base.with("dir.x", text("x"), "dir-y", text("y")), base.with("dir0", text("0"), "dir/c.txt", longer("c"))},
		"mode and contents":        {base.with("run.sh", exec(base["run.sh"])), base.with("run.sh", longer("run"))},
		"mode":                     {base.with("run.sh", exec(base["run.sh"])), base.with("a.txt", longer("a"))},
		"link":                     {base.with("link", "120000 b.txt"), base.with("a.txt", longer("a"))},
		"link, conflict":           {base.with("link", "120000 b.txt"), base.with("link", "120000 c.txt")},
		"link becomes a file":      {base.with("link", text("link")), base.with("link", "120000 c.txt")},
		"submodule":                {base.with("module", "160000 "+strings.Repeat("34", 20)), base.with("a.txt", longer("a"))},
		"submodule, conflict":      {base.with("module", "160000 "+strings.Repeat("34", 20)), base.with("module", "160000 "+strings.Repeat("56", 20))},
		"submodule becomes a file": {base.with("module", text("m")), base.with("a.txt", longer("a"))},
		"binary":                   {base.with("binary", "100644 \x00\x05"), base.with("a.txt", longer("a"))},
		"binary, conflict":         {base.with("binary", "100644 \x00\x05"), base.with("binary", "100644 \x00\x06")},
		"names like options":       {base.with("-x", longer("option")), base.with("--output=x", longer("another"), "-x", first("option"))},
		"empty commit":             {base.with("a.txt", longer("a")), base},
		"nothing of ours":          {base, base.with("a.txt", longer("a"))},
		"odd name, conflict":       {base.with("\"odd\\\n", text("x")), base.with("\"odd\\\n", text("y"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gittest.Bare(t)
			root := commitTree(t, dir, base, 0)
			ours, theirs := commitTree(t, dir, c.ours, 1, root), commitTree(t, dir, c.theirs, 2, root)
			r, work := gittest.New(t, git.Options{}).Repository(dir), newWorkTree(t, dir)
			for _, pair := range [][2]git.SHA{{ours, theirs}, {theirs, ours}} {
				want, _ := work.merge(t, pair[0], pair[1])
				before := files(t, r)
				checkMerge(t, r, pair[0], pair[1], want)
				leaves(t, r, before)
			}
		})
	}
}

// The shapes of histories: what has no single common ancestor, or none, and
// what needs no merge.
func TestMergeHistories(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	base := side{"a.txt": text("a"), "b.txt": text("b")}
	root := commitTree(t, dir, base, 0)
	ours := commitTree(t, dir, base.with("a.txt", text("a")+"ours\n"), 1, root)
	theirs := commitTree(t, dir, base.with("b.txt", text("b")+"theirs\n"), 2, root)
	both := base.with("a.txt", text("a")+"ours\n", "b.txt", text("b")+"theirs\n")
	crossOurs := commitTree(t, dir, both.with("c", text("c")), 3, ours, theirs)
	crossTheirs := commitTree(t, dir, both.with("d", text("d")), 3, theirs, ours)
	other := commitTree(t, dir, side{"z": text("z")}, 3)
	// older than its parent, says its clock
	skewed := commitTree(t, dir, base.with("s", text("s")), -500, ours)
	joined := commitTree(t, dir, both.with("z", text("z")), 5, crossOurs, other)
	r, work := gittest.New(t, git.Options{}).Repository(dir), newWorkTree(t, dir)
	all := []git.SHA{root, ours, theirs, crossOurs, crossTheirs, other, skewed, joined}
	for _, a := range all {
		for _, b := range all {
			want, parents := work.merge(t, a, b)
			m, err := r.MergeTree(t.Context(), a, b)
			testkit.NoError(t, err)
			upToDate := want != "" && parents != string(a)+" "+string(b)
			if m.Tree != want || m.Conflict != (want == "") || m.UpToDate != upToDate {
				t.Errorf("%s into %s: %+v; git says %q with %q", b, a, m, want, parents)
			}
		}
	}
	for _, bad := range []git.SHA{git.ZeroSHA, git.SHA(strings.Repeat("ab", 20))} {
		if _, err := r.MergeTree(t.Context(), root, bad); !errs.Is(err, errs.NotFound) {
			t.Errorf("a missing head: %v", err)
		}
	}
	for _, bad := range []git.SHA{"", "HEAD", "--output=x", git.SHA(strings.ToUpper(string(root)))} {
		if _, err := r.MergeTree(t.Context(), bad, root); !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What is decided without git must be what git decides, over merges that no
// author of tests would think of: hundreds of random pairs of sides that move,
// remove, add and change files and directories among few names.
func TestMergeAtRandom(t *testing.T) {
	t.Parallel()
	const merges = 400
	dir := gittest.Bare(t)
	random := rand.New(rand.NewPCG(1, 2))
	tops := []string{"", "d/", "d/e/", "f/", "f.g/"}
	name := func() string { return tops[random.IntN(len(tops))] + string(rune('p'+random.IntN(5))) }
	change := func(s side) side {
		for range 1 + random.IntN(4) {
			switch random.IntN(7) {
			case 0, 1:
				path := name()
				s = s.with(path, text(fmt.Sprint("new", random.IntN(4))))
				for other := range s { // no file may be a directory too
					if strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") {
						delete(s, path)
						break
					}
				}
			case 2:
				s = s.with(name(), "")
			case 3:
				if from, to := name(), name(); s[from] != "" && s[to] == "" {
					s = s.moved(from, to)
				}
			case 4:
				s = s.moved(strings.TrimSuffix(tops[1+random.IntN(4)], "/"),
					[]string{"h", "i/j", "f", "d", ""}[random.IntN(5)])
			default:
				if path := name(); s[path] != "" {
					s = s.with(path, s[path]+fmt.Sprintf("line %d\n", random.IntN(3)))
				}
			}
		}
		return s
	}
	var list []treeCommit
	for i := range merges {
		base := side{}
		for range 4 + random.IntN(14) {
			path := name()
			base[path] = text(path)
		}
		list = append(list, treeCommit{files: base},
			treeCommit{files: change(base), at: 1, before: []int{3 * i}},
			treeCommit{files: change(base), at: 1, before: []int{3 * i}})
	}
	shas := commitTrees(t, dir, list)
	var pairs [][2]git.SHA
	for i := range merges {
		pairs = append(pairs, [2]git.SHA{shas[3*i+1], shas[3*i+2]})
	}
	g := gittest.New(t, git.Options{})
	r := g.Repository(dir)
	clean, processes := 0, g.Started()
	var results []*git.MergeResult
	for _, pair := range pairs {
		m, err := r.MergeTree(t.Context(), pair[0], pair[1])
		if err != nil && !errs.Is(err, errs.TooLarge) {
			t.Fatal(err)
		}
		results = append(results, m)
	}
	processes = g.Started() - processes
	for i, pair := range pairs {
		out, _, err := gittest.Try(t, dir, nil, "merge-tree", "--write-tree", "-z", "--name-only",
			"--no-messages", string(pair[0]), string(pair[1]))
		fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		want, m := fields[0], results[i]
		switch exit := (*exec.ExitError)(nil); {
		case m == nil:
			// Some merges of renames trip an assertion of git's.
			if !errors.As(err, &exit) || exit.ExitCode() == 1 {
				t.Errorf("%s and %s: no result; git says %q, %v", pair[0], pair[1], fields, err)
			}
			continue
		case err != nil:
			want = ""
		default:
			clean++
		}
		if string(m.Tree) != want || m.Conflict != (err != nil) ||
			m.Conflict && !slices.Equal(m.Paths, fields[1:]) {
			t.Errorf("%s and %s: %+v; git says %q, %v", pair[0], pair[1], m, fields, err)
		}
	}
	t.Logf("%d merges, %d of them clean, %d processes", merges, clean, processes)
	if clean < merges/4 || processes > merges*9/10 || processes < merges/10 {
		t.Errorf("%d clean merges of %d with %d processes test too little", clean, merges, processes)
	}
}

// What a merge wrote must be there, whole and in one pack, however it came
// about; the same pair gives the same commit everywhere.
func TestTestMerge(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	base := side{"a.txt": text("a"), "dir/b.txt": text("b"), "dir/c.txt": text("c")}
	root := commitTree(t, dir, base, 0)
	ours := commitTree(t, dir, base.with("a.txt", text("a")+"ours\n", "dir/b.txt", text("b")+"ours\n"), 90,
		root)
	for name, changed := range map[string]side{
		"by trees": base.with("dir/c.txt", text("c")+"theirs\n"),
		"by git":   base.with("a.txt", strings.Replace(text("a"), " ", " theirs\n", 1)),
	} {
		theirs := commitTree(t, dir, changed, 60, root)
		var commits []git.SHA
		for range 2 {
			copied := filepath.Join(t.TempDir(), "copy.git")
			gittest.Run(t, dir, "clone", "-q", "--bare", "--mirror", dir, copied)
			for _, sha := range []git.SHA{ours, theirs} {
				gittest.Run(t, copied, "fetch", "-q", dir, string(sha))
			}
			r := gittest.New(t, git.Options{}).Repository(copied)
			packs, before := countPacks(t, copied), files(t, r)
			commit, m, err := r.TestMerge(t.Context(), ours, theirs)
			if err != nil || m.Conflict {
				t.Fatalf("%s: %+v, %v", name, m, err)
			}
			if n := countPacks(t, copied); n != packs+1 {
				t.Errorf("%s: the merge made %d packs", name, n-packs)
			}
			gittest.Run(t, copied, "fsck", "--strict", "--no-dangling", string(commit))
			want := "Arbor <noreply@users.noreply.arbor> 1300000090 +0000"
			if got := gittest.Run(t, copied, "log", "-1", "--format=%an <%ae> %ad", "--date=raw",
				string(commit)); got != want {
				t.Errorf("%s: the author is %q", name, got)
			}
			if got := gittest.Run(t, copied, "log", "-1", "--format=%P",
				string(commit)); got != string(ours+" "+theirs) {
				t.Errorf("%s: the parents are %q", name, got)
			}
			leaves(t, r, slices.Concat(before, newPacks(t, r, before)))
			commits = append(commits, commit)
		}
		if commits[0] != commits[1] {
			t.Errorf("%s: one pair gives %v", name, commits)
		}
	}
}

// newPacks are the files of packs that were not there before.
func newPacks(t testing.TB, r *git.Repository, before []string) (list []string) {
	t.Helper()
	for _, f := range files(t, r) {
		if !slices.Contains(before, f) && strings.Contains(f, "/pack/pack-") {
			list = append(list, f)
		}
	}
	return list
}

// leaves waits until nothing but what is wanted is among the objects' files.
func leaves(t testing.TB, r *git.Repository, want []string) {
	t.Helper()
	slices.Sort(want)
	now := func() []string { return slices.Sorted(slices.Values(files(t, r))) }
	testkit.Eventually(t, func() bool { return slices.Equal(now(), want) },
		"the objects' files are "+strings.Join(want, " "), func() string { return strings.Join(now(), " ") })
}

// A client that goes away, a merge that takes too long and a file that is too
// large to merge end soon, say so, and leave nothing behind.
func TestMergeEnds(t *testing.T) {
	t.Parallel()
	dir := gittest.Bare(t)
	base := side{"a.txt": text("a")}
	root := commitTree(t, dir, base, 0)
	ours := commitTree(t, dir, base.with("a.txt", text("a")+"x\n"), 1, root)
	theirs := commitTree(t, dir, base.with("a.txt", strings.Replace(text("a"), " ", " x\n", 1)), 1, root)
	r := gittest.New(t, git.Options{}).Repository(dir)
	before := files(t, r)
	if m, err := r.MergeTree(t.Context(), ours, theirs); err != nil || m.Conflict {
		t.Fatal(m, err) // caches are warm: what follows ends in the process
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.MergeTree(ctx, ours, theirs); !errs.Is(err, errs.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	slow := gittest.New(t, git.Options{ReadTimeout: 300 * time.Millisecond,
		Binary: sleeper(t)}).Repository(dir)
	if _, err := slow.MergeTree(t.Context(), ours, theirs); !errs.Is(err, errs.Unavailable) {
		t.Errorf("too slow: %v", err)
	}
	failing := gittest.New(t, git.Options{Binary: failer(t)}).Repository(dir)
	if _, err := failing.MergeTree(t.Context(), ours, theirs); !errs.Is(err, errs.TooLarge) {
		t.Errorf("git ended: %v", err)
	}
	leaves(t, r, before)
}

// sleeper and failer are a git that does not come to an end of a merge.
func sleeper(t *testing.T) string { return gittest.Wrapped(t, "merge-tree", "sleep 30") }
func failer(t *testing.T) string  { return gittest.Wrapped(t, "merge-tree", "exit 128") }
