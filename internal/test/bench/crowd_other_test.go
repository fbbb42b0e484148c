//go:build long && !linux

package bench

import (
	"testing"
	"time"
)

// crowd is made of Linux's system calls; elsewhere nothing is measured with it.
type crowd struct {
	open func(client int) bool
}

func newCrowd(b *testing.B, _ string, _ int, _ func(to []byte, client int) []byte) *crowd {
	b.Helper()
	b.Skip("measured on Linux only, where the client costs least")
	return nil
}

func (*crowd) run(*testing.B, time.Duration) float64 { return 0 }
