package pull_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"arbor/internal/apitest"
	"arbor/internal/db"
)

// Two sides that rename thousands of files to different names take git very
// long: who proposes that does not wait for it, and everyone learns of the end.
func TestSlowTestMerge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds of processor time")
	}
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	random := rand.New(rand.NewPCG(1, 1))
	base, left, right := map[string]string{}, map[string]string{}, map[string]string{}
	for i := range 2200 {
		var b strings.Builder
		for range 200 {
			fmt.Fprintln(&b, random.IntN(50))
		}
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		base[name], left[name], right[name] = b.String(), gone, gone
		left[fmt.Sprintf("e%d/g%d", i%11, i)] = "x\ny\n" + b.String()
		right[fmt.Sprintf("h%d/k%d", i%13, i)] = "z\nw\nq\n" + b.String()
	}
	w := &world{}
	w.commit("main", "Begin", "", "", base)
	w.commit("left", "l", "main", "", left)
	w.commit("right", "r", "main", "", right)
	w.plant(t, s, "alice/plot", false)
	start := time.Now()
	made := propose(t, s, "alice", "alice/plot", "left", "right")
	t.Logf("made in %v, mergeable is known: %v", time.Since(start), made.Mergeable != nil)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("making it took %v", took)
	}
	for p := made; ; p = read(t, s, "", "alice/plot", made.Number) {
		if p.Mergeable != nil {
			if *p.Mergeable || p.MergeableState != "dirty" || p.Files != 4400 {
				t.Errorf("it is %+v", p)
			}
			break
		}
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("nobody ever learns whether it merges: %+v", p)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("known after %v", time.Since(start))
}
