package ssh

import (
	"testing"
	"time"
)

// A connection has a few key exchanges, and more with what it moves and as time goes by.
func TestExchanges(t *testing.T) {
	e := &exchanges{begun: time.Now()}
	for n := range fewExchanges {
		if err := e.count(e.begun); err != nil {
			t.Fatalf("exchange %d: %v", n, err)
		}
	}
	if e.count(e.begun) == nil {
		t.Error("there are more than a few at once")
	}
	e.moved.Store(3 * bytesPerExchange)
	for range 2 {
		if err := e.count(e.begun); err != nil {
			t.Errorf("after what was moved: %v", err)
		}
	}
	if e.count(e.begun) == nil {
		t.Error("there are more than what was moved is worth")
	}
	if err := e.count(e.begun.Add(time.Minute)); err != nil {
		t.Errorf("after a minute: %v", err)
	}
}
