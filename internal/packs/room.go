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
	sync.Mutex              // held while space is reserved; never while folders are removed, which takes long
	coming     int64        // bytes of these packs
	written    atomic.Int64 // of them, bytes on the disk, which the free space does not include any more
	evicting   sync.Mutex   // held by the one load that evicts folders
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
	if alone, _, err = s.reserve(need, true); err == nil {
		return alone, nil
	}
	if !s.room.evicting.TryLock() { // what another load evicts may be enough for both
		return false, err
	}
	defer s.room.evicting.Unlock()
	for evicted := true; ; {
		alone, most, err := s.reserve(need, evicted)
		if err == nil || most == 0 {
			return alone, err
		}
		if evicted, err = s.evictTo(ctx, most); err != nil {
			return alone, err
		}
	}
}

// reserve reserves need bytes if they fit. If not, most is how many bytes of folders may stay so that they may fit; 0:
// evicting does not help. Without evicts, folders that take more than their part of the cache are all in use.
func (s *Service) reserve(need int64, evicts bool) (alone bool, most int64, err error) {
	s.room.Lock()
	defer s.room.Unlock()
	alone = s.room.coming == 0
	all := s.room.coming + need
	_, total := s.bySize()
	if s.Size > 0 {
		if all > s.Size {
			return alone, 0, errCrowded
		}
		if most = max(1, s.Size-all); evicts && total > most {
			return alone, most, errCrowded
		}
	}
	left := all - s.room.written.Load() // what the disk must have free for them
	if err := s.repos.Room.CheckFor(left); err != nil {
		if most = 0; evicts && (left <= total || s.repos.Room.CheckFor(left-total) == nil) {
			most = max(1, total/2)
		}
		return alone, most, errs.Wrap(errs.Unavailable, "The server's disk is full. Try again later.", err)
	}
	s.room.coming = all
	return alone, 0, nil
}
