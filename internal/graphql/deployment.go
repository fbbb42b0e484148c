package graphql

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/deployment"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// repositoryDeployments are the fields of repositories about what is deployed where.
func repositoryDeployments() map[string]exec.Resolver {
	return map[string]exec.Resolver{"deployments": connections(deployments), "environments": connections(environments),
		"environment": environmentNamed}
}

// deployments lists those of a repository, without orderBy the oldest first.
func deployments(_ context.Context, f *exec.Field, o *object) (pages[*deployment.Shown], error) {
	_, desc, err := orderBy(f, map[string]string{"CREATED_AT": "created"})
	given, _ := f.Args["environments"].([]any)
	order := deployment.Order{Environments: namesIn(given), Desc: desc}
	if len(order.Environments) > maxLoaded {
		err = refused("Arbor chooses by 100 environments at most.")
	}
	l := loader[string, *web.List[*deployment.Shown]]{name: fmt.Sprintf("deployments %+v", order), route: "/deployments"}
	rows := func(ctx context.Context, list []*repo.Access, page web.Page) (
		map[repo.ID]*web.List[*deployment.Shown], error) {
		return queryOf(ctx).load.Deployments.ListMany(ctx, list, order, page)
	}
	return pages[*deployment.Shown]{kind: "DeploymentConnection", many: ofRepositories(l, rows),
		rank: rankBy(desc, func(d *deployment.Shown) []any { return []any{d.ID} }),
		node: func(d *deployment.Shown) (any, error) {
			return &object{kind: "Deployment", id: d.ID, repo: o, value: d, whole: true}, nil
		}}, err
}

// deploymentState returns a state of REST as DeploymentState: a success is active until a later status says otherwise.
func deploymentState(s deployment.State) string {
	if s == deployment.Success {
		return "ACTIVE"
	}
	return enumName(s.String())
}

func deploymentFields() map[string]exec.Resolver {
	of := func(part func(d *deployment.Shown) any) exec.Resolver { return pick(part) }
	return map[string]exec.Resolver{
		"id":                  of(func(d *deployment.Shown) any { return d.NodeID }),
		"databaseId":          of(func(d *deployment.Shown) any { return d.ID }),
		"commitOid":           of(func(d *deployment.Shown) any { return string(d.SHA) }),
		"createdAt":           of(func(d *deployment.Shown) any { return d.CreatedAt }),
		"updatedAt":           of(func(d *deployment.Shown) any { return d.UpdatedAt }),
		"creator":             of(func(d *deployment.Shown) any { return newAccount(d.Creator) }),
		"description":         of(func(d *deployment.Shown) any { return d.Description }),
		"environment":         of(func(d *deployment.Shown) any { return d.Environment }),
		"latestEnvironment":   of(func(d *deployment.Shown) any { return d.Environment }),
		"originalEnvironment": of(func(d *deployment.Shown) any { return d.Original }),
		"payload":             of(func(d *deployment.Shown) any { return string(d.Payload.Payload) }),
		"task":                of(func(d *deployment.Shown) any { return d.Task }),
		"state":               of(func(d *deployment.Shown) any { return deploymentState(d.State) }),
		"repository":          inRepository,
		"commit": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "commit", string(o.value.(*deployment.Shown).SHA)), nil
		}),
		"ref": refsOf(func(_ context.Context, o *object) (*object, string, error) {
			ref := o.value.(*deployment.Shown).Ref
			if !strings.HasPrefix(ref, "refs/") {
				ref = heads + ref
			}
			return o.repo, ref, nil
		}),
		"latestStatus": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return latestStatus(o), nil
		}),
	}
}

// latestStatus returns the latest status of a deployment, or nil.
func latestStatus(o *object) any {
	s := o.value.(*deployment.Shown).Latest
	if s == nil {
		return nil
	}
	return bare{"DeploymentStatus", map[string]any{"id": s.NodeID, "state": enumName(s.State),
		"creator": newAccount(s.Creator), "deployment": o, "description": orNil(s.Description),
		"environment": s.Environment, "environmentUrl": orNil(s.EnvironmentURL), "logUrl": orNil(s.LogURL),
		"createdAt": s.CreatedAt, "updatedAt": s.UpdatedAt}}
}

// deploymentsByID and environmentsByID load what was found by its node id.
func deploymentsByID(q *query) loader[int64, *deployment.Shown] {
	return loader[int64, *deployment.Shown]{name: "deployments by id", route: "/deployments/{deployment_id}", key: byID,
		read: q.load.Deployments.ByIDs}
}

func environmentsByID(q *query) loader[int64, *deployment.Environment] {
	return loader[int64, *deployment.Environment]{name: "environments by id",
		route: "/environments/{environment_name}", key: byID, read: q.load.Deployments.EnvironmentsByIDs}
}

// environmentPages loads the environments of repositories.
func environmentPages(q *query) listLoader[string, *deployment.Environment] {
	l := loader[string, *web.List[*deployment.Environment]]{name: "environments", route: "/environments"}
	return ofRepositories(l, q.load.Deployments.EnvironmentsMany)
}

func newEnvironment(in *object, e *deployment.Environment) *object {
	return &object{kind: "Environment", id: e.ID, repo: in, value: e, whole: true}
}

func environmentFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{"databaseId": key(func(o *object) any { return o.id }),
		"id":       key(func(o *object) any { return account.NodeID("Environment", o.id) }),
		"name":     pick(func(e *deployment.Environment) any { return e.Name }),
		"isPinned": always(false)}
}

// environments lists those of a repository, by name.
func environments(ctx context.Context, f *exec.Field, o *object) (pages[*deployment.Environment], error) {
	_, desc, err := orderBy(f, map[string]string{"NAME": "name"})
	if desc {
		err = refused("Arbor lists environments by ascending names only.")
	}
	return pages[*deployment.Environment]{kind: "EnvironmentConnection", many: environmentPages(queryOf(ctx)),
		rank: &rank[*deployment.Environment]{of: func(e *deployment.Environment) string { return strings.ToLower(e.Name) }},
		node: func(e *deployment.Environment) (any, error) { return newEnvironment(o, e), nil }}, err
}

// environmentNamed resolves an environment of repositories by its name, or null.
func environmentNamed(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	const most = 10 // hundreds, which is all that a repository may have
	q, l, values := queryOf(ctx), environmentPages(queryOf(ctx)), make([]any, len(parents))
	l.loadAll(ctx, q, objectsOf(parents), most)
	for n, o := range objectsOf(parents) {
		list, err := l.all(ctx, q, o, most)
		if err != nil {
			values[n] = asError(err)
		}
		for _, e := range list {
			if strings.EqualFold(e.Name, f.Args["name"].(string)) {
				values[n] = newEnvironment(o, e)
			}
		}
	}
	return values
}
