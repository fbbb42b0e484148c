package serve_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/serve"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// size is what the file of the repository takes in a pack at least: it is random.
const size = 2 << 20

// clones are clients that clone a repository with one file.
type clones struct {
	g          *git.Git
	r          *git.Repository
	tip        git.SHA
	generation atomic.Int64
	shared     *serve.Shared
}

func newClones(t *testing.T, limit int64) *clones {
	dir := gittest.Bare(t)
	text := make([]byte, size)
	_, _ = rand.Read(text)
	gittest.Import(t, dir, strings.NewReader(gittest.CommitLine("main", 0, "m")+
		gittest.FileLines("file", hex.EncodeToString(text))+"done\n"))
	g := gittest.New(t, git.Options{})
	return &clones{g: g, r: g.Repository(dir), tip: gittest.Resolve(t, dir, "main"), shared: serve.NewShared(t.TempDir(), limit)}
}

// request is the last one of a clone.
func (c *clones) request() []byte {
	var b []byte
	for _, line := range []string{"command=fetch\n", "agent=test\n"} {
		b = wire.AppendPkt(b, []byte(line))
	}
	b = append(b, "0001"...)
	for _, line := range []string{"no-progress\n", "want " + string(c.tip) + "\n", "done\n"} {
		b = wire.AppendPkt(b, []byte(line))
	}
	return append(b, wire.FlushPkt...)
}

func (c *clones) clone(ctx context.Context, to io.Writer) error {
	return serve.UploadPack(ctx, c.r, serve.Request{Protocol: 2, In: bytes.NewReader(c.request()), Out: to,
		Shared: c.shared, Refs: func(context.Context) (git.Refs, error) {
			return git.Refs{Head: "refs/heads/main", Generation: c.generation.Load(),
				List: []git.Ref{{Name: "refs/heads/main", SHA: c.tip}}}, nil
		}})
}

// whole clones, and checks that the answer is whole.
func (c *clones) whole(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := c.clone(t.Context(), &out); err != nil || out.Len() < size {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	return out.Bytes()
}

func (c *clones) started() int64 { return c.g.Processes()["upload-pack"].Started }

// expect checks how many processes have packed, and that none is left without readers.
func (c *clones) expect(t *testing.T, started int64) {
	t.Helper()
	testkit.Eventually(t, func() bool { return c.g.Processes()["upload-pack"].Running == 0 }, "processes end")
	if n := c.started(); n != started {
		t.Errorf("%d processes packed, want %d", n, started)
	}
}

// empty checks that nothing is kept.
func (c *clones) empty(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		now := c.shared.Caches()[0]
		return now.Entries == 0 && now.Held == 0
	}, "nothing is kept")
}

// slowly is a client that begins to read when it is let.
type slowly struct {
	bytes.Buffer
	began func()
	let   <-chan struct{}
}

func (w *slowly) Write(p []byte) (int, error) {
	w.began()
	<-w.let
	return w.Buffer.Write(p)
}

func TestClonesShareAProcess(t *testing.T) {
	for name, limit := range map[string]int64{"in a file": 1 << 30, "too large for the file": size / 2} {
		t.Run(name, func(t *testing.T) {
			c := newClones(t, limit)
			c.shared.Keep(time.Hour)
			const clients = 8
			let, began := make(chan struct{}), make(chan struct{}, 1)
			var all sync.WaitGroup
			outs := make([]slowly, clients)
			for i := range outs {
				outs[i] = slowly{let: let, began: sync.OnceFunc(func() { began <- struct{}{} })}
				all.Go(func() { testkit.NoError(t, c.clone(t.Context(), &outs[i])) })
				<-began
			}
			close(let)
			all.Wait()
			for i := range outs {
				if !bytes.Equal(outs[i].Bytes(), outs[0].Bytes()) || outs[i].Len() < size {
					t.Errorf("client %d got %d bytes, the first %d", i, outs[i].Len(), outs[0].Len())
				}
			}
			c.expect(t, 1)
			c.whole(t)
			kept := limit > size
			c.expect(t, map[bool]int64{true: 1, false: 2}[kept])
			if !kept {
				c.empty(t)
			}
		})
	}
}

func TestSharedAnswerOfAClientThatHungUp(t *testing.T) {
	for name, limit := range map[string]int64{"in a file": 1 << 30, "too large for the file": size / 2} {
		t.Run(name, func(t *testing.T) {
			c := newClones(t, limit)
			let, began := make(chan struct{}), make(chan struct{}, 1)
			ctx, hangUp := context.WithCancel(t.Context())
			first := slowly{let: let, began: sync.OnceFunc(func() { began <- struct{}{} })}
			var done sync.WaitGroup
			done.Go(func() {
				if err := c.clone(ctx, &first); !errs.Is(err, errs.Canceled) {
					t.Errorf("the client that hung up: %v", err)
				}
			})
			<-began
			second := slowly{let: let, began: sync.OnceFunc(func() { began <- struct{}{} })}
			done.Go(func() { testkit.NoError(t, c.clone(t.Context(), &second)) })
			<-began
			hangUp()
			close(let)
			done.Wait()
			if second.Len() < size {
				t.Errorf("the other client got %d bytes", second.Len())
			}
			c.expect(t, 1)

			broken := errors.New("broken pipe")
			for range 3 {
				if err := c.clone(t.Context(), failing{broken}); !errors.Is(err, broken) {
					t.Errorf("a connection that breaks: %v", err)
				}
			}
			c.shared.Keep(0)
			c.whole(t)
			c.empty(t)
		})
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSharedAnswersEnd(t *testing.T) {
	c := newClones(t, size*3/2)
	c.shared.Keep(time.Hour)
	c.whole(t)
	c.whole(t)
	c.expect(t, 1)
	c.generation.Store(1) // a push
	c.whole(t)            // which takes the place of the one that is kept
	c.expect(t, 2)
	if n := c.shared.Caches()[0].Entries; n != 1 {
		t.Errorf("%d answers are kept", n)
	}
	c.generation.Store(0)
	c.shared.Keep(time.Millisecond)
	c.whole(t)
	c.expect(t, 3)
	testkit.Eventually(t, func() bool { return c.shared.Caches()[0].Entries == 0 }, "the time is over")
	c.empty(t)
}

func TestSharedAnswerWithoutRoomOnDisk(t *testing.T) {
	c := newClones(t, 1<<30)
	c.shared = serve.NewShared(filepath.Join(t.TempDir(), "missing"), 1<<30)
	c.whole(t)
	c.empty(t)
}

func TestSharedAnswerOfAProcessThatFails(t *testing.T) {
	c := newClones(t, 1<<30)
	there := c.tip
	c.tip = "1111111111111111111111111111111111111111"
	var out bytes.Buffer
	testkit.NoError(t, c.clone(t.Context(), &out))
	if !bytes.Contains(out.Bytes(), []byte("not our ref")) {
		t.Errorf("git said %q", out.Bytes())
	}
	c.tip = there
	c.whole(t)
}
