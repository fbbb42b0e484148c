package graphql

import (
	"context"
	"slices"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/repo/collaborator"
	"arbor/internal/web"
)

// mostPeople is how many hundreds of people are looked through for a part of their names.
const mostPeople = 10

// suggested resolves the people who can be assigned in a repository, filtered by the argument query. in
// returns the repository of a parent.
func suggested(kind string, in func(o *object) *object, node func(v any) any) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		part, _ := f.Args["query"].(string)
		part = strings.ToLower(part)
		return chosenOf(ctx, f, parents, choice{kind: kind, many: assignees(queryOf(ctx)), most: mostPeople, in: in,
			rank: byID(false), all: part == "", node: func(data payload) any {
				if !strings.Contains(strings.ToLower(textOf(data, "login")), part) {
					return nil
				}
				return node(newAccount(data))
			}})
	}
}

// assignees loads who can be assigned in repositories.
func assignees(q *query) listLoader[string] {
	return ofRepositories(loader[string, *web.List[payload]]{name: "assignees", route: "/assignees"},
		q.load.Issues.AssignableIn)
}

// choice is a list of repositories; a field shows a page of it.
type choice struct {
	kind string // of the connection
	many listLoader[string]
	most int                     // hundreds of rows that are looked through
	in   func(o *object) *object // the repository of a parent
	rank *rank                   // the order of the list
	all  bool                    // the part is the whole list
	node func(data payload) any  // nil: the row is not in the part
}

// chosenOf resolves parts of lists.
func chosenOf(ctx context.Context, f *exec.Field, parents []exec.Object, c choice) []any {
	if c.all {
		return connections(func(_ context.Context, _ *exec.Field, o *object) (pages, error) {
			return pages{kind: c.kind, many: c.many, of: c.in(o), rank: c.rank,
				node: func(data payload) (any, error) { return c.node(data), nil }}, nil
		})(ctx, f, parents)
	}
	q, values, repos := queryOf(ctx), make([]any, len(parents)), make([]*object, len(parents))
	for n, o := range objectsOf(parents) {
		repos[n] = c.in(o)
	}
	c.many.loadAll(ctx, q, repos, c.most)
	for n, in := range repos {
		list, err := c.many.all(ctx, q, in, c.most)
		var chosen []any
		for _, data := range list {
			if node := c.node(data); node != nil {
				chosen = append(chosen, node)
			}
		}
		if err == nil {
			values[n], err = connectAll(f, c.kind, chosen)
		}
		if err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

func itself(o *object) *object       { return o }
func repositoryOf(o *object) *object { return o.repo }
func plain(v any) any                { return v }

// asReviewer returns a user whose review can be requested.
func asReviewer(v any) any {
	return bare{"SuggestedReviewerActor",
		map[string]any{"reviewer": v, "isAuthor": false, "isCommenter": false}}
}

// assignedActors are the assignees, as newer clients ask for them.
func assignedActors(ctx context.Context, f *exec.Field, o *object) (any, error) {
	list, err := o.list(ctx, "assignees")
	if err != nil {
		return nil, err
	}
	all := make([]any, len(list))
	for n, data := range list {
		all[n] = newAccount(data)
	}
	return connectAll(f, "AssigneeConnection", all)
}

// collaborators resolves the users with a role on repositories. It requires push access.
func collaborators(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	var c collaborator.Choice
	if affiliation, ok := f.Args["affiliation"].(string); ok {
		c.Affiliation = strings.ToLower(affiliation)
	}
	part, _ := f.Args["query"].(string)
	login, _ := f.Args["login"].(string)
	part = strings.ToLower(part)
	l := loader[string, *web.List[payload]]{name: "collaborators " + c.Affiliation, route: "/collaborators"}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[collaborator.Payload], error) {
		return queryOf(ctx).load.Collaborators.Payloads(ctx, list, c, at)
	}
	return chosenOf(ctx, f, parents, choice{kind: "RepositoryCollaboratorConnection", many: ofRepositories(l, rows),
		most: mostPeople, in: itself, rank: byID(false), all: part == "" && login == "",
		node: func(data payload) any {
			name := strings.ToLower(textOf(data, "login"))
			if !strings.Contains(name, part) || login != "" && !strings.EqualFold(name, login) {
				return nil
			}
			may, _ := members(data.get("permissions"))
			return &edge{kind: "RepositoryCollaboratorEdge", node: newAccount(data),
				fields: map[string]any{"permission": permissionIn(may)}}
		}})
}

// mostForks is how many hundreds of forks are looked through for those with which the caller has to do.
const mostForks = 10

// forks resolves the forks of repositories. affiliations leaves those that are the caller's own, or to which it
// may push.
func forks(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	sort, _, err := orderBy(f, map[string]string{"CREATED_AT": "newest", "STARGAZERS": "stargazers"})
	if err != nil {
		return failed(asError(err), len(parents))
	}
	affiliations, ok := f.Args["affiliations"].([]any)
	privacy, private := f.Args["privacy"].(string)
	l := loader[string, *web.List[payload]]{name: "forks " + sort, route: "/forks"}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*repo.Payload], error) {
		return queryOf(ctx).load.Networks.ForksOf(ctx, list, sort, at)
	}
	return chosenOf(ctx, f, parents, choice{kind: "RepositoryConnection", many: ofRepositories(l, rows), most: mostForks,
		in: itself, rank: rankOfForks(sort), all: !ok && !private,
		node: func(data payload) any {
			r := newRepository(data)
			if private && (string(data.get("private")) == "true") != (privacy == "PRIVATE") ||
				ok && !affiliated(ctx, r, affiliations) {
				return nil
			}
			return r
		}})
}

// rankOfForks is the order of forks that a sort of REST's names.
func rankOfForks(sort string) *rank {
	if sort == "stargazers" {
		return byMembers(true, "stargazers_count", "created_at", "id")
	}
	return byMembers(true, "created_at", "id")
}

// affiliated reports that the caller has to do with a repository in one of the ways.
func affiliated(ctx context.Context, r *object, ways []any) bool {
	owner, err := r.inner(ctx, "owner")
	if err != nil {
		return false
	}
	if textOf(owner, "login") == viewer(ctx).Login {
		return slices.Contains(ways, any("OWNER"))
	}
	may, _ := members(r.data.get("permissions"))
	way := "COLLABORATOR"
	if textOf(owner, "type") == "Organization" {
		way = "ORGANIZATION_MEMBER"
	}
	return permissionIn(may) != "READ" && slices.Contains(ways, any(way))
}
