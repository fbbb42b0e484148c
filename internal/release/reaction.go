package release

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Subject finds a release as a subject of reactions. Error: 404, also for a draft without push access.
func (s *Service) Subject(ctx context.Context, a *repo.Access, id int64) (reaction.Subject, error) {
	find := func(tx *db.Tx) (*Release, error) { return byID(tx, a.ID, id) }
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		_, err := visible(a, find, tx)
		return err
	})
	return reaction.Subject{Kind: reaction.Release, ID: id, Changed: func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		now, err := a.Now(tx)
		if err == nil {
			_, err = visible(now, find, tx)
		}
		return err
	}}, err
}

// Subject is Service.Subject.
func (api *API) Subject(ctx context.Context, a *repo.Access, id int64) (reaction.Subject, error) {
	return api.s.Subject(ctx, a, id)
}

// subject is the release that {release_id} names, as package reaction sees it. Error: 404.
func (api *API) subject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	id, err := web.Number(r, "release_id")
	if err != nil {
		return reaction.Subject{}, err
	}
	return api.s.Subject(r.Context(), a, id)
}

// loadOwn sets how the caller reacted to releases of one repository.
func (s *Service) loadOwn(ctx context.Context, a *repo.Access, views []*View) error {
	if account.IDOf(a.Caller) == 0 || len(views) == 0 {
		return nil
	}
	ids := make([]repo.Of[int64], len(views))
	for n, v := range views {
		ids[n] = repo.Of[int64]{In: a, Key: v.ID}
	}
	return s.db.Read(ctx, func(tx *db.Tx) error {
		own, err := reaction.Own(tx, reaction.Release, ids)
		for n, v := range views {
			v.Own = own[ids[n]]
		}
		return err
	})
}
