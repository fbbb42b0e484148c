//go:build long

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"arbor/internal/test/bucket"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// chaos is a store without a shared disk: nodes with disks of their own, a PostgreSQL with a standby, and a bucket
// behind a proxy that fails in many ways. Clients write to any node and read from any other, while nodes are killed,
// suspended, lose their disks and their clocks, and PostgreSQL crashes and fails over. What clients were told is
// checked at once, and their history afterwards.
//
//	chaos_test.go         the store, and what it is held against at the end
//	chaosfault_test.go    what happens to it
//	chaoshistory_test.go  what clients did, and its order
//	chaosclient_test.go   clients: refs, blobs and issues
//	chaoslife_test.go     clients: repositories, forks, stars and tokens
//	chaosmerge_test.go    clients: pull requests, and pushes by git
//	chaosaudit_test.go    rows against the bucket
type chaos struct {
	t        *testing.T
	nodes    []*chaosNode
	database *dbtest.Pair
	service  *bucket.Service
	over     atomic.Bool
	fault    atomic.Int64 // of the bucket
	puts     sync.Map     // keys of packs that the bucket took
	lost     atomic.Int64 // large writes of which nobody knows what became
	round    atomic.Int64
	begun    time.Time

	mu       sync.Mutex
	history  []porcupine.Operation
	blobs    []string          // that were acknowledged
	pushed   []string          // commits that were acknowledged
	issues   map[string]string // titles by address
	kept     []string          // repositories that stay
	tokens   []chaosToken      // that nobody has used
	revoked  []chaosToken
	pulls    map[string]*proposal // by number
	clones   [chaosClients]string // repositories of clients
	disturbs map[disturbance]int  // how often
}

type chaosNode struct {
	*instance
	flags []string
	clock *os.File
	at    atomic.Value // its URL
}

var chaosRepos = []string{"garden", "orchard", "meadow", "hedge"}

const (
	chaosOrg     = "club" // whose the forks are
	chaosClients = 8
)

// TestChaos is short here; ARBOR_CHAOS says how many rounds it has (make chaos).
func TestChaos(t *testing.T) {
	rounds := 24
	if text := os.Getenv("ARBOR_CHAOS"); text != "" {
		_, err := fmt.Sscan(text, &rounds)
		testkit.NoError(t, err)
	}
	c := newChaos(t, 3, rounds)
	var clients sync.WaitGroup
	for n := range chaosClients {
		clients.Go(func() { c.client(n) })
	}
	func() {
		defer clients.Wait() // also if a node does not start
		defer c.over.Store(true)
		c.torment(rounds)
	}()
	c.fault.Store(noFault)
	c.judge()
}

func newChaos(t *testing.T, nodes, rounds int) *chaos {
	c := &chaos{t: t, begun: time.Now(), service: bucket.Start(t), database: dbtest.NewPair(t),
		issues: map[string]string{}, pulls: map[string]*proposal{}, disturbs: map[disturbance]int{}}
	proxy := c.service.Proxy(t, c.answer, c.alter)
	first := newInstanceOn(t, filepath.Join(t.TempDir(), "data"), c.database.URL()+"&pool_max_conns=8")
	for _, entry := range c.service.Env() {
		first.env = append(first.env, entry[0]+"="+entry[1])
	}
	first.user("alice")
	first.org(chaosOrg)
	c.makeTokens(first, 40+rounds)
	for n := range c.clones {
		c.clones[n] = gittest.Bare(t)
	}
	network := fmt.Sprintf("127.%d.%d", 64+rand.IntN(64), rand.IntN(256))
	for n := range nodes {
		// Each node has an address of its own: what listens on the port of one that was killed is no other server.
		node := &chaosNode{instance: first, flags: []string{"--listen", fmt.Sprintf("%s.%d:0", network, n+1),
			"--objects", proxy.Address("chaos", "redirect=false"), "--cache-size",
			fmt.Sprint(16+rounds/20, "MiB")}} // each repository fits, and not all of them
		if n > 0 {
			data := filepath.Join(t.TempDir(), "data")
			testkit.NoError(t, os.MkdirAll(data, 0o700))
			node.instance = first.in(data)
			node.log = &logBuffer{}
		}
		node.clock = newClock(t)
		node.env = append(node.env[:len(node.env):len(node.env)], clockVariable+"="+node.clock.Name())
		node.start(node.flags...)
		node.at.Store(node.url)
		t.Cleanup(func() {
			if node.server != nil {
				node.kill()
			}
			testkit.Eventually(t, func() bool { return len(node.gitProcesses()) == 0 }, "no process of git is left")
			node.log = &logBuffer{} // which has errors: of a bucket that lies
		})
		c.nodes = append(c.nodes, node)
	}
	for _, name := range append([]string{"merges"}, chaosRepos...) {
		if status, text := c.ask(0, "POST", "/user/repos", `{"name": "`+name+`", "auto_init": true}`); status != 201 {
			t.Fatalf("no repository: %d %s", status, text)
		}
	}
	return c
}

// ask asks a node as alice. Status 0: nobody knows what became of it.
func (c *chaos) ask(node int, method, path, body string) (status int, text string) {
	return c.send(node, method, path, body, func(r *http.Request) {
		r.SetBasicAuth("alice", c.nodes[node].instance.tokens["alice"])
	})
}

// send is ask for whom authorize says.
func (c *chaos) send(node int, method, path, body string, authorize func(*http.Request)) (status int, text string) {
	r, err := http.NewRequest(method, c.nodes[node].at.Load().(string)+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	authorize(r)
	client := &http.Client{Timeout: testkit.Patience, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if res, err := client.Do(r); err == nil {
		data, err := io.ReadAll(res.Body)
		if res.Body.Close(); err == nil {
			status, text = res.StatusCode, string(data)
			if status/100 == 3 {
				text = res.Header.Get("Location")
			}
		}
	}
	return status, text
}

// any is one of the nodes.
func (c *chaos) any() int { return rand.IntN(len(c.nodes)) }

// isKnown reports whether an answer says what became of a request. An overloaded server says that nothing did.
func isKnown(status int) bool {
	return status > 0 && status < 500 && status != http.StatusRequestTimeout
}

// client does what clients do until it is over.
func (c *chaos) client(id int) {
	for n := 0; !c.over.Load(); n++ {
		name := chaosRepos[rand.IntN(len(chaosRepos))]
		text := fmt.Sprintf("%d-%d", id, n)
		switch rand.IntN(16) {
		case 0, 1, 2, 3:
			c.moveRef(id, name, text)
		case 4, 5, 6:
			c.readRef(id, name)
		case 7, 8:
			c.writeBlob(name, text)
		case 9, 10:
			c.readBlob()
		case 11:
			c.writeIssue(name, text)
		case 12:
			c.liveAndDie(id, text)
		case 13:
			c.revoke(id)
		case 14:
			c.propose(id, text)
		case 15:
			c.push(id, name, text)
		}
	}
}

// judge checks the history, and what every node has with an empty disk.
func (c *chaos) judge() {
	c.checkHistory()
	for n, node := range c.nodes {
		node.flags = append(node.flags[:len(node.flags)-1], "0") // all fits
		c.restart(node, true)
		c.judgeNode(n)
	}
	c.judgeMerges()
	if out, err := c.nodes[0].tells("check", "--full"); err != nil {
		c.t.Errorf("check: %v\n%s", err, out)
	}
	c.audit()
	for what, n := range map[string]int{"objects": len(c.blobs), "calls": len(c.history), "pushes": len(c.pushed),
		"issues": len(c.issues), "tokens": len(c.revoked), "pull requests": len(c.pulls)} {
		c.t.Logf("%d %s", n, what)
		if n == 0 {
			c.t.Errorf("no %s: this run shows nothing of them", what)
		}
	}
	for what, n := range c.disturbs {
		c.t.Logf("%s: %d", what, n)
	}
}

// judgeNode reads what was acknowledged from one node.
func (c *chaos) judgeNode(n int) {
	node := c.nodes[n]
	for _, path := range append(append([]string{}, c.blobs...), c.pushed...) {
		if status, text := c.ask(n, "GET", path, ""); status != 200 {
			c.t.Errorf("lost on node %d: %s is %d %s", n, path, status, text)
		}
	}
	for path, title := range c.issues {
		if status, text := c.ask(n, "GET", path, ""); status != 200 || !strings.Contains(text, `"`+title+`"`) {
			c.t.Errorf("node %d: %s is %d %s, not %s", n, path, status, text, title)
		}
	}
	for _, token := range c.revoked {
		if status, _ := c.withToken(n, token); status != 401 {
			c.t.Errorf("node %d: a revoked token is answered %d", n, status)
		}
	}
	clones := []string{"alice/merges"}
	for _, name := range chaosRepos {
		clones = append(clones, "alice/"+name)
	}
	rand.Shuffle(len(c.kept), func(i, j int) { c.kept[i], c.kept[j] = c.kept[j], c.kept[i] })
	for _, name := range append(clones, c.kept[:min(len(c.kept), 10)]...) {
		dir := filepath.Join(c.t.TempDir(), "mirror")
		gittest.Run(c.t, c.t.TempDir(), "clone", "-q", "--mirror", node.remote("alice", name), dir)
		gittest.Run(c.t, dir, "fsck", "--strict", "--full")
	}
}
