//go:build long

package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/test/issuetest"
)

// backupIssues is how many issues the store has that is copied, so that the copy takes seconds.
const backupIssues = 100_000

// backups measures how long writers wait while a backup runs, which they share the disk and the processors
// with: four clients file issues all the time.
func (s *suite) backups(b *testing.B) {
	s.part(b, "delay", func(b *testing.B) {
		o := issuetest.Thousand()
		o.Repos = []int{backupIssues}
		a := s.tracker(b, "", o)
		w := startWriters(b, a, 4)
		defer w.stop(b)
		var took float64
		backUp := func() {
			took = timed(func() { s.command(b, a.data, "backup", filepath.Join(b.TempDir(), "backup")) })
		}
		w.during(1, nil) // warms up
		var beside, alone []float64
		for range 3 {
			beside = append(beside, w.during(0, backUp)...)
			beside = append(beside, w.during(1, nil)...) // also the checkpoint of the log after the copy
			alone = append(alone, w.during(took+1, nil)...)
		}
		slices.Sort(beside)
		slices.Sort(alone)
		last := func(list []float64) float64 { return list[len(list)-1] }
		s.atMost(b, last(beside)-last(alone), 50, "ms", fmt.Sprintf(
			"the longest of %d writes %.0f ms, without a backup of %d %.0f ms; of a thousand one takes %.0f ms and %.0f ms; median %.1f ms and %.1f ms; a backup takes %.1f s",
			len(beside), last(beside), len(alone), last(alone), beside[len(beside)*999/1000],
			alone[len(alone)*999/1000],
			median(beside), median(alone), took))
	})
}

// writers are clients that file issues, each after the other.
type writers struct {
	mu    sync.Mutex
	times []float64 // in ms
	ended sync.WaitGroup
	done  atomic.Bool
	err   error
}

func startWriters(b *testing.B, a *arbor, clients int) *writers {
	w := &writers{}
	for n := range clients {
		c := connect(b, a.url)
		post := request("POST", "/repos/works/project0/issues", a.token,
			fmt.Sprintf(`{"title":"Written by %d","body":%q}`, n, filedBody))
		w.ended.Go(func() {
			for !w.done.Load() {
				var err error
				took := timed(func() { _, err = c.must(post) })
				w.mu.Lock()
				w.times = append(w.times, took*1000)
				if err != nil {
					w.err = err
					w.done.Store(true)
				}
				w.mu.Unlock()
			}
		})
	}
	return w
}

// during returns the durations in ms of the writes that ended while fn ran, or within the given seconds.
func (w *writers) during(seconds float64, fn func()) []float64 {
	w.mu.Lock()
	w.times = nil
	w.mu.Unlock()
	if fn != nil {
		fn()
	}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.times)
}

func (w *writers) stop(b *testing.B) {
	w.done.Store(true)
	w.ended.Wait()
	if w.err != nil {
		b.Fatal(w.err)
	}
}
