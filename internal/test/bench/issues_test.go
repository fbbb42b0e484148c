//go:build long

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// issues measures a large tracker: its lists with a million issues compared with a thousand on both
// engines, and on SQLite reads during writes, and writes. The ratios are required on SQLite.
func (s *suite) issues(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		big, small, mixed := s.tracker(b, "", issuetest.Million()), s.tracker(b, "", issuetest.Thousand()),
			s.tracker(b, "", issuetest.Mixed())
		b.Run("lists", func(b *testing.B) { s.lists(b, big, small, mixed) })
		b.Run("read", func(b *testing.B) { s.readIssues(b, big) })
	})
	b.Run("create", s.createIssues)
	b.Run("create-postgres", s.createOnPostgres)
	b.Run("postgres", func(b *testing.B) {
		big := s.tracker(b, dbtest.URL(b, db.PostgreSQL), issuetest.Million())
		small := s.tracker(b, dbtest.URL(b, db.PostgreSQL), issuetest.Thousand())
		mixed := s.tracker(b, dbtest.URL(b, db.PostgreSQL), issuetest.Mixed())
		b.Run("lists", func(b *testing.B) { s.lists(b, big, small, mixed) })
	})
}

// tracker serves a store filled with a tracker whose busiest user is alice. An empty database address means
// SQLite.
func (s *suite) tracker(b *testing.B, database string, o issuetest.Options) *arbor {
	b.Helper()
	b.Setenv("ARBOR_DATABASE", database)
	if kept := os.Getenv("ARBOR_BENCH_STORES"); kept != "" && database == "" {
		return s.keptTracker(b, filepath.Join(kept, fmt.Sprint("tracker-", len(o.Repos), "-", o.Repos[0])), o)
	}
	data, token := s.newData(b)
	s.fillTracker(b, data, database, o)
	return s.serveTracker(b, data, token)
}

// keptTracker serves a copy of a store that an earlier run left in a folder, or
// that this one leaves there: to fill a store takes longer than to measure it.
func (s *suite) keptTracker(b *testing.B, folder string, o issuetest.Options) *arbor {
	b.Helper()
	data, token := s.newData(b)
	if _, err := os.Stat(filepath.Join(folder, "arbor.db")); err != nil {
		s.fillTracker(b, data, "", o)
		testkit.NoError(b, errors.Join(os.MkdirAll(folder, 0o700), os.CopyFS(folder, os.DirFS(data)),
			os.WriteFile(filepath.Join(folder, "token"), []byte(token), 0o600)))
	}
	data = filepath.Join(b.TempDir(), "data")
	testkit.NoError(b, os.CopyFS(data, os.DirFS(folder)))
	kept, err := os.ReadFile(filepath.Join(data, "token"))
	testkit.NoError(b, err)
	return s.serveTracker(b, data, string(kept))
}

// fillTracker fills the store of a data folder, or that at an address of
// PostgreSQL.
func (s *suite) fillTracker(b *testing.B, data, database string, o issuetest.Options) {
	b.Helper()
	if database == "" {
		database = filepath.Join(data, "arbor.db")
	}
	o.First = "alice"
	took := timed(func() {
		d, err := db.Open(context.Background(), db.Options{URL: database})
		if err == nil {
			_, err = issuetest.Fill(context.Background(), d, o)
		}
		if err == nil {
			err = d.Close()
		}
		testkit.NoError(b, err)
	})
	if strings.Contains(database, "://") {
		vacuum(b, database)
	}
	total := 0
	for _, n := range o.Repos {
		total += n
	}
	s.note(b, took, "s", fmt.Sprintf("to fill a store with %d issues", total))
}

// serveTracker serves a filled store, and has it in memory.
func (s *suite) serveTracker(b *testing.B, data, token string) *arbor {
	b.Helper()
	a := s.serve(b, data, token)
	s.warm(b, a)
	return a
}

// warm asks for one list of all repositories, and waits until the server has put
// them into memory, as it does when somebody first lists them.
func (s *suite) warm(b *testing.B, a *arbor) {
	b.Helper()
	in := newReader(b, a)
	cold := in.time("/issues?filter=all&sort=updated&page=2")
	took := a.settle(b)
	s.note(b, took.Seconds(), "s",
		fmt.Sprintf("of processor time to put all issues into memory, beside the requests; the list before took %.0f ms, the server has %.0f MiB",
			1000*cold, memory(b, a.cmd.Process.Pid, "VmRSS")))
}

// vacuum does what PostgreSQL does by itself some time after so many rows were
// written, in any server but a throw-away one: indexes alone tell then which
// rows are there.
func vacuum(b *testing.B, database string) {
	b.Helper()
	c, err := pgx.Connect(context.Background(), database)
	testkit.NoError(b, err)
	defer c.Close(context.Background())
	if _, err := c.Exec(context.Background(), `VACUUM ANALYZE`); err != nil {
		b.Fatal(err)
	}
}

// filters are the ways of choosing of a repository's list. Each finds at least
// a page of 30 in the small store, too, so that both render as much.
var filters = [...]string{"", "milestone=1", "milestone=*", "milestone=none", "assignee=alice", "assignee=*",
	"assignee=none", "creator=alice", "mentioned=alice", "labels=bug", "since=2020-03-01T00:00:00Z"}

// everyList is the address of each list: each filter in each order and state.
func everyList() []string {
	var paths []string
	for _, f := range filters {
		paths = append(paths, "/repos/works/project0/issues?"+f)
	}
	for _, list := range [...]string{"/issues", "/user/issues", "/orgs/works/issues"} {
		for _, f := range [...]string{"assigned", "created", "mentioned", "subscribed", "all"} {
			paths = append(paths, list+"?filter="+f)
		}
	}
	return inEveryOrder(paths)
}

// inEveryOrder adds each order and state to each address.
func inEveryOrder(paths []string) []string {
	var all []string
	for _, p := range paths {
		for _, sort := range [...]string{"created", "updated", "comments"} {
			for _, direction := range [...]string{"desc", "asc"} {
				for _, state := range [...]string{"open", "closed", "all"} {
					all = append(all, fmt.Sprintf("%s&sort=%s&direction=%s&state=%s", p, sort,
						direction, state))
				}
			}
		}
	}
	return all
}

// lists measures first pages against those of small stores, and deep pages and
// totals that nobody knows. A page costs what it shows, so each is held against one
// that shows as much: of one repository in a store that has most of its issues
// there, across repositories in one whose issues are as mixed as the big one's.
func (s *suite) lists(b *testing.B, big, small, mixed *arbor) {
	s.part(b, "first-page", func(b *testing.B) {
		in, one, across := newReader(b, big), newReader(b, small), newReader(b, mixed)
		beside := func(path string) *reader {
			if strings.HasPrefix(path, "/repos/") {
				return one
			}
			return across
		}
		w := worst{bound: 1.5, unit: "x-of-1000-issues"}
		for _, path := range everyList() {
			control := beside(path)
			if x, y := in.size(path), control.size(path); y < x*2/3 {
				b.Errorf("%s: the page of the small store is smaller: %d bytes of %d", path, y, x)
			}
			ratio, x, y := pairs(7, func() float64 {
				return in.time(path)
			}, func() float64 { return control.time(path) })
			w.note(path, ratio, seconds(x, y))
		}
		for path := range w.extreme(12) { // a busy machine makes some seem so
			control := beside(path)
			ratio, x, y := pairs(61, func() float64 {
				return in.time(path)
			}, func() float64 { return control.time(path) })
			w.note(path, ratio, seconds(x, y))
		}
		w.report(s, b)
	})
	for _, p := range []struct {
		name, page string
		paths      []string
		forget     bool
	}{
		{"page-1000", "&page=1000", everyList(), false},
		{"unknown-total/one-repository", "", uncounted(), true},
		{"unknown-total/all-repositories", "", uncountedAcross(), true},
	} {
		s.part(b, p.name, func(b *testing.B) {
			in := newReader(b, big)
			before := func() {}
			if p.forget {
				before = in.forget
			}
			w := worst{bound: 10, unit: "ms"}
			for _, path := range p.paths {
				w.note(path, in.median(3, path+p.page, before), "")
			}
			for path := range w.extreme(12) {
				w.note(path, in.median(21, path+p.page, before), "")
			}
			w.report(s, b)
		})
	}
}

// uncounted is the address of each list of one repository whose total no
// counter knows, in each order and state. {s} stands for seconds that differ
// each time.
func uncounted() []string {
	var paths []string
	for _, f := range [...]string{
		"since=2024-11-01T00:00:{s}Z", "since=2022-06-01T00:00:{s}Z", "since=2020-03-01T00:00:{s}Z",
		"labels=bug,documentation", "labels=bug,documentation,duplicate", "labels=bug&assignee=alice",
		"labels=bug&assignee=none",
		"labels=bug&milestone=1", "creator=alice&assignee=alice", "labels=bug&since=2022-06-01T00:00:{s}Z",
		"mentioned=alice&creator=alice&milestone=*",
	} {
		paths = append(paths, "/repos/works/project0/issues?"+f)
	}
	return inEveryOrder(paths)
}

// uncountedAcross are such lists across repositories: of a million issues.
func uncountedAcross() []string {
	return inEveryOrder([]string{
		"/issues?filter=all&since=2024-11-01T00:00:{s}Z", "/issues?filter=all&since=2020-03-01T00:00:{s}Z",
		"/issues?filter=assigned&labels=bug",
		"/issues?filter=subscribed&labels=bug,documentation",
		"/orgs/works/issues?filter=created&since=2022-06-01T00:00:{s}Z",
	})
}

// reader asks one server for lists that it has not rendered yet.
type reader struct {
	b     *testing.B
	a     *arbor
	c     *client
	count int // requests so far, and more than any reader before asked this server
}

func newReader(b *testing.B, a *arbor) *reader {
	a.readers++
	return &reader{b: b, a: a, c: connect(b, a.url), count: a.readers * 1_000_000}
}

// fresh creates an address different from all before, with the same meaning.
func (r *reader) fresh(path string) []byte {
	r.count++
	return get(strings.ReplaceAll(path, "{s}", fmt.Sprintf("%02d", r.count%60))+fmt.Sprint("&x=", r.count),
		r.a.token)
}

func (r *reader) size(path string) int64 {
	return r.ask(r.fresh(path))
}

// ask sends a request and returns the size of the answer. The server closes a connection that was idle for
// long: then ask opens another one.
func (r *reader) ask(request []byte) int64 {
	n, err := r.c.must(request)
	if errors.Is(err, io.EOF) {
		r.c = connect(r.b, r.a.url)
		n, err = r.c.must(request)
	}
	if err != nil {
		r.b.Fatal(err)
	}
	return n
}

// time is how long one answer takes, in seconds.
func (r *reader) time(path string) float64 {
	request := r.fresh(path)
	return timed(func() { r.ask(request) })
}

// median is the median of n times, in milliseconds; before runs before each.
func (r *reader) median(n int, path string, before func()) float64 {
	list := make([]float64, n)
	for k := range list {
		before()
		list[k] = 1000 * r.time(path)
	}
	return median(list)
}

// forget makes the server forget all totals of the first repository, as any
// change there does.
func (r *reader) forget() {
	path := fmt.Sprintf("/repos/works/project0/issues/%d", 1+r.count%900)
	r.ask(request("PATCH", path, r.a.token, fmt.Sprintf(`{"title":"renamed %d"}`, r.count)))
}
