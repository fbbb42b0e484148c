//go:build long

package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Two people push to one branch at the same time, both from its present tip. If
// both succeeded, the work of one would be lost without a word.
func TestPushRace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		s.user("alice")
		s.repo("alice/garden", "")
		remote := s.remote("alice", "alice/garden")
		dir := gittest.Bare(t)
		add(t, dir, "main", "one")
		gittest.Run(t, dir, "push", "-q", remote, "main", "main:free")
		tips := map[string]bool{}
		for _, name := range []string{"left", "right"} {
			gittest.Run(t, dir, "branch", name, "main")
			noise := make([]byte, 64<<10) // more than the valves let through
			rand.Read(noise)
			tips[string(add(t, dir, name, name+hex.EncodeToString(noise)))] = true
		}
		before := s.packCount()
		first, second := newValve(t, s.url, 16<<10, -1), newValve(t, s.url, 16<<10, -1)
		_, left := begin(t, dir, "push", first.remote(s, "alice", "alice/garden"), "left:main", "left:born")
		_, right := begin(t, dir, "push", second.remote(s, "alice", "alice/garden"), "right:main", "right:born",
			"right:other")
		testkit.Eventually(t, func() bool { return len(s.incoming()) == 2 }, "two quarantines")
		release := s.hold()
		first.release()
		second.release()
		s.packs(t, before+2) // both have read the old tip, and neither can commit
		release()
		l, r := <-left, <-right
		if (l.err == nil) == (r.err == nil) {
			t.Fatalf("both or none won:\n%s\n%s", l.out, r.out)
		}
		winner, loser := "left", r.out
		if l.err != nil {
			winner, loser = "right", l.out
		}
		if !strings.Contains(loser, "-> main (reference has changed; fetch first)") {
			t.Errorf("the loser reads:\n%s", loser)
		}
		if !strings.Contains(loser, "-> born (reference already exists)") {
			t.Errorf("the loser reads of the branch that both create:\n%s", loser)
		}
		got := refs(t, remote)
		if want := gittest.Run(t, dir, "rev-parse", winner); got["refs/heads/main"] != want || !tips[want] {
			t.Errorf("main is %s, want %s, the winner's", got["refs/heads/main"], want)
		} else if got["refs/heads/born"] != want {
			t.Errorf("born is %q, want %s, the winner's", got["refs/heads/born"], want)
		}
		// What is not atomic goes through as far as it can.
		if want := gittest.Run(t, dir, "rev-parse", "right"); got["refs/heads/other"] != want {
			t.Errorf("the other ref of the right push is %q, want %s", got["refs/heads/other"], want)
		}
		// The loser does what it was told, and gets through.
		if winner == "left" {
			gittest.Run(t, dir, "push", "-q", "--force", remote, "right:main")
		}
		whole(t, remote)
	})
}

// A team pushes to branches of its own at the same time. If one of these failed,
// a busy repository would need people to try again.
func TestPushesToManyBranches(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		const clients, rounds = 8, 3
		s := serving(t, engine)
		s.user("alice")
		s.repo("alice/garden", "")
		remote := s.remote("alice", "alice/garden")
		dir := gittest.Bare(t)
		add(t, dir, "main", "one")
		want := map[string]string{}
		for round := range rounds {
			var pushes []<-chan gitRun
			for c := range clients {
				branch := fmt.Sprintf("topic-%d", c)
				if round == 0 {
					gittest.Run(t, dir, "branch", branch, "main")
				}
				want["refs/heads/"+branch] = string(add(t, dir, branch,
					fmt.Sprintf("%s in round %d", branch, round)))
				_, ended := begin(t, dir, "push", remote, branch)
				pushes = append(pushes, ended)
			}
			for _, ended := range pushes {
				if r := <-ended; r.err != nil {
					t.Errorf("push: %v\n%s", r.err, r.out)
				}
			}
		}
		got := refs(t, remote)
		for name, sha := range want {
			if got[name] != sha {
				t.Errorf("%s is %s, want %s", name, got[name], sha)
			}
		}
		whole(t, remote)
	})
}
