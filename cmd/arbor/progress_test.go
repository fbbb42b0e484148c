package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/test/testkit"
)

// Where nothing is a terminal, a log has a line every few seconds, and none of a command that ends sooner.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out)
		p.show("database", 0, 0)
		time.Sleep(6 * time.Second)
		p.show("files", 0, 10)
		p.show("files", 6, 10)
		time.Sleep(6 * time.Second)
		p.note("waiting")
		p.show("files", 10, 10)
		time.Sleep(2 * time.Second)
		p.end()
		time.Sleep(time.Minute)
		if got, want := out.String(), "database: 5s\nfiles: 60% after 10s\nwaiting\n"; got != want {
			t.Errorf("it prints\n%swant\n%s", got, want)
		}
	})
}

// After the end nothing is printed, also by a tick that came just before: it would be in the midst of the result.
func TestProgressEnds(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(&out)
	p.show("files", 6, 10)
	p.end()
	p.print()
	if out.Len() > 0 {
		t.Errorf("it prints %q", &out)
	}
}

// The documentation shows progress as the program prints it.
func TestProgressIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/command-line.md")
	testkit.NoError(t, err)
	for _, terminal := range []bool{true, false} {
		p := &progress{terminal: terminal, part: "files", percent: 60}
		if line := p.line(12 * time.Second); !strings.Contains(string(page), "\n"+line+"\n") {
			t.Errorf("it does not show %q", line)
		}
	}
}
