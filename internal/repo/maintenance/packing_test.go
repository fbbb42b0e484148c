package maintenance_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/repo/maintenance"
	"arbor/internal/space"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// lines is a log in memory.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// run runs a node until the test ends or stop is called.
func (n *nodes) run(t *testing.T, i int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.node[i].Maintenance.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// fill writes blobs to a repository, each in a pack of its own.
func fill(t *testing.T, r *git.Repository, from, to, size int) (shas []git.SHA) {
	t.Helper()
	for i := from; i < to; i++ {
		text := strings.Repeat(fmt.Sprintf("%d of %s. ", i, filepath.Base(r.Dir())), size/10+1)
		sha, err := r.WriteObjects(t.Context(), []git.NewObject{{Type: git.TypeBlob, Data: []byte(text)}})
		testkit.NoError(t, err)
		shas = append(shas, sha...)
	}
	return shas
}

func packs(t *testing.T, r *git.Repository) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(r.Dir(), "objects", "pack", "pack-*.pack"))
	testkit.NoError(t, err)
	return list
}

// One node at a time has the packing of a repository.
func TestPackingIsLeased(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{})
		r := n.create(t, "garden")
		var taken [2]db.Time
		var both sync.WaitGroup
		for i, d := range n.db {
			both.Go(func() {
				err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
					taken[i], err = maintenance.TakePacking(tx, r.ID)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if (taken[0] == 0) == (taken[1] == 0) {
			t.Errorf("the leases end at %v", taken)
		}
		testkit.NoError(t, n.node[0].Settings.Delete(t.Context(), &repo.Access{Repo: r}))
		if got := n.count(t, `SELECT count(*) FROM packings`); got != 0 {
			t.Error("the packing of a deleted repository stays")
		}
	})
}

// Whoever takes a packing over withdraws the bundle that the dead node was uploading: a purge would wait for its end
// for as long as the packing is put off, which may be hours.
func TestPackingEndsUpload(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{})
		r := n.create(t, "garden")
		other := n.create(t, "other")
		for _, id := range []repo.ID{r.ID, other.ID} {
			n.exec(t, `INSERT INTO bundles (key_name, repo_id, purges, depot_id, tip, size, sha256, packed)
				VALUES ($1, $2, 0, 0, '', 0, '', 0)`, fmt.Sprint(id), id)
		}
		take := func() (until db.Time) {
			testkit.NoError(t, n.db[0].Write(t.Context(), func(tx *db.Tx) (err error) {
				until, err = maintenance.TakePacking(tx, r.ID)
				return err
			}))
			return until
		}
		withdrawn := `SELECT count(*) FROM bundles WHERE gone_at IS NOT NULL AND repo_id = $1`
		if take() == 0 || n.count(t, withdrawn, r.ID) != 1 || n.count(t, withdrawn, other.ID) != 0 {
			t.Error("the upload of the node before is not withdrawn, or another one is")
		}
		n.exec(t, `UPDATE bundles SET gone_at = NULL`)
		if take() != 0 || n.count(t, withdrawn, r.ID) != 0 {
			t.Error("an upload is withdrawn whose node has the lease")
		}
	})
}

// Both nodes run while much is written through both: packs stay few, nothing is
// lost, and no row is left.
func TestTwoNodesKeepPacksFew(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{PackGrace: 1})
		r := n.create(t, "garden")
		for i := range n.node {
			n.run(t, i)
		}
		var writers sync.WaitGroup
		var shas [2][]git.SHA
		for i, node := range n.node {
			writers.Go(func() {
				for k := range 10 {
					shas[i] = append(shas[i], fill(t, apitest.Objects(t, node.Repos, r.ID), 1000*i+20*k,
						1000*i+20*(k+1), 100)...)
					node.Repos.Wrote(r.ID)
				}
			})
		}
		writers.Wait()
		n.node[0].Repos.Wrote(r.ID)
		g := n.objects(t, r.ID)
		testkit.Eventually(t, func() bool { return len(packs(t, g)) < 40 }, "few packs")
		testkit.Eventually(t, func() bool {
			return n.count(t, `SELECT count(*) FROM packings`) == 0
		}, "no packing is left")
		gittest.Run(t, g.Dir(), "fsck", "--full", "--no-dangling")
		for i, node := range n.node {
			if _, err := apitest.Objects(t, node.Repos, r.ID).Infos(t.Context(), shas[1-i]); err != nil {
				t.Errorf("node %d does not find what the other wrote: %v", i, err)
			}
		}
	})
}

// Nothing is packed on a nearly full disk, because old packs are kept for hours. With free space it is.
func TestNothingIsPackedWithoutRoom(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{PackGrace: 1})
		r := n.create(t, "garden")
		g, node := n.objects(t, r.ID), n.node[0]
		fill(t, g, 0, 60, 100)
		before := len(packs(t, g))
		node.Repos.Room = space.NewGuard(1<<60, slog.New(slog.DiscardHandler), g.Dir())
		node.Maintenance.Look(t.Context(), r.ID)
		if after := len(packs(t, g)); after != before {
			t.Errorf("of %d packs %d are left", before, after)
		}
		node.Repos.Room = nil
		node.Maintenance.Look(t.Context(), r.ID)
		if after := len(packs(t, g)); after == before { // what is replaced stays a while
			t.Errorf("with room %d packs stay", before)
		}
	})
}

// A packing that fails is logged once and tried again, also after the death of its node;
// and it does not keep others waiting.
func TestPackingThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		n := newNodes(t, engine, git.Options{PackGrace: 1})
		bad, good := n.create(t, "bad"), n.create(t, "good")
		g := n.objects(t, bad.ID)
		fill(t, g, 0, 30, 100)
		damaged := packs(t, g)[5]
		whole, err := os.ReadFile(damaged)
		testkit.NoError(t, err)
		broken := bytes.Clone(whole)
		broken[len(broken)-24] ^= 1
		testkit.NoError(t, os.Remove(damaged))
		testkit.NoError(t, os.WriteFile(damaged, broken, 0o444))
		stop := n.run(t, 0)
		n.node[0].Repos.Wrote(bad.ID)
		tried := func(times int64) {
			t.Helper()
			testkit.Eventually(t, func() bool {
				return n.count(t, `SELECT count(*) FROM packings WHERE repo_id = $1 AND tries = $2
					AND due_at > `+engine.Clock()+` + 30000000`, bad.ID, times) == 1
			}, fmt.Sprintf("try %d is put off", times))
		}
		again := func(node int) {
			n.exec(t, `UPDATE packings SET due_at = 0`)
			testkit.NoError(t, n.node[node].Maintenance.Polling(t.Context()))
		}
		tried(1)
		if len(packs(t, g)) != 31 {
			t.Errorf("%d packs of 31 are left", len(packs(t, g)))
		}
		again(0)
		tried(2)
		if got := strings.Count(n.log.String(), "packing failed"); got != 1 {
			t.Errorf("the log tells of it %d times:\n%s", got, n.log)
		}
		fill(t, n.objects(t, good.ID), 0, 30, 100)
		n.node[0].Repos.Wrote(good.ID)
		testkit.Eventually(t, func() bool {
			return len(packs(t, n.objects(t, good.ID))) < 20
		}, "the other repository is packed")
		stop()
		testkit.NoError(t, os.Remove(damaged))
		testkit.NoError(t, os.WriteFile(damaged, whole, 0o444))
		n.run(t, 1)
		again(1)
		testkit.Eventually(t, func() bool { return len(packs(t, g)) < 20 }, "it is packed by the other node")
		testkit.Eventually(t, func() bool {
			return n.count(t, `SELECT count(*) FROM packings`) == 0
		}, "no packing is left")
		gittest.Run(t, g.Dir(), "fsck", "--full", "--no-dangling")
	})
}

// slowGit is a git whose commit-graph of the first repository takes until a file is there, and makes
// another file when it begins.
func slowGit(t *testing.T, until, begun string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	testkit.Program(t, path, fmt.Sprintf(
		"case $1$GIT_DIR in commit-graph*/1.git) : >'%s'; while [ ! -e '%s' ]; do sleep 0.02; done;; esac\n"+
			"exec git \"$@\"\n", begun, until))
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// While git works on a large repository, for hours maybe, small ones go on.
func TestSmallPackingsDoNotWaitForLargeOnes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		until, begun := filepath.Join(t.TempDir(), "until"), filepath.Join(t.TempDir(), "begun")
		n := newNodes(t, engine, git.Options{PackGrace: 1, Binary: slowGit(t, until, begun)})
		large, small := n.create(t, "large"), n.create(t, "small")
		data := make([]byte, 65<<20)
		rand.NewChaCha8([32]byte{}).Read(data)
		_, err := n.objects(t, large.ID).WriteObjects(t.Context(),
			[]git.NewObject{{Type: git.TypeBlob, Data: data}})
		testkit.NoError(t, err)
		n.run(t, 0)
		n.node[0].Repos.Wrote(large.ID)
		testkit.Eventually(t, func() bool { return exists(begun) }, "git is at the large one")
		for i := range 3 {
			fill(t, n.objects(t, small.ID), 100*i, 100*i+30, 100)
			n.node[0].Repos.Wrote(small.ID)
			testkit.Eventually(t, func() bool {
				return len(packs(t, n.objects(t, small.ID))) < 20
			}, "the small one is packed")
		}
		if got := n.count(t, `SELECT count(*) FROM packings WHERE repo_id = $1`, large.ID); got != 1 {
			t.Error("the large one is not under way any more: that shows nothing")
		}
		testkit.NoError(t, os.WriteFile(until, nil, 0o600))
		testkit.Eventually(t, func() bool {
			return n.count(t, `SELECT count(*) FROM packings`) == 0
		}, "all is done")
	})
}
