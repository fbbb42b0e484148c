//go:build long

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A server that is killed at any moment while somebody forks has made a whole
// fork or none, and nothing that lies on the disk for ever. If this failed, a
// fork would look right and break when it is cloned.
func TestKilledInFork(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		rounds := roundsOr(2)
		s := serving(t, engine)
		s.user("alice")
		dir := heavy(t, 3<<20)
		add(t, dir, "tiny", "one")
		s.repo("alice/open", dir)
		s.privateRepo("alice/closed", dir)
		want := fmt.Sprint(refs(t, s.remote("", "alice/open")))
		random := seeded(t)
		made := 0
		for round := range rounds {
			from := []string{"open", "closed"}[round%2]
			org := fmt.Sprintf("org%d", round)
			s.org(org)
			answered := make(chan int, 1)
			go func() { answered <- s.tryFork("alice", from, org) }()
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
			s.kill()
			status := <-answered
			s.start()
			remote := s.remote("alice", org+"/"+from)
			if try(t, "", "ls-remote", remote).err == nil {
				made++
				if got := fmt.Sprint(refs(t, remote)); got != want {
					t.Errorf("round %d: the fork has %s, want %s", round, got, want)
				}
				whole(t, remote)
			} else if status == http.StatusAccepted {
				t.Errorf("round %d: the fork was acknowledged and is gone", round)
			}
			whole(t, s.remote("alice", "alice/"+from))
			if status := s.tryFork("alice", from, org); status != http.StatusAccepted {
				t.Errorf("round %d: forking again answered %d", round, status)
			}
			whole(t, remote)
		}
		t.Logf("%d of %d forks were made before the kill", made, rounds)
		s.sound()
		s.stop()
		s.exec(`UPDATE reserved_repos SET at = 0`)
		s.sweep(0) // once to set them aside
		s.sweep(0)
		s.start()
		directories := func() []string {
			list, err := filepath.Glob(filepath.Join(s.data, "repositories", "*", "*"))
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		testkit.Eventually(t, func() bool { return len(directories()) == rounds+2 },
			"no more directories than repositories", func() string { return strings.Join(directories(), " ") })
		for _, r := range []string{"alice/open", "alice/closed"} {
			res, text := s.do("alice", "GET", "/repos/"+r, nil, nil)
			if count := fmt.Sprintf(`"forks_count":%d`, rounds/2); res.StatusCode != 200 ||
				!strings.Contains(text, count) {
				t.Errorf("%s: %d, want %s in %s", r, res.StatusCode, count, text)
			}
		}
		gittest.Run(t, dir, "push", "-q", s.remote("alice", "org0/open"), "tiny:after")
	})
}

// tryFork forks a repository of alice's for an organization and gives the
// status, 0 when no answer came.
func (s *instance) tryFork(login, name, org string) int {
	r, err := http.NewRequest("POST", s.url+"/repos/alice/"+name+"/forks",
		strings.NewReader(`{"organization": "`+org+`"}`))
	if err != nil {
		return 0
	}
	r.SetBasicAuth(login, s.tokens[login])
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}
