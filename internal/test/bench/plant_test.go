//go:build long

package bench

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the bare driver is the floor

	"arbor/internal/test/testkit"
)

// plants compares POST /plants with the bare driver that inserts the same rows
// in one synced transaction after another, and measures the long list.
func (s *suite) plants(b *testing.B) {
	for _, c := range []struct {
		clients int
		bound   float64
	}{{1, 0.25}, {8, 0.6}} {
		s.part(b, fmt.Sprint("add/clients-", c.clients), func(b *testing.B) {
			a := s.start(b)
			ours := newCrowd(b, a.url, c.clients, newPlants(a.token))
			floor := newLoadOfDriver(b, b.TempDir())
			ours.run(b, slice)
			floor()
			ratio, x, y := pairs(rounds, func() float64 { return ours.run(b, slice) }, floor)
			s.atLeast(b, ratio, c.bound, "x-of-driver", rates(x, y))
		})
	}
	s.part(b, "list/1000000", s.longList)
}

// newPlants appends requests that add one plant after another.
func newPlants(token string) func(to []byte, client int) []byte {
	head := "POST /plants HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + token +
		"\r\nContent-Type: application/json\r\nContent-Length: "
	var last int64
	var body []byte
	return func(to []byte, _ int) []byte {
		last++
		body = strconv.AppendInt(append(body[:0], `{"id":`...), last, 10)
		body = strconv.AppendInt(append(body, `,"name":"plant number `...), last, 10)
		body = append(body, `","tag":"tag"}`...)
		to = strconv.AppendInt(append(to, head...), int64(len(body)), 10)
		return append(append(to, "\r\n\r\n"...), body...)
	}
}

// openStore opens a SQLite file as the store does: durable at each commit.
func openStore(b *testing.B, file string) *sql.DB {
	b.Helper()
	d, err := sql.Open("sqlite",
		"file:"+file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	testkit.NoError(b, err)
	b.Cleanup(func() { d.Close() })
	d.SetMaxOpenConns(1)
	return d
}

// newLoadOfDriver returns a function that inserts for a slice and tells the rate.
func newLoadOfDriver(b *testing.B, dir string) func() float64 {
	d := openStore(b, filepath.Join(dir, "floor.db"))
	for _, q := range []string{
		`CREATE TABLE plants (id INTEGER PRIMARY KEY, owner_id BIGINT NOT NULL, name TEXT NOT NULL, tag TEXT)`,
		`CREATE INDEX plants_of_owner ON plants (owner_id, id)`,
	} {
		if _, err := d.Exec(q); err != nil {
			b.Fatal(err)
		}
	}
	insert, err := d.Prepare(`INSERT INTO plants VALUES (?, ?, ?, ?)`)
	testkit.NoError(b, err)
	last := 0
	return func() float64 {
		count := 0
		took := timed(func() {
			for start := time.Now(); time.Since(start) < slice; count++ {
				last++
				if _, err := insert.Exec(last, 1, fmt.Sprint("plant number ", last), "tag"); err != nil {
					b.Fatal(err)
				}
			}
		})
		return float64(count) / took
	}
}

// longList streams a million plants. They are inserted directly into the store; adding them one by one is
// measured elsewhere.
func (s *suite) longList(b *testing.B) {
	a := s.start(b)
	_, err := openStore(b, filepath.Join(a.data, "arbor.db")).Exec(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
		INSERT INTO plants (id, owner_id, name, tag)
		SELECT i, (SELECT id FROM accounts WHERE login = 'alice'), 'plant number ' || i, 'tag' FROM n`)
	testkit.NoError(b, err)
	c := connect(b, a.url)
	if _, err := c.must(get("/plants?limit=1000", a.token)); err != nil {
		b.Fatal(err)
	}
	before := memory(b, a.cmd.Process.Pid, "VmRSS")
	var list []float64
	after, _ := a.peak(b, func() {
		for range 7 {
			var size int64
			took := timed(func() {
				if size, err = c.must(get("/plants", a.token)); err != nil {
					b.Fatal(err)
				}
			})
			list = append(list, float64(size)/1e6/took)
		}
	})
	s.atLeast(b, median(list), 30, "MB/s", "")
	s.atMost(b, after-before, 32, "MiB", fmt.Sprintf("over %.0f MiB at rest: constant memory", before))
}
