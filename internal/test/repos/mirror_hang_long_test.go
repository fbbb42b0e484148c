//go:build long

package repos_test

import (
	"fmt"
	"net/http"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A source that says nothing, and one that stalls in the middle of its pack, are given up, and mirrors of others run
// meanwhile.
func TestMirrorOfHangingSource(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	w := newMirrored(t, s)
	w.grow(t, 200)
	silent, stalls, works := newSource(t, s.URL), newSource(t, s.URL), newSource(t, s.URL)
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	hang := func(r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	silent.misbehave(func(_ http.ResponseWriter, r *http.Request) bool {
		hang(r)
		return true
	})
	stalled := make(chan struct{})
	stalls.misbehave(func(rw http.ResponseWriter, r *http.Request) bool {
		if stalls.begin(rw, r) {
			return true
		}
		close(stalled)
		hang(r)
		return true
	})
	set := func(as, name string, from *source) {
		s.Repo(t, name, false)
		s.Ask(t, as, "PUT /repos/"+name+"/mirror", fmt.Sprintf(
			`{"remote_url":"%s/alice/source.git","username":"alice","password":%q}`, from.URL, s.Token(t, "alice")), 201)
	}
	set("alice", "alice/silent", silent)
	set("alice", "alice/stalls", stalls)
	<-stalled
	set("alice", "alice/waits", works)
	set("bob", "bob/works", works)
	testkit.Eventually(t, func() bool { return w.refs(t, "bob/works") == w.refs(t, "alice/source") },
		"the mirror of somebody else runs")
	for _, name := range []string{"alice/silent", "alice/stalls"} {
		testkit.Eventually(t, func() bool {
			return w.now(t, "/repos/"+name+"/mirror").problem() == "it took too long"
		}, name+" is given up")
		if now := w.refs(t, name); now != "" {
			t.Errorf("%s has %s", name, now)
		}
	}
	w.copied(t, "/repos/alice/waits/mirror")
	if left := w.left(t); len(left) > 0 {
		t.Errorf("they leave %q", left)
	}
}
