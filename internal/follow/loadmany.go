package follow

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// ListMany lists a page of the people on one side of each of several accounts, the first one first, with a fixed
// number of statements. Unlike List it omits organizations, which people may follow, too.
func (s *Service) ListMany(
	ctx context.Context, of []account.ID, side Side, p web.Page,
) (map[account.ID]*web.List[*account.Simple], error) {
	out := map[account.ID]*web.List[*account.Simple]{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		totals, err := countPeople(tx, of, side)
		if err != nil {
			return err
		}
		pairs, err := peopleOf(tx, of, side, p)
		if err != nil {
			return err
		}
		ids := make([]account.ID, len(pairs))
		for n, pair := range pairs {
			ids[n] = pair.person
		}
		people, err := account.ByIDs(tx, db.Unique(ids))
		for _, id := range of {
			out[id] = &web.List[*account.Simple]{Total: totals[id], More: p.Offset()+p.Size < totals[id]}
		}
		for _, pair := range pairs {
			if a := people[pair.person]; a != nil {
				out[pair.of].Rows = append(out[pair.of].Rows, account.NewSimple(a, web.From(ctx)))
			}
		}
		return err
	})
	return out, err
}

// Between returns those of the accounts that the caller follows and those that follow the caller.
func (s *Service) Between(
	ctx context.Context, caller *account.Caller, with []account.ID,
) (followed, following map[account.ID]bool, err error) {
	followed, following = map[account.ID]bool{}, map[account.ID]bool{}
	if caller == nil || len(with) == 0 {
		return followed, following, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return between(tx, caller.ID, with, func(side Side, id account.ID) {
			if side == Following {
				followed[id] = true
			} else {
				following[id] = true
			}
		})
	})
	return followed, following, err
}
