package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// running is one of the machine's processes, as /proc shows it.
type running struct {
	pid, parent int
	command     string // its arguments
}

// processes are the machine's that work in a folder or below it, without zombies and those that end
// meanwhile.
func processes(t testing.TB, folder string) []running {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("NOT TESTED: looking for processes needs Linux's /proc: ", err)
	}
	var list []running
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		dir, err := os.Readlink("/proc/" + e.Name() + "/cwd")
		if err != nil || !strings.HasPrefix(dir, folder) { // most work elsewhere, and need not be looked at
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// PID (NAME) STATE PARENT ...
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Errorf("/proc/%d/stat: %q", pid, stat)
		}
		arguments, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil {
			continue
		}
		command := strings.TrimSpace(strings.ReplaceAll(string(arguments), "\x00", " "))
		list = append(list, running{pid, parent, command})
	}
	return list
}

// logBuffer keeps a server's log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// forget drops what was logged until now.
func (l *logBuffer) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Reset()
}

// errors are the lines that say that the server is at fault, and whatever is
// no line of its log, such as a panic or a data race.
func (l *logBuffer) errors() []string {
	var list []string
	for line := range strings.Lines(l.String()) {
		if !strings.HasPrefix(line, "time=") || strings.Contains(line, " level=ERROR ") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}
