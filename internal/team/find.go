package team

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Get finds a team. Error: 404, also for a team that the caller may not see.
func (s *Service) Get(ctx context.Context, caller *account.Caller, ref Ref) (a *Access, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Access, error) { return find(tx, caller, ref) })
}

// find finds a team that the caller may see.
func find(tx *db.Tx, caller *account.Caller, ref Ref) (*Access, error) {
	t, err := byRef(tx, ref)
	if err != nil {
		return nil, err
	}
	_, may, err := account.OrgFor(tx, caller, t.Org.Login)
	if err != nil {
		return nil, err
	}
	if !may.Member {
		return nil, errs.Absent()
	}
	role, err := roleIn(tx, t.ID, account.IDOf(caller))
	if err == nil && t.Secret && !may.Owner && role == Outside {
		err = errs.Absent()
	}
	return &Access{Team: t, Caller: caller, Owner: may.Owner, Role: role}, err
}

// hold is find in a transaction that writes: the organization is held, and the rights are asked again then.
func hold(tx *db.Tx, caller *account.Caller, ref Ref) (*Access, error) {
	a, err := find(tx, caller, ref)
	if err != nil {
		return nil, err
	}
	if err := account.HoldID(tx, a.Org.ID); err != nil {
		return nil, err
	}
	return find(tx, caller, ref)
}

// holdOwned is hold for what only owners of the organization may do. Errors: 403, 404.
func holdOwned(tx *db.Tx, caller *account.Caller, ref Ref) (*Access, error) {
	a, err := hold(tx, caller, ref)
	if err == nil && !a.Owner {
		err = account.MustOwn(&a.Org)
	}
	return a, err
}

// members returns the organization if the caller is a member of it. Errors: 403, 404.
func members(tx *db.Tx, caller *account.Caller, login string) (*account.Account, account.OrgAccess, error) {
	org, may, err := account.OrgFor(tx, caller, login)
	if err == nil && !may.Member {
		err = errs.Newf(errs.Forbidden, "You must be a member of the organization %q to see its teams",
			org.Login)
	}
	return org, may, err
}

// List reads a page of the teams of an organization that the caller may see, by slug, and how many there are. With
// top only those without a parent. Errors: 403 for callers who are not members, 404.
func (s *Service) List(
	ctx context.Context, caller *account.Caller, org string, top bool, page web.Page,
) (list []*Team, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, may, err := members(tx, caller, org)
		if err != nil {
			return err
		}
		found, err := ofOrgs(tx, caller, []account.ID{of.ID}, map[account.ID]account.OrgAccess{of.ID: may},
			Choice{Top: top}, page)
		if err == nil {
			list, total = found[of.ID].Rows, found[of.ID].Total
		}
		return err
	})
	return list, total, err
}

// Children reads a page of the teams whose parent a team is. Error: 404.
func (s *Service) Children(
	ctx context.Context, caller *account.Caller, ref Ref, page web.Page,
) (list []*Team, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		found, err := childrenOf(tx, caller, []ID{a.ID}, Choice{}, page)
		if err == nil {
			list, total = found[a.ID].Rows, found[a.ID].Total
		}
		return err
	})
	return list, total, err
}

// OfCaller reads a page of the teams that the caller belongs to in all organizations, by id.
func (s *Service) OfCaller(
	ctx context.Context, caller *account.Caller, page web.Page,
) (list []*Team, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, total, err = pageOf(tx,
			`t.id IN (SELECT team_id FROM team_members WHERE user_id = $1 AND role > 1)`+caller.AndOpen("t.org_id"),
			"t.id", page, caller.ID)
		return err
	})
	return list, total, err
}

// ByIDs reads those of the teams that the caller sees.
func (s *Service) ByIDs(ctx context.Context, caller *account.Caller, ids []ID) (found map[ID]*Access, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[ID]*Access, error) { return byIDs(tx, caller, ids) })
}

// ByNames reads those of the teams ORG/SLUG that the caller sees, by folded name.
func (s *Service) ByNames(
	ctx context.Context, caller *account.Caller, names []string,
) (found map[string]*Access, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found = map[string]*Access{}
		ids, err := ByNames(tx, caller, names)
		if err != nil {
			return err
		}
		teams, err := byIDs(tx, caller, slices.Collect(maps.Values(ids)))
		for name, id := range ids {
			if a := teams[id]; a != nil {
				found[name] = a
			}
		}
		return err
	})
	return found, err
}

// byIDs is ByIDs in a transaction.
func byIDs(tx *db.Tx, caller *account.Caller, ids []ID) (map[ID]*Access, error) {
	found := map[ID]*Access{}
	if len(ids) == 0 {
		return found, nil
	}
	ids = db.Unique(ids)
	list, err := query(tx, `t.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	if err != nil {
		return nil, err
	}
	in, err := db.QueryMap[ID, Role](tx, `SELECT team_id, role FROM team_members WHERE user_id = $1
		AND team_id IN `+db.ValuesFrom(2, 1, len(ids)), db.Args(ids, account.IDOf(caller))...)
	if err != nil {
		return nil, err
	}
	ofOrgs := make([]account.ID, len(list))
	for n, t := range list {
		ofOrgs[n] = t.Org.ID
	}
	orgs, err := account.AccessTo(tx, caller, db.Unique(ofOrgs))
	for _, t := range list {
		may := orgs[t.Org.ID]
		if may.Member && (!t.Secret || may.Owner || in[t.ID] != Outside) {
			found[t.ID] = &Access{Team: t, Caller: caller, Owner: may.Owner, Role: in[t.ID]}
		}
	}
	return found, err
}
