package main

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A server that is killed while a push is on its way has it whole or not at
// all. If this failed, a power cut would leave branches that cannot be cloned.
func TestKilledInPush(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		s.user("alice")
		s.repo("alice/garden", "")
		dir := heavy(t, 3<<20)
		gittest.Run(t, dir, "branch", "first", string(add(t, dir, "tiny", "one")))
		gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), "first")

		t.Log("while the pack streams in")
		v := newValve(t, s.url, 1<<20, -1)
		_, push := begin(t, dir, "push", v.remote(s, "alice", "alice/garden"), "main")
		v.wait(t)
		testkit.Eventually(t, func() bool { return len(s.incoming()) == 1 }, "a quarantine")
		s.kill()
		if r := <-push; r.err == nil {
			t.Errorf("the push succeeds without a server:\n%s", r.out)
		}
		s.restartAfterKill(dir, "first")

		t.Log("when all is received, before the refs are committed")
		before := s.packCount()
		v = newValve(t, s.url, 1<<20, -1)
		_, push = begin(t, dir, "push", v.remote(s, "alice", "alice/garden"), "main", "tiny")
		testkit.Eventually(t, func() bool { return len(s.incoming()) == 2 }, "a second quarantine")
		release := s.hold()
		v.release()
		s.packs(t, before+1)
		testkit.Eventually(t, func() bool { return len(s.incoming()) == 1 }, // the one of the first kill
			"one quarantine", func() string { return strings.Join(s.incoming(), "\n") })
		s.kill()
		release()
		if r := <-push; r.err == nil {
			t.Errorf("the push succeeds without a server:\n%s", r.out)
		}
		s.restartAfterKill(dir, "first")

		t.Log("right after the acknowledgement")
		gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), "main", "tiny")
		s.kill()
		s.restartAfterKill(dir, "first", "main", "tiny")
		s.sweepAll()
	})
}

// restartAfterKill starts a server again, which must have exactly these
// branches, as they are in dir, and take pushes.
func (s *instance) restartAfterKill(dir string, branches ...string) {
	s.t.Helper()
	s.start()
	remote := s.remote("alice", "alice/garden")
	got := refs(s.t, remote)
	for _, b := range branches {
		if want := gittest.Run(s.t, dir, "rev-parse", b); got["refs/heads/"+b] != want {
			s.t.Errorf("after the crash %s is %q, want %s", b, got["refs/heads/"+b], want)
		}
	}
	if len(got) != len(branches) {
		s.t.Errorf("after the crash there are %v, want %q", got, branches)
	}
	whole(s.t, remote)
	gittest.Run(s.t, dir, "push", "-q", remote, branches[0]+":after")
	gittest.Run(s.t, dir, "push", "-q", remote, ":after")
}

// sweepAll sweeps away what kills left.
func (s *instance) sweepAll() {
	s.t.Helper()
	s.stop()
	s.sweep()
	s.start()
	s.quiet()
}

// sweep does at once the sweep that nodes do in six hours, without its grace: nobody writes.
func (s *instance) sweep() {
	s.t.Helper()
	d := s.open()
	defer d.Close()
	log := slog.New(slog.DiscardHandler)
	f := forge.New(d, gittest.New(s.t, git.Options{}), log, s.data)
	testkit.NoError(s.t, f.Maintenance.Sweep(s.t.Context(), 0))
}

// open opens the server's database a second time.
func (s *instance) open() *db.DB {
	s.t.Helper()
	url := s.database
	if url == "" {
		url = filepath.Join(s.data, "arbor.db")
	}
	d, err := db.Open(s.t.Context(), db.Options{URL: url})
	testkit.NoError(s.t, err)
	return d
}

// exec runs a statement on the server's database.
func (s *instance) exec(query string, args ...any) {
	s.t.Helper()
	d := s.open()
	defer d.Close()
	testkit.NoError(s.t, d.Write(s.t.Context(), func(tx *db.Tx) error { return tx.Run(query, args...) }))
}

// A stop waits for a clone and a push that are on their way, however slow, and lets nobody new in. If this
// failed, each restart would break builds.
func TestStopFinishesTransfers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		s.user("alice")
		source := heavy(t, 12<<20) // more than the kernel's buffers hold
		s.repo("alice/garden", source)
		s.repo("alice/shed", "")
		out, in, dir := newValve(t, s.url, -1, 1<<20), newValve(t, s.url, 1<<20, -1), t.TempDir()
		out.drips.Store(true)
		in.drips.Store(true)
		_, clone := begin(t, dir, "clone", out.remote(s, "alice", "alice/garden"), "clone")
		_, push := begin(t, source, "push", in.remote(s, "alice", "alice/shed"), "main")
		out.wait(t)
		in.wait(t)
		testkit.Eventually(t, func() bool { return len(s.incoming()) == 1 }, "a quarantine")
		stopped := make(chan error, 1)
		go func() { stopped <- s.tryStop() }()
		testkit.Eventually(t, func() bool {
			return try(t, dir, "ls-remote", s.remote("", "alice/garden")).err != nil
		}, "a refused connection")
		select {
		case err := <-stopped:
			t.Fatalf("the server ended (%v) with a clone on its way", err)
		default:
		}
		out.release()
		in.release()
		for name, ended := range map[string]<-chan gitRun{"clone": clone, "push": push} {
			if r := <-ended; r.err != nil {
				t.Errorf("%s: %v\n%s", name, r.err, r.out)
			}
		}
		if err := <-stopped; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		gittest.Run(t, dir+"/clone", "fsck", "--strict")
		s.start()
		if got := refs(t, s.remote("alice", "alice/shed")); got["refs/heads/main"] == "" {
			t.Errorf("what was acknowledged is gone: %v", got)
		}
	})
}
