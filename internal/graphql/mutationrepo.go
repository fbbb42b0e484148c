package graphql

import (
	"context"

	"arbor/internal/repo"
	"arbor/internal/repo/settings"
	"arbor/internal/star"
	"arbor/internal/web"
)

// newRepo returns the repository that an input describes, without its owner.
func (m *mutation) newRepo() repo.NewRepo {
	return repo.NewRepo{Name: m.text("name"), Private: m.text("visibility") == "PRIVATE",
		Description: web.OrNil(m.text("description")), Homepage: web.OrNil(m.text("homepageUrl")),
		NoIssues: !m.flag("hasIssuesEnabled").Or(true), IsTemplate: m.flag("template").Value}
}

func createRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	if m.given("teamId") {
		return nil, refused("Arbor has no teams.")
	}
	if m.text("visibility") == "INTERNAL" {
		return nil, refused("Arbor has no internal repositories.")
	}
	n, address, create := m.newRepo(), "POST /user/repos", m.do.Settings.Create
	n.Owner = viewer(ctx).Login
	if m.given("ownerId") {
		owner, err := m.newOwner(ctx)
		if err != nil {
			return nil, err
		}
		if owner.kind == "Organization" {
			address, create = "POST /orgs/{org}/repos", m.do.Settings.CreateForOrg
			n.Owner = owner.name
		}
	}
	to, caller, err := m.own(ctx, address)
	if err != nil {
		return nil, err
	}
	made, err := create(to, caller, n)
	if err != nil {
		return nil, err
	}
	return m.repositoryPayload(ctx, made.ID)
}

// newOwner is who is to own a new repository: the caller, or an organization.
func (m *mutation) newOwner(ctx context.Context) (*object, error) {
	owner, err := m.target(ctx, "ownerId", "User", "Organization")
	if err != nil {
		return nil, err
	}
	if login := owner.name; owner.kind == "User" && login != viewer(ctx).Login {
		return nil, refused("You can't create a repository for " + login + ".")
	}
	return owner, nil
}

func cloneTemplate(ctx context.Context, m *mutation) (map[string]any, error) {
	if m.text("visibility") == "INTERNAL" {
		return nil, refused("Arbor has no internal repositories.")
	}
	from, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	owner, err := m.newOwner(ctx)
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, from, "POST /repos/{owner}/{repo}/generate")
	if err != nil {
		return nil, err
	}
	n := m.newRepo()
	n.Owner = owner.name
	made, err := m.do.Settings.Generate(to, a, n, m.flag("includeAllBranches").Value)
	if err != nil {
		return nil, err
	}
	return m.repositoryPayload(ctx, made.ID)
}

func (m *mutation) repositoryPayload(ctx context.Context, id repo.ID) (map[string]any, error) {
	o, err := m.repositoryShown(ctx, id)
	return map[string]any{"repository": o}, err
}

// setRepository changes a repository that an input names.
func setRepository(ctx context.Context, m *mutation, e settings.Edit) (map[string]any, error) {
	return m.actShown(ctx, "repository", "repositoryId", "Repository", "PATCH /repos/{owner}/{repo}",
		func(ctx context.Context, a *repo.Access, _ *object) error {
			_, err := m.do.Settings.Edit(ctx, a, e)
			return err
		})
}

func updateRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	return setRepository(ctx, m, settings.Edit{Name: m.opt("name"), Description: m.opt("description"),
		Homepage: m.opt("homepageUrl"), HasIssues: m.flag("hasIssuesEnabled"), IsTemplate: m.flag("template")})
}

func archiveRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	return setRepository(ctx, m, settings.Edit{Archived: web.Some(true)})
}

func unarchiveRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	return setRepository(ctx, m, settings.Edit{Archived: web.Some(false)})
}

func addStar(ctx context.Context, m *mutation) (map[string]any, error) {
	return setStar(ctx, m, "PUT /user/starred/{owner}/{repo}", m.do.Stars.Put)
}

func removeStar(ctx context.Context, m *mutation) (map[string]any, error) {
	return setStar(ctx, m, "DELETE /user/starred/{owner}/{repo}", m.do.Stars.Drop)
}

func setStar(
	ctx context.Context, m *mutation, address string, set func(context.Context, *repo.Access, star.Kind) error,
) (map[string]any, error) {
	return m.actShown(ctx, "starrable", "starrableId", "Repository", address,
		func(ctx context.Context, a *repo.Access, _ *object) error { return set(ctx, a, star.Star) })
}

func followUser(ctx context.Context, m *mutation) (map[string]any, error) {
	return setFollowed(ctx, m, true, "user", "User")
}

func unfollowUser(ctx context.Context, m *mutation) (map[string]any, error) {
	return setFollowed(ctx, m, false, "user", "User")
}

func followOrganization(ctx context.Context, m *mutation) (map[string]any, error) {
	return setFollowed(ctx, m, true, "organization", "Organization")
}

func unfollowOrganization(ctx context.Context, m *mutation) (map[string]any, error) {
	return setFollowed(ctx, m, false, "organization", "Organization")
}

// setFollowed follows the account of an input, or does so no longer. name and kind are what it is.
func setFollowed(ctx context.Context, m *mutation, follow bool, name, kind string) (map[string]any, error) {
	o, err := m.target(ctx, name+"Id", kind)
	if err != nil {
		return nil, err
	}
	address := "PUT /user/following/{username}"
	if !follow {
		address = "DELETE /user/following/{username}"
	}
	login := o.name
	to, caller, err := m.own(ctx, address)
	if err == nil {
		err = m.do.Follows.Follow(to, caller, login, follow)
	}
	return map[string]any{name: o}, err
}
