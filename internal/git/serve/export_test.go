package serve

import "time"

// Keep changes how long answers are kept without readers.
func (s *Shared) Keep(d time.Duration) { s.keep = d }
