package graphql

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/deployment"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// repositoryDeployments are the fields of repositories about what is deployed where.
func repositoryDeployments() map[string]exec.Resolver {
	return map[string]exec.Resolver{"deployments": connections(deployments), "environments": connections(environments),
		"commitComments": connections(commentsOnCommits),
		"environment":    environmentNamed}
}

// deploymentOrder reads the arguments of a list of deployments: without orderBy, the oldest is the first.
func deploymentOrder(f *exec.Field) (order deployment.Order, err error) {
	_, desc, err := orderBy(f, map[string]string{"CREATED_AT": "created"})
	given, _ := f.Args["environments"].([]any)
	if order = (deployment.Order{Environments: namesIn(given), Desc: desc}); len(order.Environments) > maxLoaded {
		err = refused("Arbor chooses by 100 environments at most.")
	}
	return order, err
}

// deploymentPages returns a list of deployments in a repository without its loader.
func deploymentPages(in *object, order deployment.Order) pages[*deployment.Shown] {
	return pages[*deployment.Shown]{kind: "DeploymentConnection",
		rank: rankBy(order.Desc, func(d *deployment.Shown) []any { return []any{d.ID} }),
		node: func(d *deployment.Shown) (any, error) { return newDeployment(in, d), nil }}
}

func newDeployment(in *object, d *deployment.Shown) *object {
	return &object{kind: "Deployment", id: d.ID, repo: in, value: d, whole: true}
}

// deploymentsOfCommits lists those of a commit.
func deploymentsOfCommits(_ context.Context, f *exec.Field, o *object) (pages[*deployment.Shown], error) {
	order, err := deploymentOrder(f)
	l := loader[git.SHA, *web.List[*deployment.Shown]]{name: fmt.Sprintf("deployments of commits %+v", order),
		route: "/deployments", key: bySHA}
	p := deploymentPages(o.repo, order)
	p.many = lists(l, func(ctx context.Context, list []repo.Of[git.SHA], page web.Page) (
		map[repo.Of[git.SHA]]*web.List[*deployment.Shown], error) {
		return queryOf(ctx).load.Deployments.OfCommits(ctx, list, order, page)
	})
	return p, err
}

// deployments lists those of a repository.
func deployments(_ context.Context, f *exec.Field, o *object) (pages[*deployment.Shown], error) {
	order, err := deploymentOrder(f)
	l := loader[string, *web.List[*deployment.Shown]]{name: fmt.Sprintf("deployments %+v", order), route: "/deployments"}
	rows := func(ctx context.Context, list []*repo.Access, page web.Page) (
		map[repo.ID]*web.List[*deployment.Shown], error) {
		return queryOf(ctx).load.Deployments.ListMany(ctx, list, order, page)
	}
	p := deploymentPages(o, order)
	p.many = ofRepositories(l, rows)
	return p, err
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
	return after(isWhole, map[string]exec.Resolver{
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
		"statuses": connections(statusesOfDeployments),
	})
}

// statusesOfDeployments lists the statuses of a deployment, the newest first.
func statusesOfDeployments(ctx context.Context, _ *exec.Field, o *object) (pages[*deployment.StatusPayload], error) {
	l := loader[int64, *web.List[*deployment.StatusPayload]]{name: "statuses of deployments",
		route: "/deployments/{deployment_id}/statuses", key: byID}
	return pages[*deployment.StatusPayload]{kind: "DeploymentStatusConnection",
		many: lists(l, queryOf(ctx).load.Deployments.StatusesOf),
		rank: rankBy(true, func(s *deployment.StatusPayload) []any { return []any{s.ID} }),
		node: func(s *deployment.StatusPayload) (any, error) { return statusOf(o, s), nil }}, nil
}

// latestStatus returns the latest status of a deployment, or nil.
func latestStatus(o *object) any {
	if s := o.value.(*deployment.Shown).Latest; s != nil {
		return statusOf(o, s)
	}
	return nil
}

// statusOf returns a status of a deployment.
func statusOf(o *object, s *deployment.StatusPayload) any {
	return &object{kind: "DeploymentStatus", id: s.ID, repo: o.repo, of: o, value: s, whole: true}
}

func deploymentStatusFields() map[string]exec.Resolver {
	of := func(part func(s *deployment.StatusPayload) any) exec.Resolver { return pick(part) }
	return map[string]exec.Resolver{
		"id":             of(func(s *deployment.StatusPayload) any { return s.NodeID }),
		"state":          of(func(s *deployment.StatusPayload) any { return enumName(s.State) }),
		"creator":        of(func(s *deployment.StatusPayload) any { return newAccount(s.Creator) }),
		"description":    of(func(s *deployment.StatusPayload) any { return orNil(s.Description) }),
		"environment":    of(func(s *deployment.StatusPayload) any { return s.Environment }),
		"environmentUrl": of(func(s *deployment.StatusPayload) any { return orNil(s.EnvironmentURL) }),
		"logUrl":         of(func(s *deployment.StatusPayload) any { return orNil(s.LogURL) }),
		"createdAt":      of(func(s *deployment.StatusPayload) any { return s.CreatedAt }),
		"updatedAt":      of(func(s *deployment.StatusPayload) any { return s.UpdatedAt }),
		"deployment": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			if o.of == nil { // found by its id
				o.of = &object{kind: "Deployment", id: o.value.(*deployment.StatusPayload).DeploymentID, repo: o.repo}
			}
			return o.of, nil
		}),
	}
}

// deploymentStatusesByID loads what was found by its node id.
func deploymentStatusesByID(q *query) loader[int64, *deployment.StatusPayload] {
	return loader[int64, *deployment.StatusPayload]{name: "deployment statuses by id",
		route: "/deployments/{deployment_id}/statuses/{status_id}", key: byID, read: q.load.Deployments.StatusesByIDs}
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
func environmentPages(q *query, names []string) listLoader[string, *deployment.Environment] {
	l := loader[string, *web.List[*deployment.Environment]]{name: fmt.Sprintf("environments %q", names),
		route: "/environments"}
	return ofRepositories(l, func(ctx context.Context, list []*repo.Access, page web.Page) (
		map[repo.ID]*web.List[*deployment.Environment], error) {
		return q.load.Deployments.EnvironmentsMany(ctx, list, names, page)
	})
}

func newEnvironment(in *object, e *deployment.Environment) *object {
	return &object{kind: "Environment", id: e.ID, repo: in, value: e, whole: true}
}

func environmentFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{"databaseId": key(func(o *object) any { return o.id }),
		"id":       key(func(o *object) any { return account.NodeID("Environment", o.id) }),
		"name":     pick(func(e *deployment.Environment) any { return e.Name }),
		"isPinned": always(false), "protectionRules": protectionRules, "latestCompletedDeployment": lastCompleted}
}

// protectionRules resolves what environments ask for before something is deployed there.
func protectionRules(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	l := loader[*deployment.Environment, []deployment.Rule]{name: "rules of environments",
		route: "/environments/{environment_name}",
		key:   func(o *object) *deployment.Environment { return o.value.(*deployment.Environment) },
		read:  queryOf(ctx).load.Deployments.RulesOf}
	return l.values(ctx, parents, func(o *object, rules []deployment.Rule) (any, error) {
		all := make([]any, len(rules))
		for n, r := range rules {
			reviewers := make([]any, len(r.Reviewers))
			for k, a := range r.Reviewers {
				reviewers[k] = newAccount(a)
			}
			all[n] = &object{kind: "DeploymentProtectionRule", id: r.ID, repo: o.repo, whole: true, value: ruleShown{r, reviewers}}
		}
		return connectAll(f, "DeploymentProtectionRuleConnection", all)
	})
}

// ruleShown is a rule of an environment with its reviewers as objects.
type ruleShown struct {
	deployment.Rule
	reviewers []any
}

func protectionRuleFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"databaseId":        key(func(o *object) any { return o.id }),
		"type":              pick(func(r ruleShown) any { return enumName(r.Type) }),
		"timeout":           pick(func(r ruleShown) any { return r.WaitTimer }),
		"preventSelfReview": pick(func(r ruleShown) any { return r.PreventSelfReview }),
		"reviewers": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			return connectAll(f, "DeploymentReviewerConnection", o.value.(ruleShown).reviewers)
		}),
	}
}

// lastCompleted resolves the last deployments to environments that ended, well or not.
func lastCompleted(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	l := loader[int64, *deployment.Shown]{name: "last completed", route: "/deployments", key: byID,
		read: queryOf(ctx).load.Deployments.LastCompleted}
	return l.values(ctx, parents, func(o *object, d *deployment.Shown) (any, error) {
		if d == nil {
			return nil, nil
		}
		return newDeployment(o.repo, d), nil
	})
}

// environments lists those of a repository, by name.
func environments(ctx context.Context, f *exec.Field, o *object) (pages[*deployment.Environment], error) {
	_, desc, err := orderBy(f, map[string]string{"NAME": "name"})
	if desc {
		err = refused("Arbor lists environments by ascending names only.")
	}
	given, _ := f.Args["names"].([]any)
	names := namesIn(given)
	if len(names) > maxLoaded {
		err = refused("Arbor chooses by 100 names at most.")
	}
	many := environmentPages(queryOf(ctx), names)
	if f.Args["pinnedEnvironmentFilter"] == "ONLY" { // none is pinned
		many.rows = func(_ context.Context, list []repo.Of[string], _ web.Page) (
			map[repo.Of[string]]*web.List[*deployment.Environment], error) {
			return nil, nil
		}
		many.name += " pinned"
	}
	return pages[*deployment.Environment]{kind: "EnvironmentConnection", many: many,
		rank: &sortKey[*deployment.Environment]{of: func(e *deployment.Environment) string { return strings.ToLower(e.Name) }},
		node: func(e *deployment.Environment) (any, error) { return newEnvironment(o, e), nil }}, err
}

// environmentNamed resolves an environment of repositories by its name, or null.
func environmentNamed(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	const most = 10 // hundreds, which is all that a repository may have
	q, l, values := queryOf(ctx), environmentPages(queryOf(ctx), nil), make([]any, len(parents))
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
