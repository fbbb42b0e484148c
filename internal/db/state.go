package db

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Stamp names a state of the whole database. Between two moments with equal
// stamps nobody, in this process or another, has committed anything: what was
// read after the first is still true at the second. Whoever keeps what it read
// takes the stamp first and reads then.
type Stamp [12]uint32

// Stamp returns the stamp of the present state, which holds everything
// acknowledged before the call. ok is false where the engine cannot tell at no
// cost: then nothing can be kept by stamp.
//
// It costs some nanoseconds. It is the header of the index that SQLite's
// processes share beside the file (https://sqlite.org/walformat.html, 2.1), by
// which each transaction of SQLite itself finds out whether what it has cached
// still holds. Every commit changes it before it is acknowledged.
func (d *DB) Stamp() (s Stamp, ok bool) { return d.backend.stamp() }

// headerVersion is the field of the header that holds the format's version: a
// 32-bit word in the machine's own order, as all of them.
const headerVersion = 0

// indexVersion is the one version of the format that there is.
const indexVersion = 3007000

// walIndex is the memory that stamps are read from.
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
	conn, err := b.openReader(64)(context.Background())
	if err != nil {
		return
	}
	if _, err := conn.generation(""); err != nil { // a first read joins the index
		conn.close()
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

// close lets the database go. Stamps may still be asked for: the mapping stays.
func (w *walIndex) close() {
	w.once.Do(func() {})
	if w.conn != nil {
		w.conn.close()
		w.conn = nil
	}
}

// drop lets go of the file itself, if that harms nobody, when no connection is
// left. Stamps may still be asked for: they are zero from then on.
func (w *walIndex) drop() {
	if w.throwaway && w.release != nil {
		w.release()
		w.release = nil
	}
}

func (b *sqliteBackend) stamp() (s Stamp, ok bool) {
	b.index.once.Do(func() { b.index.open(b) })
	if b.index.header == nil {
		return s, false
	}
	for i := range s {
		s[i] = atomic.LoadUint32(&b.index.header[i])
	}
	return s, true
}

func (b *postgresBackend) stamp() (s Stamp, ok bool) { return s, false }

// keptNumbers are generations that were read while the database had a stamp.
type keptNumbers struct {
	mu      sync.Mutex
	stamp   Stamp
	numbers map[string]int64
}

func (k *keptNumbers) get(s Stamp, topic string) (n int64, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stamp != s {
		return 0, false
	}
	n, ok = k.numbers[topic]
	return n, ok
}

// put keeps a number that was read after its stamp was taken.
func (k *keptNumbers) put(s Stamp, topic string, n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stamp != s || k.numbers == nil || len(k.numbers) > maxKept {
		k.stamp, k.numbers = s, map[string]int64{}
	}
	k.numbers[topic] = n
}

// maxKept bounds how many topics are kept.
const maxKept = 1000

// move says that what was committed between two stamps bumped these topics and no
// others.
func (k *keptNumbers) move(from, to Stamp, bumped []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stamp != from {
		return
	}
	k.stamp = to
	for _, topic := range bumped {
		delete(k.numbers, topic)
	}
}

// recall returns a generation that is known without a query.
func (b *sqliteBackend) recall(topic string) (n int64, ok bool) {
	s, ok := b.stamp()
	if !ok {
		return 0, false
	}
	return b.kept.get(s, topic)
}

func (b *postgresBackend) recall(string) (n int64, ok bool) { return 0, false }
