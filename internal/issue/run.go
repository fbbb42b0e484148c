package issue

import (
	"context"
	"sync"
)

// Run does what goes on beside the requests, until ctx is done: it takes deleted
// labels off their issues, reads what pushed commits say, and fills the indexes
// that lists miss. It returns nil: what fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { s.stripLabels(ctx) })
	all.Go(func() { s.readPushes(ctx) })
	all.Go(func() { s.fillIndexes(ctx) })
	all.Wait()
	return nil
}

// Settle reads the commits that were pushed before the call. For stores that are
// being filled: what fails is logged, and left to Run.
func (s *Service) Settle(ctx context.Context) error {
	for ctx.Err() == nil && s.readPushed(ctx) {
	}
	return ctx.Err()
}
