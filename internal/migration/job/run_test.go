package job

import (
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/repo"
)

// Imports that take long make room for others, up to a limit, and nobody has two.
func TestTurns(t *testing.T) {
	t.Parallel()
	turns := turns{running: map[repo.ID]turn{}}
	begin := func(n int, ok, full bool) {
		t.Helper()
		gotOK, gotFull := turns.begin(candidate{id: repo.ID(n), by: account.ID(n)})
		if gotOK != ok || gotFull != full {
			t.Errorf("import %d: %v, %v", n, gotOK, gotFull)
		}
	}
	age := func() {
		for id, of := range turns.running {
			of.began = of.began.Add(-fresh - time.Second)
			turns.running[id] = of
		}
	}
	for n := 1; n <= mostRuns; n += slots {
		begin(n, true, false)
		begin(n, false, false)
		begin(n+1, true, false)
		begin(n+2, false, true)
		age()
	}
	begin(mostRuns+1, false, true)
	turns.end(candidate{id: 1})
	begin(mostRuns+1, true, false)
}
