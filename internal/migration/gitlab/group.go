package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// maxGroups bounds the groups below one.
const maxGroups = 10_000

type groupAnswer struct {
	Path        string `json:"full_path"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// roles are the roles of teams, by GitLab's levels of access. Guests are no members here: in private
// projects they do not see code.
var roles = []struct {
	level      int64
	name, role string
}{{maintainer, "Maintainers", "maintain"}, {developer, "Developers", "push"}, {reporter, "Reporters", "triage"}}

// ReadOrganization reads the group at a place with its members, the groups below it and the names of all
// projects. A group's members of a level become a team: GitLab gives rights by levels, and they hold in the
// groups below.
func (p *Place) ReadOrganization(ctx context.Context, o remote.Options) (*migration.Organization, error) {
	if !p.Group {
		return nil, fmt.Errorf("%q is not a group", p.Path)
	}
	c := p.client(o)
	at := "groups/" + url.PathEscape(p.Path)
	var top groupAnswer
	if err := c.Get(ctx, at+"?with_projects=false", &top); err != nil {
		return nil, err
	}
	top.Path = p.Path
	out := &migration.Organization{Login: p.Name(), Name: top.Name, Permission: "none",
		Description: oneLine(top.Description), Paths: map[string]string{}}
	if err := p.readProjects(ctx, c, at, out); err != nil {
		return nil, err
	}
	groups := []groupAnswer{top}
	err := each(ctx, c, at+"/descendant_groups", func(g *groupAnswer) error {
		if len(groups) == maxGroups {
			return fmt.Errorf("there are more than %d groups", maxGroups)
		}
		if strings.HasPrefix(g.Path, p.Path+"/") {
			groups = append(groups, *g)
		}
		return nil
	})
	if err != nil && !remote.Absent(err) {
		return nil, err
	}
	slices.SortFunc(groups, func(a, b groupAnswer) int { return cmp.Compare(a.Path, b.Path) })
	for _, g := range groups {
		if err := p.readMembers(ctx, c, g.Path, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readProjects reads the names of the projects, in the order of their paths. A project in a group below has
// the names of the groups in its own.
func (p *Place) readProjects(ctx context.Context, c *remote.Client, at string, out *migration.Organization) error {
	var paths []string
	at += "/projects?include_subgroups=true&with_shared=false&order_by=id&sort=asc"
	err := each(ctx, c, at, func(a *project) error {
		if path, ok := strings.CutPrefix(a.Path, p.Path+"/"); ok && !slices.Contains(strings.Split(path, "/"), "..") {
			paths = append(paths, path)
		}
		return nil
	})
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		name := strings.ReplaceAll(path, "/", "-")
		for n := 2; slices.Contains(out.Repositories, name); n++ {
			name = fmt.Sprintf("%s-%d", strings.ReplaceAll(path, "/", "-"), n)
		}
		out.Repositories, out.Paths[name] = append(out.Repositories, name), path
	}
	return err
}

// readMembers reads the members of a group. Owners of the whole group are owners, and those of a group below
// maintain its projects.
func (p *Place) readMembers(ctx context.Context, c *remote.Client, path string, out *migration.Organization) error {
	type member struct {
		person
		Level int64 `json:"access_level"`
	}
	of := map[string][]string{} // by the name of the team
	err := each(ctx, c, "groups/"+url.PathEscape(path)+"/members", func(m *member) error {
		top := path == p.Path
		switch {
		case m.Username == "" || m.Level < reporter:
			return nil
		case m.Level >= owner && top:
			out.Owners = append(out.Owners, m.Username)
			return nil
		case !slices.Contains(out.Owners, m.Username) && !slices.Contains(out.Members, m.Username):
			out.Members = append(out.Members, m.Username)
		}
		for _, r := range roles {
			if m.Level >= r.level {
				of[r.name] = append(of[r.name], m.Username)
				break
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	below, _ := strings.CutPrefix(path, p.Path+"/")
	if path == p.Path {
		below = ""
	}
	for _, r := range roles {
		if len(of[r.name]) == 0 {
			continue
		}
		name := strings.TrimSpace(strings.ReplaceAll(below, "/", " ") + " " + r.name)
		t := migration.Team{Slug: name, Name: name, Members: of[r.name], Roles: map[string]string{}}
		for _, repo := range out.Repositories {
			if below == "" || strings.HasPrefix(out.Paths[repo], below+"/") {
				t.Roles[repo] = r.role
			}
		}
		out.Teams = append(out.Teams, t)
	}
	return nil
}
