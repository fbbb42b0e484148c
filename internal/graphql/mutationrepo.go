package graphql

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/web"
)

func createRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	if m.given("teamId") {
		return nil, refused("Arbor has no teams.")
	}
	if m.text("visibility") == "INTERNAL" {
		return nil, refused("Arbor has no internal repositories.")
	}
	body := map[string]any{"name": m.text("name"), "private": m.text("visibility") == "PRIVATE"}
	m.copy(body, "description", "description")
	m.copy(body, "homepageUrl", "homepage")
	m.copy(body, "hasIssuesEnabled", "has_issues")
	m.copy(body, "template", "is_template")
	path := "/user/repos"
	if m.given("ownerId") {
		owner, err := m.newOwner(ctx)
		if err != nil {
			return nil, err
		}
		if owner.kind == "Organization" {
			path = web.Path("orgs", owner.text(ctx, "login"), "repos")
		}
	}
	data, err := m.change(ctx, http.MethodPost, path, body)
	if err != nil {
		return nil, err
	}
	return repositoryPayload(data), nil
}

// newOwner is who is to own a new repository: the caller, or an organization.
func (m *mutation) newOwner(ctx context.Context) (*object, error) {
	owner, err := m.target(ctx, "ownerId", "User", "Organization")
	if err != nil {
		return nil, err
	}
	if login := owner.text(ctx, "login"); owner.kind == "User" && login != viewer(ctx).Login {
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
	body := map[string]any{"name": m.text("name"), "owner": owner.text(ctx, "login"),
		"private": m.text("visibility") == "PRIVATE"}
	m.copy(body, "description", "description")
	m.copy(body, "includeAllBranches", "include_all_branches")
	data, err := m.change(ctx, http.MethodPost, from.path("generate"), body)
	if err != nil {
		return nil, err
	}
	return repositoryPayload(data), nil
}

func repositoryPayload(data payload) map[string]any {
	r := newRepository(data)
	r.whole = true
	return map[string]any{"repository": r}
}

// setRepository changes a repository that an input names.
func setRepository(ctx context.Context, m *mutation, body map[string]any) (map[string]any, error) {
	o, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	data, err := m.change(ctx, http.MethodPatch, o.source.Path, body)
	if err != nil {
		return nil, err
	}
	return repositoryPayload(data), nil
}

func updateRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	body := map[string]any{}
	for name, as := range map[string]string{"name": "name", "description": "description",
		"homepageUrl":      "homepage",
		"hasIssuesEnabled": "has_issues", "template": "is_template"} {
		m.copy(body, name, as)
	}
	return setRepository(ctx, m, body)
}

func archiveRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	return setRepository(ctx, m, map[string]any{"archived": true})
}

func unarchiveRepository(ctx context.Context, m *mutation) (map[string]any, error) {
	return setRepository(ctx, m, map[string]any{"archived": false})
}

func addStar(ctx context.Context, m *mutation) (map[string]any, error) {
	return setStar(ctx, m, http.MethodPut)
}

func removeStar(ctx context.Context, m *mutation) (map[string]any, error) {
	return setStar(ctx, m, http.MethodDelete)
}

func setStar(ctx context.Context, m *mutation, method string) (map[string]any, error) {
	o, err := m.target(ctx, "starrableId", "Repository")
	if err != nil {
		return nil, err
	}
	if _, err := m.change(ctx, method, "/user/starred"+strings.TrimPrefix(o.source.Path, "/repos"),
		nil); err != nil {
		return nil, err
	}
	return map[string]any{"starrable": repositoryAt(o.source.Path)}, nil
}

func followUser(ctx context.Context, m *mutation) (map[string]any, error) {
	return setFollowed(ctx, m, http.MethodPut, "user", "User")
}

func unfollowUser(ctx context.Context, m *mutation) (map[string]any, error) {
	return setFollowed(ctx, m, http.MethodDelete, "user", "User")
}

func followOrganization(ctx context.Context, m *mutation) (map[string]any, error) {
	return setFollowed(ctx, m, http.MethodPut, "organization", "Organization")
}

func unfollowOrganization(ctx context.Context, m *mutation) (map[string]any, error) {
	return setFollowed(ctx, m, http.MethodDelete, "organization", "Organization")
}

// setFollowed follows the account of an input, or does so no longer. name and kind are what it is.
func setFollowed(ctx context.Context, m *mutation, method, name, kind string) (map[string]any, error) {
	o, err := m.target(ctx, name+"Id", kind)
	if err != nil {
		return nil, err
	}
	_, err = m.change(ctx, method, web.Path("user", "following", o.text(ctx, "login")), nil)
	return map[string]any{name: o}, err
}
