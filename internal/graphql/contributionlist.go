package graphql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// sortNames name the types of contributions: CreatedIssueContribution, IssueContributionsByRepository.
var sortNames = map[activity.Sort]string{activity.PushSort: "Commit", activity.IssueSort: "Issue",
	activity.PullSort: "PullRequest", activity.ReviewSort: "PullRequestReview", activity.RepositorySort: "Repository"}

// contributionLists are the fields of collections about contributions of a sort.
func contributionLists() map[string]exec.Resolver {
	count := func(_ context.Context, _ *exec.Field, _ *object, chosen chosenIn) (any, error) {
		return len(chosen.list), nil
	}
	places := func(_ context.Context, _ *exec.Field, _ *object, chosen chosenIn) (any, error) {
		return len(reposOf(chosen.list)), nil
	}
	fields := map[string]exec.Resolver{
		"firstIssueContribution":              firstContribution(activity.IssueSort),
		"firstPullRequestContribution":        firstContribution(activity.PullSort),
		"firstRepositoryContribution":         firstContribution(activity.RepositorySort),
		"popularIssueContribution":            popularContribution(activity.IssueSort),
		"popularPullRequestContribution":      popularContribution(activity.PullSort),
		"joinedGitHubContribution":            joinedContribution,
		"mostRecentCollectionWithActivity":    one(collectionBefore),
		"mostRecentCollectionWithoutActivity": one(emptyCollectionBefore),
	}
	for sort, name := range sortNames {
		fields["total"+name+"Contributions"] = ofSort(sort, false, count)
		if sort != activity.RepositorySort {
			fields["totalRepositoriesWithContributed"+name+"s"] = ofSort(sort, false, places)
			fields[strings.ToLower(name[:1])+name[1:]+"ContributionsByRepository"] = byRepository(sort)
		}
		if sort != activity.PushSort {
			fields[strings.ToLower(name[:1])+name[1:]+"Contributions"] = contributionsIn(sort)
		}
	}
	return fields
}

// reposOf returns the repositories of contributions, that with the most of them first.
func reposOf(list []activity.Contribution) []repo.ID {
	n := map[repo.ID]int{}
	var in []repo.ID
	for _, c := range list {
		if n[c.RepoID]++; n[c.RepoID] == 1 {
			in = append(in, c.RepoID)
		}
	}
	slices.SortStableFunc(in, func(a, b repo.ID) int { return n[b] - n[a] })
	return in
}

// chosenIn is what a collection has of a sort, and the repositories by id, if they were asked for.
type chosenIn struct {
	list []activity.Contribution
	in   map[int64]*object
}

// ofSort resolves a field of collections with their contributions of a sort, but for those that arguments exclude.
// places is whether the repositories are shown.
func ofSort(sort activity.Sort, places bool,
	show func(ctx context.Context, f *exec.Field, o *object, chosen chosenIn) (any, error),
) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		lists, all := map[*object][]activity.Contribution{}, []activity.Contribution(nil)
		failed := excluding(ctx, f, objectsOf(parents), sort, func(o *object, list []activity.Contribution) {
			lists[o], all = list, append(all, list...)
		})
		var in map[int64]*object
		var err error
		if places {
			in, err = queryOf(ctx).placesOf(ctx, all)
		}
		return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			if err := cmp.Or(err, failed[o]); err != nil {
				return nil, err
			}
			return show(ctx, f, o, chosenIn{lists[o], in})
		})(ctx, f, parents)
	}
}

// excluding calls each with the contributions of a sort of each collection that arguments do not exclude. failed are
// the errors of single collections.
func excluding(ctx context.Context, f *exec.Field, collections []*object, sort activity.Sort,
	each func(o *object, list []activity.Contribution),
) (failed map[*object]error) {
	var pagers []func(c *collection) contributionPager
	if f.Args["excludeFirst"] == true {
		pagers = append(pagers, func(*collection) contributionPager { return firstOf(sort) })
	}
	if f.Args["excludePopular"] == true {
		pagers = append(pagers, func(c *collection) contributionPager { return popularOf(sort, c) })
	}
	for _, pager := range pagers {
		loadContributions(ctx, collections, pager)
	}
	failed = map[*object]error{}
	for _, o := range collections {
		c := o.value.(*collection)
		list := slices.DeleteFunc(slices.Clone(c.list), func(one activity.Contribution) bool { return one.Sort != sort })
		for _, pager := range pagers {
			not, err := pager(c).of(ctx, c.user)
			if err != nil {
				failed[o] = err
			}
			list = slices.DeleteFunc(list, func(one activity.Contribution) bool {
				return not != nil && one.RepoID == not.RepoID && one.Number == not.Number
			})
		}
		each(o, list)
	}
	return failed
}

// placesOf returns the repositories of contributions by their ids.
func (q *query) placesOf(ctx context.Context, list []activity.Contribution) (map[int64]*object, error) {
	ids := make([]int64, len(list))
	for n, c := range list {
		ids[n] = int64(c.RepoID)
	}
	return q.repositoriesByID(ctx, ids)
}

// newContribution returns a contribution of a user in a repository.
func newContribution(ctx context.Context, user *object, c activity.Contribution, in *object, media string) any {
	path := pagePath(in.name)
	fields := map[string]any{"isRestricted": false, "occurredAt": c.At, "user": user, "repository": in}
	switch c.Sort {
	case activity.IssueSort:
		fields["issue"] = issueAt(in, c.Number, media)
		path += "/issues/" + decimal(c.Number)
	case activity.PullSort, activity.ReviewSort:
		of := pullAt(in, c.Number, media)
		fields["pullRequest"] = of
		path += "/pull/" + decimal(c.Number)
		if c.Sort == activity.ReviewSort {
			fields["pullRequestReview"] = reviewAt(of, c.Subject)
			path += "#pullrequestreview-" + decimal(c.Subject)
		}
	}
	fields["url"], fields["resourcePath"] = web.From(ctx).Page(path), path
	return bare{"Created" + sortNames[c.Sort] + "Contribution", fields}
}

// pagePath is the path of the page of a repository OWNER/NAME.
func pagePath(full string) string {
	owner, name, _ := strings.Cut(full, "/")
	return web.Path(owner, name)
}

// joinedContribution resolves when users joined, if it is in the time of the collection.
func joinedContribution(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	users := make([]*object, len(parents))
	for n, o := range objectsOf(parents) {
		users[n] = o.value.(*collection).user
	}
	failed := queryOf(ctx).fill(ctx, users, isWhole)
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		c := o.value.(*collection)
		if err := failed[c.user]; err != nil {
			return nil, err
		}
		a := c.user.value.(account.Full)
		if a.CreatedAt < db.FromTime(c.from) || a.CreatedAt > db.FromTime(c.to) {
			return nil, nil
		}
		return bare{"JoinedGitHubContribution", map[string]any{"isRestricted": false, "occurredAt": a.CreatedAt,
			"user": c.user, "url": a.HTMLURL, "resourcePath": pathOf(a.HTMLURL)}}, nil
	})(ctx, f, parents)
}

// collectionBefore resolves the latest collection of the same length that has contributions, if the collection itself
// has none.
func collectionBefore(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	c := o.value.(*collection)
	if len(c.list) > 0 {
		return nil, nil
	}
	lists, err := contributionsOf(ctx, []*object{c.user})
	if err != nil {
		return nil, err
	}
	for _, latest := range lists[0] {
		if latest.At >= db.FromTime(c.from) {
			continue
		}
		to := latest.At.Time().UTC().Add(time.Second)
		from := to.Add(c.from.Sub(c.to))
		list := slices.DeleteFunc(slices.Clone(lists[0]), func(one activity.Contribution) bool {
			return one.At < db.FromTime(from) || one.At > db.FromTime(to)
		})
		return &object{kind: "ContributionsCollection", whole: true, value: &collection{c.user, list, from, to}}, nil
	}
	return nil, nil
}

// emptyCollectionBefore resolves the latest collection of the same length, before the collection, without
// contributions.
func emptyCollectionBefore(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	c := o.value.(*collection)
	lists, err := contributionsOf(ctx, []*object{c.user})
	if err != nil {
		return nil, err
	}
	length, to := c.to.Sub(c.from), c.from.Add(-time.Second)
	for _, one := range lists[0] { // the newest first
		at := one.At.Time().UTC().Truncate(time.Second)
		if at.After(to) {
			continue
		}
		if at.Before(to.Add(-length)) {
			break
		}
		to = at.Add(-time.Second)
	}
	return &object{kind: "ContributionsCollection", whole: true,
		value: &collection{user: c.user, from: to.Add(-length), to: to}}, nil
}

// contributionsIn resolves the contributions of a sort, the newest first.
func contributionsIn(sort activity.Sort) exec.Resolver {
	return ofSort(sort, true, func(ctx context.Context, f *exec.Field, o *object, chosen chosenIn) (any, error) {
		return connectContributions(ctx, f, o.value.(*collection).user, sort, chosen)
	})
}

// connectContributions returns contributions of a sort as a connection, in the order of orderBy.
func connectContributions(
	ctx context.Context, f *exec.Field, user *object, sort activity.Sort, chosen chosenIn,
) (any, error) {
	all := make([]any, 0, len(chosen.list))
	for _, c := range chosen.list {
		if place := chosen.in[int64(c.RepoID)]; place != nil {
			all = append(all, newContribution(ctx, user, c, place, textMedia(f)))
		}
	}
	if order, ok := f.Args["orderBy"].(map[string]any); ok && order["direction"] == "ASC" {
		slices.Reverse(all)
	}
	return connectAll(f, "Created"+sortNames[sort]+"ContributionConnection", all)
}

// contributedIn is what a user contributed in a repository.
type contributedIn struct {
	user *object
	sort activity.Sort
	list []activity.Contribution
}

// maxRepositories is how many repositories a list by repository has at most, as at GitHub.
const maxRepositories = 100

// byRepository resolves the contributions of a sort by repository, that with the most of them first.
func byRepository(sort activity.Sort) exec.Resolver {
	return ofSort(sort, true, func(ctx context.Context, f *exec.Field, o *object, chosen chosenIn) (any, error) {
		most, given := f.Args["maxRepositories"].(int)
		if !given {
			most = maxRepositories / 4 // GitHub's default
		}
		if most < 0 || most > maxRepositories {
			return nil, refused(fmt.Sprintf("maxRepositories must be between 0 and %d.", maxRepositories))
		}
		all := []any{}
		for _, id := range reposOf(chosen.list) {
			if len(all) == most {
				break
			}
			if place := chosen.in[int64(id)]; place != nil {
				here := slices.DeleteFunc(slices.Clone(chosen.list), func(c activity.Contribution) bool { return c.RepoID != id })
				all = append(all, &object{kind: sortNames[sort] + "ContributionsByRepository", whole: true, repo: place,
					value: &contributedIn{o.value.(*collection).user, sort, here}})
			}
		}
		return all, nil
	})
}

// contributedPages are contributedInFields with the address of a page, which commits alone have.
func contributedPages() map[string]exec.Resolver {
	return merge(contributedInFields(), pageFields(func(ctx context.Context, o *object) string {
		return below(ctx, o, "/commits?author="+o.value.(*contributedIn).user.name)
	}))
}

func contributedInFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"repository": inRepository,
		"contributions": one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			c := o.value.(*contributedIn)
			if c.sort == activity.PushSort {
				return commitDays(ctx, f, o, c)
			}
			return connectContributions(ctx, f, c.user, c.sort, chosenIn{c.list, map[int64]*object{o.repo.id: o.repo}})
		}),
	}
}

// commitDays resolves the pushes of a user to a repository by day: each counts as one commit, as in the calendar.
func commitDays(ctx context.Context, f *exec.Field, o *object, c *contributedIn) (any, error) {
	var days []time.Time
	counts := map[time.Time]int{}
	for _, one := range c.list {
		day := one.At.Time().UTC().Truncate(24 * time.Hour)
		if counts[day]++; counts[day] == 1 {
			days = append(days, day)
		}
	}
	order, _ := f.Args["orderBy"].(map[string]any)
	if order["field"] == "COMMIT_COUNT" {
		slices.SortStableFunc(days, func(a, b time.Time) int { return counts[b] - counts[a] })
	}
	if order["direction"] == "ASC" {
		slices.Reverse(days)
	}
	all := make([]any, len(days))
	for n, day := range days {
		path := fmt.Sprintf("%s/commits?author=%s&since=%s&until=%s", pagePath(o.repo.name), c.user.name,
			day.Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly))
		all[n] = bare{"CreatedCommitContribution", map[string]any{"commitCount": counts[day], "isRestricted": false,
			"occurredAt": day.Format(time.RFC3339), "repository": o.repo, "user": c.user, "url": web.From(ctx).Page(path),
			"resourcePath": path}}
	}
	shown, err := connectAll(f, "CreatedCommitContributionConnection", all)
	if c2, ok := shown.(*connection); ok {
		c2.total = func() (int, error) { return len(c.list), nil }
	}
	return shown, err
}
