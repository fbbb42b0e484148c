package repo

import "time"

// SetFetches changes how many fetches go on at one time, and how long more wait.
func (s *Service) SetFetches(most int, patience time.Duration) { s.fetches = newSlots(most, patience) }

// Holders is how many callers hold or await a slot of fetches.
func (s *Service) Holders() int {
	s.fetches.mu.Lock()
	defer s.fetches.mu.Unlock()
	return len(s.fetches.parts)
}
