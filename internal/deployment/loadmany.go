package deployment

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Shown is a deployment in the form of GET /repos/{owner}/{repo}/deployments, with its state.
type Shown struct {
	*Payload
	State  State
	Latest *StatusPayload // nil: it has no status

	in repo.ID
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
		list[n] = &Shown{Payload: newPayload(d, people[d.CreatorID], at, info), State: d.State, in: d.RepoID}
		if st := latest[d.ID]; st != nil {
			list[n].Latest = newStatusPayload(st, people[st.CreatorID], at, info)
		}
	}
	return list, err
}

// EnvironmentsMany lists a page of the environments of each of several repositories by name, those with one of the
// names if there are any, with a fixed number of statements.
func (s *Service) EnvironmentsMany(
	ctx context.Context, repos []*repo.Access, names []string, page web.Page,
) (map[repo.ID]*web.List[*Environment], error) {
	out := map[repo.ID]*web.List[*Environment]{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		totals, err := countEnvironmentsMany(tx, repos, names)
		for _, a := range repos {
			out[a.ID] = &web.List[*Environment]{Total: totals[a.ID], More: page.Offset()+page.Size < totals[a.ID]}
		}
		if err != nil {
			return err
		}
		return environmentsMany(tx, repos, names, page, func(of repo.ID, e *Environment) {
			out[of].Rows = append(out[of].Rows, e)
		})
	})
	return out, err
}

// OfCommits lists a page of the deployments of each of several commits, with a fixed number of statements.
func (s *Service) OfCommits(
	ctx context.Context, list []repo.Of[git.SHA], o Order, page web.Page,
) (map[repo.Of[git.SHA]]*web.List[*Shown], error) {
	in, out := repo.In(list), map[repo.Of[git.SHA]]*web.List[*Shown]{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		totals, err := countOfCommits(tx, list, o)
		if err != nil {
			return err
		}
		found, err := listOfCommits(tx, list, o, page)
		if err != nil {
			return err
		}
		for n, of := range list {
			out[of] = &web.List[*Shown]{Total: totals[n], More: page.Offset()+page.Size < totals[n]}
		}
		shown, err := show(ctx, tx, in, found)
		for _, d := range shown {
			for _, of := range list {
				if of.Key == d.SHA && of.In.ID == d.in {
					out[of].Rows = append(out[of].Rows, d)
				}
			}
		}
		return err
	})
	return out, err
}

// StatusesOf lists a page of the statuses of each of several deployments, the newest first, with a fixed number of
// statements. The deployments were found for the caller before.
func (s *Service) StatusesOf(
	ctx context.Context, list []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*StatusPayload], error) {
	ids, out := repo.Keys(list), map[repo.Of[int64]]*web.List[*StatusPayload]{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		totals, err := countStatuses(tx, ids)
		if err != nil {
			return err
		}
		found, err := statusesOfEach(tx, ids, page)
		if err != nil {
			return err
		}
		by := make([]account.ID, len(found))
		for n, st := range found {
			by[n] = st.CreatorID
		}
		people, err := account.ByIDs(tx, db.Unique(by))
		for _, of := range list {
			l := &web.List[*StatusPayload]{Total: totals[of.Key], More: page.Offset()+page.Size < totals[of.Key]}
			for _, st := range found {
				if st.DeploymentID == of.Key {
					at := place(web.From(ctx), of.In)
					l.Rows = append(l.Rows, newStatusPayload(st, people[st.CreatorID], at, web.From(ctx)))
				}
			}
			out[of] = l
		}
		return err
	})
	return out, err
}

// LastCompleted loads the last deployment to each of several environments that ended, well or not.
func (s *Service) LastCompleted(ctx context.Context, list []repo.Of[int64]) (map[repo.Of[int64]]*Shown, error) {
	last, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[int64]int64, error) {
		return completed(tx, db.Unique(repo.Keys(list)))
	})
	var ids []repo.Of[int64]
	for _, of := range list {
		if id := last[of.Key]; id != 0 {
			ids = append(ids, repo.Of[int64]{In: of.In, Key: id})
		}
	}
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	found, err := s.ByIDs(ctx, ids)
	out := map[repo.Of[int64]]*Shown{}
	for _, of := range list {
		if d := found[repo.Of[int64]{In: of.In, Key: last[of.Key]}]; d != nil {
			out[of] = d
		}
	}
	return out, err
}

// Rule is a rule of an environment, as GET /repos/{owner}/{repo}/environments shows it.
type Rule struct {
	ID                int64
	Type              string // wait_timer, required_reviewers or branch_policy
	WaitTimer         int64  // in minutes
	PreventSelfReview *bool
	Reviewers         []*account.Simple
}

// RulesOf loads the rules of environments.
func (s *Service) RulesOf(ctx context.Context, list []repo.Of[*Environment]) (map[repo.Of[*Environment]][]Rule, error) {
	var people map[account.ID]*account.Account
	var ids []account.ID
	for _, of := range list {
		ids = append(ids, of.Key.Reviewers...)
	}
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		people, err = account.ByIDs(tx, db.Unique(ids))
		return err
	})
	out := map[repo.Of[*Environment]][]Rule{}
	for _, of := range list {
		for _, r := range newEnvironmentPayload(of.Key, people, of.In, web.From(ctx)).Rules {
			rule := Rule{ID: r.ID, Type: r.Type, PreventSelfReview: r.PreventSelfReview}
			if r.WaitTimer != nil {
				rule.WaitTimer = *r.WaitTimer
			}
			for _, reviewer := range r.Reviewers {
				rule.Reviewers = append(rule.Reviewers, reviewer.Reviewer)
			}
			out[of] = append(out[of], rule)
		}
	}
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

// StatusesByIDs loads statuses by their ids. Those not in the repository are omitted.
func (s *Service) StatusesByIDs(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]*StatusPayload, error) {
	out := map[repo.Of[int64]]*StatusPayload{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		places, err := StatusPlaces(tx, db.Unique(repo.Keys(ids)))
		if err != nil {
			return err
		}
		found, err := statusesByIDs(tx, db.Unique(repo.Keys(ids)))
		if err != nil {
			return err
		}
		by := make([]account.ID, len(found))
		for n, st := range found {
			by[n] = st.CreatorID
		}
		people, err := account.ByIDs(tx, db.Unique(by))
		for _, st := range found {
			for _, of := range ids {
				if of.Key == st.ID && of.In.ID == places[st.ID] {
					out[of] = newStatusPayload(st, people[st.CreatorID], place(web.From(ctx), of.In), web.From(ctx))
				}
			}
		}
		return err
	})
	return out, err
}
