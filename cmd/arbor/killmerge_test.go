//go:build long

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/test/testenv"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A server is killed at each step of a merge, one after the other: before every
// call by which it writes, syncs, locks, names or removes a file, or says
// something to the database or the client. Each time the merge happened, whole
// and told by everything that tells of it, or it did not, and can be made. If
// this failed, there would be a moment at which the power must not go.
func TestKilledAtEachStepOfAMerge(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		p := prepareMerge(t, engine)
		every := map[string]int{"merge": 4, "squash": 18, "rebase": 18} // calls from one round to the next
		// which takes its time to start anew, and has steps of its own
		if engine == db.PostgreSQL {
			every = map[string]int{"merge": 10, "squash": 27, "rebase": 27}
		}
		switch {
		case kills() > 0:
			every = map[string]int{"merge": 1, "squash": 1, "rebase": 1}
		case !testenv.Long:
			every = map[string]int{"merge": 16, "squash": 27, "rebase": 27}
		}
		for method, each := range every {
			k := &killedRounds{prepared: p, method: method, each: each, next: rand.IntN(each),
				calls: map[string]bool{}}
			for worker := range 2 {
				t.Run(fmt.Sprint(method, " ", worker), func(t *testing.T) {
					t.Parallel()
					for k.round(t) {
					}
				})
			}
			t.Cleanup(func() {
				t.Logf("%s: killed at %d calls, before and after it was merged (%d): %s", method,
					k.killed, k.merged, strings.Join(slices.Sorted(maps.Keys(k.calls)), ", "))
				if k.survived > 0 && (k.killed < 2 || k.merged == k.killed || k.merged == 0 && k.each == 1) {
					t.Error("that tests too little")
				}
			})
		}
	})
}

// killedRounds are merges by one method that are killed one call, or a few, later
// each time, until some get through.
type killedRounds struct {
	prepared *preparedMerge
	method   string
	each     int // calls further each round

	mu                       sync.Mutex
	next                     int
	killed, merged, survived int
	calls                    map[string]bool
}

func (k *killedRounds) round(t *testing.T) (more bool) {
	k.mu.Lock()
	k.next += k.each
	// What is done in the background makes them one call more or less.
	at, done := k.next, k.survived >= max(2, 6/k.each)
	k.mu.Unlock()
	if done {
		return false
	}
	r := k.prepared.killedAt(t, k.method, at)
	k.mu.Lock()
	defer k.mu.Unlock()
	if !r.killed {
		k.survived++
		return true
	}
	k.killed++
	if r.merged {
		k.merged++
	}
	k.calls[randomName.ReplaceAllString(r.last, "*")] = true
	return true
}

// randomName is what no two rounds have in common in the name of a file.
var randomName = regexp.MustCompile(`\d{5,}|[0-9a-f]{38}| [0-9a-f]{2}(/|$)|\d+/data`)

// preparedMerge is a server that is stopped, in whose repository alice/garden #2
// asks to merge h into main, and says that it fixes #1.
type preparedMerge struct {
	s    *instance
	base string // where main is
	head string
	tree string // of both together
}

func prepareMerge(t *testing.T, engine db.Engine) *preparedMerge {
	t.Helper()
	s := serving(t, engine)
	s.user("alice")
	dir := gittest.Repository(t, 2, 5)
	lines := func(first, last string) string { return first + strings.Repeat("line\n", 30) + last }
	commit := func(branch, from, file, text string) {
		gittest.Import(t, dir,
			strings.NewReader(fmt.Sprintf(
				"commit refs/heads/%s\ncommitter %s %d +0000\ndata 7\nChange\nfrom refs/heads/%s^0\nM 100644 inline %s\ndata %d\n%s\ndone\n",
				branch, gittest.Author, gittest.Start+999, from, file, len(text), text)))
	}
	commit("main", "main", "dir1/both", lines("", ""))
	commit("h", "main", "dir1/both", lines("head\n", ""))
	commit("h", "h", "dir2/new", "new\n")
	s.repo("alice/garden", dir)
	for _, c := range [][2]string{{"issues", `{"title": "Broken"}`},
		{"pulls", `{"title": "Mend", "body": "fixes #1", "head": "h", "base": "main"}`}} {
		if status, text := s.tryCall("POST", c[0], c[1]); status != 201 {
			t.Fatal(status, text)
		}
	}
	// The test merge is none of this main, which changed the file of h: the merge
	// needs git, and makes all of its objects.
	commit("main", "main", "dir1/both", lines("", "main\n"))
	gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), "main")
	s.stop()
	p := &preparedMerge{s: s, base: gittest.Run(t, dir, "rev-parse", "main"),
		head: gittest.Run(t, dir, "rev-parse", "h")}
	p.tree = gittest.Run(t, dir, "merge-tree", "--write-tree", "main", "h")
	return p
}

// killedRound is what became of one merge.
type killedRound struct {
	killed, merged bool
	last           string // the call before which it was killed
}

// killedAt has a copy of the prepared server merge #2, and kills it before its
// N-th call, or after its answer. Then a new one tells the truth, and merges what
// was not.
func (p *preparedMerge) killedAt(t *testing.T, method string, n int) (r killedRound) {
	t.Helper()
	s := p.s.copied(t)
	s.start()
	k := s.killAt(n)
	merge := func() (status int, text string) {
		return s.tryDo("PUT", "/api/v3/repos/alice/garden/pulls/2/merge", `{"merge_method": "`+method+`"}`)
	}
	status, text := merge()
	select {
	case <-k.ended:
	case <-time.After(20 * time.Millisecond): // for what it does after the answer
		s.server.Process.Kill()
		<-k.ended
	}
	s.wait()
	if s.database != "" {
		dbtest.Deserted(t, s.database)
	}
	r.last, r.killed = k.last, k.count >= n
	fail := func(what string, a ...any) {
		t.Fatalf("%s, killed before call %d of %d, %q: %s", method, n, k.count, k.last,
			fmt.Sprintf(what, a...))
	}
	if status != 0 && status != 200 {
		fail("merging answered %d %s", status, text)
	}
	s.start()
	told := s.told()
	if r.merged = told.Pull.Merged; status == 200 && !r.merged {
		fail("an acknowledged merge is gone")
	}
	if !r.merged {
		testkit.Eventually(t, func() bool { // a slow machine may leave it to the worker
			told = s.told()
			return told.Pull.Mergeable != nil
		}, "whether it can be merged", func() string { return told.String() })
		if got, want := told.String(), p.notMerged(t, s); got != want {
			fail("the API tells\n%s\nand it is\n%s", got, want)
		}
		if status, text := merge(); status != 200 {
			fail("it cannot be merged any more: %d %s", status, text)
		}
		told = s.told()
	}
	if got, want := told.String(), p.mergedBy(t, s, method); got != want {
		fail("the API tells\n%s\nand it is\n%s", got, want)
	}
	if status, text := merge(); status != 405 {
		fail("merged twice: %d %s", status, text)
	}
	s.kill()
	if err := os.RemoveAll(s.data); err != nil {
		t.Error(err)
	}
	return r
}

// copied is an instance of its own with the data and the database of one that is
// stopped.
func (s *instance) copied(t testing.TB) *instance {
	t.Helper()
	if s.server != nil {
		t.Fatal("only what is stopped can be copied")
	}
	database := ""
	if s.database != "" {
		database = dbtest.Copy(t, s.database)
	}
	c := newInstanceOn(t, filepath.Join(t.TempDir(), "data"), database)
	maps.Copy(c.tokens, s.tokens)
	if err := os.CopyFS(c.data, os.DirFS(s.data)); err != nil {
		t.Fatal(err)
	}
	if database != "" { // the copied folder names the first database
		c.arbor("database", "claim")
	}
	return c
}

// callKill waits for a server's N-th call, before which it is killed.
type callKill struct {
	ended chan struct{}
	// Once it has ended: the calls that were counted, and the one of the N-th at most
	count int
	last  string
}

func (s *instance) killAt(n int) *callKill {
	s.t.Helper()
	k := &callKill{}
	k.ended = s.follow("whether a server may be killed at any step", func(last string) {
		number, call, _ := strings.Cut(last, " ")
		k.count, _ = strconv.Atoi(number)
		k.last = call
	}, "killat", fmt.Sprint(s.pid()), fmt.Sprint(n))
	return k
}

// follow starts a program that traces the server until its end. What the program says last is
// given to end, and then the channel closed. Where nothing can be traced, the test is skipped:
// missing says what stays untested then.
func (s *instance) follow(
	missing string, end func(last string), program string, args ...string,
) (ended chan struct{}) {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if first, _ := lines.ReadString('\n'); first != "ready\n" {
		cmd.Wait()
		if os.Getenv("ARBOR_TEST_STRICT") == "1" {
			s.t.Fatal(first)
		}
		s.t.Skip("NOT TESTED: ", missing, ": ", first)
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		rest, _ := io.ReadAll(lines)
		end(strings.TrimSpace(string(rest)))
		cmd.Wait()
	}()
	return ended
}

// mergeTold is what the API tells of a merge, in all the places where it does.
type mergeTold struct {
	Pull struct {
		State     string
		Merged    bool
		Mergeable *bool
		At        *string                 `json:"merged_at"`
		By        *struct{ Login string } `json:"merged_by"`
		Commit    *string                 `json:"merge_commit_sha"`
	}
	Check               int
	Fixed, Issue        struct{ State string }
	FixedEvents, Events []struct {
		Event  string
		Commit *string `json:"commit_id"`
	}
	Repo struct {
		Open int `json:"open_issues_count"`
	}
	Open []struct{ Number int }
}

// told asks for all of it.
func (s *instance) told() *mergeTold {
	s.t.Helper()
	var told mergeTold
	for path, v := range map[string]any{"/issues/1": &told.Fixed, "/issues/2": &told.Issue,
		"/issues/1/events": &told.FixedEvents,
		"/issues/2/events": &told.Events, "": &told.Repo, "/issues?state=open": &told.Open,
		"/pulls/2": &told.Pull} {
		status, text := s.tryDo("GET", "/repos/alice/garden"+path, "")
		if err := json.Unmarshal([]byte(text), v); status != 200 || err != nil {
			s.t.Fatalf("%s: %d %s", path, status, text)
		}
	}
	told.Check, _ = s.tryCall("GET", "pulls/2/merge", "")
	return &told
}

func (m *mergeTold) String() string {
	var b strings.Builder
	sha := func(s *string) string {
		if s == nil {
			return "none"
		}
		return *s
	}
	fmt.Fprintf(&b, "#2 %s and %s, merged %v, time %v, by somebody %v, commit %s, check %d\n",
		m.Pull.State, m.Issue.State, m.Pull.Merged, m.Pull.At != nil, m.Pull.By != nil,
		sha(m.Pull.Commit), m.Check)
	if m.Pull.Mergeable != nil {
		fmt.Fprintln(&b, "mergeable", *m.Pull.Mergeable)
	}
	for n, events := range [][]struct {
		Event  string
		Commit *string `json:"commit_id"`
	}{m.FixedEvents, m.Events} {
		for _, e := range events {
			if e.Event != "referenced" { // what is pushed is read later
				fmt.Fprintf(&b, "#%d %s by %s\n", n+1, e.Event, sha(e.Commit))
			}
		}
	}
	fmt.Fprintf(&b, "#1 %s; %d open, listed %v\n", m.Fixed.State, m.Repo.Open, m.Open)
	return b.String()
}

// notMerged gives what the API has to tell when nothing happened.
func (p *preparedMerge) notMerged(t *testing.T, s *instance) string {
	t.Helper()
	got := refs(t, s.remote("alice", "alice/garden"))
	test := got["refs/pull/2/merge"]
	if got["refs/heads/main"] != p.base || got["refs/heads/h"] != p.head ||
		got["refs/pull/2/head"] != p.head || len(got) != 4 {
		t.Errorf("nothing is merged, and the refs are %v; main was %s and h %s", got, p.base, p.head)
	}
	if parents := s.parents(test); !slices.Equal(parents, []string{p.base, p.head}) {
		t.Errorf("the test merge is of %v, want %s and %s", parents, p.base, p.head)
	}
	return fmt.Sprintf("#2 open and open, merged false, time false, by somebody false, commit %s, check 404\nmergeable true\n#1 open; 2 open, listed [{2} {1}]\n", test)
}

// mergedBy gives what the API has to tell when all of it happened.
func (p *preparedMerge) mergedBy(t *testing.T, s *instance, method string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fetched.git")
	gittest.Run(t, "", "clone", "-q", "--mirror", s.remote("alice", "alice/garden"), dir)
	gittest.Run(t, dir, "fsck", "--strict", "--full")
	tips := strings.Fields(gittest.Run(t, dir, "rev-parse", "h", "refs/pull/2/head", "main", "main^"))
	if tips[0] != p.head || tips[1] != p.head {
		t.Errorf("the head is %s, want %s", tips[:2], p.head)
	}
	main := tips[2]
	want := map[string]string{"merge": p.tree + " " + p.base + " " + p.head, "squash": p.tree + " " + p.base,
		"rebase": p.tree + " " + tips[3]}[method]
	ahead := strings.Split(gittest.Run(t, dir, "log", "--first-parent", "--format=%T %P", p.base+"..main"),
		"\n")
	if ahead[0] != want {
		t.Errorf("%s: main is %s, want %s", method, ahead[0], want)
	}
	if made := map[string]int{"merge": 1, "squash": 1, "rebase": 2}[method]; len(ahead) != made {
		t.Errorf("%s: main is %d commits ahead, want %d", method, len(ahead), made)
	}
	return fmt.Sprintf("#2 closed and closed, merged true, time true, by somebody true, commit %s, check 204\n"+
		"#1 closed by %s\n#2 merged by %s\n#2 closed by none\n#1 closed; 0 open, listed []\n",
		main, main, main)
}
