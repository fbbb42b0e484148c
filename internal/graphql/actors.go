package graphql

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/graphql/exec"
)

// mostPeople is how many hundreds of people are looked through for a part of their names.
const mostPeople = 10

// suggested lists the people who can be assigned in a repository, filtered by the argument query. in
// returns the repository of a parent.
func suggested(kind string, in func(o *object) *object, node func(v any) any) exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		q, question := queryOf(ctx), Question{Path: in(o).path("assignees")}
		part, _ := f.Args["query"].(string)
		if part == "" {
			return q.connect(ctx, f, pages{kind: kind, question: question,
				rank: byID(false),
				node: func(data payload) (any, error) { return node(newAccount(data)), nil }})
		}
		list, err := q.all(ctx, question, mostPeople)
		if err != nil {
			return nil, err
		}
		var all []any
		for _, data := range list {
			if strings.Contains(strings.ToLower(textOf(data, "login")), strings.ToLower(part)) {
				all = append(all, node(newAccount(data)))
			}
		}
		return connectAll(f, kind, all)
	})
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

// collaborators lists the users with a role on a repository. It requires push access.
func collaborators(ctx context.Context, f *exec.Field, o *object) (any, error) {
	values := url.Values{}
	if affiliation, ok := f.Args["affiliation"].(string); ok {
		values.Set("affiliation", strings.ToLower(affiliation))
	}
	node := func(data payload) any {
		may, _ := members(data.get("permissions"))
		return &edge{kind: "RepositoryCollaboratorEdge", node: newAccount(data),
			fields: map[string]any{"permission": permissionIn(may)}}
	}
	q, question := queryOf(ctx), Question{Path: o.path("collaborators"), Query: values}
	part, _ := f.Args["query"].(string)
	login, _ := f.Args["login"].(string)
	if part == "" && login == "" {
		return q.connect(ctx, f, pages{kind: "RepositoryCollaboratorConnection", question: question,
			rank: byID(false),
			node: func(data payload) (any, error) { return node(data), nil }})
	}
	list, err := q.all(ctx, question, mostPeople)
	if err != nil {
		return nil, err
	}
	var all []any
	for _, data := range list {
		name := strings.ToLower(textOf(data, "login"))
		if strings.Contains(name, strings.ToLower(part)) && (login == "" || strings.EqualFold(name, login)) {
			all = append(all, node(data))
		}
	}
	return connectAll(f, "RepositoryCollaboratorConnection", all)
}

// mostForks is how many hundreds of forks are looked through for those with which the caller has to do.
const mostForks = 10

// forks lists the forks of a repository. affiliations leaves those that are the caller's own, or to which it
// may push.
func forks(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q, question := queryOf(ctx), Question{Path: o.path("forks"), Query: url.Values{}}
	if err := setOrder(f, question.Query, map[string]string{"CREATED_AT": "newest",
		"STARGAZERS": "stargazers"}); err != nil {
		return nil, err
	}
	question.Query.Del("direction") // REST has one for each order
	affiliations, ok := f.Args["affiliations"].([]any)
	privacy, private := f.Args["privacy"].(string)
	if !ok && !private {
		return q.connect(ctx, f, pages{kind: "RepositoryConnection", question: question,
			rank: rankOfForks(question.Query.Get("sort")), node: repositoryNode})
	}
	list, err := q.all(ctx, question, mostForks)
	if err != nil {
		return nil, err
	}
	var all []any
	for _, data := range list {
		r := newRepository(data)
		if private && (string(data.get("private")) == "true") != (privacy == "PRIVATE") {
			continue
		}
		if ok && !affiliated(ctx, r, affiliations) {
			continue
		}
		all = append(all, r)
	}
	return connectAll(f, "RepositoryConnection", all)
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
