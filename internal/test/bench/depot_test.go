//go:build long

package bench

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/bucket"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// awayTime is how far the bucket is away.
const awayTime = 20 * time.Millisecond

// depot compares a node whose repositories lie in a bucket with one that has them in its data folder, both on
// PostgreSQL. The tests' own server of PostgreSQL syncs nothing: for the promise, ARBOR_TEST_POSTGRES_URL names one
// that does, and TMPDIR a disk.
func (s *suite) depot(b *testing.B) {
	service := bucket.Start(b)
	var requests atomic.Int64
	proxy := service.Proxy(b, func(http.ResponseWriter, *http.Request) bool {
		requests.Add(1)
		time.Sleep(awayTime)
		return false
	})
	service.Setenv(b)
	// one schema for each
	start := func(flags ...string) *arbor {
		b.Setenv("ARBOR_DATABASE", dbtest.URL(b, db.PostgreSQL))
		data, token := s.newData(b)
		a := s.serve(b, data, token, flags...)
		a.create(b, "garden")
		return a
	}
	away := start("--objects", proxy.Address("bench", ""))
	local := start()
	node := func(a *arbor) func() float64 {
		c, n := connect(b, a.url), 0
		return func() float64 {
			return timed(func() {
				for range 10 {
					n++
					_, err := c.must(request("PUT", fmt.Sprintf("/repos/alice/garden/contents/file-%d", n), a.token,
						`{"message":"m","content":"dGV4dA=="}`))
					testkit.NoError(b, err)
				}
			})
		}
	}
	s.part(b, "contents", func(b *testing.B) {
		ratio, x, y := pairs(9, node(away), node(local))
		s.atMost(b, ratio, 1.25, "x-of-local", fmt.Sprintf("%.1f and %.1f ms a file", 100*x, 100*y))
	})
	s.part(b, "warm", func(b *testing.B) {
		before := requests.Load()
		read := func(a *arbor) func() float64 {
			c := connect(b, a.url)
			return func() float64 {
				return timed(func() {
					for range 200 {
						_, err := c.must(request("GET", "/repos/alice/garden/contents/file-1", a.token, ""))
						testkit.NoError(b, err)
					}
				})
			}
		}
		ratio, x, y := pairs(9, read(away), read(local))
		s.atMost(b, ratio, 1.1, "x-of-local", fmt.Sprintf("%.2f and %.2f ms a read; %d requests to the bucket", 5*x, 5*y,
			requests.Load()-before))
	})
	s.part(b, "push", func(b *testing.B) {
		n := 0
		push := func(a *arbor) func() float64 {
			return func() float64 {
				n++
				source := filepath.Join(b.TempDir(), fmt.Sprint("source", n))
				gittest.Run(b, b.TempDir(), "init", "-q", source)
				randomFile(b, filepath.Join(source, "noise"), 20<<20)
				gittest.Run(b, source, "add", ".")
				gittest.Run(b, source, "commit", "-q", "-m", "noise")
				return timed(func() {
					gittest.Run(b, source, "push", "-q", a.remote("garden"), fmt.Sprintf("HEAD:refs/heads/b%d", n))
				})
			}
		}
		ratio, x, y := pairs(5, push(away), push(local))
		s.note(b, ratio, "x-of-local", fmt.Sprintf("20 MiB: %.0f and %.0f ms", 1000*x, 1000*y))
	})
	s.coldDepot(b, away)
	s.refMoves(b, proxy.Address("refs", ""))
}
