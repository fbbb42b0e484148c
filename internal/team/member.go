package team

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Members reads a page of the people of a team, those of teams below included, and how many there are. wanted is
// "all", "member" or "maintainer". Error: 404.
func (s *Service) Members(
	ctx context.Context, caller *account.Caller, ref Ref, wanted string, page web.Page,
) (list []Person, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		found, err := listMembers(tx, []ID{a.ID}, MemberChoice{Wanted: wanted}, page)
		if err == nil {
			list, total = found[a.ID].Rows, found[a.ID].Total
		}
		return err
	})
	return list, total, err
}

// Membership is a person's place in a team.
type Membership struct {
	Team *Team
	Person
}

// Membership finds a person in a team. Error: 404.
func (s *Service) Membership(
	ctx context.Context, caller *account.Caller, ref Ref, login string,
) (m *Membership, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		user, err := account.UserByLogin(tx, login)
		if err != nil {
			return err
		}
		m, err = membership(tx, a.Team, user)
		return err
	})
	return m, err
}

// membership reads the membership of a user. Error: 404.
func membership(tx *db.Tx, t *Team, user *account.Account) (*Membership, error) {
	role, err := roleIn(tx, t.ID, user.ID)
	if err != nil {
		return nil, err
	}
	if role == Outside {
		return nil, errs.Absent()
	}
	_, owner, err := account.OrgRole(tx, t.Org.ID, user.ID)
	if owner && role == Member {
		role = Maintainer
	}
	return &Membership{t, Person{user, role}}, err
}

// unaffiliated is the 422 for people who are not members of the organization.
func unaffiliated(field string) error {
	return errs.Validation(errs.Field{Resource: "TeamMember", Field: field, Code: errs.Custom,
		Message: "User must be a member of the organization first."})
}

// mayManage returns 403 unless the caller may change who is in the team.
func (a *Access) mayManage() error {
	if a.MayManage() {
		return nil
	}
	return errs.Newf(errs.Forbidden,
		"You must be an owner of the organization %q or a maintainer of the team.",
		a.Org.Login)
}

// AddMember adds a member of the organization to a team or, if role is given, changes the role; for owners and the
// team's maintainers. Errors: 403, 404, 422 for users who are not members of the organization.
func (s *Service) AddMember(
	ctx context.Context, caller *account.Caller, ref Ref, login string, role web.Opt[Role],
) (m *Membership, err error) {
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		a, err := hold(tx, caller, ref)
		if err != nil {
			return err
		}
		if err := a.mayManage(); err != nil {
			return err
		}
		user, err := account.UserByLogin(tx, login)
		if err != nil {
			return err
		}
		in, _, err := account.OrgRole(tx, a.Org.ID, user.ID)
		if err != nil {
			return err
		}
		if !in {
			return unaffiliated("user")
		}
		if err := s.put(tx, a, user, role); err != nil {
			return err
		}
		m, err = membership(tx, a.Team, user)
		return err
	})
	return m, err
}

// put stores a membership with what follows from it.
func (s *Service) put(tx *db.Tx, a *Access, user *account.Account, role web.Opt[Role]) error {
	was, err := roleIn(tx, a.ID, user.ID)
	there, next := was >= Member, role.Or(max(was, Member))
	if err != nil || was == next {
		return err
	}
	if err := putMember(tx, a.ID, user.ID, next); err != nil {
		return err
	}
	if err := recordMember(tx, a, user, was, next); err != nil {
		return err
	}
	if !there {
		if a.Parent != nil {
			if err := settle(tx, a.Parent.ID, user.ID); err != nil {
				return err
			}
		}
		if err := tellMember(tx, a, user, "added"); err != nil {
			return err
		}
		if err := s.forge.BeginOrgAccess(tx, a.Org.ID); err != nil {
			return err
		}
	}
	return tx.Bump(account.Topic)
}

// RemoveMember removes a member from a team: owners and the team's maintainers anyone, everyone themselves. A
// member of a team below is not a member of this one. Errors: 403, 404.
func (s *Service) RemoveMember(ctx context.Context, caller *account.Caller, ref Ref, login string) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		a, err := hold(tx, caller, ref)
		if err != nil {
			return err
		}
		if account.Fold(login) != account.Fold(caller.Login) {
			if err := a.mayManage(); err != nil {
				return err
			}
		}
		user, err := account.UserByLogin(tx, login)
		if err != nil {
			return err
		}
		was, err := roleIn(tx, a.ID, user.ID)
		if err != nil {
			return err
		}
		if was < Member {
			return errs.Absent()
		}
		if err := putMember(tx, a.ID, user.ID, Below); err != nil {
			return err
		}
		if err := settle(tx, a.ID, user.ID); err != nil {
			return err
		}
		if err := recordMember(tx, a, user, was, Below); err != nil {
			return err
		}
		if err := tellMember(tx, a, user, "removed"); err != nil {
			return err
		}
		if err := tx.Bump(account.Topic); err != nil {
			return err
		}
		return s.forge.EndOrgAccess(tx, a.Org.ID, caller.ID)
	})
}
