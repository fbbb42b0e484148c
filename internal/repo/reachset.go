package repo

import (
	"context"
	"maps"
	"sync/atomic"

	"arbor/internal/git"
)

// reachSet is the set of all objects reachable from a repository's refs. It is built when a client gives an
// object and no cheaper check decides. Afterwards it follows the refs: one walk adds newly reachable
// objects, another marks objects that may be unreachable as doubtful. So an update costs as much as the
// change; only a request for a doubtful object rebuilds the set.
//
// Only one request at a time uses a set, with one process.
type reachSet struct {
	turn  chan struct{} // has one token while nobody uses the set
	count atomic.Int64  // of ids, plus one once there is a set

	// For the holder of the token:
	generation int64
	tips       []git.SHA
	ids        map[git.ID]bool // false: doubtful; nil: no set
	large      bool            // too large for a set
}

// Limits of one set and of all sets in objects, of about 40 bytes each. In a larger repository each object
// is searched by a walk, newest commits first, which ends when it is found or at git's time limit.
const (
	maxReachSet = 500_000
	maxReached  = 1_500_000
)

func newReachSet() *reachSet {
	s := &reachSet{turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// built reports whether there is a set, for any generation.
func (s *reachSet) built() bool { return s.count.Load() > 0 }

// size returns the number of objects, plus an overhead.
func (s *reachSet) size() int { return int(s.count.Load()) + 50 }

// drop deletes from shas the objects that the set certainly contains, if it has this generation and is not
// in use.
func (s *reachSet) drop(generation int64, shas map[git.SHA]bool) {
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	default:
		return
	}
	if s.generation == generation {
		maps.DeleteFunc(shas, func(sha git.SHA, _ bool) bool { return s.ids[sha.ID()] })
	}
}

// lookUp returns which of the objects are reachable from the refs.
func (s *reachSet) lookUp(
	ctx context.Context, objects *git.Repository, refs git.Refs, shas []git.SHA,
) (map[git.SHA]bool, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	tips := tipsOf(refs)
	if s.ids != nil && s.generation < refs.Generation {
		if err := s.follow(ctx, objects, tips); err != nil {
			return nil, err
		}
		s.generation = refs.Generation
	}
	if s.ids == nil || s.doubts(shas) {
		if found, err := s.make(ctx, objects, tips, shas); err != nil || s.ids == nil {
			return found, err
		}
		s.generation = refs.Generation
	}
	found := make(map[git.SHA]bool, len(shas))
	for _, sha := range shas {
		if s.ids[sha.ID()] {
			found[sha] = true
		}
	}
	return found, nil
}

func (s *reachSet) doubts(shas []git.SHA) bool {
	for _, sha := range shas {
		if sure, there := s.ids[sha.ID()]; there && !sure {
			return true
		}
	}
	return false
}

// follow updates the set for other tips. After an error the set is dropped.
func (s *reachSet) follow(ctx context.Context, objects *git.Repository, tips []git.SHA) error {
	added, lost := without(tips, s.tips), without(s.tips, tips)
	err := objects.EachReached(ctx, added, s.tips, func(id git.ID) error {
		s.ids[id] = true
		return nil
	})
	if err == nil {
		err = objects.EachReached(ctx, lost, tips, func(id git.ID) error {
			s.ids[id] = false
			return nil
		})
	}
	if err != nil || len(s.ids) > maxReachSet {
		s.hold(nil, nil)
		return err
	}
	s.hold(s.ids, tips)
	return nil
}

// make builds the set for the tips, and returns which of the named objects are reachable. A repository that
// is too large gets no set.
func (s *reachSet) make(
	ctx context.Context, objects *git.Repository, tips, shas []git.SHA,
) (map[git.SHA]bool, error) {
	open, found := make(map[git.ID]git.SHA, len(shas)), make(map[git.SHA]bool, len(shas))
	for _, sha := range shas {
		open[sha.ID()] = sha
	}
	var ids map[git.ID]bool
	if !s.large {
		ids = map[git.ID]bool{}
	}
	s.hold(nil, nil)
	err := objects.EachReached(ctx, tips, nil, func(id git.ID) error {
		if sha, asked := open[id]; asked {
			found[sha] = true
			delete(open, id)
		}
		if ids != nil && len(ids) < maxReachSet {
			ids[id] = true
			return nil
		}
		s.large, ids = true, nil
		if len(open) == 0 {
			return git.ErrStop
		}
		return nil
	})
	if err == nil {
		s.hold(ids, tips)
	}
	return found, err
}

func (s *reachSet) hold(ids map[git.ID]bool, tips []git.SHA) {
	s.ids, s.tips = ids, tips
	if ids == nil {
		s.count.Store(0)
	} else {
		s.count.Store(int64(len(ids)) + 1)
	}
}

// without returns the elements of a sorted list that are not in another one.
func without(list, other []git.SHA) []git.SHA {
	var out []git.SHA
	for _, sha := range list {
		for len(other) > 0 && other[0] < sha {
			other = other[1:]
		}
		if len(other) == 0 || other[0] != sha {
			out = append(out, sha)
		}
	}
	return out
}
