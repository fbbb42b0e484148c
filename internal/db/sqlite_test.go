package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

func openFile(t testing.TB) (*DB, *sqliteBackend) {
	t.Helper()
	d, err := open(context.Background(), Options{URL: filepath.Join(t.TempDir(), "a b?c%20#.db")},
		fstest.MapFS{
			"0001_t.sql": {Data: []byte(`CREATE TABLE t (k {{text}} PRIMARY KEY, v {{bytes}});`)},
		})
	testkit.NoError(t, err)
	d.Attach("once", true)
	t.Cleanup(func() { d.Close() })
	return d, d.backend.(*sqliteBackend)
}

func insert(key string, bytes int) func(*Tx) error {
	return func(tx *Tx) error {
		_, err := tx.Exec(`INSERT INTO t (k, v) VALUES ($1, $2)`, key, make([]byte, bytes))
		return err
	}
}

// together has a transaction take its time until n writers wait behind it; then
// it ends, and all are waited for. Before that, full is called unless it is nil.
func together(d *DB, n int, write func(i int), full func()) {
	inside, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		d.Write(context.Background(), func(tx *Tx) error { close(inside); <-release; return nil })
	})
	<-inside
	for i := range n {
		wg.Go(func() { write(i) })
	}
	for d.backend.(*sqliteBackend).writer.waiting() < n {
		time.Sleep(time.Millisecond)
	}
	if full != nil {
		full()
	}
	close(release)
	wg.Wait()
}

func (w *writer) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue)
}

func rowCount(t testing.TB, d *DB) (n int) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM t`).Scan(&n)
	})
	testkit.NoError(t, err)
	return n
}

// The settings that durability and the cost of a commit rest on; and nobody else on the machine may
// read the file, its log or its index.
func TestSQLiteSettings(t *testing.T) {
	t.Parallel()
	d, b := openFile(t)
	err := d.Write(context.Background(), func(tx *Tx) error {
		for pragma, want := range map[string]any{
			"journal_mode": "wal", "synchronous": int64(2), "foreign_keys": int64(1),
			"page_size": int64(2048),
		} {
			var got any
			if err := tx.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil {
				return err
			}
			if got != want {
				t.Errorf("%s is %v, want %v", pragma, got, want)
			}
		}
		return nil
	})
	testkit.NoError(t, err)
	for _, suffix := range []string{"", "-wal", "-shm", "-turn"} {
		info, err := os.Stat(b.path + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", suffix, info, err)
		}
	}
}

// A full disk rolls the shared transaction back under everybody: those whose
// change still fits must get it, the others an error, and nothing may be half.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	d, b := openFile(t)
	testkit.NoError(t, d.Write(context.Background(), insert("first", 1)))
	var err error
	if b.writers, err = openSQLite(b.path, 0, append(b.writing, "max_page_count=60")...); err != nil {
		t.Fatal(err)
	}
	b.writer.discard() // and open another
	var wg sync.WaitGroup
	var mu sync.Mutex
	stored := 1
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				size := 10
				if w == 0 {
					size = 1 << 20
				}
				err := d.Write(context.Background(), func(tx *Tx) error {
					if err := insert(fmt.Sprintf("%d %d small", w, i), 1)(tx); err != nil {
						return err
					}
					return insert(fmt.Sprintf("%d %d", w, i), size)(tx)
				})
				if (err == nil) != (w != 0) {
					t.Errorf("writer %d: %v", w, err)
				}
				if err == nil {
					mu.Lock()
					stored += 2
					mu.Unlock()
				}
			}
		})
	}
	for w := range 4 {
		wg.Go(func() {
			for i := range 20 {
				if err := d.Write(context.Background(), insert(fmt.Sprint("one ", w, i), 1)); err != nil {
					t.Errorf("single statement %d %d: %v", w, i, err)
				}
				if err := d.Write(context.Background(), insert(fmt.Sprint("big ", w, i), 1<<20)); err == nil {
					t.Errorf("single statement %d %d fitted", w, i)
				}
				mu.Lock()
				stored++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n := rowCount(t, d); n != stored {
		t.Errorf("%d rows, %d acknowledged", n, stored)
	}
}

// Many that wait together are made durable by few commits.
func TestCommitsAreShared(t *testing.T) {
	t.Parallel()
	d, b := openFile(t)
	b.writer.batchTime = time.Hour // however busy the machine is
	const writers = 600
	together(d, writers, func(i int) {
		if err := d.Write(context.Background(), insert(fmt.Sprint(i), 1)); err != nil {
			t.Error(err)
		}
	}, nil)
	if n := rowCount(t, d); n != writers {
		t.Errorf("%d rows", n)
	}
	if c := b.writer.commits; c > 10 {
		t.Errorf("%d commits for %d writers that waited together", c, writers)
	}
}

// An overload is told, not stored up in memory.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	d, _ := openFile(t)
	together(d, maxWaiting, func(int) {
		d.Write(context.Background(), func(*Tx) error { return nil })
	}, func() {
		if err := d.Write(context.Background(), insert("late", 1)); !errs.Is(err, errs.Unavailable) {
			t.Errorf("beyond the queue: %v", err)
		}
	})
}

// A server that runs for months meets more query texts than it may keep.
func TestStatementsAreBounded(t *testing.T) {
	t.Parallel()
	d, b := openFile(t)
	for i := range 3 * maxStatements {
		err := d.Write(context.Background(), func(tx *Tx) error {
			var n int
			err := tx.QueryRow(fmt.Sprintf("SELECT %d", i)).Scan(&n)
			if n != i {
				t.Errorf("statement %d gave %d", i, n)
			}
			return err
		})
		testkit.NoError(t, err)
	}
	b.writer.conn.raw.Raw(func(raw any) error {
		if n := len(raw.(*preparedConn).statements); n > maxStatements {
			t.Errorf("%d statements are kept", n)
		}
		return nil
	})
}

// Readers that never pause must not let the log grow without end.
func TestTheLogIsBounded(t *testing.T) {
	t.Parallel()
	d, b := openFile(t)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				d.Read(ctx, func(tx *Tx) error {
					var n int
					err := tx.QueryRow(`SELECT count(*) FROM t`).Scan(&n)
					time.Sleep(3 * time.Millisecond)
					return err
				})
			}
		})
	}
	for i := range 6 * checkLog {
		testkit.NoError(t, d.Write(context.Background(), insert(fmt.Sprint(i), 12<<10)))
	}
	stop()
	wg.Wait()
	if size := b.logSize(); size > 2*maxLog {
		t.Errorf("the log has %d bytes", size)
	}
}

// Who reads for long, as a backup does, does not have writers wait until that is over.
func TestALongReadHoldsUpNoWriter(t *testing.T) {
	t.Parallel()
	d, b := openFile(t)
	write := func(n int) {
		testkit.NoError(t, d.Write(context.Background(), insert(fmt.Sprint(n), maxLog/64)))
	}
	write(-1)
	err := d.Read(context.Background(), func(tx *Tx) error {
		var n int
		if err := tx.QueryRow(`SELECT count(*) FROM t`).Scan(&n); err != nil {
			return err
		}
		for n := range 80 {
			write(n)
		}
		if size := b.logSize(); size < maxLog {
			t.Fatalf("the log has only %d bytes", size)
		}
		least := time.Hour // of many, since the machine may be busy
		for try := 0; try < 50 && least > 4*waitLog*time.Millisecond; try++ {
			began := time.Now()
			b.writer.commits = checkLog - 1
			b.writer.boundLog()
			least = min(least, time.Since(began))
		}
		if least > 4*waitLog*time.Millisecond {
			t.Errorf("a writer waits %s for a read", least)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSQLiteNeedsAFile(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", ":memory:", filepath.Join(t.TempDir(), "no", "such", "dir.db")} {
		if d, err := Open(context.Background(), Options{URL: path}); err == nil {
			d.Close()
			t.Errorf("%q was opened", path)
		}
	}
}

// A password in an address must not reach a log.
func TestBadAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://u:secret@host:notaport/x", "postgres://u:secret@[x/",
		"postgres://u:secret@h/x?pool_max_conns=many",
		"postgres://u:secret@127.0.0.1:1/x",
	} {
		d, err := Open(context.Background(), Options{URL: address})
		if err == nil {
			d.Close()
			t.Fatalf("%q was opened", address)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

// A panic inside a read must not leave a snapshot open for ever.
func TestReaderThatPanics(t *testing.T) {
	t.Parallel()
	d, b := openFile(t)
	for range 3 * maxReaders {
		func() {
			defer func() { recover() }()
			d.Read(context.Background(), func(tx *Tx) error {
				tx.Query(`SELECT k FROM t`)
				panic("oops")
			})
		}()
	}
	if n := b.readers.Stats().InUse; n != 0 {
		t.Errorf("%d readers are gone", n)
	}
	if n := rowCount(t, d); n != 0 {
		t.Error(n)
	}
	if err := d.Read(context.Background(), func(*Tx) error { return errTxDone }); !errors.Is(err, errTxDone) {
		t.Error(err)
	}
}
