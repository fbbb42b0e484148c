package serve_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"os"
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
	hold       string // a file: while it is there, git packs nothing
}

func newClones(t *testing.T, limit int64, o git.Options) *clones {
	t.Helper()
	dir, text := gittest.Bare(t), make([]byte, size)
	_, _ = rand.Read(text)
	gittest.Import(t, dir, strings.NewReader(gittest.CommitLine("main", 0, "m")+
		gittest.FileLines("file", hex.EncodeToString(text))+"done\n"))
	c := &clones{tip: gittest.Resolve(t, dir, "main"), shared: serve.NewShared(t.TempDir(), limit, nil),
		hold: filepath.Join(t.TempDir(), "hold")}
	c.shared.Lag(time.Hour)
	if o.Binary == "" {
		o.Binary = gittest.Wrapped(t, "upload-pack", "while [ -e "+c.hold+" ]; do sleep 0.02; done")
	}
	c.g = gittest.New(t, o)
	c.r = c.g.Repository(dir)
	return c
}

// together begins to clone with each client, and lets git go on when all of them share one answer.
func (c *clones) together(t *testing.T, clients ...func()) *sync.WaitGroup {
	t.Helper()
	testkit.NoError(t, os.WriteFile(c.hold, nil, 0o600))
	before := c.shared.Caches()[0]
	all := &sync.WaitGroup{}
	for n, client := range clients {
		all.Go(client)
		testkit.Eventually(t, func() bool {
			now := c.shared.Caches()[0]
			return now.Hits+now.Misses == before.Hits+before.Misses+int64(n)+1
		}, "the clone begins")
	}
	testkit.NoError(t, os.Remove(c.hold))
	return all
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
	return serve.UploadPack(ctx, gittest.Opened(c.r), serve.Request{Protocol: 2, In: bytes.NewReader(c.request()), Out: to,
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

// stuck is a client that reads nothing until it is let.
type stuck struct {
	bytes.Buffer
	let <-chan struct{}
}

func (w *stuck) Write(p []byte) (int, error) {
	<-w.let
	return w.Buffer.Write(p)
}

// limits are those of files: one into which an answer fits, and one into which it does not.
var limits = map[string]int64{"in a file": 1 << 30, "too large for the file": size / 2}

func TestClonesShareAProcess(t *testing.T) {
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			c := newClones(t, limit, git.Options{})
			c.shared.Keep(time.Hour)
			outs := make([]bytes.Buffer, 8)
			var clients []func()
			for i := range outs {
				clients = append(clients, func() { testkit.NoError(t, c.clone(t.Context(), &outs[i])) })
			}
			c.together(t, clients...).Wait()
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
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			c := newClones(t, limit, git.Options{})
			let := make(chan struct{})
			ctx, hangUp := context.WithCancel(t.Context())
			first := stuck{let: let}
			done := c.together(t, func() {
				if err := c.clone(ctx, &first); !errs.Is(err, errs.Canceled) {
					t.Errorf("the client that hung up: %v", err)
				}
			}, func() { c.whole(t) })
			hangUp()
			close(let)
			done.Wait()
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
	c := newClones(t, size*3/2, git.Options{})
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
	c := newClones(t, 1<<30, git.Options{})
	c.shared = serve.NewShared(filepath.Join(t.TempDir(), "missing"), 1<<30, nil)
	c.whole(t)
	c.empty(t)
}

func TestSharedAnswerOfAProcessThatFails(t *testing.T) {
	c := newClones(t, 1<<30, git.Options{})
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

// What git said before it failed is nobody else's answer.
func TestAnswerOfAProcessThatEndsIsNotKept(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	testkit.NoError(t, os.WriteFile(broken, nil, 0o600))
	c := newClones(t, 1<<30, git.Options{Binary: gittest.Wrapped(t, "upload-pack",
		"if [ -e "+broken+" ]; then printf '000dpackfile\\n'; exit 128; fi")})
	var out bytes.Buffer
	testkit.NoError(t, c.clone(t.Context(), &out))
	testkit.NoError(t, os.Remove(broken))
	c.whole(t)
	c.expect(t, 2)
}

// A client does not wait for the share of memory of another client that sent the same request before.
func TestSharedAnswerAndSharesOfMemory(t *testing.T) {
	type key struct{}
	full, asked := errs.New(errs.TooManyRequests, "too many concurrent requests"), make(chan struct{})
	refuse := make(chan struct{})
	c := newClones(t, 1<<30, git.Options{Admit: func(ctx context.Context, _ int64) (func(), error) {
		if ctx.Value(key{}) == nil {
			return func() {}, nil
		}
		asked <- struct{}{}
		select {
		case <-refuse:
			return nil, full
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	waits := context.WithValue(t.Context(), key{}, true)
	var done sync.WaitGroup
	done.Go(func() {
		if err := c.clone(waits, io.Discard); err != nil {
			t.Errorf("the answer of another one: %v", err)
		}
	})
	<-asked
	c.whole(t)
	done.Wait()
	c.expect(t, 1)

	c.generation.Store(1)
	done.Go(func() {
		if err := c.clone(waits, io.Discard); !errors.Is(err, full) {
			t.Errorf("without another one: %v", err)
		}
	})
	<-asked
	close(refuse)
	done.Wait()
	c.whole(t)
	c.expect(t, 2)
}

// Where an answer does not fit, a client that reads slowly stops no others.
func TestSlowReaderOfASharedAnswer(t *testing.T) {
	c := newClones(t, size/2, git.Options{})
	c.shared.Lag(time.Millisecond)
	let, fast := make(chan struct{}), make(chan struct{})
	slow := stuck{let: let}
	done := c.together(t, func() {
		if err := c.clone(t.Context(), &slow); !errs.Is(err, errs.Canceled) {
			t.Errorf("the slow client: %v", err)
		}
	}, func() {
		defer close(fast)
		c.whole(t)
	})
	<-fast
	close(let)
	done.Wait()
	c.expect(t, 1)
	c.empty(t)
}

// On a disk that takes no writes nothing is kept, and clones go on.
func TestSharedAnswerBelowTheFreeSpace(t *testing.T) {
	c := newClones(t, 1<<30, git.Options{})
	c.shared = serve.NewShared(t.TempDir(), 1<<30, func() error { return errs.New(errs.NoRoom, "full") })
	c.whole(t)
	c.empty(t)
}
