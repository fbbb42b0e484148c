//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// proposals serves alice's repository garden with so many pull requests, each of
// a branch h0, h1, ... with a file of its own, and gives where it came from.
func proposals(t *testing.T, engine db.Engine, n int) (s *instance, dir string) {
	t.Helper()
	s = serving(t, engine)
	s.user("alice")
	dir = gittest.Repository(t, 2, 5)
	var in bytes.Buffer
	main := gittest.Run(t, dir, "rev-parse", "main")
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/h%d\ncommitter %s %d +0000\ndata 1\nh\nfrom %s\nM 100644 inline new%d\ndata 1\nx\n", i, gittest.Author, gittest.Start, main, i)
	}
	in.WriteString("done\n")
	gittest.Import(t, dir, &in)
	s.repo("alice/garden", dir)
	for i := range n {
		if status, text := s.tryCall("POST", "pulls",
			fmt.Sprintf(`{"title": "h%d", "head": "h%d", "base": "main"}`, i, i)); status != 201 {
			t.Fatalf("%d %s", status, text)
		}
	}
	return s, dir
}

// tryCall makes a request of alice's about garden; the status is 0 when no whole
// answer came.
func (s *instance) tryCall(method, path, body string) (status int, text string) {
	return s.tryDo(method, "/repos/alice/garden/"+path, body)
}

// tryDo is tryCall for any path.
func (s *instance) tryDo(method, path, body string) (status int, text string) {
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	r.SetBasicAuth("alice", s.tokens["alice"])
	res, err := (&http.Client{Timeout: testkit.Patience,
		Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ""
	}
	return res.StatusCode, string(data)
}

// parents of a commit, as the API tells them.
func (s *instance) parents(sha string) (list []string) {
	status, text := s.tryCall("GET", "git/commits/"+sha, "")
	var c struct{ Parents []struct{ SHA string } }
	if err := json.Unmarshal([]byte(text), &c); status != 200 || err != nil {
		s.t.Fatalf("%s: %d %s", sha, status, text)
	}
	for _, p := range c.Parents {
		list = append(list, p.SHA)
	}
	return list
}

// A server is killed as soon as it has acknowledged a push to a pull request:
// the next one makes the test merge, without being asked. If this failed, people
// would wait for ever for what nobody works at.
func TestKilledBeforeTestMerge(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, dir := proposals(t, engine, 1)
		for round := range 2 {
			head := string(add(t, dir, "h0", fmt.Sprint("round ", round)))
			gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), "h0")
			s.kill()
			s.start()
			remote := s.remote("alice", "alice/garden")
			testkit.Eventually(t, func() bool {
				got := refs(t, remote)
				if got["refs/pull/1/head"] != head {
					t.Fatalf("round %d: refs/pull/1/head is %s, pushed was %s", round,
						got["refs/pull/1/head"], head)
				}
				merge := got["refs/pull/1/merge"]
				return merge != "" && strings.Join(s.parents(merge), " ") == got["refs/heads/main"]+" "+head
			}, fmt.Sprintf("round %d: a test merge of %s", round, head))
			if _, text := s.tryCall("GET", "pulls/1", ""); !strings.Contains(text, `"mergeable":true`) ||
				!strings.Contains(text, head) {
				t.Errorf("round %d: %s", round, text)
			}
		}
		whole(t, s.remote("alice", "alice/garden"))
		s.sound()
	})
}

// A server is killed at any step of merges: what was acknowledged is merged,
// what was not is merged or can be, and branch, pull request and refs agree. If
// this failed, a merge could be half done, which nobody could finish.
func TestKilledInMerge(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		rounds := roundsOr(2)
		s, _ := proposals(t, engine, 2*rounds)
		random := seeded(t)
		before := 0
		for round := range rounds {
			release := func() {}
			wait := time.Duration(random.IntN(40)) * time.Millisecond
			if round%4 == 0 { // everything is done but the commit
				release, wait = s.hold(), 300*time.Millisecond
			}
			var statuses [2]int
			var both sync.WaitGroup
			for k := range statuses {
				both.Go(func() {
					statuses[k], _ = s.tryCall("PUT", fmt.Sprintf("pulls/%d/merge", 2*round+k+1), "")
				})
			}
			time.Sleep(wait)
			s.kill()
			release()
			both.Wait()
			s.start()
			for k, status := range statuses {
				merged := s.pullTruth(2*round + k + 1)
				switch {
				case status != 0 && status != 200:
					t.Errorf("round %d: merging answered %d", round, status)
				case status == 200 && !merged:
					t.Errorf("round %d: an acknowledged merge is gone", round)
				case round%4 == 0 && merged:
					t.Errorf("round %d: a merge was committed that could not be", round)
				case merged:
					before++
				default:
					n := 2*round + k + 1
					if status, text := s.tryCall("PUT", fmt.Sprintf("pulls/%d/merge", n), ""); status != 200 {
						t.Errorf("round %d: after the crash #%d cannot be merged: %d %s", round, n,
							status, text)
					}
					s.pullTruth(n)
				}
			}
		}
		t.Logf("%d of %d were merged before the kill", before, 2*rounds)
		whole(t, s.remote("alice", "alice/garden"))
		s.sound()
		s.sweepAll()
	})
}

// pullTruth holds what the API says of a pull request against a clone, and gives
// whether it is merged.
func (s *instance) pullTruth(number int) (merged bool) {
	s.t.Helper()
	var p struct {
		State     string
		Merged    bool
		Mergeable *bool
		Commit    string `json:"merge_commit_sha"`
		Head      struct{ SHA string }
	}
	status, text := s.tryCall("GET", fmt.Sprint("pulls/", number), "")
	if err := json.Unmarshal([]byte(text), &p); status != 200 || err != nil {
		s.t.Fatalf("#%d: %d %s", number, status, text)
	}
	dir := filepath.Join(s.t.TempDir(), "truth.git")
	gittest.Run(s.t, "", "clone", "-q", "--mirror", s.remote("alice", "alice/garden"), dir)
	in := try(s.t, dir, "merge-base", "--is-ancestor", p.Head.SHA, "main").err == nil
	check, _ := s.tryCall("GET", fmt.Sprintf("pulls/%d/merge", number), "")
	if in != p.Merged || (check == 204) != p.Merged || (p.State == "closed") != p.Merged {
		s.t.Errorf("#%d: main has it: %v, the check says %d, the API: %s", number, in, check, text)
	}
	if p.Merged {
		if try(s.t, dir, "merge-base", "--is-ancestor", p.Commit, "main").err != nil {
			s.t.Errorf("#%d: main has not its merge %s", number, p.Commit)
		}
		return true
	}
	if p.Mergeable == nil || !*p.Mergeable {
		s.t.Errorf("#%d: nobody knows whether it merges: %s", number, text)
	}
	got := gittest.Run(s.t, dir, "log", "-1", "--format=%H %P", fmt.Sprintf("refs/pull/%d/merge", number))
	if want := p.Commit + " " + gittest.Run(s.t, dir, "rev-parse", "main") + " " + p.Head.SHA; got != want {
		s.t.Errorf("#%d: the test merge is %s, want %s", number, got, want)
	}
	return false
}
