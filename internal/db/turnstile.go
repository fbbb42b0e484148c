package db

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// turnstile lets processes take turns at SQLite's write lock, for which they
// poll: one that polls would hardly ever meet the moment between two commits
// of one that writes all the time. Whoever wants the write lock first passes
// the turnstile, and holds it until it has the lock; so a writer that has just
// committed waits behind whoever came meanwhile.
//
// It is a lock on a file of its own: a lock on the database's would be lost
// with SQLite's. It is not needed for correctness, only for fairness.
type turnstile struct {
	file *os.File
}

func newTurnstile(path string) (*turnstile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("db: create the writers' lock: %w", err)
	}
	return &turnstile{file: f}, nil
}

// enter waits for other processes, at most about as long as one of them may
// wait for the write lock.
func (t *turnstile) enter() {
	pause := 100 * time.Microsecond
	for deadline := time.Now().Add(busyTimeout); ; {
		err := tryLock(t.file)
		if err == nil || !errors.Is(err, errTaken) || time.Now().After(deadline) {
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, 2*time.Millisecond)
	}
}

func (t *turnstile) leave() { unlock(t.file) }

func (t *turnstile) close() { t.file.Close() }

var errTaken = errors.New("db: taken")
