package repo

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Limits of Again. Each failed attempt means that another writer has succeeded, and a slow node can fail
// often in a row.
const (
	againTimes = 10 // at least
	// time after which it does not retry, unless Service.RetryFor is set
	againFor = 20 * time.Second
)

// Again runs an operation and repeats it while it returns the error moved, because a push or another node
// has changed its starting point. It returns that error if the operation never succeeds.
func (s *Service) Again(ctx context.Context, moved error, operation func() error) error {
	start, most := time.Now(), cmp.Or(s.RetryFor, againFor)
	for try := 1; ; try++ {
		err := operation()
		if !errors.Is(err, moved) || ctx.Err() != nil || try >= againTimes && time.Since(start) > most {
			return err
		}
	}
}

// InTurn is Again for an operation that starts from the tip of a branch: only one of those that run at the
// same time can succeed, so in this process they wait for each other.
func (s *Service) InTurn(
	ctx context.Context, id ID, branch string, moved error, operation func() error,
) error {
	unlock, err := s.changing.Lock(ctx, id.String()+" "+branch)
	if err != nil {
		return err
	}
	defer unlock()
	return s.Again(ctx, moved, operation)
}
