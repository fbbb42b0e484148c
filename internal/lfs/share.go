package lfs

import (
	"context"
	"errors"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
)

// adopt gives a repository those of the named objects that other repositories of its network have, as far as the
// caller may read them there. Errors: 403 for the quota; those of the right.
func (s *Service) adopt(
	ctx context.Context, right db.Right, a *repo.Access, payer account.ID, oids []string,
) (map[string]*Object, error) {
	find := func(tx *db.Tx) (map[string]*Object, error) {
		root, err := network.NetworkOf(tx, a.ID)
		if err != nil {
			return nil, err
		}
		return inNetwork(tx, a.Caller, root, a.ID, oids)
	}
	return s.copyTo(ctx, right, a.ID, payer, find)
}

// copyTo gives a repository the objects that find finds, now and again in the transaction that adds them. It returns
// those that the repository did not have.
func (s *Service) copyTo(ctx context.Context, right db.Right, to repo.ID, payer account.ID,
	find func(tx *db.Tx) (map[string]*Object, error),
) (added map[string]*Object, err error) {
	found, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[string]*Object, error) { return find(tx) })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	list, err := s.linked(ctx, slices.Collect(maps.Values(found)))
	if err != nil {
		return nil, err
	}
	var unused []*Object
	err = s.db.WriteAs(ctx, right, func(tx *db.Tx) error {
		if err := repo.Lock(tx, to); err != nil {
			return err
		}
		still, err := find(tx)
		if err != nil {
			return err
		}
		have, err := byOIDs(tx, to, slices.Collect(maps.Keys(found)))
		if err != nil {
			return err
		}
		added, unused = map[string]*Object{}, nil
		for _, o := range list {
			if have[o.OID] == nil && still[o.OID] != nil {
				o.File.Payer, added[o.OID] = payer, o
			} else {
				unused = append(unused, o)
			}
		}
		return s.add(tx, to, payer, slices.Collect(maps.Values(added)))
	})
	switch {
	case errors.Is(err, db.ErrOutcomeUnknown): // the sweep removes the files if they have no rows
		return nil, err
	case err != nil:
		added, unused = nil, list
	}
	s.discard(ctx, unused)
	return added, err
}

// linked returns objects with new files of the same contents. Those that were deleted in the meantime are left out.
func (s *Service) linked(ctx context.Context, list []*Object) ([]*Object, error) {
	files := make([]*file.File, len(list))
	for n, o := range list {
		files[n] = &o.File
	}
	made, err := s.files.LinkAll(ctx, files)
	if err != nil {
		return nil, err
	}
	out := make([]*Object, 0, len(list))
	for n, o := range list {
		if made[n] != nil {
			out = append(out, &Object{OID: o.OID, Size: o.Size, File: *made[n]})
		}
	}
	return out, nil
}

func (s *Service) discard(ctx context.Context, list []*Object) {
	files := make([]*file.File, len(list))
	for n, o := range list {
		files[n] = &o.File
	}
	s.files.DiscardAll(ctx, files)
}

// add adds the rows of objects to a repository whose row is locked, and counts them. Error: 403 for the quota.
func (s *Service) add(tx *db.Tx, to repo.ID, payer account.ID, list []*Object) error {
	kb := int64(0)
	for _, o := range list {
		kb += o.File.KB()
	}
	if kb == 0 {
		return nil
	}
	if err := s.repos.CountFile(tx, to, payer, kb); err != nil {
		return err
	}
	return insertAll(tx, to, list)
}

// Carry prepares the objects of a repository for a fork. nil: there are none.
func (s *Service) Carry(ctx context.Context, from repo.ID) (*repo.Carried, error) {
	var all []*Object
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		n, _, err := summary(tx, from)
		if err == nil {
			err = admission.Hold(ctx, n*perObject)
		}
		if err == nil {
			all, err = allOf(tx, from)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	list, err := s.linked(ctx, all)
	if err != nil {
		return nil, err
	}
	return &repo.Carried{
		Add:     func(tx *db.Tx, to repo.ID) error { return s.add(tx, to, 0, list) },
		Discard: func(ctx context.Context) { s.discard(ctx, list) },
	}, nil
}

// Follow gives a repository the objects to which the commits point that were brought from another one. They count for
// the person. Errors: 403 for the quota; those of the right; network.ErrNoCrossing.
func (s *Service) Follow(ctx context.Context, right db.Right, b repo.Brought) error {
	missing, err := db.Get(ctx, s.db, func(tx *db.Tx) (bool, error) { return missingFrom(tx, b.From, b.To) })
	if err != nil || !missing {
		return err
	}
	oids, err := s.pointers(ctx, b.To, b.Tip, b.Have)
	if err != nil || len(oids) == 0 {
		return err
	}
	_, err = s.copyTo(ctx, right, b.To, b.UserID, func(tx *db.Tx) (map[string]*Object, error) {
		may, err := network.MayCross(tx, network.Crossing{From: b.From, To: b.To, UserID: b.UserID})
		if err != nil {
			return nil, err
		}
		if !may[0] {
			return nil, network.ErrNoCrossing
		}
		found, err := byOIDs(tx, b.From, oids)
		if err != nil {
			return nil, err
		}
		have, err := byOIDs(tx, b.To, oids)
		maps.DeleteFunc(found, func(oid string, _ *Object) bool { return have[oid] != nil })
		return found, err
	})
	return err
}

// maxCandidates is how many small files of new commits are read to find pointers; more stay pointers.
const maxCandidates = 20_000

// pointers returns the objects to which files point that are new in the commits of tip and not of have.
func (s *Service) pointers(ctx context.Context, id repo.ID, tip git.SHA, have []git.SHA) ([]string, error) {
	objects, release, err := s.repos.GitOf(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	seen := map[git.SHA]bool{}
	var blobs []git.SHA
	known, err := objects.Known(ctx, have)
	if err != nil {
		return nil, err
	}
	var not []git.SHA
	for _, o := range known {
		if o.Type == git.TypeCommit {
			not = append(not, o.SHA)
		}
	}
	_, err = changedFiles(ctx, objects, tip, not, func(f *changedFile) bool {
		if f.Status != 'D' && f.Mode.Type() == git.TypeBlob && f.Mode != git.ModeSymlink && !seen[f.SHA] {
			seen[f.SHA] = true
			blobs = append(blobs, f.SHA)
		}
		return len(blobs) < maxCandidates
	})
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	err = eachPointer(ctx, objects, blobs, func(p Pointer) { found[p.OID] = true })
	return slices.Sorted(maps.Keys(found)), err
}
