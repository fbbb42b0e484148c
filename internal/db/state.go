package db

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"arbor/internal/cache"
)

// State names the present state of the whole database, which holds everything
// acknowledged before the call; under [DB.Remember], before the request first asked.
// Between two moments with equal states nobody, in this process or another, has committed
// anything. Where that cannot be told it is [cache.Unknown].
//
// On SQLite it costs some nanoseconds. It is the header of the index that SQLite's
// processes share beside the file (https://sqlite.org/walformat.html, 2.1), by
// which each transaction of SQLite itself finds out whether what it has cached
// still holds. Every commit changes it before it is acknowledged.
//
// On PostgreSQL it is one question, see [postgresBackend.ask].
func (d *DB) State(ctx context.Context) cache.State {
	if d.kind == SQLite {
		return d.backend.state()
	}
	m, err := d.moment(ctx, "")
	if err != nil {
		return cache.Unknown // what is read next meets the same error
	}
	return m.state
}

// headerVersion is the field of the header that holds the format's version. Like all
// fields it is a 32-bit word in the machine's own order.
const headerVersion = 0

// indexVersion is the one version of the format that there is.
const indexVersion = 3007000

// walIndex is the memory that states are read from.
type walIndex struct {
	once   sync.Once
	conn   *sqliteConn // keeps the file in place: the last to close removes it
	header *[12]uint32 // nil: there is none

	throwaway bool   // nobody else in this process has the file open
	release   func() // lets go of the file; nil: there is nothing to let go of
}

// open maps the index. Its descriptor stays open, like the mapping, until the
// process ends: closing it would end SQLite's own locks on the file, as long as
// anybody in this process has it open.
func (w *walIndex) open(b *sqliteBackend) {
	// A first read joins the index: of a number at the file's head, since to read a table takes the whole
	// schema.
	conn, err := b.open("query_only=1", "user_version")
	if err != nil {
		return
	}
	w.conn = conn
	memory, release := mapFile(b.path+"-shm", os.Getpagesize())
	if memory == nil {
		return
	}
	w.release = release
	header := (*[12]uint32)(unsafe.Pointer(unsafe.SliceData(memory)))
	if atomic.LoadUint32(&header[headerVersion]) == indexVersion {
		w.header = header
	}
}

// close lets the database go. States may still be asked for: the mapping stays.
func (w *walIndex) close() {
	w.once.Do(func() {})
	if w.conn != nil {
		w.conn.close()
		w.conn = nil
	}
}

// drop lets go of the file itself, if that harms nobody, when no connection is
// left. States may still be asked for: they are zero from then on.
func (w *walIndex) drop() {
	if w.throwaway && w.release != nil {
		w.release()
		w.release = nil
	}
}

func (b *sqliteBackend) state() cache.State {
	b.index.once.Do(func() { b.index.open(b) })
	if b.index.header == nil {
		return cache.Unknown
	}
	var words [12]uint32
	for i := range words {
		words[i] = atomic.LoadUint32(&b.index.header[i])
	}
	return cache.Whole(words)
}

func (b *postgresBackend) state() cache.State { return cache.Unknown }

// maxNumbers bounds how many topics' generations are kept.
const maxNumbers = 1000

// recall returns a generation that is known without a query.
func (b *sqliteBackend) recall(topic string) (n int64, ok bool) {
	return b.kept.Get(b.state(), topic)
}

func (b *postgresBackend) recall(string) (n int64, ok bool) { return 0, false }
