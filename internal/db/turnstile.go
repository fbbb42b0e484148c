package db

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// turnstile makes processes take turns at SQLite's write lock, for which they poll. Without it a polling
// process would rarely see the lock free between two commits of a process that writes all the time. A process
// that wants the write lock first acquires the turnstile and holds it until it has the lock. So a writer that
// has just committed waits behind the others.
//
// It is a lock on a separate file: a lock on the database's would be lost with SQLite's. It is only for
// fairness, not for correctness, so a process that has just acquired it need not do so again for passEvery.
type turnstile struct {
	file   *os.File
	inside bool      // it is held
	passed time.Time // when it was left the last time
}

// passEvery is about how much longer another process may have to wait for its
// turn so that one that writes all the time asks for its own less often.
const passEvery = time.Millisecond

func newTurnstile(path string) (*turnstile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("db: create the writers' lock: %w", err)
	}
	return &turnstile{file: f}, nil
}

// enter waits for other processes, at most about as long as one of them may
// wait for the write lock.
func (t *turnstile) enter() { _ = poll(errTaken, t.try) }

// try enters unless another process is inside: errTaken, as a rule.
func (t *turnstile) try() error {
	if time.Since(t.passed) < passEvery {
		return nil
	}
	err := tryLock(t.file)
	t.inside = err == nil
	return err
}

// poll calls try until it returns something else than the temporary error, or
// for about the busy timeout. It looks often, for a turn is shorter than the
// pauses that SQLite makes.
func poll(temporary error, try func() error) error {
	var deadline time.Time
	for pause := 50 * time.Microsecond; ; pause = min(pause*3/2, time.Millisecond) {
		err := try()
		if !errors.Is(err, temporary) {
			return err
		}
		if now := time.Now(); deadline.IsZero() {
			deadline = now.Add(busyTimeout)
		} else if now.After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}

// lock begins a transaction that holds the write lock. Error: errBusy if another process held the lock during the
// whole busy timeout.
func (t *turnstile) lock(c *sqliteConn) error {
	t.enter()
	defer t.leave()
	return poll(errBusy, func() error { return c.control("BEGIN IMMEDIATE") })
}

func (t *turnstile) leave() {
	if t.inside {
		t.inside = false
		t.passed = time.Now()
		unlock(t.file)
	}
}

func (t *turnstile) close() { t.file.Close() }

var errTaken = errors.New("db: taken")
