//go:build long

package bench

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// noise writes a file that no other seed has.
func noise(b *testing.B, path string, seed byte, size int64) {
	f, err := os.Create(path)
	testkit.NoError(b, err)
	_, err = io.CopyN(f, rand.NewChaCha8([32]byte{seed}), size)
	testkit.NoError(b, errors.Join(err, f.Close()))
}

// coldDepot measures first reads of what the disk lacks.
func (s *suite) coldDepot(b *testing.B, away *arbor) {
	read := func(b *testing.B, path string) float64 {
		gittest.Wipe(b, away.data)
		c := connect(b, away.url)
		return timed(func() {
			_, err := c.must(request("GET", "/repos/alice/"+path, away.token, ""))
			testkit.NoError(b, err)
		})
	}
	push := func(b *testing.B, name string, files, size int64) {
		away.create(b, name)
		source := filepath.Join(b.TempDir(), "source")
		gittest.Run(b, b.TempDir(), "init", "-q", source)
		for n := range files { // more than 15 are combined
			noise(b, filepath.Join(source, fmt.Sprint("noise", n)), byte(n), size)
			noise(b, filepath.Join(source, fmt.Sprint("small", n)), byte(n+100), 100)
			gittest.Run(b, source, "-c", "core.compression=0", "add", ".")
			gittest.Run(b, source, "commit", "-q", "-m", "noise")
			gittest.Run(b, source, "-c", "pack.compression=0", "push", "-q", away.remote(name), "HEAD:refs/heads/main")
		}
	}
	s.part(b, "cold", func(b *testing.B) {
		push(b, "cold", 15, 700<<10)
		var times []float64
		for n := range 9 {
			times = append(times, 1000*read(b, fmt.Sprint("cold/contents/noise", n)))
		}
		s.atMost(b, median(times), 150, "ms", "the first read of 15 packs, 10 MiB, that the disk lacks; the bucket is 20 ms away")
	})
	s.part(b, "large", func(b *testing.B) {
		push(b, "large", 11, 96<<20)
		var times []float64
		for n := range 3 {
			times = append(times, read(b, fmt.Sprint("large/contents/small", n)))
		}
		s.atMost(b, median(times), 2, "s", "the first read of 1 GiB that the disk lacks; the bucket is 20 ms away")
	})
}

// databaseAway is how far the database is away.
const databaseAway = time.Millisecond

// refMoves measures how many refs of one repository move in a second while the database is away.
func (s *suite) refMoves(b *testing.B, objects string) {
	s.part(b, "refs", func(b *testing.B) {
		b.Setenv("ARBOR_DATABASE", slow(b, dbtest.URL(b, db.PostgreSQL), databaseAway))
		data, token := s.newData(b)
		a := s.serve(b, data, token, "--objects", objects)
		a.create(b, "garden")
		c := connect(b, a.url)
		_, err := c.must(request("PUT", "/repos/alice/garden/contents/f", a.token, `{"message":"m","content":"eA=="}`))
		testkit.NoError(b, err)
		sha, _, _ := strings.Cut(gittest.Run(b, data, "ls-remote", a.remote("garden"), "refs/heads/main"), "\t")
		const clients, each = 8, 200
		var moved atomic.Int64
		took := timed(func() {
			var all sync.WaitGroup
			for n := range clients {
				all.Go(func() {
					c := connect(b, a.url)
					for i := range each {
						_, err := c.must(request("POST", "/repos/alice/garden/git/refs", a.token,
							fmt.Sprintf(`{"ref":"refs/heads/b%d-%d","sha":%q}`, n, i, sha)))
						if err != nil {
							b.Error(err)
							return
						}
						moved.Add(1)
					}
				})
			}
			all.Wait()
		})
		s.atLeast(b, float64(moved.Load())/took, 150, "moves/s", "refs of one repository by 8 clients, the database 1 ms away")
	})
}

// slow returns the address of a database through a proxy that holds back for a while what clients send.
func slow(b *testing.B, database string, by time.Duration) string {
	u, err := url.Parse(database)
	testkit.NoError(b, err)
	query := u.Query()
	socket := filepath.Join(query.Get("host"), ".s.PGSQL.5432")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(b, err)
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", socket)
			if err != nil {
				in.Close()
				continue
			}
			go func() { _, _ = io.Copy(in, out); in.Close() }()
			go func() { _, _ = io.Copy(out, delayed{in, by}); out.Close() }()
		}
	}()
	query.Del("host")
	u.RawQuery, u.Host = query.Encode(), l.Addr().String()
	return u.String()
}

// delayed passes on what it reads after a while.
type delayed struct {
	io.Reader
	by time.Duration
}

func (d delayed) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	time.Sleep(d.by)
	return n, err
}
