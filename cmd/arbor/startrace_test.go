//go:build long

package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"arbor/internal/test/testenv"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

// startsVariable is the environment variable for how many nodes
// TestNodesStartWhileOthersCreate starts on each engine.
const startsVariable = "ARBOR_TEST_STARTS"

// Nodes start and stop while another one makes repositories: with a first commit, as
// forks of public and of private ones. Each acknowledged repository must have its
// objects. A rolling restart once deleted folders whose rows were not there yet.
func TestNodesStartWhileOthersCreate(t *testing.T) {
	t.Parallel()
	starts := 20
	if n, err := strconv.Atoi(os.Getenv(startsVariable)); err == nil {
		starts = n
	} else if !testenv.Long {
		starts = 5
	}
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		s.user("alice")
		s.org("guild")
		dir := gittest.Repository(t, 3, 5)
		s.repo("alice/open", dir)
		s.privateRepo("alice/closed", dir)
		var stop atomic.Bool
		var clients sync.WaitGroup
		made := make([][]string, 4)
		for c := range made {
			clients.Go(func() {
				for n := 0; !stop.Load(); n++ {
					if name := s.createSomehow(c, n); name != "" {
						made[c] = append(made[c], name)
					}
				}
			})
		}
		b := s.node()
		for range starts {
			b.start()
			b.stop()
		}
		stop.Store(true)
		clients.Wait()
		for _, line := range b.log.errors() {
			t.Errorf("a node that started logged an error: %s", line)
		}
		n := 0
		for _, names := range made {
			n += len(names)
			for _, name := range names {
				res, text := s.do("alice", "GET", "/repos/"+name+"/git/trees/HEAD", nil, nil)
				if res.StatusCode != http.StatusOK {
					t.Errorf("%s was acknowledged and has no tree: %d %s", name, res.StatusCode, text)
				}
			}
			if len(names) > 0 {
				whole(t, s.remote("alice", names[len(names)-1]))
			}
		}
		if n < starts {
			t.Errorf("only %d repositories were made during %d starts: that shows nothing", n, starts)
		}
		t.Logf("%d repositories were made during %d starts", n, starts)
	})
}

// createSomehow makes the n-th repository of a client and gives its full name. A
// fork is of a repository that is deleted first, so that there can be another.
func (s *instance) createSomehow(client, n int) string {
	name := fmt.Sprintf("r%d-%d", client, n)
	switch client {
	case 2, 3:
		from := []string{"open", "closed"}[client%2]
		status, _ := s.tryDo("POST", "/repos/alice/"+from+"/forks", `{"organization": "guild"}`)
		if status != http.StatusAccepted {
			s.t.Errorf("forking answered %d", status)
			return ""
		}
		path := "/repos/guild/" + from
		res, text := s.do("alice", "GET", path+"/git/trees/HEAD", nil, nil)
		if res.StatusCode != http.StatusOK {
			s.t.Errorf("the fork %s was acknowledged and has no tree: %d %s", path, res.StatusCode, text)
		}
		s.do("alice", "DELETE", path, nil, nil)
		return ""
	}
	res, text := s.do("alice", "POST", "/user/repos", http.Header{"Content-Type": {"application/json"}},
		strings.NewReader(`{"name": "`+name+`", "auto_init": true}`))
	if res.StatusCode != http.StatusCreated {
		s.t.Errorf("creating %s: %d %s", name, res.StatusCode, text)
		return ""
	}
	return "alice/" + name
}
