//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"arbor/internal/db"
	"arbor/internal/test/bucket"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// chaos is a store without a shared disk: nodes with disks of their own, one PostgreSQL, and a bucket behind a proxy
// that fails in many ways. Clients write to any node and read from any other, while nodes are killed, suspended, and
// lose their disks. Their history is checked afterwards.
type chaos struct {
	t     *testing.T
	nodes []*chaosNode
	over  atomic.Bool
	fault atomic.Int64 // of the bucket

	mu      sync.Mutex
	history []porcupine.Operation
	blobs   []string // that were acknowledged
	begun   time.Time

	kills, wipes, faults int
}

type chaosNode struct {
	*instance
	flags []string
	at    atomic.Value // its URL
}

var chaosRepos = []string{"garden", "orchard", "meadow", "hedge"}

// Faults of the bucket.
const (
	noFault = iota
	refuses
	slow
	truncates
	alters
	throttles
	manyFaults
)

// TestChaos is short here; ARBOR_CHAOS says for how many kills and wipes it goes on (make chaos).
func TestChaos(t *testing.T) {
	rounds := 24
	if text := os.Getenv("ARBOR_CHAOS"); text != "" {
		_, err := fmt.Sscan(text, &rounds)
		testkit.NoError(t, err)
	}
	c := newChaos(t, 3)
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() { c.client(n) })
	}
	c.torment(rounds)
	c.over.Store(true)
	clients.Wait()
	c.fault.Store(noFault)
	c.judge()
}

func newChaos(t *testing.T, nodes int) *chaos {
	c := &chaos{t: t, begun: time.Now()}
	service := bucket.Start(t)
	proxy := service.Proxy(t, c.answer, c.alter)
	first := newInstance(t, db.PostgreSQL)
	for _, entry := range service.Env() {
		first.env = append(first.env, entry[0]+"="+entry[1])
	}
	first.user("alice")
	flags := []string{"--objects", proxy.Address("chaos", "redirect=false"), "--cache-size", "16MiB"}
	for n := range nodes {
		node := &chaosNode{instance: first, flags: flags}
		if n > 0 {
			data := filepath.Join(t.TempDir(), "data")
			testkit.NoError(t, os.MkdirAll(data, 0o700))
			node.instance = first.in(data)
			node.log = &logBuffer{}
		}
		node.start(flags...)
		node.at.Store(node.url)
		t.Cleanup(func() {
			if node.server != nil {
				node.kill()
			}
			node.log = &logBuffer{} // which has errors: of a bucket that lies
		})
		c.nodes = append(c.nodes, node)
	}
	for _, name := range chaosRepos {
		if status, text := c.ask(0, "POST", "/user/repos", `{"name": "`+name+`", "auto_init": true}`); status != 201 {
			t.Fatalf("no repository: %d %s", status, text)
		}
	}
	return c
}

// answer is a fault of the bucket before it is asked.
func (c *chaos) answer(w http.ResponseWriter, r *http.Request) bool {
	switch c.fault.Load() {
	case refuses:
		w.WriteHeader(http.StatusInternalServerError)
		return true
	case throttles:
		if rand.IntN(5) == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `<Error><Code>SlowDown</Code></Error>`)
			return true
		}
	case slow:
		time.Sleep(200 * time.Millisecond)
	}
	return false
}

// alter is a fault of what the bucket answers.
func (c *chaos) alter(res *http.Response) error {
	if res.Request.Method != http.MethodGet || res.StatusCode/100 != 2 {
		return nil
	}
	switch c.fault.Load() {
	case truncates:
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, max(0, res.ContentLength/2)), res.Body}
	case alters:
		res.Body = struct {
			io.Reader
			io.Closer
		}{&altered{res.Body}, res.Body}
	}
	return nil
}

// altered flips a bit of each piece that is read.
type altered struct{ in io.Reader }

func (a *altered) Read(p []byte) (int, error) {
	n, err := a.in.Read(p)
	if n > 0 {
		p[n/2] ^= 1
	}
	return n, err
}

// ask asks a node as alice. Status 0: nobody knows what became of it.
func (c *chaos) ask(node int, method, path, body string) (status int, text string) {
	of := *c.nodes[node].instance
	of.url = c.nodes[node].at.Load().(string)
	return of.tryDo(method, path, body)
}

// torment disturbs the nodes and the bucket, one after the other.
func (c *chaos) torment(rounds int) {
	for range rounds {
		node := c.nodes[rand.IntN(len(c.nodes))]
		c.fault.Store(int64(rand.IntN(manyFaults)))
		switch rand.IntN(4) {
		case 0:
			c.restart(node, false)
		case 1:
			c.restart(node, true)
		case 2:
			c.wipe(node) // while it runs
		case 3:
			testkit.NoError(c.t, syscall.Kill(node.pid(), syscall.SIGSTOP))
			time.Sleep(300 * time.Millisecond)
			testkit.NoError(c.t, syscall.Kill(node.pid(), syscall.SIGCONT))
		}
		time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
		c.fault.Store(noFault)
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		c.faults++
	}
}

// restart kills a node and starts it again, without its disk or with it.
func (c *chaos) restart(node *chaosNode, wiped bool) {
	node.kill()
	c.kills++
	if wiped {
		c.wipe(node)
	}
	c.fault.Store(noFault) // a node does not start with the bucket of another store, which an altered answer looks like
	node.start(node.flags...)
	node.at.Store(node.url)
}

// wipe removes all repositories from a node's disk.
func (c *chaos) wipe(node *chaosNode) {
	c.wipes++
	found, err := filepath.Glob(filepath.Join(node.data, "repositories", "*", "*.git"))
	testkit.NoError(c.t, err)
	for _, dir := range found {
		if err := os.RemoveAll(dir); err != nil && !os.IsNotExist(err) {
			if err = os.RemoveAll(dir); err != nil { // it fills again
				c.t.Log(err)
			}
		}
	}
}

// client does what clients do until it is over.
func (c *chaos) client(id int) {
	for n := 0; !c.over.Load(); n++ {
		name := chaosRepos[rand.IntN(len(chaosRepos))]
		switch rand.IntN(5) {
		case 0, 1:
			c.moveRef(id, name, fmt.Sprintf("%d-%d", id, n))
		case 2:
			c.readRef(id, name)
		case 3:
			size := 1
			if rand.IntN(20) == 0 {
				size = 20_000 // which does not fit into a row
			}
			var text strings.Builder
			for range size {
				fmt.Fprintf(&text, "%x", rand.Uint64())
			}
			c.writeBlob(name, fmt.Sprintf("%d %d %s", id, n, text.String()))
		case 4:
			c.readBlob()
		}
	}
}

func sha(text string) string {
	var made struct{ SHA string }
	_ = json.Unmarshal([]byte(text), &made)
	return made.SHA
}

// refCall is a call that moves or reads a ref.
type refCall struct {
	ref string
	set string // empty: it is read
}

const movedRefs = 3 // refs of each repository that clients move

// moveRef makes a commit through one node, and has a ref name it through another.
func (c *chaos) moveRef(id int, name, text string) {
	repo := "/repos/alice/" + name
	status, answer := c.ask(rand.IntN(len(c.nodes)), "POST", repo+"/git/trees",
		`{"tree": [{"path": "f", "mode": "100644", "type": "blob", "content": "`+text+`"}]}`)
	if status != 201 {
		return
	}
	status, answer = c.ask(rand.IntN(len(c.nodes)), "POST", repo+"/git/commits",
		`{"message": "`+text+`", "tree": "`+sha(answer)+`"}`)
	if status == 422 || status == 404 {
		c.t.Errorf("a tree that was acknowledged is not there: %d %s", status, answer)
	}
	commit := sha(answer)
	if status != 201 {
		return
	}
	ref := fmt.Sprintf("r%d", rand.IntN(movedRefs))
	call := refCall{name + "/" + ref, commit}
	begun := time.Since(c.begun).Nanoseconds()
	at := rand.IntN(len(c.nodes))
	status, answer = c.ask(at, "PATCH", repo+"/git/refs/heads/"+ref, `{"force": true, "sha": "`+commit+`"}`)
	if status == 422 && strings.Contains(answer, "Reference does not exist") {
		status, answer = c.ask(at, "POST", repo+"/git/refs", `{"ref": "refs/heads/`+ref+`", "sha": "`+commit+`"}`)
		if status == 422 { // somebody made it first
			return
		}
	}
	switch {
	case status == 404 || status == 422 && strings.Contains(answer, "Object does not exist"):
		c.t.Errorf("a commit that was acknowledged is not there: %d %s", status, answer)
	case status/100 == 2:
		c.note(id, call, nil, begun, time.Since(c.begun).Nanoseconds())
	case status == 409 || status == 422: // refused
	default: // perhaps it moved
		c.note(id, call, nil, begun, 1<<62)
	}
}

// readRef reads a ref through one node, and the commit that it names through another.
func (c *chaos) readRef(id int, name string) {
	ref := fmt.Sprintf("r%d", rand.IntN(movedRefs))
	begun := time.Since(c.begun).Nanoseconds()
	status, text := c.ask(rand.IntN(len(c.nodes)), "GET", "/repos/alice/"+name+"/git/ref/heads/"+ref, "")
	ended := time.Since(c.begun).Nanoseconds()
	var is struct{ Object struct{ SHA string } }
	if status != 404 && (status != 200 || json.Unmarshal([]byte(text), &is) != nil) {
		return
	}
	c.note(id, refCall{ref: name + "/" + ref}, is.Object.SHA, begun, ended)
	if status == 200 {
		c.mustHave("/repos/alice/" + name + "/git/commits/" + is.Object.SHA)
	}
}

func (c *chaos) note(client int, in refCall, out any, begun, ended int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: begun,
		Return: ended})
}

func (c *chaos) writeBlob(name, text string) {
	status, answer := c.ask(rand.IntN(len(c.nodes)), "POST", "/repos/alice/"+name+"/git/blobs", `{"content": "`+text+`"}`)
	if status == 201 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.blobs = append(c.blobs, "/repos/alice/"+name+"/git/blobs/"+sha(answer))
	}
}

func (c *chaos) readBlob() {
	c.mu.Lock()
	path := ""
	if len(c.blobs) > 0 {
		path = c.blobs[rand.IntN(len(c.blobs))]
	}
	c.mu.Unlock()
	if path != "" {
		c.mustHave(path)
	}
}

// mustHave reads an object that is there: it may be refused for now, and is never unknown.
func (c *chaos) mustHave(path string) {
	node := rand.IntN(len(c.nodes))
	status, text := c.ask(node, "GET", path, "")
	if status == 500 { // a disk that goes away in the middle of a request may fail it
		c.t.Logf("node %d: %s\n%s", node, text, strings.Join(c.nodes[node].log.errors(), "\n"))
		return
	}
	if status != 200 && status != 503 && status != 429 && status != 0 {
		c.t.Errorf("node %d: %s is %d %s", node, path, status, text)
	}
}

// judge checks the history, and what every node has with an empty disk.
func (c *chaos) judge() {
	model := porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byRef := map[string][]porcupine.Operation{}
			for _, op := range history {
				ref := op.Input.(refCall).ref
				byRef[ref] = append(byRef[ref], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range byRef {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			if call := input.(refCall); call.set != "" {
				return true, call.set
			}
			return output == state, state
		},
	}
	if result := porcupine.CheckOperationsTimeout(model, c.history, time.Minute); result == porcupine.Illegal {
		c.t.Error("the refs are not linearizable")
	} else {
		c.t.Logf("refs: %s", result)
	}
	for n, node := range c.nodes {
		node.flags = append(node.flags[:len(node.flags)-1], "0") // all fits
		c.restart(node, true)
		for _, path := range c.blobs {
			if status, text := c.ask(n, "GET", path, ""); status != 200 {
				c.t.Errorf("lost on node %d: %s is %d %s", n, path, status, text)
			}
		}
		for _, name := range chaosRepos {
			dir := filepath.Join(c.t.TempDir(), "mirror")
			gittest.Run(c.t, c.t.TempDir(), "clone", "-q", "--mirror", node.remote("alice", "alice/"+name), dir)
			gittest.Run(c.t, dir, "fsck", "--strict", "--full")
		}
	}
	if out, err := c.nodes[0].tells("check", "--full"); err != nil {
		c.t.Errorf("check: %v\n%s", err, out)
	}
	if len(c.blobs) == 0 || len(c.history) == 0 {
		c.t.Error("nothing was written")
	}
	c.t.Logf("%d kills, %d wiped disks, %d rounds of faults: %d objects without a ref and %d calls of refs, 0 lost",
		c.kills, c.wipes, c.faults, len(c.blobs), len(c.history))
}
