package issue

import "context"

// Run does what goes on beside the requests, until ctx is done.
func (s *Service) Run(ctx context.Context) error {
	s.stripLabels(ctx)
	return nil
}
