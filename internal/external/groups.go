package external

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/audit"
	"arbor/internal/errs"
	"arbor/internal/team"
	"arbor/internal/web"
)

// place is what groups give in one organization.
type place struct {
	org   string // as the file has it
	role  string // empty: none
	teams map[string]bool
}

// wanted returns what the groups of an identity give in each organization that the file names, by folded logins. Of
// several roles the highest counts. A team that no group gives is false. One that only loses has at most the roles that
// it has now.
func (i *Identity) wanted(now map[string]string) map[string]*place {
	places := map[string]*place{}
	for group, list := range i.Source.Groups {
		in := slices.Contains(i.Groups, group)
		for _, m := range list {
			at := places[account.Fold(m.Organization)]
			if at == nil {
				at = &place{org: m.Organization, teams: map[string]bool{}}
				places[account.Fold(m.Organization)] = at
			}
			if in && at.role != owner {
				at.role = m.Role
			}
			for _, slug := range m.Teams {
				at.teams[slug] = at.teams[slug] || in
			}
		}
	}
	if !i.loses {
		return places
	}
	for key, at := range places {
		if at.role != "" && now[key] != owner {
			at.role = now[key]
		}
		maps.DeleteFunc(at.teams, func(_ string, in bool) bool { return in })
	}
	return places
}

// administrates reports whether the groups or the role of an identity make its user an administrator of the site.
func (i *Identity) administrates() bool {
	return i.Admin || slices.ContainsFunc(i.Source.Administrators, func(g string) bool { return slices.Contains(i.Groups, g) })
}

// lost are organizations and teams that a file names and that do not exist: a comparison tries each once.
type lost map[string]bool

// follow updates an account's memberships of the organizations and teams in the file, and whether it is a site
// administrator, to match its groups. Changes that are impossible, such as removing the last owner, are logged and do
// not fail the sign-in. What does not exist is added to missing, and not tried again; nil: nothing is kept.
func (s *Service) follow(ctx context.Context, i *Identity, a *account.Account, from session.Origin, missing lost) error {
	actor := audit.Actor{ID: int64(a.ID), Login: a.Login, Right: audit.Process}
	if from.Address.IsValid() {
		actor.Address = from.Address.String()
	}
	ctx = audit.With(ctx, actor)
	by := &account.Caller{ID: a.ID, Login: a.Login, SiteAdmin: true} // the server, for the account
	tolerate := func(what string, err error) error {
		if errs.Is(err, errs.Invalid) || errs.Is(err, errs.NotFound) {
			s.o.Log.WarnContext(ctx, "groups of an identity were not followed", "login", a.Login,
				"source", i.Source.Name, "what", what, "error", err)
			if missing != nil && errs.Is(err, errs.NotFound) {
				missing[account.Fold(what)] = true
			}
			return nil
		}
		return err
	}
	if i.Source.appoints() && !(i.loses && i.administrates()) {
		if err := tolerate("administrator", s.o.Accounts.FollowAdmin(ctx, a.ID, i.administrates())); err != nil {
			return err
		}
	}
	has, err := s.o.Accounts.Memberships(ctx, a.Login)
	if err != nil {
		return err
	}
	now := map[string]string{}
	for _, m := range has {
		now[account.Fold(m.Login)] = member
		if m.Owner {
			now[account.Fold(m.Login)] = owner
		}
	}
	for key, at := range i.wanted(now) {
		if missing[key] {
			continue
		}
		if err := tolerate(at.org, s.followOrg(ctx, by, at, now[key])); err != nil {
			return err
		}
		if at.role == "" {
			continue // teams go with the membership
		}
		for _, in := range [...]bool{false, true} { // what is taken away first
			for slug, wanted := range at.teams {
				if wanted != in || missing[account.Fold(at.org+"/"+slug)] {
					continue
				}
				ref := team.Ref{Org: at.org, Slug: slug}
				if err := tolerate(at.org+"/"+slug, s.followTeam(ctx, by, ref, in)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// followOrg makes the role of the caller in an organization what it must be.
func (s *Service) followOrg(ctx context.Context, by *account.Caller, at *place, now string) (err error) {
	switch {
	case at.role == "" && now != "":
		return s.o.Accounts.RemoveMember(ctx, by, at.org, by.Login)
	case at.role != "" && at.role != now:
		role := member
		if at.role == owner {
			role = "admin"
		}
		_, err = s.o.Accounts.SetMember(ctx, by, at.org, by.Login, role)
	}
	return err
}

// followTeam adds the caller to a team, or removes it. A role in it stays.
func (s *Service) followTeam(ctx context.Context, by *account.Caller, ref team.Ref, in bool) error {
	m, err := s.o.Teams.Membership(ctx, by, ref, by.Login)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	is := err == nil && m.Role >= team.Member
	switch {
	case is && !in:
		err = s.o.Teams.RemoveMember(ctx, by, ref, by.Login)
		if errs.Is(err, errs.NotFound) { // an owner is shown as a maintainer of teams below
			err = nil
		}
		return err
	case !is && in:
		_, err = s.o.Teams.AddMember(ctx, by, ref, by.Login, web.Opt[team.Role]{})
		return err
	}
	return nil
}
