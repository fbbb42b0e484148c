package process

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"arbor/internal/errs"
)

// Cage limits a process of git, and each process that it starts. The kernel ends
// those that take more. Mapped files, such as packs, do not count: the system takes
// their pages back when it needs them.
type Cage struct {
	Memory    int64         // bytes of heap, stacks and anonymous mappings
	CPU       time.Duration // processor time; 0: unbounded
	Processes int64         // how many may take memory at one time; 0: one
}

// MinCage is the smallest cage, in bytes. git itself needs half a megabyte and
// a thread's stack, eight.
const MinCage = 16 << 20

// admitted is the memory of all processes of the cage, in bytes.
func (c Cage) admitted() int64 { return c.Memory * max(c.Processes, 1) }

// maxThreads is how many threads pack or unpack in one process.
const maxThreads = 4

// config configures git to work within the cage: its caches are parts of it. Files that are too
// large to be held several times are copied as streams, and are binary in diffs.
func (c Cage) config() [][2]string {
	part := func(of int64) string { return strconv.FormatInt(c.Memory/of, 10) }
	threads := max(1, min(c.Memory>>26, int64(runtime.NumCPU()), maxThreads))
	return [][2]string{
		{"core.bigFileThreshold", part(16)}, {"core.deltaBaseCacheLimit", part(8)},
		{"pack.windowMemory", part(8)}, {"pack.deltaCacheSize", part(16)},
		{"pack.threads", strconv.FormatInt(threads, 10)},
	}
}

// Admit asks for the memory of a cage.
func (r *Runner) Admit(ctx context.Context, c Cage) (release func(), err error) {
	if r.ask == nil {
		return func() {}, nil
	}
	return r.ask(ctx, c.admitted())
}

// gate holds back what a process reads until it is in its cage, so that it
// cannot have started another before.
type gate struct {
	from io.Reader
	open chan struct{}
}

func (g gate) Read(p []byte) (int, error) {
	<-g.open
	return g.from.Read(p)
}

// saysOutgrown reports that a process ended because its memory did not suffice.
// git says so in words only, which LC_ALL=C keeps the same.
func saysOutgrown(stderr string) bool {
	stderr = strings.ToLower(stderr)
	for _, words := range [...]string{
		"out of memory", "cannot allocate memory", "attempting to allocate", "unable to create thread", "can't start thread",
	} {
		if strings.Contains(stderr, words) {
			return true
		}
	}
	return false
}

// OutgrewMemory reports the error of a process that its cage's memory ended.
func OutgrewMemory(err error) bool {
	var exit *exitError
	return errs.Is(err, errs.Invalid) && errors.As(err, &exit) && saysOutgrown(exit.Stderr)
}
