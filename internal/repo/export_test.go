package repo

import "time"

// SetFetches changes how many fetches go on at one time, and how long more wait.
func (s *Service) SetFetches(most int, patience time.Duration) { s.fetches = newSlots(most, patience) }

// Fetches is how many slots of fetches are free, and how many callers hold or
// await one.
func (s *Service) Fetches() (free, callers int) {
	s.fetches.mu.Lock()
	defer s.fetches.mu.Unlock()
	return s.fetches.free, len(s.fetches.held) + len(s.fetches.waiting)
}
