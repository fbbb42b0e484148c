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
		for kills, repos := range []int{n / 2, 1} {
			if filled := s.killInSeed(file, kills, repos); filled == n {
				t.Fatalf("all %d repositories are there", n)
			}
		}
		if out := s.refused(); !strings.Contains(out, "the store is half filled with a seed") {
			t.Errorf("without the seed: %s", out)
		}
		whole := newInstance(t, engine)
		for _, s := range []*instance{s, whole} {
			s.tokens["alice"] = "arb_alice_secret"
			s.start("--seed", file, "--base-url", "http://arbor.test")
		}
		testkit.Eventually(t, func() bool { return s.emptied() == 2 }, "the log says so", s.log.String)
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

// emptied counts how often a server has emptied its half filled store.
func (s *instance) emptied() int { return strings.Count(s.log.String(), "was emptied") }

// killInSeed starts a server with a seed, and kills it when the store holds so many of its repositories or more, which
// it returns. kills is how often that has been done to the store.
func (s *instance) killInSeed(file string, kills, repos int) (filled int) {
	s.t.Helper()
	testkit.NoError(s.t, os.MkdirAll(s.data, 0o700))
	cmd := exec.Command("arbor", "serve", "--seed", file)
	cmd.Env, cmd.Stderr = s.env, s.log
	testkit.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() { _ = cmd.Process.Kill() })
	testkit.Eventually(s.t, func() bool {
		return s.emptied() == kills && (s.database != "" || len(glob(s.t, filepath.Join(s.data, "arbor.db"))) > 0)
	}, "a database", s.log.String)
	d := s.open()
	defer d.Close()
	testkit.Eventually(s.t, func() bool {
		testkit.NoError(s.t, d.Write(s.t.Context(), func(tx *db.Tx) error {
			if tx.Engine() == db.PostgreSQL { // SQLite has one writer: none is added before the kill
				if err := tx.Run(`LOCK TABLE repos IN SHARE MODE`); err != nil {
					return err
				}
			}
			err := tx.QueryRow(`SELECT COUNT(*) FROM repos
				WHERE EXISTS (SELECT 1 FROM seeds WHERE NOT finished)`).Scan(&filled)
			if err == nil && filled >= repos {
				err = cmd.Process.Kill()
			}
			return err
		}))
		return filled >= repos
	}, "a half filled store", s.log.String)
	if err := cmd.Wait(); err == nil {
		s.t.Fatalf("the server ended by itself:\n%s", s.log)
	}
	return filled
}
