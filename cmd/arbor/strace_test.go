//go:build long

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
)

// An acknowledged push survives a power cut: its objects and all their names
// are synced before the transaction with the refs is, and that before the
// answer. No kill of the process would show a missing sync, so this test reads
// what the server asks of the system, call by call.
func TestPushIsDurableBeforeItIsAnswered(t *testing.T) {
	t.Parallel()
	needProgram(t, "strace", "whether pushes are synced")
	trace := filepath.Join(t.TempDir(), "trace")
	s := newInstance(t, db.SQLite)
	s.wrapper = []string{"strace", "-f", "-y", "-s", "5000", "-o", trace,
		"-e", "trace=fsync,fdatasync,sync_file_range,rename,renameat,renameat2,mkdir,mkdirat,pwrite64,write,writev,sendto"}
	s.start()
	s.user("alice")
	s.repo("alice/garden", "")
	dir := heavy(t, 200<<10)
	add(t, dir, "synced-one", "one")
	const first, second = "refs/heads/synced-one", "refs/heads/synced-two"
	gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), first, "main")
	gittest.Run(t, dir, "branch", "synced-two", "main")
	add(t, dir, "synced-two", "two")
	gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), second)
	s.stop()
	calls := readTrace(t, trace)
	// The first push makes the directories, the second finds them.
	end := checkPush(t, s, calls, first)
	checkPush(t, s, calls[end:], second)
}

// checkPush finds the push of a new ref in the trace and checks the order of
// what was made durable. It gives the place of the answer.
func checkPush(t *testing.T, s *instance, calls []call, ref string) int {
	t.Helper()
	find := func(what string, from int, match func(call) bool) int {
		t.Helper()
		i := slices.IndexFunc(calls[from:], match)
		if i < 0 {
			t.Fatalf("%s: no %s in the trace after call %d of %d", ref, what, from, len(calls))
		}
		return from + i
	}
	answer := find("answer", 0, func(c call) bool {
		return c.name == "write" && strings.Contains(c.path, "socket:") &&
			strings.Contains(c.text, "ok "+ref+`\n`)
	})
	log := filepath.Join(s.data, "arbor.db-wal")
	refs := find("refs in the database's log", 0, func(c call) bool {
		return c.name == "pwrite64" && c.path == log && strings.Contains(c.text, ref)
	})
	committed := find("sync of the database's log", refs, func(c call) bool {
		return c.syncs(log) && c.began > calls[refs].ended
	})
	if calls[committed].ended > calls[answer].began {
		t.Errorf("%s: answered at %v, before the sync of the log at %v", ref, calls[answer], calls[committed])
	}
	// before checks that a sync of path happened between a call and the refs.
	before := func(after int64, path, why string) {
		t.Helper()
		ok := slices.ContainsFunc(calls, func(c call) bool {
			return c.syncs(path) && c.began > after && c.ended < calls[refs].began
		})
		if !ok {
			t.Errorf("%s: %s is not synced %s and before its refs are written", ref, path, why)
		}
	}
	kept := 0
	for _, c := range calls[:answer] {
		switch {
		case strings.HasPrefix(c.name, "rename") && filepath.Base(filepath.Dir(c.to)) == "pack" &&
			!strings.Contains(c.to, "incoming-"):
			kept++
			synced := slices.ContainsFunc(calls, func(d call) bool {
				return d.syncs(c.path) && d.ended < c.began
			})
			if !synced {
				t.Errorf("%s: %s was not synced before it got its name %s", ref, c.path, c.to)
			}
			before(c.ended, filepath.Dir(c.to), "after "+filepath.Base(c.to)+" moved in")
		case strings.HasPrefix(c.name, "mkdir") && strings.HasPrefix(c.path, s.data+"/") &&
			!strings.Contains(c.path, "incoming-"):
			before(c.ended, filepath.Dir(c.path), "after "+c.path+" was made")
		}
	}
	if kept < 2 {
		t.Errorf("%s: %d files moved into objects/pack, want the pack and its index", ref, kept)
	}
	return answer
}

// call is a line of the trace: a system call that succeeded.
type call struct {
	name         string
	path         string // its file, or the first of two
	to           string // the second file of a rename
	text         string // all arguments as strace writes them
	began, ended int64  // places in the trace; calls of several threads overlap
}

func (c call) syncs(path string) bool {
	return (c.name == "fsync" || c.name == "fdatasync") && c.path == path
}

func (c call) String() string {
	return fmt.Sprintf("%d-%d %s(%.200s)", c.began, c.ended, c.name, c.text)
}

var (
	callLine    = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	startedLine = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	resumedLine = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)`)
	filePath    = regexp.MustCompile(`^\d+<(.*?)>(?:, |$)`)
	quotedPath  = regexp.MustCompile(`"([^"]*)"`)
)

// readTrace reads what strace -f -y wrote.
func readTrace(t testing.TB, path string) []call {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var calls []call
	started := map[string]call{} // by thread
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := int64(1); lines.Scan(); n++ {
		line := lines.Text()
		if m := startedLine.FindStringSubmatch(line); m != nil {
			started[m[1]] = call{name: m[2], text: m[3], began: n}
			continue
		}
		var c call
		var result string
		if m := resumedLine.FindStringSubmatch(line); m != nil {
			c, result = started[m[1]], m[4]
			c.text += m[3]
		} else if m := callLine.FindStringSubmatch(line); m != nil {
			c, result = call{name: m[2], text: m[3], began: n}, m[4]
		} else {
			continue // a signal, an exit, a call that was cut off
		}
		if status, err := strconv.Atoi(result); err != nil || status < 0 {
			continue
		}
		c.ended = n
		c.files()
		calls = append(calls, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

// files finds which files a call is about.
func (c *call) files() {
	if strings.HasPrefix(c.name, "rename") || strings.HasPrefix(c.name, "mkdir") {
		names := quotedPath.FindAllStringSubmatch(c.text, 2)
		if len(names) > 0 {
			c.path = names[0][1]
		}
		if len(names) > 1 {
			c.to = names[1][1]
		}
		return
	}
	if m := filePath.FindStringSubmatch(c.text); m != nil {
		c.path = m[1]
	}
}
