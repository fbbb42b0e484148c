package db

import (
	"errors"
	"os"
	"strconv"
)

const (
	maxLog   = 32 << 20 // bytes of SQLite's log, after which readers are waited for
	checkLog = 512      // commits between two looks at the log's size
	waitLog  = 20       // ms for which readers are waited for then, and writers wait with them
)

// boundLog checks the size of the log after every checkLog commits. A log without a moment free of readers outgrows
// its bound; then boundLog waits a little for them, since SQLite starts the log over once nobody reads it. A backup
// reads for longer than a writer should wait: the log then grows until the backup has ended.
func (w *writer) boundLog() {
	if w.commits++; w.commits%checkLog != 0 {
		return
	}
	size := w.backend.logSize()
	if size < maxLog {
		return
	}
	err := w.conn.script("PRAGMA busy_timeout=" + strconv.Itoa(waitLog))
	held, checkErr := w.conn.checkpoint("RESTART")
	err = errors.Join(err, checkErr, w.conn.script("PRAGMA busy_timeout=0"))
	w.backend.log.Info("database log folded into its file", "bytes", size, "held_by_readers", held,
		"error", err)
}

// logSize is what SQLite's log takes on disk, in bytes.
func (b *sqliteBackend) logSize() int64 {
	size, _ := fileSize(b.path + "-wal")
	return size
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
