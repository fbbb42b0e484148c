package seed

import (
	"context"
	"path/filepath"
	"strings"

	"arbor/internal/account"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Admin is the login of the user who does in the repository what the seed assigns to nobody:
// its owner, or the first of the organization's.
func (r *Repo) Admin() string { return r.admin }

// path is an address below the repository's.
func (r *Repo) path(parts ...string) string {
	return web.Path(append([]string{"repos", r.owner, r.short}, parts...)...)
}

// access is what an administrator of the repository may do with it.
func (a *applier) access(ctx context.Context, r *Repo) (*repo.Access, error) {
	caller, err := a.caller(r.admin)
	if err != nil {
		return nil, err
	}
	found, err := a.repos.Find(ctx, caller, r.owner, r.short)
	return &found.Access, err
}

// repo creates a repository with its history, after the repository that it is a fork of.
func (a *applier) repo(ctx context.Context, r *Repo) error {
	if a.made[r] {
		return nil
	}
	a.made[r] = true
	if r.parent != nil {
		if err := a.repo(ctx, r.parent); err != nil {
			return err
		}
	}
	a.clock.set(r.CreatedAt)
	if err := a.s.errorAt(&r.position, a.create(ctx, r)); err != nil {
		return err
	}
	for _, p := range r.Collaborators {
		err := a.send(ctx, r.admin, "PUT", r.path("collaborators", p.Login),
			fields{"permission": p.Role}, nil)
		if err != nil {
			return a.s.errorAt(&p.position, err)
		}
	}
	if err := a.history(ctx, r); err != nil {
		return err
	}
	a.clock.set(r.CreatedAt)
	if r.parent == nil && r.lines["default_branch"] > 0 {
		err := a.send(ctx, r.admin, "PATCH", r.path(), fields{"default_branch": r.DefaultBranch}, nil)
		if err != nil {
			return a.s.errorAt(&r.position, err)
		}
	}
	return a.labels(ctx, r)
}

// create creates the repository itself.
func (a *applier) create(ctx context.Context, r *Repo) error {
	body := fields{}.text("description", r.Description).text("homepage", r.Homepage)
	own := account.Fold(r.owner) == account.Fold(r.admin)
	if r.parent != nil {
		fork := fields{"name": r.short}
		if !own {
			fork["organization"] = r.owner
		}
		var made struct {
			Name string `json:"full_name"`
		}
		if err := a.send(ctx, r.admin, "POST", r.parent.path("forks"), fork, &made); err != nil {
			return err
		}
		if account.Fold(made.Name) != account.Fold(r.Name) {
			return errNo("%s has %s already, of the same network", r.owner, made.Name)
		}
		if len(body) == 0 {
			return nil
		}
		return a.send(ctx, r.admin, "PATCH", r.path(), body, nil)
	}
	body["name"], body["private"] = r.short, r.Private
	path := "/user/repos"
	if !own {
		path = web.Path("orgs", r.owner, "repos")
	}
	if err := a.send(ctx, r.admin, "POST", path, body, nil); err != nil || r.Import == "" {
		return err
	}
	access, err := a.access(ctx, r)
	if err != nil {
		return err
	}
	source := r.Import
	if !filepath.IsAbs(source) && !strings.Contains(source, "://") {
		source = filepath.Join(a.s.Dir, source)
	}
	_, err = a.transport.Import(ctx, access.Repo, source, func(string, int64, int64) {})
	return err
}

// labels creates labels and milestones.
func (a *applier) labels(ctx context.Context, r *Repo) error {
	if r.DefaultLabels != nil && !*r.DefaultLabels {
		for _, name := range label.Defaults() {
			if err := a.send(ctx, r.admin, "DELETE", r.path("labels", name), nil, nil); err != nil {
				return a.s.errorAt(&r.position, err)
			}
		}
	}
	for i := range r.Labels {
		if err := a.label(ctx, r, &r.Labels[i]); err != nil {
			return a.s.errorAt(&r.Labels[i].position, err)
		}
	}
	for i := range r.Milestones {
		m := &r.Milestones[i]
		body := fields{"title": m.Title}.text("description", m.Description).text("state", m.State)
		if !m.DueOn.IsZero() {
			body["due_on"] = m.DueOn
		}
		if err := a.send(ctx, m.Creator, "POST", r.path("milestones"), body, nil); err != nil {
			return a.s.errorAt(&m.position, err)
		}
	}
	return nil
}

// label creates a label, or updates the default one of that name.
func (a *applier) label(ctx context.Context, r *Repo, l *Label) error {
	body := fields{"name": l.Name, "color": "ededed"}.text("color", l.Color)
	if l.Description != nil {
		body["description"] = *l.Description
	}
	err := a.send(ctx, r.admin, "POST", r.path("labels"), body, nil)
	if !isRefusal(err, 422) || r.DefaultLabels != nil && !*r.DefaultLabels {
		return err
	}
	change := fields{"new_name": l.Name}.text("color", l.Color)
	if l.Description != nil {
		change["description"] = *l.Description
	}
	if isRefusal(a.send(ctx, r.admin, "PATCH", r.path("labels", l.Name), change, nil), 404) {
		return err // it was refused for another reason
	}
	return nil
}

// finish does what comes after everything else that happens in a repository.
func (a *applier) finish(ctx context.Context, r *Repo) error {
	a.clock.set(r.CreatedAt)
	for _, login := range r.Stars {
		if err := a.send(ctx, login, "PUT", web.Path("user", "starred", r.owner, r.short), nil,
			nil); err != nil {
			return a.s.errorAt(&r.position, err)
		}
	}
	for _, login := range r.Watchers {
		if err := a.send(ctx, login, "PUT", r.path("subscription"), fields{"subscribed": true},
			nil); err != nil {
			return a.s.errorAt(&r.position, err)
		}
	}
	if err := a.rules(ctx, r); err != nil {
		return err
	}
	if r.HasIssues != nil {
		return a.s.errorAt(&r.position, a.send(ctx, r.admin, "PATCH", r.path(),
			fields{"has_issues": *r.HasIssues}, nil))
	}
	return nil
}
