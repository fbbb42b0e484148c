package graphql

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// sortsOf are the sorts of contributions by RepositoryContributionType.
var sortsOf = map[string]activity.Sort{"COMMIT": activity.PushSort, "ISSUE": activity.IssueSort,
	"PULL_REQUEST": activity.PullSort, "PULL_REQUEST_REVIEW": activity.ReviewSort, "REPOSITORY": activity.RepositorySort}

// contributedTo resolves the repositories to which users contributed and that the caller sees. own includes those
// that they own. Without orderBy, that of the newest contribution is the first.
func contributedTo(own bool) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		own := own || f.Args["includeUserRepositories"] == true
		values, err := repositoriesOfContributions(ctx, f, objectsOf(parents), own)
		if err != nil {
			return failed(asError(err), len(parents))
		}
		return values
	}
}

func repositoriesOfContributions(ctx context.Context, f *exec.Field, users []*object, own bool) ([]any, error) {
	since, err := sinceOf(f)
	if err != nil {
		return nil, err
	}
	lists, err := contributionsOf(ctx, users)
	if err != nil {
		return nil, err
	}
	wanted := map[activity.Sort]bool{}
	types, choosing := f.Args["contributionTypes"].([]any)
	for _, name := range namesIn(types) {
		wanted[sortsOf[name]] = true
	}
	var all []int64
	in := make([][]int64, len(users))
	for n, list := range lists {
		for _, c := range list {
			if (!choosing || wanted[c.Sort]) && c.At >= since && !slices.Contains(in[n], int64(c.RepoID)) {
				in[n] = append(in[n], int64(c.RepoID))
			}
		}
		all = append(all, in[n]...)
	}
	repos, err := queryOf(ctx).repositoriesByID(ctx, all)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(users))
	for n, user := range users {
		var shown []*object
		for _, id := range in[n] {
			r := repos[id]
			if r != nil && (own || r.value.(*repo.FullPayload).Owner.Login != user.name) && choosesRepository(f, r) {
				shown = append(shown, r)
			}
		}
		if err := sortRepositories(f, shown); err != nil {
			return nil, err
		}
		values[n] = orError(connectAll(f, "RepositoryConnection", anyObjects(shown)))
	}
	return values, nil
}

// sinceOf reads the argument since.
func sinceOf(f *exec.Field) (db.Time, error) {
	text, ok := f.Args["since"].(string)
	if !ok {
		return 0, nil
	}
	at, ok := web.ParseTime(text)
	if !ok {
		return 0, refused("`" + clip(text) + "` is not a time such as 2011-04-22T13:33:48Z.")
	}
	return db.FromTime(at), nil
}

// choosesRepository reports whether arguments select a repository.
func choosesRepository(f *exec.Field, r *object) bool {
	p := r.value.(*repo.FullPayload)
	if privacy, ok := f.Args["privacy"].(string); ok && p.Private != (privacy == "PRIVATE") {
		return false
	}
	if visibility, ok := f.Args["visibility"].(string); ok && enumName(p.Visibility) != visibility {
		return false
	}
	for _, name := range [...]string{"hasIssues", "hasIssuesEnabled"} {
		if has, ok := f.Args[name].(bool); ok && p.HasIssues != has {
			return false
		}
	}
	return f.Args["isLocked"] != true // none is
}

// sortRepositories sorts repositories by orderBy.
func sortRepositories(f *exec.Field, list []*object) error {
	by, desc, err := orderBy(f, map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated",
		"PUSHED_AT": "pushed", "NAME": "full_name", "STARGAZERS": "stars"})
	if err != nil || by == "" {
		return err
	}
	slices.SortStableFunc(list, func(a, b *object) int {
		x, y := a.value.(*repo.FullPayload), b.value.(*repo.FullPayload)
		order := map[string]int{"created": cmp.Compare(x.CreatedAt, y.CreatedAt),
			"updated": cmp.Compare(x.UpdatedAt, y.UpdatedAt), "pushed": cmp.Compare(x.PushedAt, y.PushedAt),
			"stars": cmp.Compare(x.StargazersCount, y.StargazersCount)}[by]
		if by == "full_name" {
			order = strings.Compare(foldedName(x.FullName), foldedName(y.FullName))
		}
		if order = cmp.Or(order, cmp.Compare(x.ID, y.ID)); desc {
			return -order
		}
		return order
	})
	return nil
}

// anyObjects returns objects as nodes of a connection.
func anyObjects(list []*object) []any {
	out := make([]any, len(list))
	for n, o := range list {
		out[n] = o
	}
	return out
}
