package db_test

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

const insertVals = `INSERT INTO vals (s, n, at) VALUES ($1, $2, $3)`

// BenchmarkDriver is the floor for writes on SQLite: the driver's prepared
// insert of the same row, synced by itself.
func BenchmarkDriver(b *testing.B) {
	connector, err := sqlite.NewConnector("file:" + filepath.Join(b.TempDir(), "floor.db"))
	if err != nil {
		b.Fatal(err)
	}
	conn, err := connector.Connect(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	run := func(query string) {
		if _, err := conn.(driver.ExecerContext).ExecContext(context.Background(), query, nil); err != nil {
			b.Fatal(err)
		}
	}
	run(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL`)
	run(`CREATE TABLE vals (id INTEGER PRIMARY KEY, s TEXT, b BLOB, ok BOOLEAN, n BIGINT, small SMALLINT,
		f DOUBLE PRECISION, at BIGINT)`)
	insert, err := conn.Prepare(insertVals)
	if err != nil {
		b.Fatal(err)
	}
	args := []driver.NamedValue{{Ordinal: 1, Value: "some text"}, {Ordinal: 2, Value: int64(0)},
		{Ordinal: 3, Value: int64(1)}}
	b.ResetTimer()
	for i := range b.N {
		args[1].Value = int64(i)
		if _, err := insert.(driver.StmtExecContext).ExecContext(context.Background(), args); err != nil {
			b.Fatal(err)
		}
	}
}

func eachEngine(b *testing.B, fn func(b *testing.B, d *db.DB)) {
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		b.Run(engine.String(), func(b *testing.B) {
			d := openAt(b, dbtest.Empty(b, engine))
			b.ReportAllocs()
			fn(b, d)
		})
	}
}

// BenchmarkWrite is one client that inserts one row a transaction.
func BenchmarkWrite(b *testing.B) {
	eachEngine(b, func(b *testing.B, d *db.DB) {
		for i := range b.N {
			mustWrite(b, d, stmt(insertInto(d), "some text", i, db.Time(1)))
		}
	})
}

// BenchmarkWrite8 is 8 clients at once.
func BenchmarkWrite8(b *testing.B) {
	eachEngine(b, func(b *testing.B, d *db.DB) {
		query := insertInto(d)
		var n atomic.Int64
		b.SetParallelism(4) // times GOMAXPROCS
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				mustWrite(b, d, stmt(query, "some text", n.Add(1), db.Time(1)))
			}
		})
	})
}

// insertInto inserts with an id of its own where the engine does not make one.
func insertInto(d *db.DB) string {
	if d.Engine() == db.SQLite {
		return insertVals
	}
	return `INSERT INTO vals (id, s, n, at) VALUES ($2, $1, $2, $3)`
}

// BenchmarkRead is a point select in a snapshot of its own.
func BenchmarkRead(b *testing.B) {
	eachEngine(b, func(b *testing.B, d *db.DB) {
		mustWrite(b, d, stmt(`INSERT INTO vals (id, s, n) VALUES (1, 'some text', 12345)`))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var s string
		var n int64
		read := func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT s, n FROM vals WHERE id = $1`, 1).Scan(&s, &n)
		}
		b.ResetTimer()
		for range b.N {
			if err := d.Read(ctx, read); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReadLong shows what it costs that a statement can be stopped.
func BenchmarkReadLong(b *testing.B) {
	eachEngine(b, func(b *testing.B, d *db.DB) {
		mustWrite(b, d, stmt(`INSERT INTO vals (id, s, n) VALUES (1, 'some text', 12345)`))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var s string
		var n int64
		for range b.N {
			err := d.ReadLong(ctx, func(tx *db.Tx) error {
				return tx.QueryRow(`SELECT s, n FROM vals WHERE id = $1`, 1).Scan(&s, &n)
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRows is a page of 100 rows of 5 columns.
func BenchmarkRows(b *testing.B) {
	eachEngine(b, func(b *testing.B, d *db.DB) {
		mustWrite(b, d, func(tx *db.Tx) error {
			for i := range 100 {
				if err := stmt(`INSERT INTO vals (id, s, n, ok, at) VALUES ($1, 'some text', $1, TRUE, 1)`,
					i+1)(tx); err != nil {
					return err
				}
			}
			return nil
		})
		b.ResetTimer()
		for range b.N {
			err := d.Read(context.Background(), func(tx *db.Tx) error {
				rows, err := tx.Query(`SELECT id, s, n, ok, at FROM vals ORDER BY id LIMIT 100`)
				if err != nil {
					return err
				}
				defer rows.Close()
				var id, n int64
				var s string
				var ok bool
				var at db.Time
				for rows.Next() {
					if err := rows.Scan(&id, &s, &n, &ok, &at); err != nil {
						return err
					}
				}
				return rows.Err()
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkGeneration is one caller, as on every authenticated request.
func BenchmarkGeneration(b *testing.B) {
	eachEngine(b, func(b *testing.B, d *db.DB) {
		mustWrite(b, d, func(tx *db.Tx) error { return tx.Bump("accounts") })
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b.ResetTimer()
		for range b.N {
			if _, err := d.Generation(ctx, "accounts"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkGeneration8 is 8 callers at once, who share queries.
func BenchmarkGeneration8(b *testing.B) {
	eachEngine(b, func(b *testing.B, d *db.DB) {
		mustWrite(b, d, func(tx *db.Tx) error { return tx.Bump("accounts") })
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b.SetParallelism(4)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := d.Generation(ctx, "accounts"); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func BenchmarkTimeJSON(b *testing.B) {
	var buf []byte
	at := db.Time(1303479228000123)
	for range b.N {
		buf = at.AppendJSON(buf[:0])
	}
}

// BenchmarkState is what tells whether what was read before still holds.
func BenchmarkState(b *testing.B) {
	eachEngine(b, func(b *testing.B, d *db.DB) {
		for range b.N {
			d.State(b.Context())
		}
	})
}
