//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// world is a store on which people do every kind of work, while faults befall its servers. It is held against
// what they were told.
type world struct {
	t      testing.TB
	engine db.Engine
	random *rand.Rand
	nodes  []*instance // of which the first has the store's tokens
	listen []string    // the nodes' addresses, which stay
	flags  []string    // of all nodes
	backup string      // a folder

	story            history
	stop             chan struct{}
	busy             sync.WaitGroup
	writers          atomic.Int64    // so far, each with a name of its own
	plants           atomic.Int64    // ids that were used
	source           string          // a bare repository, with which garden began
	review           int             // the number of a pull request that stays open
	told             *heard          // of issues
	cloned, cloneDir string          // what was cloned last, and where it is
	looked           map[string]bool // merges that this check has looked at
	merged           map[string]bool // merges that happened, in the end by a check
	packed           *packed
	mirrored         string       // the address of the source of a mirror; empty: there is none
	upstream         string       // that source
	big              string       // in addition to what people write
	full             atomic.Int64 // refusals that say that the disk is full
}

// newWorld creates a store, and starts nodes on it.
func newWorld(t testing.TB, engine db.Engine, nodes int, flags ...string) *world {
	t.Helper()
	return newWorldOn(newInstance(t, engine), engine, nodes, flags...)
}

func newWorldOn(s *instance, engine db.Engine, nodes int, flags ...string) *world {
	t := s.t
	t.Helper()
	c := &world{t: t, engine: engine, nodes: []*instance{s}, told: newHeard(t), random: seeded(t),
		flags:  append(flags, "--allow-hook-networks", "127.0.0.0/8"),
		backup: filepath.Join(t.TempDir(), "backup"), stop: make(chan struct{}),
		looked: map[string]bool{}, merged: map[string]bool{}}
	for range nodes - 1 {
		other := s.node()
		c.nodes = append(c.nodes, other)
		t.Cleanup(func() {
			if other.server != nil {
				other.stop()
			}
		})
	}
	s.user("alice", "bob")
	s.org("guild")
	c.source = gittest.Repository(t, 2, 5)
	gittest.Run(t, c.source, "branch", "reviewed", "main")
	add(t, c.source, "reviewed", "changes")
	for _, name := range []string{"alice/garden", "alice/small", "alice/roving"} {
		s.repo(name, c.source)
	}
	s.privateRepo("alice/closed", c.source)
	for i := range c.nodes {
		c.listen = append(c.listen, testkit.FreeAddress(t))
		c.start(i)
	}
	w := c.newWriter(&work{kind: "setup"})
	c.review = w.must("/repos/alice/garden/pulls", `{"title": "Stays open", "head": "reviewed", "base": "main"}`)
	w.must("/repos/alice/garden/hooks",
		`{"config": {"url": "`+c.told.URL+`", "content_type": "json"}, "events": ["issues"]}`)
	return c
}

func (c *world) start(node int) {
	c.t.Helper()
	c.nodes[node].start(append(c.flags, "--listen", c.listen[node])...)
}

// begin lets people do every kind of work until end.
func (c *world) begin() {
	c.stop = make(chan struct{})
	stop := c.stop
	c.t.Cleanup(func() { // of a test that failed before the end
		if c.stop == stop && !c.ended() {
			c.end()
		}
	})
	for _, row := range table {
		if row.alone || c.big != "" && row.kind == "backup" {
			continue
		}
		w := c.newWriter(row)
		c.busy.Go(func() {
			for !c.ended() {
				if row.prepare == nil || row.prepare(w) {
					row.do(w)
				}
			}
		})
	}
}

// end waits until each writer knows what became of its last work.
func (c *world) end() {
	close(c.stop)
	c.busy.Wait()
}

func (c *world) ended() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// writer does one kind of work, piece after piece.
type writer struct {
	c       *world
	row     *work
	name    string // no other writer has it
	pieces  int
	key     string  // of the piece in hand, in the whole story once
	dir     string  // a repository of its own
	at      string  // an owner, a number, ...: what prepare found for do
	release float64 // the id of a release of its own
}

func (c *world) newWriter(row *work) *writer {
	return &writer{c: c, row: row, key: row.kind, name: fmt.Sprintf("%s-%d", row.kind, c.writers.Add(1))}
}

// next begins a new piece of work, and returns its key.
func (w *writer) next() string {
	w.pieces++
	w.key = fmt.Sprintf("%s-%d", w.name, w.pieces)
	return w.key
}

// node is one that the piece of work goes to.
func (w *writer) node() int { return (w.pieces + len(w.name)) % len(w.c.listen) }

// remote is a repository's address with a token of alice's.
func (w *writer) remote(repository string) string {
	return as("http://"+w.c.listen[w.node()], "alice", w.c.nodes[0].tokens["alice"]) + "/" + repository + ".git"
}

// note adds to the story what the writer was told.
func (w *writer) note(kind, key string, told outcome) outcome {
	w.c.story.add(kind, key, told)
	return told
}

// send does a piece of work that is one request, with the key in its body.
func (w *writer) send(login, method, path, body string) {
	status, _ := w.ask(login, method, path, strings.ReplaceAll(body, "%s", w.next()))
	w.note(w.row.kind, w.key, outcomeOf(status))
}

// must makes something that has a number.
func (w *writer) must(path, body string) int {
	status, answer := w.ask("alice", "POST", path, body)
	if status != 201 {
		w.c.t.Fatalf("POST %s: %d %v", path, status, answer)
	}
	number, _ := answer["number"].(float64)
	return int(number)
}

var writerClient = &http.Client{Timeout: 2 * time.Minute,
	Transport:     &http.Transport{MaxIdleConnsPerHost: 20, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// ask sends a request. The status is 0 if there was no answer.
func (w *writer) ask(login, method, path, body string) (status int, answer map[string]any) {
	res, text := w.c.ask(w.node(), login, method, path, body)
	if res == nil {
		time.Sleep(10 * time.Millisecond)
		return 0, nil
	}
	if busy := strings.Contains(text, "full at this moment"); res.StatusCode >= 500 && w.c.big != "" && !busy {
		w.refused(res.StatusCode == 507 && strings.Contains(text, "disk"), text)
	}
	_ = json.Unmarshal([]byte(text), &answer) // not each answer is an object
	return res.StatusCode, answer
}

// ask sends a request to a node. There may be no answer.
func (c *world) ask(node int, login, method, path, body string) (*http.Response, string) {
	r, err := http.NewRequest(method, "http://"+c.listen[node]+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return nil, ""
	}
	r.Header.Set("Authorization", "Bearer "+c.nodes[0].tokens[login])
	r.Header.Set("Content-Type", "application/json")
	r.GetBody = nil // else a request may be sent twice
	res, err := writerClient.Do(r)
	if err != nil {
		return nil, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, ""
	}
	return res, string(text)
}

// refused notes that a full disk was the reason of a failure.
func (w *writer) refused(said bool, text string) {
	if w.c.full.Add(1); !said {
		w.c.t.Errorf("%s on a full disk: %s", w.key, text)
	}
}

// history is what the writers were told.
type history struct {
	mu    sync.Mutex
	deeds []deed
}

// deed is one piece of work, and what its writer was told of it.
type deed struct {
	kind, key string
	told      outcome
	ended     time.Time
}

type outcome string

const (
	acknowledged outcome = "acknowledged"
	refused      outcome = "refused"
	unknown      outcome = "unknown" // it may have happened
)

// outcomeOf is what a status says; 0 is a connection that broke.
func outcomeOf(status int) outcome {
	switch {
	case status >= 200 && status < 300:
		return acknowledged
	case status >= 400 && status < 500:
		return refused
	}
	return unknown
}

func (h *history) add(kind, key string, told outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deeds = append(h.deeds, deed{kind, key, told, time.Now()})
}

// all lists the deeds in the order of their ends.
func (h *history) all() []deed {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]deed{}, h.deeds...)
}

// of lists the deeds of some kinds.
func (h *history) of(kinds ...string) []deed {
	return slices.DeleteFunc(h.all(), func(d deed) bool { return !slices.Contains(kinds, d.kind) })
}

// lost lists the deeds of which nobody knows whether they happened.
func (h *history) lost() []deed {
	return slices.DeleteFunc(h.all(), func(d deed) bool { return d.told != unknown })
}

// report is a line for the test's log: how much of each kind there was.
func (h *history) report() string {
	count := map[string]int{}
	for _, d := range h.all() {
		count[d.kind+", "+string(d.told)]++
	}
	return fmt.Sprint(count)
}
