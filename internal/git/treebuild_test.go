package git_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// flat is a tree as git's index holds it: every file by its path.
type flat map[string]flatEntry

type flatEntry struct {
	mode git.Mode
	sha  git.SHA
}

// lsFiles reads a tree as an index.
func lsFiles(t testing.TB, dir string, tree git.SHA) flat {
	t.Helper()
	files := flat{}
	for line := range strings.SplitSeq(string(gittest.Pipe(t, dir, nil, "ls-tree", "-r", "-z", "--full-tree",
		string(tree))), "\x00") {
		if meta, path, ok := strings.Cut(line, "\t"); ok {
			var mode git.Mode
			fmt.Sscanf(meta, "%o", &mode)
			files[path] = flatEntry{mode, git.SHA(meta[len(meta)-40:])}
		}
	}
	return files
}

// writeTree has git build the tree of an index.
func (f flat) writeTree(t testing.TB, dir string) git.SHA {
	t.Helper()
	var in bytes.Buffer
	for path, e := range f {
		fmt.Fprintf(&in, "%s %s\t%s\x00", e.mode, e.sha, path)
	}
	index := "--index-info"
	gittest.Run(t, dir, "read-tree", "--empty")
	gittest.Pipe(t, dir, &in, "update-index", "-z", index)
	return git.SHA(gittest.Run(t, dir, "write-tree", "--missing-ok"))
}

// below lists the files of a directory.
func (f flat) below(dir string) []string {
	var list []string
	for path := range f {
		if strings.HasPrefix(path, dir+"/") {
			list = append(list, path)
		}
	}
	return list
}

// apply is decision 44 on an index: what BuildTree must do, in other words. It
// reports false for edits that cannot be made.
func (f flat) apply(edits []git.TreeEdit, tree func(git.SHA) flat) (flat, bool) {
	out := maps.Clone(f)
	last := map[string]git.TreeEdit{}
	for _, e := range edits {
		last[e.Path] = e
	}
	// Outer paths come first: what is said of a path below them counts more.
	gone := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(last)) {
		e := last[path]
		for i, c := range path {
			if _, isFile := out[path[:i]]; c == '/' && isFile {
				return nil, false
			}
		}
		_, isFile := out[path]
		inside := out.below(path)
		if e.SHA == "" && !isFile && len(inside) == 0 {
			_, was := f[path]
			under := slices.ContainsFunc(slices.Collect(maps.Keys(gone)), func(p string) bool {
				return strings.HasPrefix(path, p+"/")
			})
			if !under || !was && len(f.below(path)) == 0 {
				return nil, false
			}
		}
		delete(out, path)
		for _, p := range inside {
			delete(out, p)
		}
		switch {
		case e.SHA == "":
			gone[path] = true
		case e.Mode == git.ModeTree:
			for p, x := range tree(e.SHA) {
				out[path+"/"+p] = x
			}
		default:
			out[path] = flatEntry{e.Mode, e.SHA}
		}
	}
	return out, true
}

// A client's tree must be the one that git would build, to the byte: another
// SHA for the same files would be another commit. Random edits of a real tree,
// and then of the outcome, are held against git's own index. The fixed seed
// draws a submodule's commit to be copied: as a file it would be a blob that
// is missing, which decision 44 refuses before anything is built.
func TestBuildTreeIsGits(t *testing.T) {
	t.Parallel()
	for name, seed := range map[string]uint64{"submodule": 7319826349681384334, "random": rand.Uint64()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d", seed)
			buildAsGit(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

// buildAsGit makes random edits. Git builds its trees elsewhere, so that
// the repository holds what BuildTree gave to be written and nothing else: each
// tree must be whole there.
func buildAsGit(t *testing.T, random *rand.Rand) {
	const rounds = 300
	dir, aside := gittest.Repository(t, 1, 60), gittest.Bare(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	base := gittest.Resolve(t, dir, "main^{tree}")
	trees := map[git.SHA]flat{base: lsFiles(t, dir, base)}
	fsck := []string{"fsck", "--strict", "--no-dangling", string(base)}
	refused := 0
	for range rounds {
		if len(trees) > 25 {
			trees = map[git.SHA]flat{base: trees[base]}
		}
		from := slices.Sorted(maps.Keys(trees))[random.IntN(len(trees))]
		edits := randomEdits(random, trees, from)
		want, ok := trees[from].apply(edits, func(sha git.SHA) flat { return trees[sha] })
		built, err := r.BuildTree(t.Context(), from, edits)
		var problem *git.TreeProblem
		switch {
		case !ok && errors.As(err, &problem):
			refused++
			continue
		case !ok || err != nil:
			t.Fatalf("edits %v of %s: can be made: %v, error %v", edits, from, ok, err)
		}
		if tree := want.writeTree(t, aside); tree != built.SHA {
			t.Fatalf("edits %v of %s:\nmake %s, git says %s\n%s", edits, from, built.SHA, tree,
				gittest.Run(t, aside, "ls-tree", "-r", "-t", string(tree)))
		}
		if _, err := r.WriteObjects(t.Context(), built.Objects); err != nil {
			t.Fatal(err)
		}
		fsck = append(fsck, string(built.SHA))
		if len(want) > 0 {
			trees[built.SHA] = want
		}
	}
	if refused == 0 || refused > rounds*2/3 {
		t.Errorf("%d of %d edits were refused: the test does not test", refused, rounds)
	}
	// Git says on standard output what is missing.
	if out, stderr, err := gittest.Try(t, dir, nil, fsck...); err != nil {
		t.Errorf("git fsck: %v\n%s%s", err, out, stderr)
	}
}

// randomEdits invents edits that often meet what is there and each other.
func randomEdits(random *rand.Rand, trees map[git.SHA]flat, from git.SHA) []git.TreeEdit {
	files := slices.Sorted(maps.Keys(trees[from]))
	source := trees[from][files[random.IntN(len(files))]]
	plain, executable := git.ModeFile, git.ModeExecutable
	if source.mode == git.ModeSubmodule {
		// Its commit is nowhere, and no blob.
		plain, executable = source.mode, source.mode
	}
	var edits []git.TreeEdit
	for range 1 + random.IntN(6) {
		path := files[random.IntN(len(files))]
		switch random.IntN(8) {
		case 0:
			path = filepath.Dir(path)
		case 1:
			path += "/new"
		case 2:
			path = filepath.Dir(path) + "/" + []string{"a", "a.b", "a-b", "a0", "z/y/x",
				"dir1"}[random.IntN(6)]
		case 3:
			path = []string{"dir1", "dir1.x", "dir1-x", "dir10", "dir1/sub", "dir2/file2.txt",
				"dir1/sub/sub"}[random.IntN(7)]
		}
		path = strings.TrimPrefix(path, "./")
		if path == "." {
			continue
		}
		e := git.TreeEdit{Path: path, Mode: plain, SHA: source.sha}
		switch random.IntN(6) {
		case 0, 1:
			e.SHA = ""
		case 2:
			e.Mode, e.SHA = git.ModeTree, slices.Sorted(maps.Keys(trees))[random.IntN(len(trees))]
		case 3:
			e.Mode = executable
		case 4:
			e.Mode, e.SHA = git.ModeSubmodule, git.SHA(strings.Repeat("c", 40))
		}
		if e.Mode != git.ModeTree || len(trees[e.SHA]) < 300 {
			edits = append(edits, e)
		}
	}
	return edits
}

// Whatever path is taken must pass git's own checks: what fsck refuses would
// break every clone, and what a checkout refuses would break some.
func FuzzTreePath(f *testing.F) {
	for _, path := range []string{"a", "a/b", ".git", "a/.GIT/x", "git~1", ".git::$DATA", ".git. .",
		".g\u200cit", "a\\.git", ".gitmodules", "GITMOD~1", "gi7eba~1", ".gitattributes", "gitatt~1", "\\",
		"a\\..\\b", "..a", "a..", "...", " ", "-x", "\u202e", "\xff", "con", "a:b", ".gitmodules ",
		"gi7d29~12", ".g\u200citmodules"} {
		f.Add(path, uint8(0))
		f.Add(path, uint8(1))
	}
	dir := gittest.Bare(f)
	r := gittest.New(f, git.Options{}).Repository(dir)
	blob, err := r.WriteObjects(f.Context(), []git.NewObject{{Type: git.TypeBlob, Data: []byte("x")}})
	testkit.NoError(f, err)
	f.Fuzz(func(t *testing.T, path string, kind uint8) {
		mode := []git.Mode{git.ModeFile, git.ModeSymlink, git.ModeExecutable}[kind%3]
		if git.PathProblem(path, mode) != "" || len(path) > 1000 {
			return
		}
		built, err := r.BuildTree(t.Context(), "", []git.TreeEdit{{Path: path, Mode: mode, SHA: blob[0]}})
		testkit.NoError(t, err)
		aside := gittest.Bare(t)
		g := gittest.New(t, git.Options{}).Repository(aside)
		if _, err := g.WriteObjects(t.Context(),
			append(built.Objects, git.NewObject{Type: git.TypeBlob, Data: []byte("x")})); err != nil {
			t.Fatal(err)
		}
		if out, stderr, err := gittest.Try(t, aside, nil, "-c", "core.protectNTFS=true", "-c",
			"core.protectHFS=true", "fsck", "--strict", "--no-dangling"); err != nil {
			t.Errorf("%q as %s: %s%s", path, mode, out, stderr)
		}
		in := strings.NewReader(fmt.Sprintf("%s %s\t%s\x00", mode, blob[0], path))
		if _, stderr, err := gittest.Try(t, aside, in, "-c", "core.protectNTFS=true", "-c",
			"core.protectHFS=true", "update-index", "-z", "--index-info"); err != nil || len(stderr) > 0 {
			t.Errorf("%q as %s: git does not take it: %s", path, mode, stderr)
		}
		if tree := gittest.Run(t, aside, "write-tree"); git.SHA(tree) != built.SHA {
			t.Errorf("%q as %s: %s, git says %s", path, mode, built.SHA, tree)
		}
	})
}

// Names that mean ".git" on some system, and their neighbours that do not.
func TestPathProblem(t *testing.T) {
	t.Parallel()
	for path, ok := range map[string]bool{
		"a": true, "a/b/c": true, ".gitx": true, ".gitignore": true, "git": true, "git~": true, "git~2": true,
		"git~11": true, "x.git": true, "..git": true, ".git-x": true,
		"a\\b": true, "...": true, ".gi": true, "\u200cgit": true, "gitmod~5": true, "gi7eba~x": true,
		"gi7eba~0": true, "nul": true,
		"": false, "/a": false, "a/": false, "a//b": false, ".": false, "..": false, "a/..": false,
		"a\x00": false,
		".git":  false, ".Git/x": false, "x/.gIT": false, "git~1": false, "GIT~1": false, ".git ": false,
		".git...": false, ".git:x": false, ".git . :x": false,
		"\\.git": false, "a\\git~1\\b": false, "\ufeff.git": false, ".\u200eg\u206ai\u202at": false,
		".gitmodules/x": false, "GITMOD~1/x": false, ".gitattributes/x": false, "gi7d29~1/x": false,
	} {
		if got := git.PathProblem(path, git.ModeFile); (got == "") != ok {
			t.Errorf("%q: %q", path, got)
		}
	}
	for path, ok := range map[string]bool{".gitignore": true, ".gitattributes": true, ".gitmodules": false,
		".gitmodules:x": false, "GITMOD~4 ": false, "gi7eba~9": false, "gi7~1234": false} {
		if got := git.PathProblem(path, git.ModeSymlink); (got == "") != ok {
			t.Errorf("a link %q: %q", path, got)
		}
	}
}
