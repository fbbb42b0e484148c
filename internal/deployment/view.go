package deployment

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// View is a deployment with what pages show of it.
type View struct {
	*Deployment
	Creator *account.Account
	Latest  *Status // nil: it has no status
}

// Current reads the latest deployment to each environment, a page of environments by name.
func (s *Service) Current(ctx context.Context, a *repo.Access, page web.Page) ([]View, error) {
	return s.views(ctx, func(tx *db.Tx) ([]*Deployment, error) { return current(tx, a.ID, page) })
}

// List reads a page of deployments, the newest first, and counts them.
func (s *Service) List(ctx context.Context, a *repo.Access, f Filter, page web.Page) (*web.List[View], error) {
	out := &web.List[View]{}
	var err error
	out.Rows, err = s.views(ctx, func(tx *db.Tx) (found []*Deployment, err error) {
		found, out.Total, err = list(tx, a.ID, f, page)
		return found, err
	})
	out.More = page.Offset()+page.Size < out.Total
	return out, err
}

// maxShown is the number of deployments of a commit that pages show.
const maxShown = 10

// OfCommit reads the latest active deployments of a commit, which was found for the caller before.
func (s *Service) OfCommit(ctx context.Context, a *repo.Access, sha git.SHA) ([]View, error) {
	return s.views(ctx, func(tx *db.Tx) ([]*Deployment, error) { return ofCommit(tx, a.ID, sha, maxShown) })
}

// views reads deployments with what pages show of them, with a fixed number of statements.
func (s *Service) views(ctx context.Context, find func(*db.Tx) ([]*Deployment, error)) (out []View, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, err := find(tx)
		if err != nil || len(list) == 0 {
			out = nil
			return err
		}
		ids, by := make([]int64, len(list)), make([]account.ID, len(list))
		for n, d := range list {
			ids[n], by[n] = d.ID, d.CreatorID
		}
		latest, err := latestStatuses(tx, ids)
		if err != nil {
			return err
		}
		people, err := account.ByIDs(tx, db.Unique(by))
		out = make([]View, len(list))
		for n, d := range list {
			out[n] = View{d, people[d.CreatorID], latest[d.ID]}
		}
		return err
	})
	return out, err
}
