package github

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// ReadOrganization reads an organization with its members and teams, and the names of its repositories. The token must be
// of an owner: others do not see secret teams and who is a member.
func ReadOrganization(ctx context.Context, address string, o remote.Options) (*migration.Organization, error) {
	c, parts, err := newClient(address, o)
	if err != nil {
		return nil, err
	}
	if len(parts) != 1 {
		return nil, fmt.Errorf("%q is not the address of an organization", address)
	}
	path := "orgs/" + url.PathEscape(parts[0])
	var about struct {
		Name, Description string
		Permission        string `json:"default_repository_permission"`
	}
	if err := c.Get(ctx, path, &about); err != nil {
		return nil, err
	}
	out := &migration.Organization{Login: parts[0], Name: about.Name, Description: about.Description,
		Permission: about.Permission}
	names := func(path string, list *[]string) error {
		return each(ctx, c, path, func(u *remote.User) error {
			*list = append(*list, u.Login)
			return nil
		})
	}
	if err := names(path+"/members?role=admin", &out.Owners); err != nil {
		return nil, err
	}
	if err := names(path+"/members?role=member", &out.Members); err != nil {
		return nil, err
	}
	err = each(ctx, c, path+"/repos?type=all&sort=created&direction=asc", func(r *named) error {
		out.Repositories = append(out.Repositories, r.Name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, readTeams(ctx, c, path, names, out)
}

// readTeams reads the teams, and puts parents before the teams below them.
func readTeams(ctx context.Context, c *remote.Client, path string, names func(string, *[]string) error,
	out *migration.Organization,
) error {
	type answer struct {
		Slug         string `json:"slug"`
		Name         string `json:"name"`
		Description  string `json:"description"`
		Privacy      string `json:"privacy"`
		Notification string `json:"notification_setting"`
		Parent       *struct {
			Slug string `json:"slug"`
		} `json:"parent"`
	}
	below := map[string][]migration.Team{} // by the slug of the parent
	err := each(ctx, c, path+"/teams", func(a *answer) error {
		t := migration.Team{Slug: a.Slug, Name: a.Name, Description: a.Description, Secret: a.Privacy == "secret",
			Quiet: a.Notification == "notifications_disabled", Roles: map[string]string{}}
		if a.Parent != nil {
			t.Parent = a.Parent.Slug
		}
		at := path + "/teams/" + url.PathEscape(a.Slug)
		if err := names(at+"/members?role=maintainer", &t.Maintainers); err != nil {
			return err
		}
		if err := names(at+"/members?role=member", &t.Members); err != nil {
			return err
		}
		below[t.Parent] = append(below[t.Parent], t)
		return each(ctx, c, at+"/repos", func(r *teamRepo) error {
			t.Roles[r.Name] = r.role()
			return nil
		})
	})
	if err != nil {
		return err
	}
	for wait := []string{""}; len(wait) > 0; wait = wait[1:] { // a team that is its own parent is never reached
		for _, t := range below[wait[0]] {
			out.Teams = append(out.Teams, t)
			wait = append(wait, t.Slug)
		}
	}
	ownMembers(out.Teams)
	return nil
}

// ownMembers leaves out members who belong to a team because they are in one below it: the API lists them for both.
func ownMembers(teams []migration.Team) {
	within := map[string]map[string]bool{} // who is in a team or below it, by slug
	for n := len(teams) - 1; n >= 0; n-- { // the teams below come after it
		t := &teams[n]
		below := within[t.Slug]
		t.Members = slices.DeleteFunc(t.Members, func(login string) bool { return below[login] })
		if within[t.Parent] == nil {
			within[t.Parent] = map[string]bool{}
		}
		maps.Copy(within[t.Parent], below)
		for _, login := range slices.Concat(t.Maintainers, t.Members) {
			within[t.Parent][login] = true
		}
	}
}

// teamRepo is a repository of a team.
type teamRepo struct {
	Name        string          `json:"name"`
	Permissions map[string]bool `json:"permissions"`
}

// role is the highest role that the team has.
func (r *teamRepo) role() string {
	for _, role := range [...]string{"admin", "maintain", "push", "triage"} {
		if r.Permissions[role] {
			return role
		}
	}
	return "pull"
}
