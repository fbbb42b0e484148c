package deployment

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Shown is a deployment in the form of GET /repos/{owner}/{repo}/deployments, with its state.
type Shown struct {
	*Payload
	State  State
	Latest *StatusPayload // nil: it has no status
}

// Order chooses among the deployments of repositories.
type Order struct {
	Environments []string // empty: all
	Desc         bool     // the newest first
}

// ListMany lists a page of the deployments of each of several repositories, with a fixed number of statements.
func (s *Service) ListMany(
	ctx context.Context, repos []*repo.Access, o Order, page web.Page,
) (map[repo.ID]*web.List[*Shown], error) {
	in, out := repo.InList(repos), map[repo.ID]*web.List[*Shown]{}
	err := s.db.ReadLong(ctx, func(tx *db.Tx) error {
		totals, err := countMany(tx, repos, o)
		if err != nil {
			return err
		}
		found, err := listMany(tx, repos, o, page)
		if err != nil {
			return err
		}
		for id := range in {
			out[id] = &web.List[*Shown]{Total: totals[id], More: page.Offset()+page.Size < totals[id]}
		}
		list, err := show(ctx, tx, in, found)
		for n, d := range list {
			l := out[found[n].RepoID]
			l.Rows = append(l.Rows, d)
		}
		return err
	})
	return out, err
}

// show renders deployments with their creators and latest statuses.
func show(ctx context.Context, tx *db.Tx, in map[repo.ID]*repo.Access, found []*Deployment) ([]*Shown, error) {
	ids, by := make([]int64, len(found)), make([]account.ID, len(found))
	for n, d := range found {
		ids[n], by[n] = d.ID, d.CreatorID
	}
	latest, err := latestStatuses(tx, ids)
	if err != nil {
		return nil, err
	}
	for _, st := range latest {
		by = append(by, st.CreatorID)
	}
	people, err := account.ByIDs(tx, db.Unique(by))
	info, list := web.From(ctx), make([]*Shown, len(found))
	for n, d := range found {
		at := place(info, in[d.RepoID])
		list[n] = &Shown{Payload: newPayload(d, people[d.CreatorID], at, info), State: d.State}
		if st := latest[d.ID]; st != nil {
			list[n].Latest = newStatusPayload(st, people[st.CreatorID], at, info)
		}
	}
	return list, err
}

// EnvironmentsMany lists a page of the environments of each of several repositories by name, with a fixed number of
// statements.
func (s *Service) EnvironmentsMany(
	ctx context.Context, repos []*repo.Access, page web.Page,
) (map[repo.ID]*web.List[*Environment], error) {
	out := map[repo.ID]*web.List[*Environment]{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		totals, err := countEnvironmentsMany(tx, repos)
		for _, a := range repos {
			out[a.ID] = &web.List[*Environment]{Total: totals[a.ID], More: page.Offset()+page.Size < totals[a.ID]}
		}
		if err != nil {
			return err
		}
		return environmentsMany(tx, repos, page, func(of repo.ID, e *Environment) {
			out[of].Rows = append(out[of].Rows, e)
		})
	})
	return out, err
}

// ByIDs loads deployments by their ids, as ListMany does. Those not in the repository are omitted.
func (s *Service) ByIDs(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]*Shown, error) {
	in, out := repo.In(ids), map[repo.Of[int64]]*Shown{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := byIDs(tx, db.Unique(repo.Keys(ids)))
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(d *Deployment) bool { return in[d.RepoID] == nil })
		list, err := show(ctx, tx, in, found)
		for n, d := range list {
			out[repo.Of[int64]{In: in[found[n].RepoID], Key: d.ID}] = d
		}
		return err
	})
	return out, err
}

// EnvironmentsByIDs loads environments by their ids. Those not in the repository are omitted.
func (s *Service) EnvironmentsByIDs(
	ctx context.Context, ids []repo.Of[int64],
) (map[repo.Of[int64]]*Environment, error) {
	out := map[repo.Of[int64]]*Environment{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		places, err := EnvironmentPlaces(tx, db.Unique(repo.Keys(ids)))
		if err != nil {
			return err
		}
		found, err := environmentsByIDs(tx, db.Unique(repo.Keys(ids)))
		for _, e := range found {
			for _, id := range ids {
				if id.Key == e.ID && id.In.ID == places[e.ID] {
					out[id] = e
				}
			}
		}
		return err
	})
	return out, err
}
