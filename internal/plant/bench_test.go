package plant

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// BenchmarkCreate compares POST /plants, over HTTP by one client and by eight
// at once, with the floor: the bare driver inserting the same rows one synced
// autocommit transaction after another.
func BenchmarkCreate(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		insert := floor(b)
		for i := 0; b.Loop(); i++ {
			if _, err := insert.Exec(i, 1, fmt.Sprint("plant number ", i), "tag"); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			s := open(b, db.SQLite)
			var next atomic.Int64
			b.SetParallelism(clients) // times GOMAXPROCS; the surplus finds no work below
			limit := make(chan struct{}, clients)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				limit <- struct{}{}
				defer func() { <-limit }()
				c := dial(b, s.url)
				for pb.Next() {
					c.post(b, next.Add(1))
				}
			})
			perSecond(b)
		})
	}
}

func perSecond(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s") }

// floor is the bare driver's prepared insert, durable like the store's.
func floor(b *testing.B) *sql.Stmt {
	d, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "floor.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	testkit.NoError(b, err)
	b.Cleanup(func() { d.Close() })
	d.SetMaxOpenConns(1)
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
	return insert
}

// lean is a client that costs little beside the server.
type lean struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

func dial(b *testing.B, url string) *lean {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	testkit.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	return &lean{Conn: c, in: bufio.NewReaderSize(c, 64<<10)}
}

func (c *lean) post(b *testing.B, id int64) {
	body := fmt.Sprintf(`{"id":%d,"name":"plant number %d","tag":"tag"}`, id, id)
	c.out = fmt.Appendf(c.out[:0], "POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := c.Write(c.out); err != nil {
		b.Fatal(err)
	}
	res, err := http.ReadResponse(c.in, nil)
	testkit.NoError(b, err)
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Fatal(res.Status, err)
	}
}

// BenchmarkList streams a million plants of one account over HTTP; MB/s counts
// the bytes of the answer.
func BenchmarkList(b *testing.B) {
	s := open(b, db.SQLite)
	s.fill(b, 1_000_000, 1, "plant number ")
	for _, login := range []string{"alice", "root"} {
		b.Run(login, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := dial(b, s.url)
				fmt.Fprintf(c, "GET /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", login)
				res, err := http.ReadResponse(c.in, nil)
				testkit.NoError(b, err)
				n, err := io.Copy(io.Discard, res.Body)
				testkit.NoError(b, err)
				b.SetBytes(n)
			}
		})
	}
}

// BenchmarkParse is the part of a creation that reads its body.
func BenchmarkParse(b *testing.B) {
	body := []byte(`{"id": 123456789, "name": "plant number 123456789", "tag": "tag"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parsePlant(body); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend is the part of a list that renders a plant, by hand and by
// encoding/json.
func BenchmarkAppend(b *testing.B) {
	tag := "tag"
	p := &Plant{Name: "plant number 123456789", Tag: &tag}
	b.Run("hand", func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf = appendItem(buf[:0], p)
		}
		b.SetBytes(int64(len(buf)))
	})
	b.Run("struct", func(b *testing.B) {
		var buf bytes.Buffer
		to := json.NewEncoder(&buf)
		to.SetEscapeHTML(false)
		b.ReportAllocs()
		for b.Loop() {
			buf.Reset()
			testkit.NoError(b, to.Encode(struct {
				Name string  `json:"name"`
				Tag  *string `json:"tag,omitzero"`
			}{p.Name, p.Tag}))
		}
		b.SetBytes(int64(buf.Len()))
	})
}
