//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// call is a system call that others can see, as tracers describe it.
type call struct {
	Name, Path   string
	To           string // the second path of a rename
	Text         string // what it writes
	Began, Ended int64  // calls of several threads overlap
}

func (c call) String() string {
	return fmt.Sprintf("%d-%d %s %s %s", c.Began, c.Ended, c.Name, c.Path, c.To)
}

// What is acknowledged survives a power cut. Files are synced before they get their names, the names before
// the transaction that needs them, and the database's log before the answer. No kill of the process would
// show a missing sync, so this test reads what the server asks of the system, call by call. People who
// write at the same time share a sync.
func TestSyncedBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	c := newWorld(t, db.SQLite, 1)
	s := c.nodes[0]
	if res, text := c.ask(0, "alice", "PATCH", c.proposal("pulls"), `{"state": "closed"}`); res.StatusCode != 200 {
		t.Fatal(text) // else its test merges make files in the background
	}
	file := filepath.Join(t.TempDir(), "calls")
	trace := s.trace("record", fmt.Sprint(s.pid()), file)
	if trace.err != nil {
		t.Skip("NOT TESTED: whether what is acknowledged is synced: ", trace.err)
	}
	s.repo("alice/new", "") // a push makes its directories
	gittest.Run(t, c.source, "push", "-q", s.remote("alice", "alice/new"), "main:refs/heads/first")
	c.story.add("push", "first", acknowledged)
	for _, row := range table {
		if row.group == "" || row.alone || row.prepare != nil {
			continue
		}
		row.do(c.newWriter(row))
		row.do(c.newWriter(row)) // finds directories that the first one made
	}
	one := len(c.story.all())
	var all sync.WaitGroup
	for range 8 {
		for _, row := range table {
			if row.kind == "plant" {
				w := c.newWriter(row)
				all.Go(func() {
					for range 10 {
						row.do(w)
					}
				})
			}
		}
	}
	all.Wait()
	s.stop()
	<-trace.ended
	calls := readCalls(t, file)
	from := int64(0)
	for i, d := range c.story.all() {
		if d.kind == "star" || d.kind == "deleted fork" || d.kind == "large object" || d.told != acknowledged {
			continue // of which the answer says nothing
		}
		answer := checkOrder(t, s, calls, d, from)
		if i < one {
			from = answer
		}
	}
}

// checkOrder holds the calls for a deed, which come after a moment, and returns when it was answered.
func checkOrder(t *testing.T, s *instance, calls []call, d deed, from int64) int64 {
	t.Helper()
	key, _, _ := strings.Cut(d.key[strings.LastIndexByte(d.key, '/')+1:], " ")
	find := func(what string, match func(call) bool) call {
		t.Helper()
		i := slices.IndexFunc(calls, func(c call) bool { return c.Began > from && match(c) })
		if i < 0 {
			t.Fatalf("%s %s: no %s among %d calls", d.kind, key, what, len(calls))
		}
		return calls[i]
	}
	log := filepath.Join(s.data, "arbor.db-wal")
	answer := find("answer", func(c call) bool {
		return c.Name == "write" && strings.HasPrefix(c.Path, "socket:") && strings.Contains(c.Text, key)
	})
	synced := func(path string, after, before int64) bool {
		return slices.ContainsFunc(calls, func(c call) bool {
			return (c.Name == "fsync" || c.Name == "fdatasync") && c.Path == path &&
				c.Began > after && c.Ended < before
		})
	}
	needed := answer.Began
	if d.kind != "blob" && d.kind != "file" { // whose names are not in the database
		written := find("write to the database's log", func(c call) bool {
			return c.Name == "pwrite64" && c.Path == log && strings.Contains(c.Text, key)
		})
		if needed = written.Began; !synced(log, written.Ended, answer.Began) {
			t.Errorf("%s %s: no sync of the log between %v and the answer %v", d.kind, key, written, answer)
		}
	}
	files := 0
	for _, c := range calls {
		name := c.To
		if c.Name == "mkdir" {
			name = c.Path
		}
		if c.Began < from || c.Ended > needed || c.Name != "rename" && c.Name != "mkdir" ||
			!strings.HasPrefix(name, s.data) || strings.Contains(name, "/incoming-") || strings.Contains(name, "/gone-") {
			continue
		}
		files++
		if c.Name == "rename" && !synced(c.Path, 0, c.Began) {
			t.Errorf("%s %s: %s was not synced before it got its name %s", d.kind, key, c.Path, name)
		}
		if !synced(filepath.Dir(name), c.Ended, needed) {
			t.Errorf("%s %s: the name %s is not synced", d.kind, key, name)
		}
	}
	if want := map[string]int{"push": 2, "blob": 2, "file": 2, "asset": 1}[d.kind]; files < want {
		t.Errorf("%s %s: %d files got their names, want %d", d.kind, key, files, want)
	}
	return answer.Ended
}

// readCalls reads what the tracer record wrote.
func readCalls(t *testing.T, file string) (calls []call) {
	t.Helper()
	f, err := os.Open(file)
	testkit.NoError(t, err)
	defer f.Close()
	for in := json.NewDecoder(f); ; {
		var c call
		if err := in.Decode(&c); err == io.EOF {
			return calls
		} else if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
}
