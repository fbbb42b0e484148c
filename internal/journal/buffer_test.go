package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/journal"
)

// reader reads a log. If stuck is not nil, writes block until it is closed.
type reader struct {
	stuck  chan struct{}
	mu     sync.Mutex
	text   bytes.Buffer
	writes int
}

func (r *reader) Write(p []byte) (int, error) {
	if r.stuck != nil {
		<-r.stuck
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes++
	return r.text.Write(p)
}

// read returns what was written so far.
func (r *reader) read() (text string, writes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String(), r.writes
}

func buffered(r *reader) (*slog.Logger, *journal.Buffer) {
	handler, buffer := journal.NewBuffer(r, journal.Text, slog.LevelInfo)
	return slog.New(handler), buffer
}

// want holds that the lines number from to up to before to are there in order, and returns what follows them.
func want(t *testing.T, lines []string, from, to int) []string {
	t.Helper()
	for n := from; n < to; n++ {
		if len(lines) <= n-from || !strings.HasSuffix(lines[n-from], fmt.Sprintf(" n=%d", n)) {
			t.Fatalf("line %d of %d to %d is missing among %d", n, from, to, len(lines))
		}
	}
	return lines[to-from:]
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// A log that is read has each line, in order, a tenth of a second later at the latest, and many in one write.
func TestBufferedLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r reader
		log, buffer := buffered(&r)
		log.Info("line", "n", 0)
		log.Info("line", "n", 1)
		synctest.Wait()
		if text, _ := r.read(); text != "" {
			t.Errorf("written at once: %s", text)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		text, writes := r.read()
		want(t, lines(text), 0, 2)
		if writes != 1 {
			t.Errorf("%d writes of two lines", writes)
		}
		const many = 40_000 // a few megabytes
		began := time.Now()
		for n := 2; n < many; n++ {
			log.Info("line", "n", n)
			if n%1000 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		if text, _ := r.read(); len(text) < 2<<20 || time.Since(began) > 0 {
			t.Errorf("%d bytes were written after %v", len(text), time.Since(began))
		}
		buffer.Close()
		text, writes = r.read()
		if rest := want(t, lines(text), 0, many); len(rest) > 0 || writes > 100 {
			t.Errorf("%d writes, and after all lines: %s", writes, rest)
		}
	})
}

// Nobody waits for a reader that is stuck. When it reads again, it learns how many lines it lost, and where.
func TestStuckReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := reader{stuck: make(chan struct{})}
		log, buffer := buffered(&r)
		const many = 60_000
		log.Info("line", "n", 0)
		time.Sleep(time.Second)
		synctest.Wait() // the buffer's writer is stuck with this line
		for n := 1; n < many; n++ {
			log.Info("line", "n", n)
		}
		time.Sleep(time.Minute)
		close(r.stuck)
		time.Sleep(time.Second)
		log.Info("line", "n", many)
		buffer.Close()
		text, _ := r.read()
		all := lines(text)
		kept := len(all) - 2
		if kept < 10_000 {
			t.Fatalf("it kept %d lines", kept)
		}
		rest := want(t, all, 0, kept)
		if !strings.Contains(rest[0], fmt.Sprintf("level=WARN msg=%q lines=%d", journal.Dropped, many-kept)) {
			t.Errorf("after %d of %d lines: %s", kept, many, rest[0])
		}
		want(t, rest[1:], many, many+1)
	})
}

// A server that stops writes what it has logged. It does not wait for a stuck reader for ever.
func TestCloseWritesLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r reader
		log, buffer := buffered(&r)
		log.Info("line", "n", 0)
		began := time.Now()
		buffer.Close()
		buffer.Close()
		if text, _ := r.read(); time.Since(began) > 0 || len(want(t, lines(text), 0, 1)) > 0 {
			t.Errorf("after %v: %s", time.Since(began), text)
		}
		log.Info("line", "n", 1)
		text, _ := r.read()
		want(t, lines(text), 0, 2)

		stuck := reader{stuck: make(chan struct{})}
		log, buffer = buffered(&stuck)
		log.Info("line", "n", 0)
		buffer.Close()
		if waited := time.Since(began); waited < time.Second || waited > 2*time.Second {
			t.Errorf("a stuck reader held it up for %v", waited)
		}
		close(stuck.stuck)
		synctest.Wait()
		text, _ = stuck.read()
		want(t, lines(text), 0, 1)
	})
}

// A request costs its line, not a write.
func BenchmarkBuffer(b *testing.B) {
	handler, buffer := journal.NewBuffer(&reader{}, journal.Text, slog.LevelInfo)
	defer buffer.Close()
	log := slog.New(handler)
	for b.Loop() {
		journal.Log(context.Background(), log, &journal.Line{Method: "GET", Route: "/plants/{id}", ID: "5f-01"})
	}
}
