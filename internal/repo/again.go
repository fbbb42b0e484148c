package repo

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// How long Again goes on. Somebody who loses has lost to somebody who got through, and
// a node that is slower than the others loses often in a row.
const (
	againTimes = 10 // at least
	// after which no retry begins, unless Service.RetryFor says otherwise
	againFor = 20 * time.Second
)

// Again runs an operation, and repeats it while it returns the error moved: a push, or another
// node, has moved what it started from. Again returns that error if the operation
// never gets through.
func (s *Service) Again(ctx context.Context, moved error, operation func() error) error {
	start, most := time.Now(), cmp.Or(s.RetryFor, againFor)
	for try := 1; ; try++ {
		err := operation()
		if !errors.Is(err, moved) || ctx.Err() != nil || try >= againTimes && time.Since(start) > most {
			return err
		}
	}
}
