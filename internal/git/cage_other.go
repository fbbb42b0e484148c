//go:build !linux

package git

import "time"

// confine does nothing: only Linux limits a process that runs. Elsewhere only git's own
// bound of one allocation holds.
func confine(int, cage) error { return nil }

func confineCPU(int, time.Duration) error { return nil }
