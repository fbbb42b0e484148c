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

// KeptFor is how long callers with push access find an object that no ref leads to, after it
// was written or the last ref that led to it moved (decision 60).
const KeptFor = db.Time(30 * 24 * time.Hour / time.Microsecond)

// maxUnreached is how many such objects of a repository are noted; the oldest go
// first. Each stands for all that it leads to.
const maxUnreached = 20_000

// MarkUnreached notes that a repository may hold objects that no ref leads to, such as
// the copy of a pull request's head, or the merge for a ref that has moved. From
// then on the SHAs that clients name there are checked. It is called before the objects
// are written, or after a failed move of refs. It is done even if the caller has lost
// the right to write, since it describes the folder.
func (s *Service) MarkUnreached(ctx context.Context, repoID ID) error {
	ctx = context.WithoutCancel(ctx)
	marked := true
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		marked, err = isMarked(tx, repoID)
		return err
	})
	if err != nil || marked {
		return err
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error { return MarkUnreachedIn(tx, repoID) })
}

// WriteUnnamed writes objects that no ref names. Callers with push access find named, and all
// that it leads to, for KeptFor. It returns when the objects and the note are durable
// (decision 45).
func (s *Service) WriteUnnamed(ctx context.Context, a *Access, named git.SHA, objects []git.NewObject) error {
	kb := Kilobytes(objects)
	if err := s.MayGrowBy(ctx, a.ID, kb); err != nil {
		return err
	}
	note := func() error {
		return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
			if err := Lock(tx, a.ID); err != nil {
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
	return s.db.Read(ctx, a.Holds) // a purge may have left them in the folder of before
}

// dropNoted deletes the noted objects from the sets: callers with push access find them.
func (s *Service) dropNoted(ctx context.Context, repoID ID, sets ...map[git.SHA]bool) error {
	var shas []git.SHA
	for _, set := range sets {
		shas = slices.AppendSeq(shas, maps.Keys(set))
	}
	if len(shas) == 0 {
		return nil
	}
	noted, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]git.SHA, error) {
		return notedOf(tx, repoID, tx.Now-KeptFor, shas)
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
	noted, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]git.SHA, error) {
		return listNoted(tx, a.ID, tx.Now-KeptFor)
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
