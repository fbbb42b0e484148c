package team

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Repos reads a page of the repositories of a team that the caller may see, those of teams above included, and how
// many there are. Error: 404.
func (s *Service) Repos(
	ctx context.Context, caller *account.Caller, ref Ref, page web.Page,
) (list []Repo, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		found, err := listRepos(tx, caller, []ID{a.ID}, RepoChoice{}, page)
		if err == nil {
			list, total = found[a.ID].Rows, found[a.ID].Total
		}
		return err
	})
	return list, total, err
}

// RoleOn returns the role of a team on a repository, also through teams above. Error: 404 without one.
func (s *Service) RoleOn(ctx context.Context, a *repo.Access, ref Ref) (role account.Role, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, a.Caller, ref)
		if err != nil {
			return err
		}
		role, err = roleOn(tx, t.ID, a.ID)
		if err == nil && role == account.None {
			err = errs.Absent()
		}
		return err
	})
	return role, err
}

// OnRepo is a team with its own role on a repository.
type OnRepo struct {
	*Team
	Role account.Role
}

// OfRepo reads a page of the teams with a role on the repository that the caller may see, by slug, and how many there
// are: none for callers who are not members of the organization.
func (s *Service) OfRepo(ctx context.Context, a *repo.Access, page web.Page) (list []OnRepo, total int64,
	err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if a.Owner.Kind != account.Organization {
			return nil
		}
		_, may, err := account.OrgFor(tx, a.Caller, a.Owner.Login)
		if err != nil || !may.Member {
			return err
		}
		found, n, err := pageOf(tx, `t.id IN (SELECT team_id FROM team_repos WHERE repo_id = $1) AND `+
			Seen("t", may.Owner, "$2"), "t.slug", page, a.ID, account.IDOf(a.Caller))
		if err != nil {
			return err
		}
		roles, err := rolesOn(tx, a.ID, found)
		list, total = nil, n
		for _, t := range found {
			list = append(list, OnRepo{t, roles[t.ID]})
		}
		return err
	})
	return list, total, err
}

// AddRepo gives a team a role on a repository of its organization, for administrators of the repository who see the
// team. Errors: 404, 422.
func (s *Service) AddRepo(ctx context.Context, a *repo.Access, ref Ref, permission string) error {
	f := web.Faults{Resource: "TeamMember"}
	f.CheckEnum("permission", permission, account.Grants()...)
	if err := f.Err(); err != nil {
		return err
	}
	role, _ := account.ParseRole(permission)
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		t, err := hold(tx, a.Caller, ref)
		if err != nil {
			return err
		}
		now, err := repo.ByID(tx, a.Caller, a.ID)
		if err != nil {
			return err
		}
		return s.putRepo(tx, t, now.Repo, role)
	})
}

// putRepo stores a role of a team with what follows from it.
func (s *Service) putRepo(tx *db.Tx, t *Access, r *repo.Repo, role account.Role) error {
	if r.OwnerID != t.Org.ID {
		return errs.Validation(errs.Field{Resource: "TeamMember", Field: "repository", Code: errs.Custom,
			Message: "The repository must belong to the organization of the team."})
	}
	was, err := grantedTo(tx, t.ID, r.ID)
	if err != nil || was == role {
		return err
	}
	if err := putRepo(tx, t.ID, r.ID, role); err != nil {
		return err
	}
	if err := recordRepo(tx, t.Team, r, was, role); err != nil {
		return err
	}
	if err := tellRepo(tx, t, r, was, role); err != nil {
		return err
	}
	if err := tx.Bump(account.Topic); err != nil {
		return err
	}
	if role < was {
		return s.forge.EndOrgAccess(tx, t.Org.ID, account.IDOf(t.Caller))
	}
	return s.forge.BeginOrgAccess(tx, t.Org.ID)
}

// RemoveRepo takes a repository from a team, for administrators of the repository who see the team, owners and the
// team's maintainers. What the team has through teams above stays. Errors: 403, 404.
func (s *Service) RemoveRepo(ctx context.Context, a *repo.Access, ref Ref) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		t, err := hold(tx, a.Caller, ref)
		if err != nil {
			return err
		}
		if err := tx.Check(); err != nil { // now, since it may be the caller's own role that ends
			return err
		}
		now, err := repo.ByID(tx, a.Caller, a.ID)
		if err != nil {
			return err
		}
		if !t.MayManage() {
			if err := now.Require(account.Admin); err != nil {
				return err
			}
		}
		was, err := grantedTo(tx, t.ID, a.ID)
		if err != nil || was == account.None {
			return err
		}
		if err := dropRepo(tx, t.ID, a.ID); err != nil {
			return err
		}
		if err := recordRepo(tx, t.Team, now.Repo, was, account.None); err != nil {
			return err
		}
		if err := tellRepo(tx, t, now.Repo, was, account.None); err != nil {
			return err
		}
		if err := tx.Bump(account.Topic); err != nil {
			return err
		}
		return s.forge.EndOrgAccess(tx, t.Org.ID, account.IDOf(a.Caller))
	})
}

// fillRepos lets a new team read repositories of its organization. Error: 422.
func (s *Service) fillRepos(tx *db.Tx, caller *account.Caller, t *Team, names []string) error {
	full := make([]string, len(names))
	for n, name := range names {
		if full[n] = name; !strings.Contains(name, "/") {
			full[n] = t.Org.Login + "/" + name
		}
	}
	list, err := repo.VisibleNamed(tx, caller, full)
	if err != nil {
		return err
	}
	found := map[string]*repo.Access{}
	for _, a := range list {
		found[account.Fold(a.FullName())] = a
	}
	for _, name := range full {
		a := found[account.Fold(name)]
		if a == nil || a.OwnerID != t.Org.ID {
			return errs.Validation(errs.Field{Resource: Resource, Field: "repo_names",
				Code:  errs.InvalidField,
				Value: errs.Clip(name)})
		}
		as := &Access{Team: t, Caller: caller, Owner: true}
		if err := s.putRepo(tx, as, a.Repo, account.Pull); err != nil {
			return err
		}
	}
	return nil
}
