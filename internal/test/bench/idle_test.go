//go:build long

package bench

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"arbor/internal/test/gittest"
)

// token compares a read with a token with the same read without: the server must find the token and check
// for each request that it has not been revoked. Eight connections show the cost for the machine, one shows
// the latency.
func (s *suite) token(b *testing.B) {
	a := s.start(b)
	a.create(b, "small")
	dir := gittest.Repository(b, 10, 20)
	gittest.Run(b, dir, "push", "-q", a.remote("small"), allBranches)
	tree := gittest.Run(b, dir, "rev-parse", "main^{tree}")
	for _, c := range []struct{ name, path string }{
		{"repository", "/repos/alice/small"},
		{"tree", "/repos/alice/small/git/trees/" + tree},
	} {
		for _, connections := range []int{1, 8} {
			s.part(b, fmt.Sprint(c.name, "/connections-", connections), func(b *testing.B) {
				with := newLoad(b, a.url, connections, repeat(get(c.path, a.token)))
				without := newLoad(b, a.url, connections, repeat(get(c.path, "")))
				ratio, x, y := without.against(b, with, slice)
				s.atMost(b, ratio, 1.15, "x-of-anonymous", rates(y, x)+" without")
			})
		}
	}
}

// idle measures a server that has nothing to do.
func (s *suite) idle(b *testing.B) {
	data, token := s.newData(b)
	s.part(b, "start", func(b *testing.B) {
		var list []float64
		for range 9 {
			list = append(list, s.timeStart(b, data, token))
		}
		s.atMost(b, median(list), 150, "ms", "to the first answer, on an existing store")
	})
	s.part(b, "first-start", func(b *testing.B) {
		var list []float64
		for range 9 {
			list = append(list, s.timeStart(b, filepath.Join(b.TempDir(), "new"), ""))
		}
		s.note(b, median(list), "ms", "to the first answer, making the store")
	})
	s.part(b, "memory", func(b *testing.B) {
		a := s.serve(b, data, token)
		if _, err := connect(b, a.url).must(get("/user", token)); err != nil {
			b.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		s.atMost(b, memory(b, a.cmd.Process.Pid, "VmRSS"), 40, "MiB", "after one request")
	})
}

// timeStart starts a server, asks it once and stops it. It gives the time to the
// answer in milliseconds.
func (s *suite) timeStart(b *testing.B, data, token string) float64 {
	var a *arbor
	took := timed(func() {
		a = s.serve(b, data, token)
		if _, err := connect(b, a.url).must(get("/", token)); err != nil {
			b.Fatal(err)
		}
	})
	a.stop(b)
	return 1000 * took
}
