package packs

import (
	"context"
	"sync"
	"sync/atomic"
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

// room is the space for packs that are being loaded.
type room struct {
	sync.Mutex              // held while space is reserved
	coming     int64        // bytes of these packs
	written    atomic.Int64 // of them, bytes on the disk, which the free space does not include any more
}

// reservation is the room that a load has.
type reservation struct {
	of      *room
	bytes   int64
	written atomic.Int64
}

// wrote notes that bytes of the packs were written; negative: that they are about to be removed.
func (r *reservation) wrote(bytes int64) {
	r.written.Add(bytes)
	r.of.written.Add(bytes)
}

// release ends the reservation: the packs are in their folder, or the load failed.
func (r *reservation) release() {
	r.of.Lock()
	defer r.of.Unlock()
	r.of.coming -= r.bytes
	r.of.written.Add(-r.written.Load())
}

// makeRoom evicts folders and reserves need bytes of the cache and the disk, until they are released. Errors: 503 for a
// repository that is larger than the cache, for a disk with too little space, and while other loads have reserved what
// there is.
func (s *Service) makeRoom(ctx context.Context, need int64) (*reservation, error) {
	if s.Size > 0 && need > s.Size {
		return nil, errs.Newf(errs.Unavailable, "The repository is larger than the server's cache (%d MiB of %d MiB).",
			need>>20, s.Size>>20)
	}
	for began := time.Now(); ; {
		alone, err := s.takeRoom(ctx, need)
		if err == nil {
			return &reservation{of: &s.room, bytes: need}, nil
		}
		if alone || !errs.Is(err, errs.Unavailable) || time.Since(began) > roomWait {
			return nil, err
		}
		if err := git.Sleep(ctx, roomLook); err != nil {
			return nil, err
		}
	}
}

// takeRoom is one try of makeRoom. It reports whether nothing else is on its way.
func (s *Service) takeRoom(ctx context.Context, need int64) (alone bool, err error) {
	s.room.Lock()
	defer s.room.Unlock()
	alone = s.room.coming == 0
	all := s.room.coming + need
	if s.Size > 0 {
		if all > s.Size {
			return alone, errCrowded
		}
		if err := s.evictTo(ctx, max(1, s.Size-all)); err != nil {
			return alone, err
		}
	}
	left := all - s.room.written.Load() // what the disk must have free for them
	err = s.repos.Room.CheckFor(left)
	if _, total := s.bySize(); err != nil && (left <= total || s.repos.Room.CheckFor(left-total) == nil) {
		for _, most := range []int64{total / 2, 1} { // half of the cache first, then all of it
			if err := s.evictTo(ctx, max(1, most)); err != nil {
				return alone, err
			}
			if err = s.repos.Room.CheckFor(left); err == nil {
				break
			}
		}
	}
	if err != nil {
		return alone, errs.Wrap(errs.Unavailable, "The server's disk is full. Try again later.", err)
	}
	s.room.coming = all
	return alone, nil
}
