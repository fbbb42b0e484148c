package git_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// listing is what `git ls-tree -l -z` prints, made from a walk.
func listing(t testing.TB, r *git.Repository, tree git.SHA, recursive bool) string {
	t.Helper()
	var b bytes.Buffer
	err := r.WalkTree(t.Context(), tree, recursive, func(e *git.WalkEntry) error {
		size := "-"
		if e.Size >= 0 {
			size = fmt.Sprint(e.Size)
		}
		fmt.Fprintf(&b, "%s %s %s %7s\t%s\x00", e.Mode, e.Type, e.SHA, size, e.Path)
		return nil
	})
	testkit.NoError(t, err)
	return b.String()
}

// oddRepository has every mode and names that break naive parsers.
func oddRepository(t testing.TB) (dir string, tree git.SHA) {
	dir = gittest.Bare(t)
	blob := gittest.Object(t, dir, git.TypeBlob, "hello\n")
	empty := gittest.Object(t, dir, git.TypeBlob, "")
	sub := gittest.Pipe(t, dir, strings.NewReader(
		"100644 blob "+string(blob)+"\tin\nner\x00"+
			"100755 blob "+string(empty)+"\t\"quoted\" \\ tab\t.sh\x00"), "mktree", "-z")
	subtree := strings.TrimSpace(string(sub))
	out := gittest.Pipe(t, dir, strings.NewReader(
		"040000 tree "+subtree+"\ta\x00"+
			"100644 blob "+string(blob)+"\ta.b\x00"+
			"040000 tree "+subtree+"\ta0\x00"+
			"120000 blob "+string(blob)+"\tlink\x00"+
			"160000 commit 1234567890123456789012345678901234567890\tmodule\x00"+
			"100644 blob "+string(blob)+"\tnot utf-8 \xff\xfe\x00"+
			"100644 blob "+string(empty)+"\t\xe5\x90\x8d\x00"+
			"100644 blob "+string(blob)+"\t- 12\x00"), "mktree", "-z", "--missing")
	return dir, git.SHA(strings.TrimSpace(string(out)))
}

// A listing that differs from git's own would show files that are not there,
// or hide some that are.
func TestWalkTreeIsLsTree(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	odd, oddTree := oddRepository(t)
	plain := gittest.Repository(t, 3, 300)
	trees := map[string]git.SHA{
		odd:   oddTree,
		plain: gittest.Resolve(t, plain, "main^{tree}"),
	}
	many := gittest.Bare(t) // more trees than are read without a process
	stream := gittest.CommitLine("main", 0, "m")
	for n := range 40 {
		stream += gittest.FileLines(fmt.Sprintf("d%d/e/f", n), "x")
	}
	gittest.Import(t, many, strings.NewReader(stream+"done\n"))
	trees[many] = gittest.Resolve(t, many, "main^{tree}")
	old := gittest.Bare(t) // modes as early tools wrote them
	blob := gittest.Object(t, old, git.TypeBlob, "x")
	raw := hexBytes(t, blob)
	inner := gittest.Object(t, old, git.TypeTree, "100664 x\x00"+raw+"100775 y\x00"+raw)
	trees[old] = gittest.Object(t, old, git.TypeTree, "100664 a\x00"+raw+"040000 d\x00"+hexBytes(t, inner))
	empty := gittest.Bare(t)
	trees[empty] = gittest.Object(t, empty, git.TypeTree, "")
	large := gittest.Bare(t) // more than is held in memory
	file := gittest.Object(t, large, git.TypeBlob, "x")
	raw = hexBytes(t, file)
	// Packed, it is not opened for each of its names.
	gittest.Pipe(t, large, strings.NewReader(string(file)+"\n"), "pack-objects", "-q", "objects/pack/pack")
	var names strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&names, "100644 file%05d\x00%s", i, raw)
	}
	trees[large] = gittest.Object(t, large, git.TypeTree, names.String())
	for dir, tree := range trees {
		r := g.Repository(dir)
		for _, recursive := range []bool{false, true} {
			args := []string{"ls-tree", "-l", "-z", "--full-tree"}
			if recursive {
				args = append(args, "-r", "-t")
			}
			want := string(gittest.Pipe(t, dir, nil, append(args, string(tree))...))
			if got := listing(t, r, tree, recursive); got != want {
				t.Errorf("recursive %v: got\n%q\nwant\n%q", recursive, got, want)
			}
		}
		entries, err := r.Tree(t.Context(), tree, func([]byte) bool { return true })
		testkit.NoError(t, err)
		names := gittest.Pipe(t, dir, nil, "ls-tree", "-z", "--name-only", string(tree))
		var got strings.Builder
		for _, e := range entries {
			got.WriteString(e.Path + "\x00")
		}
		if got.String() != string(names) {
			t.Errorf("Tree names %q, want %q", got.String(), names)
		}
	}
}

func TestWalkTreeErrors(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	dir := gittest.Repository(t, 2, 30)
	r := g.Repository(dir)
	commit := gittest.Resolve(t, dir, "main")
	tree := gittest.Resolve(t, dir, "main^{tree}")
	none := g.Repository(t.TempDir() + "/none.git")
	nothing := func(*git.WalkEntry) error { return nil }
	for _, recursive := range []bool{false, true} {
		if err := r.WalkTree(t.Context(), commit, recursive, nothing); recursive == false &&
			!errs.Is(err, errs.Invalid) {
			t.Errorf("a commit as tree: %v", err)
		}
		missing := git.SHA(strings.Repeat("1", 40))
		if err := r.WalkTree(t.Context(), missing, recursive, nothing); !errs.Is(err, errs.NotFound) {
			t.Errorf("a missing tree: %v", err)
		}
		if err := none.WalkTree(t.Context(), tree, recursive, nothing); !errs.Is(err, errs.NotFound) {
			t.Errorf("a repository without directory: %v", err)
		}
		if err := r.WalkTree(t.Context(), "--output=x", recursive, nothing); !errs.Is(err, errs.Invalid) {
			t.Errorf("an option as tree: %v", err)
		}
		count := 0
		err := r.WalkTree(t.Context(), tree, recursive, func(*git.WalkEntry) error {
			if count++; count == 3 {
				return git.ErrStop
			}
			return nil
		})
		if err != nil || count != 3 {
			t.Errorf("stopped after %d entries with %v", count, err)
		}
		wrong := errors.New("wrong")
		if err := r.WalkTree(t.Context(), tree, recursive, func(*git.WalkEntry) error {
			return wrong
		}); !errors.Is(err, wrong) {
			t.Errorf("the function's error became %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.WalkTree(gone, tree, recursive, nothing); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled walk: %v", err)
		}
	}
}

// A damaged tree object must be an error, never half a listing that looks whole.
func TestCorruptTrees(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	dir := gittest.Bare(t)
	blob := hexBytes(t, gittest.Object(t, dir, git.TypeBlob, "x"))
	for _, contents := range []string{"100644 a\x00" + blob[:19], "100644 a" + blob, "x a\x00" + blob,
		"100644 \x00" + blob, "100644a\x00" + blob, " a\x00" + blob, "100644 a\x00" + blob + "1"} {
		tree := gittest.Object(t, dir, git.TypeTree, contents)
		for _, recursive := range []bool{false, true} {
			err := g.Repository(dir).WalkTree(t.Context(), tree, recursive, func(*git.WalkEntry) error {
				return nil
			})
			if err == nil {
				t.Errorf("recursive %v: tree %q was listed", recursive, contents)
			}
		}
	}
}

func hexBytes(t testing.TB, sha git.SHA) string {
	t.Helper()
	raw, err := hex.DecodeString(string(sha))
	testkit.NoError(t, err)
	return string(raw)
}
