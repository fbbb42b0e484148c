package packs

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
)

// A bundle contains the history of the default branch at the time when it was made, and no other ref. It is offered
// only while its tip is in the history of that branch. So everyone who may read the repository may read the whole
// bundle, even if other refs are hidden (repo.Absent), and commits removed by a force push are not offered again.

// OffersBundle reports whether OfferedBundle has one for the caller, who may fetch.
func (s *Service) OffersBundle(ctx context.Context, a *repo.Access) bool {
	b, _, err := s.offered(ctx, a)
	s.logOffer(ctx, a, err)
	return b != nil && err == nil
}

// OfferedBundle returns the bundle of a repository for a caller who may fetch, with an address that is valid for
// file.Validity; nil: there is none. It only logs errors, because clients can clone without a bundle.
func (s *Service) OfferedBundle(ctx context.Context, a *repo.Access) *wire.Bundle {
	b, from, err := s.offered(ctx, a)
	address := ""
	if err == nil && b != nil {
		address, err = from.URL(ctx, keyPath(b.key), depot.Answer{Type: file.AnyBytes,
			Disposition: `attachment; filename="default.bundle"`, Plain: true}, file.Validity)
	}
	s.logOffer(ctx, a, err)
	if err != nil || address == "" {
		return nil
	}
	s.counters.bundles.Inc()
	return &wire.Bundle{Address: address, Token: int64(b.made)}
}

func (s *Service) logOffer(ctx context.Context, a *repo.Access, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "a bundle was not offered", "repository", a.ID, "error", err)
	}
}

// offered returns the bundle that may be offered now, and where it is; nil: there is none.
func (s *Service) offered(ctx context.Context, a *repo.Access) (*bundle, *depot.Depot, error) {
	if s.BundleSize == 0 || a.Packs == 0 {
		return nil, nil, nil
	}
	var b *bundle
	var tip git.SHA
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		b, tip, err = latestBundle(tx, repo.Folder{ID: a.ID, Purges: a.Purges})
		return err
	})
	if err != nil || b == nil {
		return nil, nil, err
	}
	from, err := s.files.Depot(ctx, b.depot)
	if err != nil || !from.Signs() {
		return nil, nil, err
	}
	if leads, err := s.isBundleAncestor(ctx, b, tip); err != nil || !leads {
		return nil, nil, err
	}
	return b, from, nil
}

// ancestry is the cached result of isBundleAncestor for a repository: whether the bundle's tip is an ancestor of the default
// branch.
type ancestry struct {
	key   string
	tip   git.SHA
	leads bool
}

// maxAncestries is for how many repositories answers are kept.
const maxAncestries = 10_000

// isBundleAncestor reports whether the tip of a bundle is the given commit, or an ancestor of it.
func (s *Service) isBundleAncestor(ctx context.Context, b *bundle, tip git.SHA) (bool, error) {
	if b.tip == tip {
		return true, nil
	}
	id := b.folder.ID
	unlock, err := s.ancestryLocks.Lock(ctx, id) // concurrent requests share one walk through the history
	if err != nil {
		return false, err
	}
	defer unlock()
	s.mu.Lock()
	last := s.ancestries[id]
	s.mu.Unlock()
	if last.key == b.key && last.tip == tip {
		return last.leads, nil
	}
	objects, release, err := s.repos.Open(ctx, id, b.folder.Purges)
	if err != nil {
		return false, err
	}
	defer release()
	leads, err := objects.IsAncestor(ctx, b.tip, tip)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ancestries) >= maxAncestries {
		clear(s.ancestries)
	}
	s.ancestries[id] = ancestry{b.key, tip, leads}
	return leads, nil
}
