//go:build !linux

package process

import "time"

// Confine does nothing: only Linux limits a process that runs. Elsewhere only git's own
// bound of one allocation holds.
func Confine(int, Cage) error { return nil }

func confineCPU(int, time.Duration) error { return nil }
