//go:build long

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Clients that go away in the middle, in any way, cost the server nothing that
// stays. If this failed, a bad network would fill it with processes until it
// serves no one.
func TestHangUp(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		admin := testkit.FreeAddress(t)
		// What does not fit into the cache of fetches waits for its client, and git with it.
		s := serving(t, engine, "--admin-listen", admin, "--fetch-cache", "1MiB")
		goroutines := func() float64 { return readMetrics(t, admin)["go_goroutines"] }
		s.user("alice")
		dir := heavy(t, 24<<20)
		s.repo("alice/garden", dir)
		s.repo("alice/empty", "")
		s.quiet()
		whole(t, s.remote("alice", "alice/garden"))
		before := goroutines()
		files := len(s.objects())
		for _, way := range []string{"killed", "interrupted", "cut off"} {
			leave := func(v *valve, p *os.Process, ended <-chan gitRun) {
				switch way {
				case "killed":
					p.Signal(syscall.SIGKILL)
				case "interrupted":
					p.Signal(syscall.SIGINT)
				}
				v.cut()
				v.release()
				if r := <-ended; r.err == nil {
					t.Errorf("the client that was %s succeeded:\n%s", way, r.out)
				}
				s.quiet()
			}
			for _, protocol := range []string{"0", "2"} {
				v := newValve(t, s.url, -1, 1<<20)
				cmd, clone := begin(t, t.TempDir(), "-c", "protocol.version="+protocol, "clone",
					v.remote(s, "alice", "alice/garden"), "clone")
				v.wait(t)
				if len(s.gitProcesses()) == 0 {
					t.Error("no process of git serves the clone: this test looks for the wrong ones")
				}
				leave(v, cmd.Process, clone)
			}
			v := newValve(t, s.url, 1<<20, -1)
			cmd, push := begin(t, dir, "push", v.remote(s, "alice", "alice/empty"), "main")
			v.wait(t)
			testkit.Eventually(t, func() bool {
				return len(s.incoming()) == 1
			}, "a quarantine")
			leave(v, cmd.Process, push)
		}
		testkit.Eventually(t, func() bool { return goroutines() <= before+2 }, "as many goroutines as before",
			func() string { return fmt.Sprint(goroutines(), before) })
		if now := len(s.objects()); now != files {
			t.Errorf("%d files of objects where %d were before", now, files)
		}
		if got := refs(t, s.remote("alice", "alice/empty")); len(got) != 0 {
			t.Errorf("a push that never ended made %v", got)
		}
		gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/empty"), "main")
	})
}

// A push whose client says nothing more is in nobody's way. If this failed, a few dead connections would stop
// everyone.
func TestStalledPushDisturbsNobody(t *testing.T) {
	t.Parallel()
	s := serving(t, db.SQLite)
	s.user("alice")
	s.repo("alice/garden", "")
	dir := heavy(t, 3<<20)
	add(t, dir, "small", "one")
	for n := range 4 {
		v := newValve(t, s.url, 1<<20, -1)
		_, push := begin(t, dir, "push", v.remote(s, "alice", "alice/garden"),
			fmt.Sprintf("main:stalled-%d", n))
		v.wait(t)
		defer func() { <-push }()
		defer v.cut()
	}
	for n := range 5 {
		gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), fmt.Sprintf("small:small-%d", n))
	}
	gittest.Run(t, t.TempDir(), "clone", "-q", "--branch", "small-1", s.remote("", "alice/garden"), "clone")
	for name := range refs(t, s.remote("", "alice/garden")) {
		if strings.Contains(name, "stalled") {
			t.Errorf("%s is there before its pack", name)
		}
	}
}

// readMetrics reads the metrics that have no labels, by name.
func readMetrics(t testing.TB, admin string) map[string]float64 {
	t.Helper()
	res, err := http.Get(fmt.Sprintf("http://%s/metrics", admin))
	testkit.NoError(t, err)
	defer res.Body.Close()
	m := map[string]float64{}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			m[name] = n
		}
	}
	return m
}
