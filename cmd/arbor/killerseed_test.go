//go:build long

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// A server that is killed while it fills its store leaves what nobody can use; started again with the seed,
// it has what it would have had.
func TestKilledInSeed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const n = 20
		text := "users:\n  - {login: alice, tokens: [arb_alice_secret]}\nrepos:\n"
		for i := range n {
			text += fmt.Sprintf("  - name: alice/r%d\n    files: {README.md: \"%[1]d\\n\"}\n"+
				"    issues: [{title: Slugs, comments: [{body: Salt}]}, {title: Snails}]\n", i)
		}
		file := writeSeed(t, text)
		s := newInstance(t, engine)
		for _, repos := range []int{n / 2, 1} {
			s.killInSeed(file, repos, n)
		}
		if out := s.refused(); !strings.Contains(out, "the store is half filled with a seed") {
			t.Errorf("without the seed: %s", out)
		}
		whole := newInstance(t, engine)
		for _, s := range []*instance{s, whole} {
			s.tokens["alice"] = "arb_alice_secret"
			s.start("--seed", file, "--base-url", "http://arbor.test")
		}
		testkit.Eventually(t, func() bool { return strings.Contains(s.log.String(), "was emptied") },
			"the log says so", s.log.String)
		for _, path := range []string{"/users/alice", "/user/repos?per_page=100", "/repos/alice/r0/commits",
			"/repos/alice/r19/git/trees/main", "/repos/alice/r19/issues/1/comments",
			"/issues?filter=all&per_page=100", "/users/alice/events?per_page=100",
			"/search/issues?q=snails"} {
			res, got := s.do("alice", "GET", path, nil, nil)
			if _, want := whole.do("alice", "GET", path, nil, nil); res.StatusCode != 200 || got != want {
				t.Errorf("%s is %d\n%s\nand was never killed:\n%s", path, res.StatusCode, got, want)
			}
		}
		s.stop()
		s.start()
		if code := s.status("POST", "/repos/alice/r19/issues", `{"title": "since"}`); code != 201 {
			t.Errorf("an issue: %d", code)
		}
	})
}

// killInSeed starts a server with a seed, and kills it when the store holds so many of its repositories.
func (s *instance) killInSeed(file string, repos, all int) {
	s.t.Helper()
	testkit.NoError(s.t, os.MkdirAll(s.data, 0o700))
	cmd := exec.Command("arbor", "serve", "--seed", file)
	cmd.Env, cmd.Stderr = s.env, s.log
	testkit.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() { _ = cmd.Process.Kill() })
	testkit.Eventually(s.t, func() bool {
		return s.database != "" || len(glob(s.t, filepath.Join(s.data, "arbor.db"))) > 0
	}, "a database", s.log.String)
	d := s.open()
	defer d.Close()
	filled := func() (n int) {
		testkit.NoError(s.t, d.Read(s.t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*) FROM repos
				WHERE EXISTS (SELECT 1 FROM seeds WHERE NOT finished)`).Scan(&n)
		}))
		return n
	}
	testkit.Eventually(s.t, func() bool { return filled() >= repos }, "a half filled store", s.log.String)
	testkit.NoError(s.t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		s.t.Fatalf("the server ended by itself:\n%s", s.log)
	}
	if left := filled(); left < repos || left == all {
		s.t.Fatalf("%d repositories are left", left)
	}
}
