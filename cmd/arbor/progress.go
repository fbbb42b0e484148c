package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress shows how far a long command is, on standard error: as a bar on a terminal, else as a line every few
// seconds. A command that ends sooner prints nothing elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	began    time.Time
	ended    chan struct{}

	mu      sync.Mutex
	part    string // of the work; empty: nothing to show
	percent int64  // of the part; below 0: unknown
	drawn   int    // length of what the terminal shows
}

// Times between two redrawings of a bar, which also says for how long the command has been running, and between
// two lines elsewhere.
const (
	barEvery  = time.Second
	lineEvery = 5 * time.Second
)

// newProgress starts to show progress. Call end before the command prints its result.
func newProgress(w io.Writer) *progress {
	p := &progress{w: w, began: time.Now(), ended: make(chan struct{})}
	every := lineEvery
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal, every = true, barEvery
	}
	go p.repeat(every)
	return p
}

func (p *progress) repeat(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.mu.Lock()
			p.print()
			p.mu.Unlock()
		case <-p.ended:
			return
		}
	}
}

// show records that done of all is done of a part of the work. all is 0 if it is unknown.
func (p *progress) show(part string, done, all int64) {
	percent := int64(-1)
	if all > 0 {
		percent = min(100*done/all, 100)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := part != p.part || percent != p.percent
	p.part, p.percent = part, percent
	if changed && p.terminal {
		p.print()
	}
}

// print writes a line, or draws the bar over the previous one.
func (p *progress) print() {
	if p.part == "" {
		return
	}
	text := p.line(time.Since(p.began))
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	fmt.Fprintf(p.w, "\r%-*s", p.drawn, text)
	p.drawn = len(text)
}

func (p *progress) line(elapsed time.Duration) string {
	const width = 30
	seconds := elapsed.Truncate(time.Second)
	switch {
	case p.terminal && p.percent < 0:
		return fmt.Sprintf("%-12s %s", p.part, seconds)
	case p.terminal:
		full := int(width * p.percent / 100)
		return fmt.Sprintf("%-12s [%s%s] %3d%%  %s", p.part, strings.Repeat("#", full),
			strings.Repeat(".", width-full), p.percent, seconds)
	case p.percent >= 0:
		return fmt.Sprintf("%s: %d%% after %s", p.part, p.percent, seconds)
	}
	return fmt.Sprintf("%s: %s", p.part, seconds)
}

// note prints a line of something else.
func (p *progress) note(line string) {
	p.clear()
	fmt.Fprintln(p.w, line)
}

// clear removes the bar, for lines on another stream.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn > 0 {
		fmt.Fprintf(p.w, "\r%*s\r", p.drawn, "")
	}
	p.drawn = 0
}

// end removes the bar for good.
func (p *progress) end() {
	p.mu.Lock()
	p.part = "" // a tick that comes now draws nothing
	p.mu.Unlock()
	p.clear()
	close(p.ended)
}
