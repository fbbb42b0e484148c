package pulls_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
)

// tracked lists the files of a work tree in which all is committed.
func tracked(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(name))
		return err
	})
	testkit.NoError(t, err)
	return files
}

// lived creates a work tree with a typical history: branches that diverge and are merged by git repeatedly,
// with files added, changed, renamed, removed and made executable on both sides. It returns the two parents
// of each merge and its tree, or "" for a conflict.
func lived(t *testing.T, random *rand.Rand, merges int) (dir string, pairs [][3]string) {
	t.Helper()
	dir = t.TempDir()
	git := func(args ...string) string { return gittest.Run(t, dir, args...) }
	git("init", "-q", "-b", "main")
	git("config", "user.name", "Lived")
	change := func(n int) {
		files := tracked(t, dir)
		for range 1 + random.IntN(3) {
			name := fmt.Sprintf("dir%d/sub%d/file%d", random.IntN(3), random.IntN(3), random.IntN(40))
			if len(files) > 0 && random.IntN(3) > 0 {
				name = files[random.IntN(len(files))]
			}
			path := filepath.Join(dir, name)
			text, err := os.ReadFile(path)
			switch what := random.IntN(10); {
			case err != nil || len(text) == 0:
				text = []byte(lines(30, -1))
			case what == 0:
				git("rm", "-q", "-f", "--", name)
				files = slices.DeleteFunc(files, func(f string) bool { return f == name })
				continue
			case what == 1:
				to := fmt.Sprintf("dir%d/moved%d-%d", random.IntN(3), n, random.IntN(1000))
				testkit.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(to)), 0o777))
				git("mv", "-f", "--", name, to)
				files = append(slices.DeleteFunc(files, func(f string) bool { return f == name }), to)
				path = filepath.Join(dir, to)
			case what == 2:
				testkit.NoError(t, os.Chmod(path, 0o755))
			}
			parts := strings.SplitAfter(string(text), "\n")
			parts[random.IntN(len(parts))] = fmt.Sprintf("changed in %d\n", n)
			testkit.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
			testkit.NoError(t, os.WriteFile(path, []byte(strings.Join(parts, "")), 0o666))
		}
		git("add", "-A")
		git("commit", "-q", "--allow-empty", "-m", fmt.Sprint("change ", n))
	}
	for n := range 4 {
		change(n)
	}
	branches := []string{"main", "dev", "topic"}
	git("branch", "dev")
	git("branch", "topic")
	for n := range merges {
		for _, b := range branches {
			git("checkout", "-q", b)
			for range 1 + random.IntN(2) {
				change(10 * n)
			}
		}
		k := random.IntN(3)
		into, from := branches[k], branches[(k+1+random.IntN(2))%3]
		git("checkout", "-q", into)
		pair := [3]string{git("rev-parse", into), git("rev-parse", from)}
		if _, _, err := gittest.Try(t, dir, nil, "merge", "-q", "--no-ff", "-m", "merged", from); err == nil {
			pair[2] = git("rev-parse", "HEAD^{tree}")
		} else {
			git("merge", "--abort")
			git("merge", "-q", "--no-ff", "-s", "ours", "-m", "ours", from)
		}
		pairs = append(pairs, pair)
	}
	return dir, pairs
}

// Each merge of a history with the tree that git gave it: through the API comes
// the same tree with the same parents, or git's conflict. Were they different, a
// merge at home and one on the server would be two projects.
func TestMergesOfAHistory(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	count := 24
	if !testenv.Long {
		count = 6
	}
	dir, pairs := lived(t, rand.New(rand.NewPCG(seed, 0)), count)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		bare := filepath.Join(t.TempDir(), "bare.git")
		gittest.Run(t, "", "clone", "-q", "--bare", dir, bare)
		var refs strings.Builder
		for n, p := range pairs {
			fmt.Fprintf(&refs, "create refs/heads/base%d %s\ncreate refs/heads/head%d %s\n", n, p[0], n, p[1])
		}
		gittest.Pipe(t, bare, strings.NewReader(refs.String()), "update-ref", "--stdin")
		s.Import(t, s.Repo(t, "alice/plot", false), bare)
		conflicts := 0
		for n, p := range pairs {
			made := propose(t, s, "alice", "alice/plot", fmt.Sprint("head", n), fmt.Sprint("base", n))
			if made.Mergeable == nil || *made.Mergeable != (p[2] != "") {
				t.Errorf("merge %d of %s into %s: git says %q, mergeable is %v", n, p[1], p[0], p[2],
					made.Mergeable)
				continue
			}
			do := merging("alice", "alice/plot", made.Number, "")
			if do.Status = 200; p[2] == "" {
				do.Status, conflicts = 405, conflicts+1
			}
			s.Check(t, do)
			if p[2] == "" {
				continue
			}
			for _, sha := range []string{*made.MergeCommit, s.Tip(t, "alice", "alice/plot", fmt.Sprint("base", n))} {
				c := readCommit(t, s, sha)
				if c.Tree.SHA != p[2] || len(c.Parents) != 2 || c.Parents[0].SHA != p[0] ||
					c.Parents[1].SHA != p[1] {
					t.Errorf("merge %d: %+v, git has tree %s of %s and %s", n, c, p[2], p[0], p[1])
				}
			}
		}
		t.Logf("%d merges, %d conflicts", len(pairs), conflicts)
		truth(t, s, "alice", "alice/plot")
	})
}
