package db_test

import (
	"context"
	"testing"
	"time"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// The lookups of one request cost one question. But a request must see what it has
// written itself, and one that waits long, what others have.
func TestRequestAsksOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		questions := 0
		address := dbtest.Empty(t, engine)
		other := openAt(t, address)
		d, err := db.OpenWith(t.Context(),
			db.Options{URL: address, Trace: func(context.Context, string) { questions++ }}, schema)
		testkit.NoError(t, err)
		defer d.Close()
		var request context.Context
		look := func() (int64, cache.State) {
			t.Helper()
			n, err := d.Generation(request, "a")
			testkit.NoError(t, err)
			return n, d.State(request)
		}
		var n int64
		var first cache.State
		testkit.Eventually(t, func() bool { // a busy machine may take longer than a moment
			questions, request = 0, d.Remember(t.Context())
			n, first = look()
			for range 3 {
				look()
			}
			return questions == 1
		}, "one question for four looks")
		if n != 0 || first == cache.Unknown {
			t.Errorf("generation %d, state %v", n, first)
		}
		bump := func(tx *db.Tx) error { return tx.Bump("a") }
		testkit.NoError(t, d.Write(request, bump))
		if n, s := look(); n != 1 || s == first {
			t.Errorf("after its own commit: generation %d, the same state: %v", n, s == first)
		}
		testkit.NoError(t, other.Write(t.Context(), bump))
		if n, err := d.Generation(d.Remember(t.Context()), "a"); n != 2 || err != nil {
			t.Errorf("another request after another's commit: %d, %v", n, err)
		}
		time.Sleep(db.MaxMoment)
		if n, _ := look(); n != 2 {
			t.Errorf("a request that waited: %d", n)
		}
	})
}
