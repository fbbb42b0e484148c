package repos_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/repo"
)

// Somebody who is slower than others loses to them for as long as they have something
// to do. If this failed, a merge on a busy base would have to be asked for again
// and again.
func TestAgain(t *testing.T) {
	t.Parallel()
	moved, other := errors.New("moved"), errors.New("other")
	for _, c := range []struct {
		name  string
		takes time.Duration // one try
		lost  int           // tries before the one that ends with last
		last  error
		tries int // that are made
		want  error
		most  time.Duration // repo.Service.RetryFor
	}{
		{"at once", time.Second, 0, nil, 1, nil, 0},
		{"another error", time.Second, 0, other, 1, other, 0},
		{"many quick losses", 10 * time.Millisecond, 300, nil, 301, nil, 0},
		{"a few slow losses", 10 * time.Second, 8, nil, 9, nil, 0},
		{"another error after losses", time.Second, 3, other, 4, other, 0},
		{"losses without end", time.Second, 1000, nil, 21, moved, 0},
		{"losses without end, where it goes on longer", time.Second, 1000, nil, 61, moved, time.Minute},
		{"slow losses without end", time.Minute, 1000, nil, 10, moved, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				err := (&repo.Service{RetryFor: c.most}).Again(t.Context(), moved, func() error {
					time.Sleep(c.takes)
					if tries++; tries <= c.lost {
						return fmt.Errorf("main: %w", moved)
					}
					return c.last
				})
				if !errors.Is(err, c.want) || tries != c.tries {
					t.Errorf("%d tries end with %v; want %d and %v", tries, err, c.tries, c.want)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	err := new(repo.Service).Again(ctx, moved, func() error { tries++; cancel(); return moved })
	if !errors.Is(err, moved) || tries != 1 {
		t.Errorf("nobody waits any more, and there are %d tries, %v", tries, err)
	}
}
