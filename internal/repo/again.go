package repo

import (
	"context"
	"errors"
	"time"
)

// How long Again goes on. Somebody who loses has lost to somebody who got through, and
// a node that is slower than the others loses often in a row.
const (
	againTimes = 10               // at least
	againFor   = 20 * time.Second // after which it needs not begin anew
)

// Again runs an operation, and runs it anew while it ends with the error moved:
// what it began with was moved meanwhile, by a push or on another node. That is
// its error, too, when it never gets through.
func Again(ctx context.Context, moved error, operation func() error) error {
	start := time.Now()
	for try := 1; ; try++ {
		err := operation()
		if !errors.Is(err, moved) || ctx.Err() != nil || try >= againTimes && time.Since(start) > againFor {
			return err
		}
	}
}
