package issue

import (
	"context"
	"sync"
)

// Run does what goes on beside the requests, until ctx is done: it takes deleted
// labels off their issues, and reads what pushed commits say. It returns nil:
// what fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { s.stripLabels(ctx) })
	both.Go(func() { s.readPushes(ctx) })
	both.Wait()
	return nil
}
