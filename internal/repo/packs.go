package repo

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/git"
)

// Packs keeps the packs of repositories in a depot, beyond any node (package packs implements it). The folder of such a
// repository, whose Repo.Packs is not 0, is a cache.
type Packs interface {
	// UsesDepot reports whether packs of new repositories go to a depot.
	UsesDepot(ctx context.Context) (bool, error)
	// Open brings a folder, which is open, up to a generation of Repo.Packs.
	Open(ctx context.Context, f Folder, generation int64, objects *git.Repository) error
	// Keep is Open for a folder that no repository has yet: what is written to it goes to the depot.
	Keep(f Folder, objects *git.Repository)
	// Share gives a new folder all packs that a repository has.
	Share(ctx context.Context, from ID, to Folder) error
	// Adopt notes that the packs that were copied for a new fork belong to the network of its parent, for Purge.
	Adopt(tx *db.Tx, parent, fork ID) error
	// Forget ends the keeping of a folder's packs, and removes the folder here if nobody uses it. A database that is
	// restored to an earlier time still finds them; with now, not those that the repository brought.
	Forget(ctx context.Context, f Folder, now bool) error
	// HasLeft reports whether Purge would remove anything.
	HasLeft(ctx context.Context, id ID) (bool, error)
	// Purge removes at once the packs of all folders of a repository but the one that it has, and those that other
	// repositories of its network had, deleted ones included, and none has any longer. A database that is restored
	// to an earlier time may lack packs of each of them.
	Purge(ctx context.Context, id ID) error
}

// IsKept reports whether the packs of a repository lie in a depot.
func (s *Service) IsKept(ctx context.Context, id ID) (bool, error) {
	now, err := s.standing(ctx, id)
	return now.packs > 0, err
}

// keepsNew returns the value of Repo.Packs for a new repository.
func (s *Service) keepsNew(ctx context.Context) (int64, error) {
	if s.Packs == nil {
		return 0, nil
	}
	keeps, err := s.Packs.UsesDepot(ctx)
	if err != nil || !keeps {
		return 0, err
	}
	return 1, nil
}

// OpenNew returns the objects of a folder that no repository has yet. packs is Repo.Packs to be. The folder is not
// removed before release is called.
func (s *Service) OpenNew(
	ctx context.Context, f Folder, packs int64,
) (objects *git.Repository, release func(), err error) {
	objects, release, err = s.git.Open(ctx, s.Path(f.ID, f.Purges))
	if err == nil && packs > 0 {
		s.Packs.Keep(f, objects)
	}
	return objects, release, err
}

// LinkObjects gives the new folder of a fork all objects of its parent, which is public, without copying them.
func (s *Service) LinkObjects(ctx context.Context, from *Access, to ID) error {
	if from.Packs > 0 {
		return s.Packs.Share(ctx, from.ID, Folder{ID: to})
	}
	parent, release, err := s.Git(ctx, from)
	if err != nil {
		return err
	}
	defer release()
	fork, release, err := s.GitOf(ctx, to)
	if err != nil {
		return err
	}
	defer release()
	return fork.LinkObjects(parent)
}

// bring is git.Open, and with packs it brings the folder up to date.
func (s *Service) bring(
	ctx context.Context, f Folder, packs int64,
) (objects *git.Repository, release func(), err error) {
	objects, release, err = s.git.Open(ctx, s.Path(f.ID, f.Purges))
	if err != nil || packs == 0 {
		return objects, release, err
	}
	if err = s.Packs.Open(ctx, f, packs, objects); err != nil {
		release()
		return nil, nil, err
	}
	done, _ := objects.Use() // another process on this disk does not remove the folder
	unpin := release
	return objects, func() { done(); unpin() }, nil
}
