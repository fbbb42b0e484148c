package issue

import (
	"context"
	"sync"
)

// Run does what goes on beside the requests, until ctx is done: it takes deleted
// labels off their issues, and fills the indexes that lists miss. It returns nil:
// what fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { s.stripLabels(ctx) })
	all.Go(func() { s.indexes.Run(ctx) })
	all.Wait()
	return nil
}
