package account

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/web"
)

// Full is an account in the form of GET /users/{username}.
type Full struct{ *fullUser }

// FullByIDs loads accounts as the caller sees them, with one statement. Unknown ids are missing.
func (s *Service) FullByIDs(ctx context.Context, caller *Caller, ids []ID) (map[ID]Full, error) {
	found, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[ID]*Account, error) { return ByIDs(tx, ids) })
	info, out := web.From(ctx), map[ID]Full{}
	for id, a := range found {
		out[id] = Full{newFullUser(a, info, caller)}
	}
	return out, err
}

// FullByLogins is FullByIDs for logins. The keys of the result are folded.
func (s *Service) FullByLogins(ctx context.Context, caller *Caller, logins []string) (map[string]Full, error) {
	found, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[string]*Account, error) {
		return ByLogins(tx, logins)
	})
	info, out := web.From(ctx), map[string]Full{}
	for login, a := range found {
		out[login] = Full{newFullUser(a, info, caller)}
	}
	return out, err
}

// FullSelf loads the caller's own account in the form of GET /user.
func (s *Service) FullSelf(ctx context.Context, caller *Caller) (Full, error) {
	me, err := s.Self(ctx, caller)
	if err != nil {
		return Full{}, err
	}
	return Full{newPrivateUser(me, web.From(ctx), caller)}, nil
}

// Organizations lists a page of the organizations of each of several users, as GET /users/{username}/orgs does, with
// a fixed number of statements.
func (s *Service) Organizations(
	ctx context.Context, caller *Caller, users []ID, page web.Page,
) (map[ID]*web.List[*Simple], error) {
	out := map[ID]*web.List[*Simple]{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		totals, err := countOrgsOf(tx, caller, users)
		if err != nil {
			return err
		}
		pairs, err := orgsOfEach(tx, caller, users, page)
		if err != nil {
			return err
		}
		ids := make([]ID, len(pairs))
		for n, pair := range pairs {
			ids[n] = pair.org
		}
		orgs, err := ByIDs(tx, db.Unique(ids))
		for _, id := range users {
			out[id] = &web.List[*Simple]{Total: totals[id], More: page.Number*page.Size < totals[id]}
		}
		for _, pair := range pairs {
			if org := orgs[pair.org]; org != nil {
				out[pair.user].Rows = append(out[pair.user].Rows, NewSimple(org, web.From(ctx)))
			}
		}
		return err
	})
	return out, err
}

// MemberOf returns those of the organizations that the caller is a member of, with one statement. A token that hides
// memberships shows none.
func (s *Service) MemberOf(ctx context.Context, caller *Caller, orgs []ID) (member map[ID]bool, err error) {
	if caller == nil || caller.HidesMembers || len(orgs) == 0 {
		return nil, nil
	}
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[ID]bool, error) { return membersOf(tx, caller, orgs) })
}

// AccessTo returns what the caller may do with each of several organizations, with one statement; see OrgAccess.
func (s *Service) AccessTo(ctx context.Context, caller *Caller, orgs []ID) (may map[ID]OrgAccess, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[ID]OrgAccess, error) { return AccessTo(tx, caller, orgs) })
}

// AccessTo returns what the caller may do with each of several organizations, with one statement at most.
func AccessTo(tx *db.Tx, caller *Caller, orgs []ID) (may map[ID]OrgAccess, err error) {
	may = map[ID]OrgAccess{}
	switch {
	case caller == nil || len(orgs) == 0:
	case caller.App != 0:
		for _, id := range orgs {
			role := caller.inOrg(id)
			may[id] = OrgAccess{role > None, role == Admin}
		}
	case caller.ForApp != 0:
		return caller.accessesForApp(tx, orgs)
	case caller.HidesMembers:
	case caller.SiteAdmin && caller.OAuthApp != 0:
		open, err := openTo(tx, caller, orgs)
		for _, id := range open {
			may[id] = OrgAccess{true, true}
		}
		return may, err
	case caller.SiteAdmin:
		for _, id := range orgs {
			may[id] = OrgAccess{true, true}
		}
	default:
		err = eachMembership(tx, caller, orgs, func(id ID, owner bool) { may[id] = OrgAccess{true, owner} })
	}
	return may, err
}

// MembersOfEach lists a page of the members of each of several organizations, as GET /orgs/{org}/members does, with a
// fixed number of statements. Their Org is not set.
func (s *Service) MembersOfEach(
	ctx context.Context, caller *Caller, orgs []ID, page web.Page,
) (out map[ID]*web.List[*Membership], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		may, err := AccessTo(tx, caller, orgs)
		if err != nil {
			return err
		}
		found, err := membersOfEach(tx, orgs, may, page)
		if err != nil {
			return err
		}
		people, err := ByIDs(tx, db.ListedIDs(found))
		out = web.ListOfEach(page, found, func(r db.ListRow[ID]) (*Membership, bool) {
			return &Membership{User: people[r.ID], Owner: r.Number == 1}, people[r.ID] != nil
		})
		return err
	})
	return out, err
}

// SeenMembers returns those of the users whose membership of an organization the caller sees.
func (s *Service) SeenMembers(ctx context.Context, caller *Caller, org ID, users []ID) (seen map[ID]bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		may, err := AccessTo(tx, caller, []ID{org})
		if err == nil {
			seen, err = seenMembers(tx, org, users, !may[org].Member)
		}
		return err
	})
	return seen, err
}

// Privileges are rules of an organization for its members.
type Privileges struct {
	Factors      *bool   // second factors are required; nil for all but owners
	PrivateForks bool    // members can fork private repositories; false for others
	BillingEmail *string // nil for all but owners
}

// PrivilegesOf returns what the caller sees of the rules of each of several organizations, with a fixed number of
// statements.
func (s *Service) PrivilegesOf(ctx context.Context, caller *Caller, orgs []ID) (out map[ID]Privileges, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		out = map[ID]Privileges{}
		may, err := AccessTo(tx, caller, orgs)
		if err != nil {
			return err
		}
		list, err := ByIDs(tx, orgs)
		if err != nil {
			return err
		}
		required, err := requiringFactors(tx, orgs)
		for id, org := range list {
			p := Privileges{PrivateForks: may[id].Member && org.PrivateForks}
			if may[id].Owner {
				p.Factors, p.BillingEmail = new(required[id]), org.BillingEmail
			}
			out[id] = p
		}
		return err
	})
	return out, err
}
