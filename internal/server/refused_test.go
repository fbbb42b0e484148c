package server

import (
	"testing"
	"time"

	"arbor/internal/account"
)

// Any number of denied requests leaves one row per minute, and nothing is remembered for longer.
func TestRefusalsAreFew(t *testing.T) {
	var f refusals
	now := time.Now()
	for id := range account.ID(100) {
		if !f.due(id, now) || f.due(id, now) || f.due(id, now.Add(refusedEvery-1)) {
			t.Fatalf("account %d is not told of once", id)
		}
	}
	if !f.due(7, now.Add(refusedEvery)) || len(f.told) != 1 {
		t.Errorf("after a minute %d accounts are remembered", len(f.told))
	}
}
