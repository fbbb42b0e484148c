//go:build long

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// manyRepos is a seed that takes a while.
func manyRepos(n int) string {
	var b strings.Builder
	b.WriteString("users:\n  - {login: alice, tokens: [arb_alice_secret]}\nrepos:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: alice/r%d\n    files: {README.md: \"%d\\n\"}\n    issues: [{title: Slugs, comments: [{body: Salt}]}, {title: Snails}]\n", i, i)
	}
	return b.String()
}

// beginsToFill starts a server with a seed, and returns when the store holds some
// of it.
func (s *instance) beginsToFill(file string, repos int) *exec.Cmd {
	s.t.Helper()
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command("arbor", "serve", "--seed", file)
	cmd.Env, cmd.Stderr = s.env, s.log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill() })
	if s.database == "" {
		file := filepath.Join(s.data, "arbor.db")
		made := func() bool { _, err := os.Stat(file); return err == nil }
		testkit.Eventually(s.t, made, "a database", s.log.String)
	}
	d := s.open()
	defer d.Close()
	testkit.Eventually(s.t, func() bool { return s.halfFilled(d) >= repos },
		"a half filled store", s.log.String)
	return cmd
}

// halfFilled is the number of repositories of a store that is being filled.
func (s *instance) halfFilled(d *db.DB) (repos int) {
	s.t.Helper()
	err := d.Read(s.t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM repos WHERE EXISTS (SELECT 1 FROM seeds WHERE NOT finished)`).Scan(&repos)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return repos
}

// get is what alice reads.
func (s *instance) get(path string) string {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer arb_alice_secret")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != 200 {
		s.t.Fatalf("%s: %d %s %v", path, a.StatusCode, body, err)
	}
	return string(body)
}

// A server that is killed while it fills its store leaves what nobody can use and
// nobody is given; started again with the seed, it has what it would have had.
func TestKilledInSeed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const n = 20
		file := writeSeed(t, manyRepos(n))
		s := newInstance(t, engine)
		for _, repos := range []int{n / 2, 1} {
			cmd := s.beginsToFill(file, repos)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Fatalf("the server ended by itself:\n%s", s.log)
			}
			d := s.open()
			if left := s.halfFilled(d); left < repos || left == n {
				t.Fatalf("%d repositories are left", left)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if out := s.refused(); !strings.Contains(out, "the store is half filled with a seed") {
			t.Errorf("without the seed: %s", out)
		}
		s.start("--seed", file, "--base-url", "http://arbor.test")
		testkit.Eventually(t, func() bool { return strings.Contains(s.log.String(), "it was emptied") },
			"the log says so", s.log.String)
		whole := newInstance(t, engine)
		whole.start("--seed", file, "--base-url", "http://arbor.test")
		for _, path := range []string{"/users/alice", "/user/repos?per_page=100", "/repos/alice/r0/commits",
			"/repos/alice/r19/git/trees/main", "/repos/alice/r19/issues/1/comments",
			"/issues?filter=all&per_page=100", "/users/alice/events?per_page=100",
			"/search/issues?q=snails"} {
			if got, want := s.get(path), whole.get(path); got != want {
				t.Errorf("%s is\n%s\nand was never killed:\n%s", path, got, want)
			}
		}
		s.stop()
		s.start()
		if code := s.status("POST", "/repos/alice/r19/issues", `{"title": "since"}`); code != 201 {
			t.Errorf("an issue: %d", code)
		}
	})
}
