package search

import "time"

// SetPatience sets for how long a search waits for the worker.
func (s *Service) SetPatience(d time.Duration) { s.patience = d }
