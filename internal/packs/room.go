package packs

import (
	"context"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// How long a load waits for space that other loads have reserved, and the interval of its checks.
const (
	roomWait = 10 * time.Second
	roomLook = 200 * time.Millisecond
)

// errCrowded is returned while other loads have reserved the rest of the cache.
var errCrowded = errs.New(errs.Unavailable, "The server is loading other repositories. Try again later.")

// makeRoom evicts folders and reserves need bytes of the cache and the disk, until done is called. Errors: 503 for a
// repository that is larger than the cache, for a disk with too little space, and while other loads have reserved what
// there is.
func (s *Service) makeRoom(ctx context.Context, need int64) (done func(), err error) {
	if s.Size > 0 && need > s.Size {
		return nil, errs.Newf(errs.Unavailable, "The repository is larger than the server's cache (%d MiB of %d MiB).",
			need>>20, s.Size>>20)
	}
	for began := time.Now(); ; {
		alone, err := s.takeRoom(ctx, need)
		if err == nil {
			return func() { s.giveRoom(need) }, nil
		}
		if alone || !errs.Is(err, errs.Unavailable) || time.Since(began) > roomWait {
			return nil, err
		}
		if err := git.Sleep(ctx, roomLook); err != nil {
			return nil, err
		}
	}
}

func (s *Service) giveRoom(bytes int64) {
	s.room.Lock()
	defer s.room.Unlock()
	s.coming -= bytes
}

// takeRoom is one try of makeRoom. It reports whether nothing else is on its way.
func (s *Service) takeRoom(ctx context.Context, need int64) (alone bool, err error) {
	s.room.Lock()
	defer s.room.Unlock()
	alone = s.coming == 0
	all := s.coming + need
	if s.Size > 0 {
		if all > s.Size {
			return alone, errCrowded
		}
		if err := s.evictTo(ctx, max(1, s.Size-all)); err != nil {
			return alone, err
		}
	}
	err = s.repos.Room.CheckFor(all)
	if _, total := s.bySize(); err != nil && (all <= total || s.repos.Room.CheckFor(all-total) == nil) {
		for _, most := range []int64{total / 2, 1} { // half of the cache first, then all of it
			if err := s.evictTo(ctx, max(1, most)); err != nil {
				return alone, err
			}
			if err = s.repos.Room.CheckFor(all); err == nil {
				break
			}
		}
	}
	if err != nil {
		return alone, errs.Wrap(errs.Unavailable, "The server's disk is full. Try again later.", err)
	}
	s.coming = all
	return alone, nil
}
