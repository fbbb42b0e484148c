package lfs

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Off reports whether this server has no Git LFS.
func (s *Service) Off() bool { return s.MaxObject == 0 }

// eachPointer calls fn for the pointers among objects of Git, which must exist.
func eachPointer(ctx context.Context, objects *git.Repository, shas []git.SHA, fn func(Pointer)) error {
	infos, err := objects.Infos(ctx, shas)
	if err != nil {
		return err
	}
	for _, o := range infos {
		if o.Type != git.TypeBlob || o.Size > MaxPointer {
			continue
		}
		_, data, err := objects.Contents(ctx, o.SHA, MaxPointer)
		if err != nil {
			return err
		}
		if p, ok := ParsePointer(data); ok {
			fn(p)
		}
	}
	return nil
}

// namedPart is how many objects of Git are looked at together.
const namedPart = 10_000

// Named returns the pointers that from reaches and not does not, each object once, in the order of their names. Those
// of objects without bytes are left out. Error: TooLarge for more than most.
func Named(ctx context.Context, objects *git.Repository, from, not []git.SHA, most int) ([]Pointer, error) {
	found := map[string]Pointer{}
	var part []git.SHA
	look := func() error {
		err := eachPointer(ctx, objects, part, func(p Pointer) {
			if p.Size > 0 {
				found[p.OID] = p
			}
		})
		if part = part[:0]; err == nil && len(found) > most {
			err = errs.Newf(errs.TooLarge, "its commits name more than %d objects of Git LFS", most)
		}
		return err
	}
	err := objects.EachNew(ctx, from, not, func(id git.ID) error {
		if part = append(part, git.SHA(hex.EncodeToString(id[:]))); len(part) < namedPart {
			return nil
		}
		return look()
	})
	if err == nil && len(part) > 0 {
		err = look()
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Pointer) int { return strings.Compare(a.OID, b.OID) }), err
}

// Split divides pointers into those whose objects a repository has and those whose objects it lacks.
func Split(tx *db.Tx, id repo.ID, list []Pointer) (has, lacks []Pointer, err error) {
	have, err := byOIDs(tx, id, oidsOf(list))
	for _, p := range list {
		if o := have[p.OID]; o == nil {
			lacks = append(lacks, p)
		} else if o.Size == p.Size {
			has = append(has, p)
		}
	}
	return has, lacks, err
}
