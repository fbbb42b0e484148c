package git_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

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
