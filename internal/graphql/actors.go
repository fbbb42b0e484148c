package graphql

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
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

// replaceActors sets the assignees to the named accounts.
func replaceActors(ctx context.Context, m *mutation) (map[string]any, error) {
	if m.given("agentAssignment") {
		return nil, refused("Arbor has no agents to assign.")
	}
	return m.lists(ctx, "assignableId", "assignable", func(o *object) error {
		logins, err := m.logins(ctx, "actorIds")
		if err != nil {
			return err
		}
		for _, login := range append(m.ids("actorLogins"), logins...) {
			if !slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, login) }) {
				logins = append(logins, login)
			}
		}
		if len(logins) > issue.MaxAssignees {
			return errs.Newf(errs.Invalid, "An issue has %d assignees at most.", issue.MaxAssignees)
		}
		for _, login := range logins {
			if err := m.mayAssign(ctx, o.repo, login); err != nil {
				return err
			}
		}
		body := map[string]any{"assignees": logins}
		if err := checkRelations(ctx, o.repo, body); err != nil {
			return err
		}
		_, err = m.change(ctx, http.MethodPatch, numbered(o, "issues"), body)
		return err
	})
}

// mayAssign refuses who cannot be assigned: REST would leave them out without a word.
func (m *mutation) mayAssign(ctx context.Context, in *object, login string) error {
	_, err := m.read(ctx, Question{Path: in.path("assignees", login)})
	if errs.Is(err, errs.NotFound) {
		return unresolved("a Bot or User with the login of '" + clip(login) + "'")
	}
	return err
}

// requestReviewsByLogin is requestReviews of people by their logins.
func requestReviewsByLogin(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	switch {
	case err != nil:
		return nil, err
	case len(m.ids("teamSlugs")) > 0:
		return nil, refused("Arbor has no teams.")
	case len(m.ids("botLogins")) > 0:
		return nil, refused("Bots do not review here.")
	}
	return m.requestReviews(ctx, o, m.ids("userLogins"))
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
