//go:build long

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// share is the part of a core that each node gets, in percent: three nodes, their clients and PostgreSQL leave
// some of a machine of two cores.
const share = 20

// nodes compares reads by two and three nodes with those by one. Each is bound to its share of a core, as if it
// had a machine of its own; PostgreSQL and the clients are not. The machine must have nothing else to do.
func (s *suite) nodes(b *testing.B) {
	groups := []string{newGroup(b), newGroup(b), newGroup(b)}
	b.Setenv("ARBOR_DATABASE", dbtest.URL(b, db.PostgreSQL))
	data, token := s.newData(b)
	var nodes []*arbor
	for _, group := range groups {
		a := s.serve(b, data, token)
		testkit.NoError(b, os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Append(nil, a.cmd.Process.Pid), 0))
		nodes = append(nodes, a)
	}
	nodes[0].create(b, "garden")
	gittest.Run(b, gittest.Repository(b, 200, 300), "push", "-q", nodes[0].remote("garden"), allBranches)
	c := connect(b, nodes[0].url)
	for i := range 30 {
		_, err := c.must(request("POST", "/repos/alice/garden/issues", token, fmt.Sprintf(`{"title":"Issue %d"}`, i)))
		testkit.NoError(b, err)
	}
	reads := [][]byte{get("/repos/alice/garden/issues/7", token), get("/repos/alice/garden/issues?per_page=30", token),
		get("/repos/alice/garden/git/trees/main", token), get("/repos/alice/garden", token)}
	from := func(n int) func() float64 {
		l := newLoad(b, "", 0, func(client int) []byte { return reads[client%len(reads)] })
		for _, a := range nodes[:n] {
			for range 2 * len(reads) {
				l.clients = append(l.clients, connect(b, a.url))
			}
		}
		return func() float64 { return l.run(b, 3*time.Second) }
	}
	one := from(1)
	from(3)() // fills the caches
	for i, bound := range []float64{1.8, 2.6} {
		n := 2 + i
		s.part(b, fmt.Sprint(n), func(b *testing.B) {
			ratio, x, y := pairs(5, from(n), one)
			s.atLeast(b, ratio, bound, "x-of-one", fmt.Sprintf("%s, each node %d %% of a core", rates(x, y), share))
		})
	}
}

// newGroup returns a control group whose processes get their share of a core. It is removed when the
// benchmark ends, after the processes that are started from now on.
func newGroup(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("/sys/fs/cgroup/cpu", "arbor-bench-")
	if err != nil {
		b.Skip("NOT MEASURED: nodes are bound by the controller cpu of cgroup v1, which must be writable: ", err)
	}
	b.Cleanup(func() {
		testkit.Eventually(b, func() bool { return os.Remove(dir) == nil }, "no process is in "+dir)
	})
	const period = 20 * time.Millisecond // short, so that a node at its bound waits briefly
	for name, value := range map[string]time.Duration{"period": period, "quota": period * share / 100} {
		testkit.NoError(b, os.WriteFile(filepath.Join(dir, "cpu.cfs_"+name+"_us"),
			fmt.Append(nil, value.Microseconds()), 0))
	}
	return dir
}
