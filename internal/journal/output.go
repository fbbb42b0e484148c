package journal

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// When lines that wait are written.
const (
	delay = 100 * time.Millisecond // after the first of them came
	batch = 32 << 10               // bytes that are written together at once
)

// output gathers lines. A goroutine writes them, which lives only as long as
// that takes, so a goroutine that logs never sits in a write(2) that does not return.
type output struct {
	to     io.Writer
	notice func(dropped int) []byte // called by the writing goroutine alone

	mu      sync.Mutex
	waiting []byte        // whole lines
	spare   []byte        // the next waiting, or nil
	clock   clock         // for the lines
	dropped int           // lines, not told yet
	told    int64         // lines that were dropped, and told of
	timer   *time.Timer   // calls start; runs while armed
	armed   bool          // somebody will come for what waits
	urgent  bool          // the writing goroutine shall come for what waits
	writing bool          // there is a writing goroutine
	stuck   bool          // it did not come back in time: nobody waits for it
	written chan struct{} // closed when what waits was written; nil if nobody asks
}

func newOutput(w io.Writer, notice func(int) []byte) *output {
	o := &output{to: w, notice: notice}
	o.timer = time.AfterFunc(time.Hour, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.start()
	})
	o.timer.Stop()
	return o
}

// bounded adds lines while fewer bytes than the bound wait.
type bounded struct {
	*output
	bound int
}

// Write adds a line. It never fails.
func (b bounded) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= b.bound {
		b.dropped++
	} else {
		b.waiting = append(b.waiting, line...)
	}
	b.added()
	return len(line), nil
}

// added sees to it that what waits is written. The caller holds mu.
func (o *output) added() {
	switch {
	case len(o.waiting) >= batch:
		o.start()
	case !o.armed:
		o.armed = true
		o.timer.Reset(delay)
	}
}

// start starts a write of the waiting lines. The caller holds mu.
func (o *output) start() {
	o.urgent = true
	if !o.writing {
		o.writing = true
		go o.write()
	}
}

func (o *output) write() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.urgent {
		lines, dropped, written := o.waiting, o.dropped, o.written
		o.waiting, o.spare, o.dropped, o.written = o.spare, nil, 0, nil
		o.urgent, o.armed = false, false
		o.timer.Stop()
		o.mu.Unlock()
		lost := o.put(lines, dropped)
		o.mu.Lock()
		if o.dropped += lost; lost == 0 {
			o.told += int64(dropped)
		}
		o.stuck = false
		if cap(lines) <= 8*batch {
			o.spare = lines[:0]
		}
		if written != nil {
			close(written)
		}
	}
	o.writing = false
}

// put writes lines and, when there are any, how many were dropped after them.
// It returns how many lines are still to be told of as dropped.
func (o *output) put(lines []byte, dropped int) int {
	if len(lines) > 0 {
		if n, err := o.to.Write(lines); err != nil {
			return dropped + bytes.Count(lines[n:], []byte("\n"))
		}
	}
	if dropped > 0 {
		if _, err := o.to.Write(o.notice(dropped)); err != nil {
			return dropped
		}
	}
	return 0
}

// flush writes the waiting lines, within a time limit. Unless it is
// patient it does not wait for a writer that is known to be stuck.
func (o *output) flush(limit time.Duration, patient bool) {
	o.mu.Lock()
	o.start()
	if o.stuck && !patient {
		o.mu.Unlock()
		return
	}
	if o.written == nil {
		o.written = make(chan struct{})
	}
	written := o.written
	o.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
		o.mu.Lock()
		o.stuck = o.writing
		o.mu.Unlock()
	}
}
