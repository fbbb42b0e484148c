package git_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A fork has all that its parent had, without a copy on the disk; and nothing
// that happens to one of them afterwards is seen in the other: neither what is
// written, which may be private by then, nor that it is removed.
func TestLinkObjects(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	source := gittest.Repository(t, 6, 10)
	old, tip := gittest.Resolve(t, source, "main~2"), gittest.Resolve(t, source, "main")
	parent, fork := g.Repository(t.TempDir()+"/parent.git"), g.Repository(t.TempDir()+"/fork.git")
	push(t, parent, packOf(t, source, []string{string(old)}, nil), nil, old)
	loose := gittest.Object(t, parent.Dir(), git.TypeBlob, "a file of its own")
	testkit.NoError(t, parent.WriteGraph(t.Context()))
	for range 2 {
		testkit.NoError(t, fork.LinkObjects(parent))
	}
	for _, name := range files(t, fork) {
		ours, err := os.Stat(name)
		testkit.NoError(t, err)
		theirs, err := os.Stat(strings.Replace(name, fork.Dir(), parent.Dir(), 1))
		if err != nil || !os.SameFile(ours, theirs) {
			t.Errorf("%s is a copy: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(fork.Dir(), "objects/info/commit-graph")); err != nil {
		t.Errorf("the commit-graph did not come along: %v", err)
	}
	apart := func(from, to *git.Repository, text string) {
		sha, err := from.WriteObjects(t.Context(), []git.NewObject{{Type: git.TypeBlob, Data: []byte(text)}})
		testkit.NoError(t, err)
		if _, err := to.Info(t.Context(), sha[0]); !errs.Is(err, errs.NotFound) {
			t.Errorf("%q is seen in the other: %v", text, err)
		}
	}
	apart(parent, fork, "secret of the parent")
	apart(fork, parent, "secret of the fork")
	push(t, fork, packOf(t, source, []string{string(tip)}, []string{string(old)}), []git.SHA{old}, tip)
	if _, err := parent.Commit(t.Context(), tip); !errs.Is(err, errs.NotFound) {
		t.Errorf("the fork's commit is in its parent: %v", err)
	}
	for _, r := range []*git.Repository{parent, fork} {
		if err := r.Pack(t.Context()); err != nil {
			t.Error(err)
		}
		gittest.Run(t, r.Dir(), "fsck", "--full", string(old), string(loose))
	}
	g.Remove(parent.Dir(), func() {
		if err := os.RemoveAll(parent.Dir()); err != nil {
			t.Error(err)
		}
	})
	gittest.Run(t, fork.Dir(), "fsck", "--full", string(tip), string(loose))
	if _, err := fork.Commit(t.Context(), old); err != nil {
		t.Errorf("the parent took its commit along: %v", err)
	}
}

// A pack is replaced by another one after its name was read and before it was
// linked. What slipped through would be a hole in the fork for ever.
func TestLinkObjectsMeanwhile(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	parent, fork := g.Repository(t.TempDir()+"/parent.git"), g.Repository(t.TempDir()+"/fork.git")
	shas, err := parent.WriteObjects(t.Context(), []git.NewObject{{Type: git.TypeBlob, Data: []byte("here")}})
	testkit.NoError(t, err)
	packs := filepath.Join(parent.Dir(), "objects/pack")
	last, next := filepath.Join(packs, "pack-"+strings.Repeat("f", 40)),
		filepath.Join(packs, "pack-"+strings.Repeat("1", 40))
	written, err := filepath.Glob(packs + "/pack-*.idx")
	if err != nil || len(written) != 1 {
		t.Fatal(written, err)
	}
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	old := strings.TrimSuffix(written[0], ".idx")
	must(os.Rename(old+".pack", last+".pack"))
	must(os.Rename(old+".idx", last+".idx"))
	const first = "pack-%040x"
	for i := range 4000 { // what comes before the last takes some time
		must(os.WriteFile(filepath.Join(packs, fmt.Sprintf(first+".pack", i)), nil, 0o644))
		must(os.WriteFile(filepath.Join(packs, fmt.Sprintf(first+".idx", i)), nil, 0o644))
	}
	begun := filepath.Join(fork.Dir(), "objects/pack", fmt.Sprintf(first+".pack", 0))
	var replacing sync.WaitGroup
	replacing.Go(func() {
		for end := time.Now().Add(testkit.Patience); time.Now().Before(end); {
			if _, err := os.Stat(begun); err == nil {
				break
			}
		}
		must(os.Link(last+".pack", next+".pack"))
		must(os.Link(last+".idx", next+".idx"))
		must(os.Remove(last + ".idx"))
		must(os.Remove(last + ".pack"))
	})
	must(fork.LinkObjects(parent))
	replacing.Wait()
	for i := range 4000 {
		must(os.Remove(filepath.Join(fork.Dir(), "objects/pack", fmt.Sprintf(first+".pack", i))))
		must(os.Remove(filepath.Join(fork.Dir(), "objects/pack", fmt.Sprintf(first+".idx", i))))
	}
	if _, err := fork.Info(t.Context(), shas[0]); err != nil {
		t.Errorf("the object is missing: %v", err)
	}
}

// What no file system can link is copied, whole or not at all.
func TestCopyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	want := bytes.Repeat([]byte("pack "), 50_000)
	testkit.NoError(t, os.WriteFile(from, want, 0o444))
	testkit.NoError(t, git.CopyFile(from, to))
	if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes were copied: %v", len(got), err)
	}
	if err := git.CopyFile(filepath.Join(dir, "nothing"), to); !os.IsNotExist(err) {
		t.Errorf("what is not there: %v", err)
	}
}

// The fork of a private repository must not hold what was taken out of its
// parent's branches, and nothing must be missing of what is in them.
func TestCopyHistories(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	from, to := g.Repository(gittest.Repository(t, 6, 10)), g.Repository(t.TempDir()+"/to.git")
	gittest.Run(t, from.Dir(), "tag", "-a", "-m", "x", "v1", "main~3")
	old, tag := gittest.Resolve(t, from.Dir(), "main~2"), gittest.Resolve(t, from.Dir(), "v1")
	secret := gittest.Resolve(t, from.Dir(), "main")
	before := files(t, from)
	testkit.NoError(t, to.CopyHistories(t.Context(), from, []git.SHA{old, tag}))
	gittest.Run(t, to.Dir(), "fsck", "--full", "--strict", string(old), string(tag))
	if _, err := to.Info(t.Context(), secret); !errs.Is(err, errs.NotFound) {
		t.Errorf("what no tip leads to was copied: %v", err)
	}
	if after := files(t, from); len(after) != len(before) {
		t.Errorf("copying left %q", after)
	}
	for _, name := range files(t, to) {
		if !strings.HasPrefix(filepath.Base(name), "pack-") {
			t.Errorf("copying left %s", name)
		}
	}
	for name, tip := range map[string]git.SHA{"missing": git.SHA(strings.Repeat("12", 20)),
		"no SHA": "--all"} {
		empty := g.Repository(t.TempDir() + "/empty.git")
		if err := empty.CopyHistories(t.Context(), from, []git.SHA{tip}); err == nil ||
			len(files(t, empty)) != 0 {
			t.Errorf("%s: %v, left %q", name, err, files(t, empty))
		}
	}
}

// The head of a fork must be whole in the base repository before anything there
// names it, however the fork came by its objects, and be copied but once.
func TestCopyObjects(t *testing.T) {
	t.Parallel()
	base := side{"a.txt": text("a"), "b.txt": text("b")}
	for name, linked := range map[string]bool{"linked": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t, git.Options{})
			parent := g.Repository(gittest.Bare(t))
			main := commitTree(t, parent.Dir(), base, 0)
			fork := g.Repository(filepath.Join(t.TempDir(), "fork.git"))
			if linked {
				testkit.NoError(t, fork.LinkObjects(parent))
			} else {
				push(t, fork, packOf(t, parent.Dir(), []string{string(main)}, nil), nil, main)
			}
			list := []treeCommit{{files: base.with("c", text("c")), parents: []git.SHA{main}},
				{files: base.with("a.txt", text("a")+"x\n"), before: []int{0}}}
			tip := commitTrees(t, fork.Dir(), list)[1]
			// a tip that a fork alone lacks
			unknown := commitTree(t, parent.Dir(), base.with("d", text("d")), 5, main)
			have := []git.SHA{main, unknown}
			if _, err := parent.Info(t.Context(), tip); !errs.Is(err, errs.NotFound) {
				t.Fatal("it is there already", err)
			}
			testkit.NoError(t, git.CopyObjects(t.Context(), fork, parent, tip, have, admitAll))
			gittest.Run(t, parent.Dir(), "fsck", "--strict", "--full", "--no-dangling", string(tip))
			before, started := files(t, parent), g.Started()
			testkit.NoError(t, git.CopyObjects(t.Context(), fork, parent, tip, have, admitAll))
			if after := files(t, parent); !slices.Equal(before, after) || g.Started() != started {
				t.Errorf("copied again: %q, %d processes", after, g.Started()-started)
			}
			if m, err := parent.MergeTree(t.Context(), unknown, tip); err != nil || m.Conflict {
				t.Errorf("merging it: %+v, %v", m, err)
			}
		})
	}
}

// What cannot be copied must leave nothing behind and nothing half there.
func TestCopyObjectsFails(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	from, to := g.Repository(gittest.Bare(t)), g.Repository(gittest.Bare(t))
	first := commitTree(t, from.Dir(), side{"a": text("a")}, 0)
	tree := gittest.Run(t, from.Dir(), "rev-parse", string(first)+"^{tree}")
	missing := git.SHA("1234567890123456789012345678901234567890")
	torn := gittest.Object(t, from.Dir(), git.TypeCommit, commitOf(git.SHA(tree), first, missing).contents)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	before := files(t, to)
	for name, c := range map[string]struct {
		ctx  context.Context
		tip  git.SHA
		kind errs.Kind
	}{
		"missing":   {t.Context(), missing, errs.NotFound},
		"no SHA":    {t.Context(), "--all", errs.Invalid},
		"a tree":    {t.Context(), git.SHA(tree), errs.Invalid},
		"torn":      {t.Context(), torn, errs.Invalid},
		"cancelled": {canceled, first, errs.Canceled},
	} {
		if err := git.CopyObjects(c.ctx, from, to, c.tip, nil, admitAll); !errs.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
		if after := files(t, to); !slices.Equal(before, after) {
			t.Errorf("%s left %q", name, after)
		}
	}
	// What is there in part, as an orphan of a killed server may be, is made whole.
	gittest.Object(t, to.Dir(), git.TypeCommit,
		gittest.Run(t, from.Dir(), "cat-file", "commit", string(first))+"\n")
	second := commitTree(t, from.Dir(), side{"b": text("b")}, 1, first)
	testkit.NoError(t, git.CopyObjects(t.Context(), from, to, second, nil, admitAll))
	gittest.Run(t, to.Dir(), "fsck", "--strict", "--full", "--no-dangling", string(second))
}

func admitAll(int64) error { return nil }
