//go:build long

package bench

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// costs measures the processor time that a request takes of a node with its git processes, and of all
// processes of PostgreSQL, with the work that it leaves behind. One client asks, so nothing is shared between
// requests: many at once cost less each. Time that others use on the machine does not count, but what they
// drive out of the processor's caches does.
func (s *suite) costs(b *testing.B) {
	m := s.newMeter(b)
	issue := get("/repos/alice/garden/issues/7", m.a.token)
	reads := []struct {
		name    string
		times   int
		request []byte
	}{
		{"issue", 2000, issue},
		{"issues", 500, get("/repos/alice/garden/issues?per_page=30", m.a.token)},
		{"tree", 1000, get("/repos/alice/garden/git/trees/main", m.a.token)},
		{"page", 300, get("/alice/garden", "")},
	}
	none := m.each(500, m.commit) // which only tells the nodes that something has changed
	for _, r := range reads {
		s.part(b, r.name, func(b *testing.B) {
			s.noteCost(b, m.each(r.times, func(int) { m.ask(r.request) }), "")
		})
		s.part(b, r.name+"-after-a-commit", func(b *testing.B) {
			c := m.each(r.times, func(i int) { m.commit(i); m.ask(r.request) })
			s.noteCost(b, c.minus(none), "somebody wrote since the last read")
		})
	}
	write := func(name string, times int, detail string, do func(i int)) {
		s.part(b, name, func(b *testing.B) { s.noteCost(b, m.each(times, do), detail) })
	}
	post := func(method, path, body string) func(i int) {
		return func(i int) {
			fill := func(text string) string { return strings.ReplaceAll(text, "{i}", strconv.Itoa(i)) }
			m.ask(request(method, "/repos/alice/garden/"+fill(path), m.a.token, fill(body)))
		}
	}
	write("issue-created", 200, "", post("POST", "issues", `{"title":"number {i}","body":"Why, in a line."}`))
	write("comment", 200, "", post("POST", "issues/7/comments", `{"body":"comment number {i}"}`))
	write("status", 200, "", post("POST", "statuses/"+m.head, `{"state":"success","context":"job {i}"}`))
	write("contents", 100, "", post("PUT", "contents/file-{i}", `{"message":"number {i}","content":"dGV4dA=="}`))
	write("pull-and-merge", proposals, "made, and merged once it is known to merge", func(i int) {
		body := fmt.Sprintf(`{"title":"Change %d","head":"head%d","base":"main"}`, i, i)
		number := m.a.call(b, "POST", "/repos/alice/garden/pulls", body)["number"]
		m.ask(request("PUT", fmt.Sprintf("/repos/alice/garden/pulls/%v/merge", number), m.a.token, ""))
	})
	write("push", 30, "one commit", m.push(b))
	clone := func(int) {
		gittest.Run(b, b.TempDir(), "clone", "-q", "--bare", "--depth", "1", m.a.remote("garden"),
			filepath.Join(b.TempDir(), "clone"))
	}
	write("clone", 100, "--depth 1, of 300 files; the pack is shared", clone)
	s.part(b, "clone-after-a-commit", func(b *testing.B) {
		put := post("PUT", "contents/again-{i}", `{"message":"number {i}","content":"dGV4dA=="}`)
		c, writes := m.each(30, func(i int) { put(i); clone(i) }), m.each(30, func(i int) { put(100 + i) })
		s.noteCost(b, c.minus(writes), "the first of a new commit")
	})
	write("fetch", 100, "nothing new", func(int) { gittest.Run(b, m.work, "fetch", "-q", m.a.remote("garden"), "main") })
}

// proposals is how many branches are merged.
const proposals = 30

// cost is the processor time of a request in milliseconds.
type cost struct{ node, postgres float64 }

func (c cost) minus(other cost) cost { return cost{c.node - other.node, c.postgres - other.postgres} }

func (s *suite) noteCost(b *testing.B, c cost, detail string) {
	s.note(b, c.node, "ms-of-node", detail)
	s.note(b, c.postgres, "ms-of-postgres", detail)
}

// meter is a node on PostgreSQL with a repository that has issues and branches to merge.
type meter struct {
	b          *testing.B
	a          *arbor
	client     *client
	postmaster int
	commits    *pgx.Conn
	head       string
	work       string // a clone
}

func (s *suite) newMeter(b *testing.B) *meter {
	b.Helper()
	address := dbtest.URL(b, db.PostgreSQL)
	b.Setenv("ARBOR_DATABASE", address)
	data, token := s.newData(b)
	m := &meter{b: b, a: s.serve(b, data, token), postmaster: dbtest.Postmaster(b)}
	var err error
	m.commits, err = pgx.Connect(b.Context(), address)
	testkit.NoError(b, err)
	b.Cleanup(func() { m.commits.Close(b.Context()) })
	m.client = connect(b, m.a.url)
	m.a.create(b, "garden")
	dir := gittest.Repository(b, 200, 300)
	m.head = gittest.Run(b, dir, "rev-parse", "main")
	gittest.Import(b, dir, manyHeads(m.head, proposals))
	gittest.Run(b, dir, "push", "-q", m.a.remote("garden"), allBranches)
	m.work = b.TempDir()
	gittest.Run(b, m.work, "clone", "-q", "--branch", "main", dir, ".")
	for i := range 60 {
		m.ask(request("POST", "/repos/alice/garden/issues", token,
			fmt.Sprintf(`{"title":"Issue %d","body":"It does not work, and it should.","labels":["bug"]}`, i)))
	}
	return m
}

func (m *meter) ask(request []byte) {
	_, err := m.client.must(request)
	testkit.NoError(m.b, err)
}

// commit has PostgreSQL end a transaction that may have written, so that nodes look again.
func (m *meter) commit(int) {
	_, err := m.commits.Exec(m.b.Context(), `SELECT pg_current_xact_id()`)
	testkit.NoError(m.b, err)
}

// push returns a function that commits to a branch and pushes it.
func (m *meter) push(b *testing.B) func(i int) {
	gittest.Run(b, m.work, "checkout", "-q", "-b", "topic")
	return func(i int) {
		gittest.Run(b, m.work, "commit", "-q", "--allow-empty", "-m", fmt.Sprint("number ", i))
		gittest.Run(b, m.work, "push", "-q", m.a.remote("garden"), "topic")
	}
}

// each does something so many times, waits until the node is at rest, and returns what one time took.
func (m *meter) each(times int, do func(i int)) cost {
	m.b.Helper()
	do(0)
	m.a.settle(m.b)
	node, postgres := treeTicks(m.a.cmd.Process.Pid), treeTicks(m.postmaster)
	for i := range times - 1 {
		do(i + 1)
	}
	m.a.settle(m.b)
	each := func(ticks int) float64 { return float64(ticks) * 10 / float64(times-1) }
	return cost{each(treeTicks(m.a.cmd.Process.Pid) - node), each(treeTicks(m.postmaster) - postgres)}
}
