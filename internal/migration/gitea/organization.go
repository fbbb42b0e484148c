package gitea

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// teamAnswer is Gitea's team.
type teamAnswer struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Permission  string            `json:"permission"` // none, read, write, admin or owner
	Units       map[string]string `json:"units_map"`
	Visibility  string            `json:"visibility"` // empty: the version does not say
}

// role is what the team may do in its repositories here; empty: it sees no code there, so none here.
func (t *teamAnswer) role() string {
	level := t.Permission
	if code, ok := t.Units["repo.code"]; ok && level != "admin" && level != "owner" {
		level = code
	}
	return map[string]string{"owner": "admin", "admin": "admin", "write": "push", "read": "pull"}[level]
}

// ReadOrganization reads an organization with its members and teams, and the names of its repositories. The token must be
// of an owner: others do not see all teams.
func ReadOrganization(ctx context.Context, address string, o remote.Options) (*migration.Organization, error) {
	c, names, err := newClient(address, o)
	if err != nil {
		return nil, err
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("%q is not the address of an organization", address)
	}
	path := "orgs/" + url.PathEscape(names[0])
	var about struct {
		Name        string `json:"full_name"`
		Description string `json:"description"`
	}
	if err := c.Get(ctx, path, &about); err != nil {
		return nil, err
	}
	out := &migration.Organization{Login: names[0], Name: about.Name, Description: about.Description,
		Permission: "none"} // teams alone give rights
	if err := readTeams(ctx, c, path, out); err != nil {
		return nil, err
	}
	err = each(ctx, c, path+"/members", func(u *remote.User) error {
		if !slices.Contains(out.Owners, u.Login) {
			out.Members = append(out.Members, u.Login)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, each(ctx, c, path+"/repos", func(r *named) error {
		out.Repositories = append(out.Repositories, r.Name)
		return nil
	})
}

type named struct {
	Name string `json:"name"`
}

// readTeams reads the teams. The members of the team of owners are the owners.
func readTeams(ctx context.Context, c *remote.Client, path string, out *migration.Organization) error {
	return each(ctx, c, path+"/teams", func(a *teamAnswer) error {
		at := "teams/" + strconv.FormatInt(a.ID, 10)
		var members []string
		err := each(ctx, c, at+"/members", func(u *remote.User) error {
			members = append(members, u.Login)
			return nil
		})
		if err != nil {
			return err
		}
		if a.Permission == "owner" {
			out.Owners = append(out.Owners, members...)
			return nil
		}
		t := migration.Team{Slug: a.Name, Name: a.Name, Description: a.Description, Secret: a.Visibility == "private",
			Members: members, Roles: map[string]string{}}
		if role := a.role(); role != "" {
			err = each(ctx, c, at+"/repos", func(r *named) error {
				t.Roles[r.Name] = role
				return nil
			})
		}
		out.Teams = append(out.Teams, t)
		return err
	})
}
