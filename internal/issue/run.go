package issue

import "context"

// Run fills the indexes in memory that lists miss, until ctx is done. It returns nil: what
// fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	s.indexes.Run(ctx)
	return nil
}
