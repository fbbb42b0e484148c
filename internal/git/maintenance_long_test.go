//go:build long

package git_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Packing creates few packs of many and loses nothing: also not what no ref
// names, since a pull request or a cached answer may.
func TestPackKeepsAll(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{PackGrace: 1})
	r := g.Repository(t.TempDir() + "/r.git")
	if needs, err := r.NeedsPacking(); needs || err != nil {
		t.Errorf("without a directory: %v, %v", needs, err)
	}
	source := gittest.Repository(t, 50, 20)
	var tips []git.SHA
	for i := 49; i >= 0; i-- {
		rev := fmt.Sprintf("main~%d", i)
		tip := gittest.Resolve(t, source, rev)
		var haves []string
		for _, h := range tips {
			haves = append(haves, string(h))
		}
		push(t, r, packOf(t, source, []string{rev}, haves), tips, tip)
		tips = append(tips, tip)
	}
	for i := range 2000 { // nothing names these
		if i%200 == 0 {
			gittest.Object(t, r.Dir(), git.TypeBlob, fmt.Sprint("loose ", i))
		}
	}
	before := objects(t, r.Dir())
	if needs, err := r.NeedsPacking(); !needs || err != nil {
		t.Errorf("50 packs: %v, %v", needs, err)
	}
	testkit.NoError(t, r.Pack(t.Context()))
	if after := objects(t, r.Dir()); after != before {
		t.Errorf("objects before:\n%s\nafter:\n%s", before, after)
	}
	for _, name := range files(t, r) {
		if strings.Contains(name, "objects/packing-") || strings.Contains(name, "tmp_") {
			t.Errorf("%s is left", name)
		}
	}
	if packs := countPacks(t, r.Dir()); packs > 3 {
		t.Errorf("%d packs are left", packs)
	}
	if needs, err := r.NeedsPacking(); needs || err != nil {
		t.Errorf("packed: %v, %v", needs, err)
	}
	gittest.Run(t, r.Dir(), "fsck", "--full")
	if err := r.Pack(t.Context()); err != nil {
		t.Errorf("packing twice: %v", err)
	}
	if after := objects(t, r.Dir()); after != before {
		t.Error("packing twice lost objects")
	}
}

// Two nodes maintain one folder at the same time, which the lease forbids, and set
// replaced packs aside at once. Meanwhile others push, write and read all of it through
// both. Every object is found all the time, and is there in the end. A maintenance may
// fail while the other node takes files away under it, which git tells in many ways; it
// succeeds once it is alone.
func TestTwoNodesMaintainOneFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "r.git")
	var nodes [2]*git.Repository
	for i := range nodes {
		nodes[i] = gittest.New(t, git.Options{PackGrace: 1}).Repository(dir)
	}
	const commits, writers, rounds = 40, 3, 50
	source := gittest.Repository(t, commits, 10)
	tips := make([]git.SHA, commits)
	for i := range tips {
		tips[i] = gittest.Resolve(t, source, fmt.Sprintf("main~%d", commits-1-i))
	}
	push(t, nodes[0], packOf(t, source, []string{string(tips[0])}, nil), nil, tips[0])
	var pushed atomic.Int64
	var blobs sync.Map
	var work, others sync.WaitGroup
	var stop atomic.Bool
	work.Go(func() {
		for i := 1; i < commits; i++ {
			pack := packOf(t, source, []string{string(tips[i])}, []string{string(tips[i-1])})
			push(t, nodes[i%2], pack, tips[i-1:i], tips[i])
			pushed.Store(int64(i))
		}
	})
	for w := range writers {
		work.Go(func() {
			for i := range rounds {
				own, shared := blob(fmt.Sprint(i, " by ", w)), blob(fmt.Sprint("shared ", i))
				shas, err := nodes[i%2].WriteObjects(t.Context(), []git.NewObject{own, shared})
				if err != nil {
					t.Errorf("write: %v", err)
					continue
				}
				blobs.Store(shas[0], true)
				if i%10 == 0 {
					gittest.Object(t, dir, git.TypeBlob, fmt.Sprint("loose ", w, i))
				}
			}
		})
	}
	for n, r := range nodes {
		others.Go(func() {
			for !stop.Load() {
				_, err := r.Maintain(t.Context(), time.Now())
				if err := errors.Join(err, r.Pack(t.Context())); err != nil {
					t.Logf("node %d: %v", n, err)
				}
			}
		})
		others.Go(func() {
			for !stop.Load() {
				tip := tips[pushed.Load()]
				tree, err := r.PeelToTree(t.Context(), tip)
				if err == nil {
					err = r.WalkTree(t.Context(), tree, true, func(*git.WalkEntry) error { return nil })
				}
				if err != nil {
					t.Errorf("node %d reads %s: %v", n, tip, err)
				}
				blobs.Range(func(sha, _ any) bool {
					if _, err := r.Info(t.Context(), sha.(git.SHA)); err != nil {
						t.Errorf("node %d reads %s: %v", n, sha, err)
					}
					return !stop.Load()
				})
			}
		})
	}
	work.Wait()
	stop.Store(true)
	others.Wait()
	for n, r := range nodes {
		_, err := r.Maintain(t.Context(), time.Now())
		if err := errors.Join(err, r.Pack(t.Context())); err != nil {
			t.Errorf("node %d, when it is alone: %v", n, err)
		}
	}
	gittest.Run(t, dir, "fsck", "--full", "--strict", "--connectivity-only", string(tips[commits-1]))
	gittest.Run(t, dir, "fsck", "--full", string(tips[commits-1]))
	there := objects(t, dir)
	blobs.Range(func(sha, _ any) bool {
		if !strings.Contains(there, string(sha.(git.SHA))) {
			t.Errorf("%s was written and is gone", sha)
		}
		return true
	})
	aside, _ := filepath.Glob(filepath.Join(dir, "objects", "replaced-*", "*.pack"))
	if len(aside) == 0 {
		t.Error("nothing was replaced, so the test shows nothing")
	}
	if err := nodes[0].SweepReplaced(time.Now().Add(time.Hour), time.Minute); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "objects", "replaced-*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if after := objects(t, dir); after != there {
		t.Error("objects that were set aside were needed")
	}
	t.Logf("%d packs were replaced", len(aside))
}
