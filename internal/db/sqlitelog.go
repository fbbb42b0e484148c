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

// boundLog now and then looks whether the log has outgrown its bound, which
// happens when there is never a moment without readers, and then waits for
// them a little: the log can begin anew when none is left in it. A backup reads
// for longer than any writer should wait: then the log grows until it has ended.
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
