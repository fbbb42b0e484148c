package session

import (
	"testing"

	"arbor/internal/test/testkit"
)

// Two dozen strangers who try passwords at the same time have nobody else refused. If this failed, as many
// connections would keep everybody from signing in at a new place.
func TestManyStrangersHaveNobodyRefused(t *testing.T) {
	t.Parallel()
	h := newHashing()
	for range hashingAtOnce {
		if _, err := h.enter(nil); err != nil {
			t.Fatal(err)
		}
	}
	const strangers = 24
	entered := make(chan error, strangers+1)
	for range strangers + 1 {
		go func() {
			leave, err := h.enter(nil)
			if err == nil {
				leave()
			}
			entered <- err
		}()
	}
	testkit.Eventually(t, func() bool { return len(h.waiting)+len(entered) == hashingAtOnce+strangers+1 },
		"all wait or were refused")
	for range hashingAtOnce {
		<-h.running
	}
	for range strangers + 1 {
		if err := <-entered; err != nil {
			t.Error(err)
		}
	}
}
