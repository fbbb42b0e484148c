package repo

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/db"
	"arbor/internal/git"
)

// keptFor is how long callers who may push find an object that no ref leads to, after it
// was written or a ref ceased to lead to it (decision 60).
const keptFor = db.Time(30 * 24 * time.Hour / time.Microsecond)

// maxUnreached is how many such objects of a repository are noted; the oldest go
// first. Each stands for all that it leads to.
const maxUnreached = 20_000

// MarkUnreached notes that a repository may hold objects that no ref leads to, such as
// the copy of a pull request's head, or the merge for a ref that moves meanwhile. From
// then on the SHAs that clients name there are checked. It is called before the objects
// are written, or after a failed move of refs. It is done even if the caller has lost
// the right to write, since it describes the folder.
func (s *Service) MarkUnreached(ctx context.Context, repoID ID) error {
	ctx = db.WithCheck(context.WithoutCancel(ctx), nil)
	marked := true
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		marked, err = isMarked(tx, repoID)
		return err
	})
	if err != nil || marked {
		return err
	}
	return s.db.Write(ctx, func(tx *db.Tx) error { return markUnreached(tx, repoID) })
}

// WriteUnnamed writes objects that no ref names. Callers who may push find named, and all
// that it leads to, for keptFor. It returns when the objects and the note are durable
// (decision 45).
func (s *Service) WriteUnnamed(ctx context.Context, a *Access, named git.SHA, objects []git.NewObject) error {
	kb := Kilobytes(objects)
	if err := s.mayGrow(ctx, a.ID, kb); err != nil {
		return err
	}
	note := func() error {
		return s.db.Write(ctx, func(tx *db.Tx) error {
			if err := lockRepo(tx, a.ID); err != nil {
				return err
			}
			if err := checkPause(tx, a.ID); err != nil {
				return err
			}
			if err := s.checkGrowth(tx, a.ID, kb, true); err != nil {
				return err
			}
			if err := growRepo(tx, a.ID, kb); err != nil {
				return err
			}
			return noteUnreached(tx, a.ID, []git.SHA{named})
		})
	}
	write := func() error {
		_, err := s.WriteObjects(ctx, a, objects)
		return err
	}
	if !a.Unreached {
		if err := note(); err != nil { // first: until then all objects count as reached
			return err
		}
		if err := write(); err != nil {
			return err
		}
	} else {
		var both errgroup.Group
		both.Go(note)
		both.Go(write)
		if err := both.Wait(); err != nil {
			return err
		}
	}
	return s.db.Check(ctx) // a purge may have left them in the folder of before
}

// dropNoted deletes the noted objects from the sets: callers who may push find them.
func (s *Service) dropNoted(ctx context.Context, repoID ID, sets ...map[git.SHA]bool) error {
	var shas []git.SHA
	for _, set := range sets {
		shas = slices.AppendSeq(shas, maps.Keys(set))
	}
	if len(shas) == 0 {
		return nil
	}
	var noted []git.SHA
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		noted, err = notedOf(tx, repoID, tx.Now-keptFor, shas)
		return err
	})
	for _, sha := range noted {
		for _, set := range sets {
			delete(set, sha)
		}
	}
	return err
}

// dropBehindNoted deletes the objects that noted ones lead to from gone.
func (s *Service) dropBehindNoted(
	ctx context.Context, a *Access, refs git.Refs, gone map[git.SHA]bool,
) error {
	if len(gone) == 0 {
		return nil
	}
	objects, release, err := s.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	known, err := objects.Known(ctx, slices.Collect(maps.Keys(gone)))
	if err != nil || !slices.ContainsFunc(known, func(o git.Object) bool { return o.Type != "" }) {
		return err
	}
	var noted []git.SHA
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		noted, err = listNoted(tx, a.ID, tx.Now-keptFor)
		return err
	})
	if err != nil {
		return err
	}
	return objects.EachReached(ctx, noted, tipsOf(refs), func(id git.ID) error {
		if delete(gone, git.SHA(hex.EncodeToString(id[:]))); len(gone) == 0 {
			return git.ErrStop
		}
		return nil
	})
}

// Forgetter removes the notes of unreached objects that nobody finds any more.
type Forgetter struct{ s *Service }

// NewForgetter makes a forgetter, of which several may work on one database.
func NewForgetter(s *Service) *Forgetter { return &Forgetter{s} }

const (
	forgetEvery  = time.Hour
	forgetAtOnce = 1000 // notes in one transaction
)

// Run forgets until ctx is done. It returns nil: failures are logged and tried again.
func (f *Forgetter) Run(ctx context.Context) error {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		if err := f.Forget(ctx); err != nil && ctx.Err() == nil {
			f.s.log.WarnContext(ctx, "notes of unreached objects were not removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Forget removes all notes that are too old.
func (f *Forgetter) Forget(ctx context.Context) error {
	for {
		var n int64
		err := f.s.db.Write(ctx, func(tx *db.Tx) (err error) {
			n, err = forget(tx, tx.Now-keptFor, forgetAtOnce)
			return err
		})
		if err != nil || n < forgetAtOnce {
			return err
		}
	}
}
