package repos_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/hook/outgoing"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Of two nodes one runs a mirror. When that one is gone, the other runs it again, and what the first may still do
// harms nothing.
func TestMirrorOnTwoNodes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w, from := newMirrored(t, s), newSource(t, s.URL)
		other := s.Forge.Mirrors // as on another node
		other.Networks = outgoing.Loopback()
		s.Repo(t, "alice/copy", false)
		const path = "/repos/alice/copy"
		s.Run(t, []apitest.Case{{Do: "PUT " + path + "/mirror", As: "alice", Status: 201, Send: fmt.Sprintf(
			`{"remote_url":"%s/alice/source.git","username":"alice","password":%q}`, from.URL, s.Token(t, "alice"))}})
		before := w.copied(t, path+"/mirror")
		w.commit(t, "two")
		gittest.Run(t, w.dir, "push", "-q", "origin", "main")

		var posts atomic.Int64
		fetching, release := make(chan struct{}), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		from.misbehave(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost && posts.Add(1) == 2 { // after the list of refs
				close(fetching)
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return false
		})
		s.Run(t, []apitest.Case{{Do: "POST " + path + "/mirror-sync", As: "alice", Status: 204}})
		<-fetching
		testkit.NoError(t, other.Settle(t.Context()))
		if n := posts.Load(); n != 2 {
			t.Errorf("two nodes run a mirror: %d requests", n)
		}
		// The lease ends, as if the node had been killed; that is not, and may extend it first.
		after := before
		testkit.Eventually(t, func() bool {
			testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(`UPDATE mirrors SET due_at = 0`) }))
			testkit.NoError(t, other.Settle(t.Context()))
			after = w.now(t, path+"/mirror")
			return after.ended != before.ended
		}, "the other node runs it")
		if after.problem() != "" || w.refs(t, "alice/copy") != w.refs(t, "alice/source") {
			t.Errorf("the other node did not run it: %+v %q", after, after.problem())
		}
		close(release)
		s.Run(t, []apitest.Case{{Do: "POST " + path + "/mirror-sync", As: "alice", Status: 204}})
		if got := w.ran(t, path+"/mirror", after); got.problem() != "" {
			t.Error(got.problem())
		}
		if w.refs(t, "alice/copy") != w.refs(t, "alice/source") {
			t.Error("the refs differ")
		}
	})
}
