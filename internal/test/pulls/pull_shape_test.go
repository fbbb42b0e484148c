package pulls_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// shapes are what two branches may be to each other: heads in, where base is
// main, of the branches that each builds.
var shapes = []struct {
	name  string
	build func(w *pullWorld)
	want  bool // they merge
	state string
}{
	{"forward", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("h", "h\n"))
		w.commit("base", "b", "", "", nil)
	}, true, ""},
	{"empty commits", func(w *pullWorld) { w.commit("head", "h", "main", "", nil) }, true, ""},
	{"binary", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("binary", "\x00\x05\x06"))
		w.commit("base", "b", "", "", one("a", "a\nx\n"))
	}, true, ""},
	{"binary conflict", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("binary", "\x00\x05\x06"))
		w.commit("base", "b", "", "", one("binary", "\x00\x07"))
	}, false, ""},
	{"rename", func(w *pullWorld) {
		w.commit("head", "h", "main", "", map[string]string{"long": gone, "moved": lines(20, -1)})
		w.commit("base", "b", "", "", one("long", lines(20, 3)))
	}, true, ""},
	{"mode", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("long", as("100755", lines(20, -1))))
		w.commit("base", "b", "", "", one("long", lines(20, 3)))
	}, true, ""},
	{"symlink", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("link", as("120000", "b")))
		w.commit("base", "b", "", "", one("a", "x\n"))
	}, true, ""},
	{"symlink conflict", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("link", as("120000", "b")))
		w.commit("base", "b", "", "", one("link", as("120000", "c")))
	}, false, ""},
	{"submodule", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("module", as("160000", strings.Repeat("34", 20))))
		w.commit("base", "b", "", "", one("a", "x\n"))
	}, true, ""},
	{"submodule conflict", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("module", as("160000", strings.Repeat("34", 20))))
		w.commit("base", "b", "", "", one("module", as("160000", strings.Repeat("56", 20))))
	}, false, ""},
	{"conflict", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("a", "1\n"))
		w.commit("base", "b", "", "", one("a", "2\n"))
	}, false, ""},
	{"removed and changed", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("a", gone))
		w.commit("base", "b", "", "", one("a", "2\n"))
	}, false, ""},
	{"odd names", func(w *pullWorld) {
		w.commit("head", "h", "main", "", map[string]string{"-x": "x\n", "--output=y": "y\n",
			"q\"uo\nte": "z\n", "\xff": "latin\n"})
		w.commit("base", "b", "", "", one("-y", "x\n"))
	}, true, ""},
	{"criss-cross", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("h", "h\n"))
		w.commit("base", "b", "", "", one("b2", "b\n"))
		w.commit("old", "o", "head", "", nil)
		w.commit("head", "hm", "", "base", map[string]string{"h": "h\nh2\n", "b2": "b\n"})
		w.commit("base", "bm", "", "old", map[string]string{"h": "h\n", "b2": "b\nb3\n"})
	}, true, ""},
	{"base merged into head", func(w *pullWorld) {
		w.commit("head", "h", "main", "", one("h", "h\n"))
		w.commit("base", "b", "", "", one("b2", "b\n"))
		w.commit("head", "hm", "", "base", one("b2", "b\n"))
		w.commit("base", "b", "", "", one("b3", "b\n"))
	}, true, ""},
}

// lines returns n lines, one of which is changed.
func lines(n, changed int) string {
	var b strings.Builder
	for i := range n {
		if i == changed {
			b.WriteString("changed ")
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// For all relations of two branches: mergeable agrees with git, the merge has git's tree and both parents,
// and files and diff agree with git.
func TestShapes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		for n, c := range shapes {
			t.Run(c.name, func(t *testing.T) {
				w := &pullWorld{}
				start := map[string]string{"a": "a\n", "b": "b\n", "long": lines(20, -1),
					"binary": "\x00\x01", "link": as("120000", "a"),
					"module": as("160000", strings.Repeat("12", 20))}
				w.commit("main", "Begin", "", "", start)
				w.commit("base", "Base", "main", "", nil)
				c.build(w)
				name := fmt.Sprint("alice/shape", n)
				_, dir := w.plant(t, s, name, false)
				p := propose(t, s, "alice", name, "head", "base")
				if p.Mergeable == nil || *p.Mergeable != c.want {
					t.Fatalf("mergeable is %v: %+v", p.Mergeable, p)
				}
				checkFiles(t, s, name, dir, p)
				tree, parents := gitMerge(t, dir, "base", "head")
				if (tree != "") != c.want {
					t.Errorf("git merge says %q", tree)
				}
				do := merging("alice", name, p.Number, "")
				if do.Status = 405; c.want {
					do.Status = 200
				}
				s.Check(t, do)
				_, mirror := truthIn(t, s, "alice", name)
				if !c.want {
					return
				}
				if got := gittest.Run(t, mirror, "log", "-1", "--format=%T %P",
					"base"); got != tree+" "+parents {
					t.Errorf("the merge is %s, git makes %s %s", got, tree, parents)
				}
			})
		}
	})
}

// checkFiles holds files, diff, patch and counts against git's.
func checkFiles(t *testing.T, s *apitest.Server, name, dir string, p request) {
	t.Helper()
	var files []struct {
		Filename, Status, Patch string
		Previous                string `json:"previous_filename"`
		Additions, Deletions    int
	}
	at := fmt.Sprintf("/repos/%s/pulls/%d", name, p.Number)
	s.Check(t, apitest.Case{Do: "GET " + at + "/files?per_page=100", Status: 200}).JSON(t, &files)
	raw := strings.TrimSuffix(gittest.Run(t, dir, "diff", "-z", "-M", "--numstat", "base...head"), "\x00")
	count := 0
	for part := range strings.SplitSeq(raw, "\x00") {
		if strings.Count(part, "\t") == 2 {
			count++
		}
	}
	if len(files) != count || p.Files != count {
		t.Errorf("%d files listed, %d counted; git has %d: %q", len(files), p.Files, count, raw)
	}
	plus, minus := 0, 0
	for _, f := range files {
		plus, minus = plus+f.Additions, minus+f.Deletions
	}
	if plus != p.Additions || minus != p.Deletions {
		t.Errorf("the files add %d and remove %d, the pull request says %d and %d", plus, minus,
			p.Additions, p.Deletions)
	}
	diff := s.Check(t, apitest.Case{Do: "GET " + at,
		Headers: map[string]string{"Accept": "application/vnd.service.v3.diff"}, Status: 200}).Body
	if want := gittest.Pipe(t, dir, nil, "diff", "-M", "base...head"); string(diff) != string(want) &&
		len(want)+len(diff) > 0 {
		t.Errorf("the diff is\n%s\ngit's is\n%s", diff, want)
	}
	if out, problems, err := gittest.Try(t, dir, strings.NewReader(string(diff)), "apply", "--numstat",
		"-"); len(diff) > 0 && err != nil && !strings.Contains(string(diff), "Binary files") {
		t.Errorf("git apply: %v %s%s", err, out, problems)
	}
	var commits []struct{ SHA string }
	s.Check(t, apitest.Case{Do: "GET " + at + "/commits?per_page=100", Status: 200}).JSON(t, &commits)
	want := strings.Fields(gittest.Run(t, dir, "rev-list", "base..head"))
	if len(commits) != len(want) || p.Commits != len(want) || commits[len(commits)-1].SHA != p.Head.SHA {
		t.Errorf("commits %v, %d of them; git has %v", commits, p.Commits, want)
	}
}

// gitMerge merges two branches with `git merge` in a work tree; "" is a conflict.
func gitMerge(t *testing.T, dir, base, head string) (tree, parents string) {
	t.Helper()
	work := t.TempDir()
	gittest.Run(t, work, "clone", "-q", "--shared", "--no-checkout", dir, ".")
	gittest.Run(t, work, "checkout", "-q", "--detach", "origin/"+base)
	if _, _, err := gittest.Try(t, work, nil, "merge", "-q", "--no-ff", "-m", "merged",
		"origin/"+head); err != nil {
		return "", ""
	}
	tree, parents, _ = strings.Cut(gittest.Run(t, work, "log", "-1", "--format=%T %P"), " ")
	return tree, parents
}

// Clients name branches by their refs, too, as git-xargs does.
func TestBranchesAsRefs(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", one("a", "a\n"))
	for n, name := range []string{"x", "y", "z", "heads/odd"} {
		w.commit(name, "Add", "main", "", one(fmt.Sprint("f", n), "x\n"))
	}
	w.plant(t, s, "alice/plot", false)
	for given, name := range map[string]string{"refs/heads/x": "x", "heads/y": "y", "alice:refs/heads/z": "z",
		"heads/odd": "heads/odd"} {
		p := propose(t, s, "alice", "alice/plot", given, "refs/heads/main")
		if p.Head.Ref != name || p.Base.Ref != "main" {
			t.Errorf("%q: %+v", given, p)
		}
	}
}

// Branches may be called as they like, options of git included.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	names := []string{"feature/deep/er", "help--", "x-", "refs/heads/x", "a..b"[:1] + ".b", "pull/1/head",
		"héd", "\U0001f41b", "a%20b", "a+b", "a#b", "HEAD2", strings.Repeat("l", 200), "1234567",
		"main/x"[:4] + "-x", "a'b", "a\"b", "<b>", "&amp;"}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		w := &pullWorld{}
		w.commit("main", "Begin", "", "", one("a", "a\n"))
		for n, name := range names {
			w.commit(name, "Add", "main", "", one(fmt.Sprint("f", n), "x\n"))
			w.commit("base-"+name, "Add", "main", "", one(fmt.Sprint("g", n), "x\n"))
		}
		w.plant(t, s, "alice/plot", false)
		for n, name := range names {
			p := propose(t, s, "alice", "alice/plot", name, "base-"+name)
			if p.Head.Ref != name || p.Base.Ref != "base-"+name || p.Mergeable == nil || !*p.Mergeable {
				t.Errorf("%q: %+v", name, p)
			}
			var list []request
			s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls?head=alice:" + url.QueryEscape(name) +
				"&base=" + url.QueryEscape("base-"+name), Status: 200}).JSON(t, &list)
			if len(list) != 1 || list[0].Number != p.Number {
				t.Errorf("%q is listed as %v", name, list)
			}
			for _, part := range []string{"/files", "/commits"} {
				s.Ask(t, "", fmt.Sprintf("GET /repos/alice/plot/pulls/%d%s", p.Number, part), "", 200)
			}
			c := merging("alice", "alice/plot", p.Number,
				fmt.Sprintf(`{"merge_method": %q}`, []string{"merge", "squash", "rebase"}[n%3]))
			c.Status, c.Headers = 200, map[string]string{"Accept": graduated}
			s.Check(t, c)
		}
		truth(t, s, "alice", "alice/plot")
	})
}

// Past the limits GitHub shows less, and counts all: 250 commits, 3,000 files, a
// patch of 3,000 lines (decision 39).
func TestLimits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		w := &pullWorld{}
		w.commit("main", "Begin", "", "", one("a", "a\n"))
		for n := range 251 {
			from := ""
			if n == 0 {
				from = "main"
			}
			w.commit("commits", fmt.Sprint("commit ", n), from, "", one("c", fmt.Sprintln(n)))
		}
		many := map[string]string{}
		for n := range 3001 {
			many[fmt.Sprintf("dir%02d/file%04d", n%50, n)] = fmt.Sprintln(n)
		}
		w.commit("files", "many", "main", "", many)
		large := map[string]string{}
		for n := range 12 {
			large[fmt.Sprintf("large%02d", n)] = strings.Repeat(strings.Repeat(fmt.Sprint(n), 400)[:399]+"\n",
				2250)
		}
		w.commit("sum", "large", "main", "", large)
		w.commit("lines", "long", "main", "", map[string]string{"fits": lines(2900, -1),
			"long": lines(3100, -1), "wide": strings.Repeat("x", 2<<20) + "\n"})
		w.plant(t, s, "alice/plot", false)

		p := propose(t, s, "alice", "alice/plot", "commits", "main")
		if p.Commits != 251 || p.Files != 1 {
			t.Errorf("%+v", p)
		}
		count := func(number int64, what string) (total int, last *apitest.Answer) {
			for page := 1; ; page++ {
				var list []any
				last = s.Check(t, apitest.Case{
					Do: fmt.Sprintf("GET /repos/alice/plot/pulls/%d/%s?per_page=100&page=%d", number, what,
						page), Status: 200})
				last.JSON(t, &list)
				if total += len(list); len(list) < 100 {
					return total, last
				}
			}
		}
		if n, _ := count(p.Number, "commits"); n != 250 {
			t.Errorf("%d commits are listed, want 250", n)
		}
		c := merging("alice", "alice/plot", p.Number, `{"merge_method": "rebase"}`)
		c.Status, c.Headers = 405, map[string]string{"Accept": graduated}
		s.Check(t, c) // too many to replay, as GitHub has it
		c = merging("alice", "alice/plot", p.Number, "")
		c.Status = 200
		s.Check(t, c)

		p = propose(t, s, "alice", "alice/plot", "files", "main")
		testkit.Eventually(t, func() bool { // its test merge is large, and not waited for on a busy machine
			p = read(t, s, "alice", "alice/plot", p.Number)
			return p.Mergeable != nil
		}, "the test merge of 3,001 files")
		if p.Files != 3001 ||
			p.Additions != 3001 || !*p.Mergeable {
			t.Errorf("%+v", p)
		}
		if n, _ := count(p.Number, "files"); n != 3000 {
			t.Errorf("%d files are listed, want 3,000", n)
		}
		diff := s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /alice/plot/pull/%d.diff", p.Number),
			Status: 200})
		if n := strings.Count(string(diff.Body), "diff --git "); n != 3001 {
			t.Errorf("the diff has %d files", n)
		}
		if p = propose(t, s, "alice", "alice/plot", "lines", "main"); p.Additions != 2900+3100+1 {
			t.Errorf("%+v", p)
		}
		s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/plot/pulls/%d/files", p.Number),
			Status: 200,
			Want:   `[{"filename": "fits", "patch": "$any", "additions": 2900}, {"filename": "long", "patch": "$absent", "additions": 3100}, {"filename": "wide", "patch": "$absent", "additions": 1}]`})

		// Patches of 900 KB each: a page has eight megabytes of them, and all counts.
		p = propose(t, s, "alice", "alice/plot", "sum", "main")
		var files []struct {
			Patch     string
			Additions int
		}
		s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/alice/plot/pulls/%d/files", p.Number),
			Status: 200}).JSON(t, &files)
		patches := 0
		for _, f := range files {
			if f.Patch != "" {
				patches++
			}
			if f.Additions != 2250 {
				t.Errorf("a large file has %d additions", f.Additions)
			}
		}
		if len(files) != 12 || patches != 9 || p.Additions != 12*2250 {
			t.Errorf("%d files, %d patches: %+v", len(files), patches, p)
		}
	})
}
