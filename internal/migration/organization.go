package migration

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/team"
	"arbor/internal/web"
)

// Organization is an organization of another server.
type Organization struct {
	Login, Name, Description string
	Permission               string            // of members on all repositories: none, read, write or admin; empty: unknown
	Owners, Members          []string          // logins; Members are not owners
	Teams                    []Team            // parents before the teams below them
	Repositories             []string          // their names
	Paths                    map[string]string // of repositories below the address, by name, where they are not the name
}

// Team is a team of an Organization.
type Team struct {
	Slug, Name, Description string
	Parent                  string // slug; empty: none
	Secret, Quiet           bool
	Maintainers, Members    []string
	Roles                   map[string]string // pull, triage, push, maintain or admin, by the repository's name
}

// OrganizationImport is an import of an organization: Found first, then the repositories, each by an [Service.Import],
// then Teams. All of it can be repeated.
//
// Membership and roles are rights, so only people in the map get them. A verified address assigns texts, but no
// rights.
type OrganizationImport struct {
	s      *Service
	from   *Organization
	to     string            // login here
	people map[string]string // the map, by folded login there
	by     *account.Caller   // the first owner here
	Left   []string          // what did not come, and why
}

// NewOrganizationImport returns the import of an organization with the login to.
func (s *Service) NewOrganizationImport(o *Organization, to string, people map[string]string) *OrganizationImport {
	return &OrganizationImport{s: s, from: o, to: to, people: people}
}

// here returns the logins here of those whom the map names.
func (i *OrganizationImport) here(there []string) (logins []string) {
	for _, login := range there {
		if to := i.people[account.Fold(login)]; to != "" {
			logins = append(logins, to)
		}
	}
	return logins
}

// Found creates the organization if it does not exist, and adds its owners and members. Errors: 422 if the map
// contains none of its owners; 403 if the organization exists and belongs to others.
func (i *OrganizationImport) Found(ctx context.Context) error {
	owners := i.here(i.from.Owners)
	if len(owners) == 0 {
		return errs.Newf(errs.Invalid, "the map names none of the owners of %s: %q", i.from.Login, i.from.Owners)
	}
	var first, org *account.Account
	err := i.s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if first, err = account.UserByLogin(tx, owners[0]); err != nil {
			return err
		}
		org, err = account.ByLogin(tx, i.to)
		if errs.Is(err, errs.NotFound) {
			org, err = nil, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	i.by = &account.Caller{ID: first.ID, Login: first.Login}
	if org == nil {
		n := account.NewOrg{Login: i.to, Owner: first.Login, Name: i.from.Name}
		if _, err := i.s.Accounts.RegisterOrg(ctx, n); err != nil {
			return err
		}
		if i.from.Permission != "" { // before there are members
			base := account.Edit{DefaultPermission: web.Opt[string]{Set: true, Value: i.from.Permission}}
			if _, err := i.s.Accounts.EditOrg(ctx, i.by, i.to, base); err != nil {
				return err
			}
		}
		about := account.Edit{Bio: web.Opt[string]{Set: true, Value: i.from.Description}}
		if _, err := i.s.Accounts.EditOrg(ctx, i.by, i.to, about); err != nil {
			i.leave(ctx, "the description of the organization", err)
		}
	} else if err := i.s.Accounts.CheckOwner(ctx, i.by, i.to); err != nil {
		return err
	}
	for _, member := range i.here(slices.Concat(i.from.Owners, i.from.Members)) {
		role := "member"
		if slices.Contains(owners, member) {
			role = "admin"
		}
		if _, err := i.s.Accounts.SetMember(ctx, i.by, i.to, member, role); err != nil {
			i.leave(ctx, "the membership of "+member, err)
		}
	}
	return nil
}

// Teams makes the teams that are not here, and brings their members and what they may do in repositories.
func (i *OrganizationImport) Teams(ctx context.Context) {
	slugs := map[string]string{} // there and here
	for _, t := range i.from.Teams {
		slug, err := i.team(ctx, t, slugs[t.Parent])
		if err != nil {
			i.leave(ctx, "the team "+t.Slug, err)
			continue
		}
		slugs[t.Slug] = slug
		ref := team.Ref{Org: i.to, Slug: slug}
		for role, logins := range map[team.Role][]string{team.Maintainer: t.Maintainers, team.Member: t.Members} {
			for _, login := range i.here(logins) {
				_, err := i.s.Teams.AddMember(ctx, i.by, ref, login, web.Opt[team.Role]{Set: true, Value: role})
				if err != nil {
					i.leave(ctx, login+" in the team "+t.Slug, err)
				}
			}
		}
		for _, name := range sortedKeys(t.Roles) {
			found, err := i.s.Repos.Find(ctx, i.by, i.to, name)
			if err == nil {
				err = i.s.Teams.AddRepo(ctx, &found.Access, ref, t.Roles[name])
			}
			if err != nil {
				i.leave(ctx, "what the team "+t.Slug+" may do in "+name, err)
			}
		}
	}
}

// team returns the slug here of a team, which it makes if it is missing.
func (i *OrganizationImport) team(ctx context.Context, t Team, parent string) (slug string, err error) {
	slug = team.Slug(t.Name)
	_, err = i.s.Teams.Get(ctx, i.by, team.Ref{Org: i.to, Slug: slug})
	if err == nil || !errs.Is(err, errs.NotFound) {
		return slug, err
	}
	e := team.Edit{Name: web.Opt[string]{Set: true, Value: t.Name},
		Description: web.Opt[string]{Set: true, Value: t.Description},
		Secret:      web.Opt[bool]{Set: true, Value: t.Secret}, Quiet: web.Opt[bool]{Set: true, Value: t.Quiet}}
	if parent != "" {
		e.ParentSlug = web.Opt[string]{Set: true, Value: parent}
	}
	made, err := i.s.Teams.Create(ctx, i.by, i.to, team.NewTeam{Edit: e})
	if err != nil {
		return "", err
	}
	if !slices.Contains(i.here(slices.Concat(t.Maintainers, t.Members)), i.by.Login) { // who creates it is its maintainer
		err = i.s.Teams.RemoveMember(ctx, i.by, team.Ref{Org: i.to, Slug: made.Slug}, i.by.Login)
	}
	return made.Slug, err
}

// leave notes what did not come, unless the import ends.
func (i *OrganizationImport) leave(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		i.Left = append(i.Left, clip(what+": "+err.Error()))
	}
}
