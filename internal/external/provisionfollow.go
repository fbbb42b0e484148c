package external

import (
	"context"
	mathrand "math/rand/v2"
	"slices"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Bounds of following the groups of provisioned people.
const (
	followPage  = 500 // people that are compared with what they have in one go
	followTries = 4   // of people whom others follow at the same time
	followSoon  = 200 // people whom a request follows itself; a worker follows the others
	followEvery = time.Minute
	followBell  = "scim"
)

// followNow has people who were marked followed before the request is answered, so that a change counts at once. If
// they are many, a worker does the rest.
func (s *Service) followNow(ctx context.Context, of *Source, people []int64) error {
	left := followSoon
	for page := range slices.Chunk(people, followPage) {
		for try := 0; len(page) > 0; try++ {
			if left <= 0 || try == followTries {
				s.o.DB.Ring(followBell)
				return nil
			}
			done, again, err := s.followStale(ctx, of, page, left)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				s.o.Log.WarnContext(ctx, "provisioned groups were not followed; a worker tries again", "source", of.Name,
					"error", err)
				s.o.DB.Ring(followBell)
				return nil
			}
			left, page = left-done, again
		}
	}
	return nil
}

// RunProvisioning follows the groups of people whom no request followed, until ctx is done. It returns nil: what
// fails is logged and tried again.
func (s *Service) RunProvisioning(ctx context.Context) error {
	if len(s.Provisioned()) == 0 {
		return nil
	}
	db.RunOnBell(ctx, s.o.DB.Bell(followBell), followEvery, func(ctx context.Context) {
		if err := s.SettleProvisioning(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.WarnContext(ctx, "provisioned groups were not followed", "error", err)
		}
	})
	return nil
}

// SettleProvisioning follows the groups of all people who are marked.
func (s *Service) SettleProvisioning(ctx context.Context) error {
	for _, source := range s.Provisioned() {
		for after, try := int64(0), 0; try < followTries; {
			page, err := db.Get(ctx, s.o.DB, func(tx *db.Tx) ([]int64, error) {
				return stalePeople(tx, source, after, followPage)
			})
			if err != nil {
				return err
			}
			if len(page) == 0 && after == 0 {
				break
			}
			if len(page) == 0 {
				after, try = 0, try+1 // for those who were marked in the meantime
				continue
			}
			after = page[len(page)-1]
			if _, _, err := s.followStale(ctx, source, page, followPage); err != nil {
				return err
			}
		}
	}
	return nil
}

// followStale gives people of a page, if they are marked, what their groups and roles give, for at most so many of
// whom something differs. It returns for how many it did, and who is still marked. What did not change costs no
// statement of its own. Who is suspended only loses, and stays marked if an administrator's suspension keeps the rest.
func (s *Service) followStale(
	ctx context.Context, of *Source, page []int64, most int,
) (done int, again []int64, err error) {
	claim := 2 + mathrand.Int64N(1<<62) // whose work this is
	people := map[account.ID]*Person{}
	var ids []account.ID
	var taken []int64
	err = s.o.DB.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		clear(people)
		ids = nil
		if taken, err = takeStale(tx, claim, page); err != nil || len(taken) == 0 {
			return err
		}
		list, err := peopleByID(tx, of, taken)
		if err != nil {
			return err
		}
		for _, p := range list {
			if p.Account != 0 {
				people[p.Account] = p
				ids = append(ids, p.Account)
			}
		}
		return readGroupsOf(tx, list)
	})
	if err != nil || len(taken) == 0 {
		return 0, nil, err
	}
	accounts, err := s.known(ctx, of, ids)
	if err != nil {
		return 0, nil, err
	}
	missing := lost{}
	left := map[int64]bool{} // who stay marked, and whether to follow them at once
	for _, k := range accounts {
		p := people[k.id]
		if p == nil {
			continue
		}
		i := p.identity(of)
		i.Admin, i.Groups = p.Admin && of.Scim.AdministratorRoles, groupNames(p.Groups)
		if !i.differs(k, missing) {
			continue
		}
		if suspended := !k.suspendedAt.IsZero(); suspended || !p.Active {
			if i.loses = true; p.Active {
				left[p.ID] = false
			}
			if !i.differs(k, missing) {
				continue
			}
		}
		if done == most {
			left[p.ID] = true
			continue
		}
		done++
		a := &account.Account{ID: k.id, Login: k.login}
		if err := s.follow(ctx, i, a, session.Origin{}, missing); err != nil && !errs.Is(err, errs.NotFound) {
			return done, nil, err
		}
	}
	err = s.o.DB.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		again, err = setFollowed(tx, claim, slices.DeleteFunc(slices.Clone(taken), func(id int64) bool {
			_, stays := left[id]
			return stays
		}))
		if err != nil {
			return err
		}
		for id, now := range left {
			if now {
				again = append(again, id)
			}
		}
		return nil
	})
	return done, again, err
}
