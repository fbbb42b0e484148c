package pulls_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testenv"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Two sides that rename thousands of files to different names take git very long, here with three seconds
// more than so many take by themselves: who proposes that does not wait for it, and everyone learns of the
// end.
func TestSlowTestMerge(t *testing.T) {
	t.Parallel()
	if !testenv.Long {
		t.Skip("takes seconds of processor time")
	}
	s := apitest.Start(t, db.SQLite, func(o *server.Options) {
		o.Git = gittest.New(t, git.Options{Binary: gittest.Wrapped(t, "merge-tree", "sleep 3")})
	})
	s.User(t, "alice")
	random := rand.New(rand.NewPCG(1, 1))
	base, left, right := map[string]string{}, map[string]string{}, map[string]string{}
	for i := range 1100 {
		var b strings.Builder
		for range 200 {
			fmt.Fprintln(&b, random.IntN(50))
		}
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		base[name], left[name], right[name] = b.String(), gone, gone
		left[fmt.Sprintf("e%d/g%d", i%11, i)] = "x\ny\n" + b.String()
		right[fmt.Sprintf("h%d/k%d", i%13, i)] = "z\nw\nq\n" + b.String()
	}
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", base)
	w.commit("left", "l", "main", "", left)
	w.commit("right", "r", "main", "", right)
	w.plant(t, s, "alice/plot", false)
	start := time.Now()
	made := propose(t, s, "alice", "alice/plot", "left", "right")
	t.Logf("made in %v", time.Since(start))
	if made.Mergeable != nil {
		t.Errorf("it was waited for: %+v", made)
	}
	for p := made; ; p = read(t, s, "", "alice/plot", made.Number) {
		if p.Mergeable != nil {
			if *p.Mergeable || p.MergeableState != "dirty" || p.Files != 2200 {
				t.Errorf("it is %+v", p)
			}
			break
		}
		if time.Since(start) > testkit.Patience {
			t.Fatalf("nobody ever learns whether it merges: %+v", p)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("known after %v", time.Since(start))
}
