//go:build long

package main

import (
	"fmt"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

// A server that is killed while repositories change owners, and are pushed to by their old
// addresses, has each with one owner: the one that was acknowledged last, or the one to whom it
// was on its way. What was pushed is there.
func TestKilledInTransfer(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		s.user("alice")
		s.org("guild")
		s.repo("alice/garden", "")
		dir := gittest.Bare(t)
		add(t, dir, "main", "begin")
		gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), "main")
		random := seeded(t)
		owners, at := []string{"alice", "guild"}, 0
		for round := range roundsOr(2) {
			branch := fmt.Sprintf("b%d", round)
			pushed := string(add(t, dir, branch, branch))
			_, push := begin(t, dir, "push", s.remote("alice", owners[at]+"/garden"), branch)
			due := time.Now().Add(time.Duration(random.IntN(150)) * time.Millisecond)
			killed := make(chan struct{})
			go func() { time.Sleep(time.Until(due)); s.kill(); close(killed) }()
			next := at
			for {
				next = 1 - at
				status, _ := s.tryDo("POST", "/repos/"+owners[at]+"/garden/transfer",
					`{"new_owner": "`+owners[next]+`"}`)
				if status != 202 {
					break
				}
				at = next
			}
			<-killed
			acknowledged := (<-push).err == nil
			s.start()
			there := []int{}
			for i, owner := range owners {
				if r, _ := s.do("alice", "GET", "/repos/"+owner+"/garden", nil, nil); r.StatusCode == 200 {
					there = append(there, i)
				}
			}
			if len(there) != 1 || there[0] != at && there[0] != next {
				t.Fatalf("round %d: the repository is of %v, acknowledged was %d, then %d", round,
					there, at, next)
			}
			at = there[0]
			if got := refs(t, s.remote("alice", owners[at]+"/garden"))["refs/heads/"+branch]; got != pushed &&
				(acknowledged || got != "") {
				t.Errorf("round %d: %s is %q, want %s", round, branch, got, pushed)
			}
			s.sound()
		}
		s.sweepAll()
	})
}
