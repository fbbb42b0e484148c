package graphql

import (
	"context"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/repo/collaborator"
	"arbor/internal/web"
)

// maxPeoplePages is how many pages of a hundred people are searched at most for a part of a name.
const maxPeoplePages = 10

// suggested resolves the people who can be assigned in a repository, filtered by the argument query. in
// returns the repository of a parent.
func suggested(kind string, in func(o *object) *object, node func(v any) any) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		part, _ := f.Args["query"].(string)
		part = strings.ToLower(part)
		return chosenOf(ctx, f, parents, choice[*account.Simple]{kind: kind, many: assignable(queryOf(ctx)), in: in,
			most: maxPeoplePages, rank: rankByID(idOfAccount), all: part == "", node: func(a *account.Simple) any {
				if !strings.Contains(strings.ToLower(a.Login), part) {
					return nil
				}
				return node(newAccount(a))
			}})
	}
}

// assignable loads who can be assigned in repositories.
func assignable(q *query) listLoader[string, *account.Simple] {
	return ofRepositories(loader[string, *web.List[*account.Simple]]{name: "assignees", route: "/assignees"},
		q.load.Issues.AssignableIn)
}

// choice is a list of repositories; a field shows a page of it.
type choice[V any] struct {
	kind string // of the connection
	many listLoader[string, V]
	most int                     // hundreds of rows that are looked through
	in   func(o *object) *object // the repository of a parent
	rank *sortKey[V]             // the order of the list
	all  bool                    // the part is the whole list
	node func(V) any             // nil: the row is not in the part
}

// chosenOf resolves parts of lists.
func chosenOf[V any](ctx context.Context, f *exec.Field, parents []exec.Object, c choice[V]) []any {
	if c.all {
		return connections(func(_ context.Context, _ *exec.Field, o *object) (pages[V], error) {
			return pages[V]{kind: c.kind, many: c.many, of: c.in(o), rank: c.rank,
				node: func(v V) (any, error) { return c.node(v), nil }}, nil
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
		for _, v := range list {
			if node := c.node(v); node != nil {
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

// mostSuggested is how many reviewers are suggested.
const mostSuggested = 10

// suggestedReviewers resolves the users who can be asked to review each pull request, without its author.
func suggestedReviewers(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, repos := queryOf(ctx), make([]*object, len(parents))
	for n, o := range objectsOf(parents) {
		repos[n] = o.repo
	}
	assignable(q).loadPage(ctx, q, repos, 1, mostSuggested)
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		page, err := assignable(q).pageOf(ctx, q, o.repo, 1, mostSuggested)
		list := []any{}
		if page != nil {
			for _, a := range page.Rows {
				if by := viewOf(o).Author; a.Type == "User" && (by == nil || a.Login != by.Login) {
					list = append(list, bare{"SuggestedReviewer", map[string]any{"reviewer": newAccount(a), "isAuthor": false,
						"isCommenter": false}})
				}
			}
		}
		return list, err
	})(ctx, f, parents)
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
	l := loader[string, *web.List[collaborator.Payload]]{name: "collaborators " + c.Affiliation,
		route: "/collaborators"}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[collaborator.Payload], error) {
		return queryOf(ctx).load.Collaborators.Payloads(ctx, list, c, at)
	}
	return chosenOf(ctx, f, parents, choice[collaborator.Payload]{kind: "RepositoryCollaboratorConnection",
		many: ofRepositories(l, rows), most: maxPeoplePages, in: itself, all: part == "" && login == "",
		rank: rankByID(func(c collaborator.Payload) int64 { return int64(c.ID) }),
		node: func(c collaborator.Payload) any {
			name := strings.ToLower(c.Login)
			if !strings.Contains(name, part) || login != "" && !strings.EqualFold(name, login) {
				return nil
			}
			return &edge{kind: "RepositoryCollaboratorEdge", node: newAccount(c.Simple),
				fields: map[string]any{"permission": permissionOf(c.Permissions)}}
		}})
}

// maxForkPages is how many pages of a hundred forks are searched at most for those to which the caller is affiliated.
const maxForkPages = 10

// forks resolves the forks of repositories. affiliations leaves those that are the caller's own, or to which it
// may push.
func forks(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	sort, desc, err := orderBy(f, map[string]string{"CREATED_AT": "newest", "STARGAZERS": "stargazers"})
	if sort == "newest" && !desc {
		sort = "oldest"
	} else if sort == "stargazers" && !desc {
		err = refused("Arbor lists forks with the most stars first only.")
	}
	if err != nil {
		return failed(asError(err), len(parents))
	}
	affiliations, ok := f.Args["affiliations"].([]any)
	if given, is := f.Args["ownerAffiliations"].([]any); is && !isDefault(f, "ownerAffiliations", f.Args["ownerAffiliations"]) {
		affiliations, ok = given, true
	}
	chooses := ok
	for _, name := range [...]string{"privacy", "visibility", "hasIssuesEnabled", "isLocked"} {
		chooses = chooses || f.Args[name] != nil
	}
	l := loader[string, *web.List[*repo.Payload]]{name: "forks " + sort, route: "/forks"}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*repo.Payload], error) {
		return queryOf(ctx).load.Networks.ForksOf(ctx, list, sort, at)
	}
	return chosenOf(ctx, f, parents, choice[*repo.Payload]{kind: "RepositoryConnection",
		many: ofRepositories(l, rows), most: maxForkPages,
		in: itself, rank: rankOfForks(sort), all: !chooses,
		node: func(p *repo.Payload) any {
			r := newRepository(p)
			if !choosesRepository(f, r) || ok && !affiliated(ctx, p, affiliations) {
				return nil
			}
			return r
		}})
}

// rankOfForks is the order of forks that a sort of REST's names.
func rankOfForks(sort string) *sortKey[*repo.Payload] {
	return rankBy(sort != "oldest", func(p *repo.Payload) []any {
		if sort == "stargazers" {
			return []any{p.StargazersCount, p.CreatedAt, int64(p.ID)}
		}
		return []any{p.CreatedAt, int64(p.ID)}
	})
}

// affiliated reports whether the caller has one of the affiliations to a repository.
func affiliated(ctx context.Context, p *repo.Payload, ways []any) bool {
	if p.Owner.Login == viewer(ctx).Login {
		return slices.Contains(ways, any("OWNER"))
	}
	way := "COLLABORATOR"
	if p.Owner.Type == "Organization" {
		way = "ORGANIZATION_MEMBER"
	}
	return p.Permissions.Role() > account.Pull && slices.Contains(ways, any(way))
}
