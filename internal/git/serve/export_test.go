package serve

import "time"

// Keep changes how long answers are kept without readers.
func (s *Shared) Keep(d time.Duration) { s.keep = d }

// Lag changes how long a reader may keep faster ones waiting.
func (s *Shared) Lag(d time.Duration) { s.lag = d }
