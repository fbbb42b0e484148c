package graphql

import (
	"context"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// textMedia asks for texts as HTML where the query wants them.
func textMedia(f *exec.Field) string {
	if f.Deep("bodyHTML", "bodyText", "descriptionHTML", "shortDescriptionHTML") {
		return "full"
	}
	return "raw"
}

// newIssue is an issue, or the pull request that it is. media is that of its texts.
func newIssue(in *object, v *issue.View, media string) *object {
	if in == nil { // of a list across repositories
		in = inRepositoryOf(v.Access)
	}
	o := &object{kind: "Issue", value: v, whole: true, media: media, repo: in, id: int64(v.ID), number: v.Number}
	if v.Pull {
		o.kind, o.whole = "PullRequest", false
	}
	return o
}

// issueAt returns an issue by its number. media is the form of its texts.
func issueAt(in *object, number int64, media string) *object {
	return &object{kind: "Issue", number: number, media: media, repo: in}
}

// viewOf returns what issues and pull requests have in common, of one that is known.
func viewOf(o *object) *issue.View {
	if v, ok := o.value.(*pull.View); ok {
		return v.Issue
	}
	return o.value.(*issue.View)
}

// ofIssue is pick for issues and pull requests.
func ofIssue(part func(v *issue.View) any) exec.Resolver {
	return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) { return part(viewOf(o)), nil })
}

// issuesNumbered resolves the issue or pull request of a number in each repository. kind is the one that is
// wanted; empty: either.
func issuesNumbered(kind, article string) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, values, list := queryOf(ctx), make([]any, len(parents)), make([]*object, len(parents))
		number, media := int64(f.Args["number"].(int)), textMedia(f)
		for n, in := range objectsOf(parents) {
			list[n] = issueAt(in, number, media)
		}
		numberedThings(q, media).load(ctx, q, list)
		for n, at := range list {
			o, err := q.issueOrPull(ctx, at)
			what := fmt.Sprintf("%s with the number of %d", article, number)
			if err == nil && kind != "" && o.kind != kind {
				err = errs.Absent()
			}
			if values[n] = o; err != nil {
				values[n] = asError(orUnresolved(err, what))
			}
		}
		return values
	}
}

// issueOrPull returns the issue or the pull request that an issue with its number alone is. An issue that was
// transferred is found where it is now. Errors: 404, 410.
func (q *query) issueOrPull(ctx context.Context, at *object) (*object, error) {
	v, err := numberedThings(q, at.media).get(ctx, q, at)
	if err == nil && v == nil {
		at, err = q.transferred(ctx, at)
		if err == nil {
			v, err = numberedThings(q, at.media).get(ctx, q, at)
		}
	}
	if err == nil && v == nil {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return newIssue(at.repo, v, at.media), nil
}

// transferred finds where an issue is now that is not in its repository any more. Errors: 404, 410.
func (q *query) transferred(ctx context.Context, at *object) (*object, error) {
	in, err := q.accesses(ctx, "/issues/{number}", []*object{at.repo})
	if err != nil {
		return nil, err
	}
	_, err = q.load.Issues.ByNumber(ctx, in[at.repo.name].access, at.number)
	if moved, ok := errors.AsType[*repo.MovedError](err); ok {
		number, _ := web.ParseNumber(moved.Value)
		return issueAt(repositoryAt(moved.To.FullName()), number, at.media), nil
	}
	if err == nil {
		err = errs.Absent()
	}
	return nil, err
}

// numberedThings loads issues, and the issues of pull requests, by number.
func numberedThings(q *query, media string) loader[int64, *issue.View] {
	return loader[int64, *issue.View]{name: "issues and pulls", route: "/issues/{number}", media: media, key: byNumber,
		read: q.load.Issues.Numbered}
}

// numberedIssues loads issues by number.
func numberedIssues(q *query, media string) loader[int64, *issue.View] {
	l := numberedThings(q, media)
	l.name, l.check = "issues", issuesEnabled
	l.read = func(ctx context.Context, list []repo.Of[int64]) (map[repo.Of[int64]]*issue.View, error) {
		found, err := q.load.Issues.Numbered(ctx, list)
		for of, v := range found {
			if v.Pull {
				delete(found, of)
			}
		}
		return found, err
	}
	return l
}

// issuesEnabled returns 410 for a repository with issues switched off.
func issuesEnabled(a *repo.Access) error { return issue.Enabled(a.Repo, nil) }

// repositoryIssues are the fields of a repository about issues, labels and milestones.
func repositoryIssues() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"issue":              issuesNumbered("Issue", "an Issue"),
		"issueOrPullRequest": issuesNumbered("", "an issue or pull request"),
		"issues":             connections(issues), "labels": labels, "milestones": milestones, "pinnedIssues": pinnedIssues,
		"issueTypes":      always(nil), // not an empty connection, as at GitHub for repositories of users
		"suggestedActors": suggested("ActorConnection", itself, plain),
		"watchers":        connections(watchers),
		"label": thingIn(func(f *exec.Field, in *object) *object {
			return &object{kind: "Label", name: f.Args["name"].(string), repo: in}
		}),
		"milestone": thingIn(func(f *exec.Field, in *object) *object {
			return &object{kind: "Milestone", number: int64(f.Args["number"].(int)), repo: in}
		}),
	}
}

// thingIn resolves a thing of each repository; null if it does not exist. at returns it with its key alone.
func thingIn(at func(f *exec.Field, in *object) *object) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, values, things := queryOf(ctx), make([]any, len(parents)), make([]*object, len(parents))
		for n, in := range objectsOf(parents) {
			things[n] = at(f, in)
		}
		failed := q.fill(ctx, things, isWhole)
		for n, o := range things {
			switch err := failed[o]; {
			case err == nil:
				values[n] = o
			case !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Gone):
				values[n] = asError(err)
			}
		}
		return values
	}
}

// pageOf returns the address of the page of an issue or a pull request.
func pageOf(ctx context.Context, v *issue.View) string {
	return web.From(ctx).Page(web.Path(v.Access.Owner.Login, v.Access.Name) + issuekit.PageSegment(v.Pull) +
		decimal(v.Number))
}

// tracked are the fields of issues and pull requests. Those of a pull request need its issue alone.
func tracked() map[string]exec.Resolver {
	return merge(after(isKnown, merge(reactable(), written(), trackedRights(), map[string]exec.Resolver{
		"number": ofIssue(func(v *issue.View) any { return v.Number }),
		"title":  ofIssue(func(v *issue.View) any { return v.Title }), "titleHTML": ofIssue(titleHTML),
		"closedAt":         ofIssue(func(v *issue.View) any { return v.ClosedAt }),
		"closed":           ofIssue(func(v *issue.View) any { return v.State == issue.Closed }),
		"locked":           ofIssue(func(v *issue.View) any { return v.Locked }),
		"activeLockReason": ofIssue(func(v *issue.View) any { return enum(v.LockReason) }),
		"assignees":        one(assignees("UserConnection")), "assignedActors": one(assignees("AssigneeConnection")),
		"labels": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			list := slices.Clone(viewOf(o).Labels)
			order, _ := f.Args["orderBy"].(map[string]any)
			slices.SortStableFunc(list, byOrder(order))
			return connectAll(f, "LabelConnection", things("Label", o.repo, list))
		}),
		"milestone": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			v := viewOf(o)
			if v.Milestone == nil {
				return nil, nil
			}
			return newThing("Milestone", o.repo, &milestone.View{Milestone: v.Milestone, Creator: v.MilestoneBy}), nil
		}),
		"comments":       comments,
		"publishedAt":    ofIssue(func(v *issue.View) any { return v.CreatedAt }),
		"fullDatabaseId": key(func(o *object) any { return decimal(o.id) }),
		"timelineItems":  timelineItems,
		"timeline":       timelineItems,
	})), map[string]exec.Resolver{
		"repository":      inRepository,
		"suggestedActors": suggested("AssigneeConnection", repositoryOf, plain),
	})
}

// assignees returns a function that resolves the assignees of an issue or a pull request.
func assignees(kind string) func(context.Context, *exec.Field, *object) (any, error) {
	return func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		return connectAll(f, kind, persons(ctx, viewOf(o).Assignees))
	}
}

func persons(ctx context.Context, list []*account.Account) []any {
	all := make([]any, len(list))
	for n, a := range list {
		all[n] = person(ctx, a)
	}
	return all
}

// things are objects of one kind in a repository by their whole values.
func things[V any](kind string, in *object, list []V) []any {
	all := make([]any, len(list))
	for n, v := range list {
		all[n] = newThing(kind, in, v)
	}
	return all
}

// newThing returns an object in a repository by its whole value.
func newThing(kind string, in *object, value any) *object {
	o := &object{kind: kind, repo: in}
	o.set(value)
	return o
}

// nodeIn returns the node of a value of a kind in a repository.
func nodeIn[V any](kind string, in *object) func(V) (any, error) {
	return func(v V) (any, error) { return newThing(kind, in, v), nil }
}

// canUpdate resolves whether the caller may change what somebody wrote.
func canUpdate(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	if didAuthor(ctx, o) {
		return true, nil
	}
	role, err := roleOn(ctx, o.repo)
	return role >= account.Push, err
}

func issueFields() map[string]exec.Resolver {
	return merge(tracked(), after(isKnown, threadSubscriptions()), after(isKnown, map[string]exec.Resolver{
		"state": ofIssue(func(v *issue.View) any { return enumName(v.State.String()) }),
		"stateReason": ofIssue(func(v *issue.View) any {
			reason := v.StateReason.String()
			return enum(&reason)
		}),
		"isPinned": ofIssue(func(v *issue.View) any { return !v.PinnedAt.IsZero() }),
		"bodyUrl":  one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) { return bodyPage(ctx, o), nil }),
		"bodyResourcePath": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return strings.TrimPrefix(bodyPage(ctx, o), siteOf(ctx)), nil
		}),
		"viewerCanDelete": may(account.Admin, false, nil),
	}), map[string]exec.Resolver{
		"closedByPullRequestsReferences": closedByPulls, "linkedBranches": linkedBranches,
	})
}

// bodyPage returns the address of the text of an issue.
func bodyPage(ctx context.Context, o *object) string {
	return pageOf(ctx, viewOf(o)) + "#issue-" + decimal(o.id)
}

// titleHTML is a title as HTML: text between backticks is code.
func titleHTML(v *issue.View) any {
	parts := strings.Split(html.EscapeString(v.Title), "`")
	var b strings.Builder
	for n, part := range parts {
		switch {
		case n%2 == 0:
			b.WriteString(part)
		case n == len(parts)-1 || part == "": // nothing ends it
			b.WriteString("`" + part)
			if n < len(parts)-1 {
				b.WriteString("`")
			}
		default:
			b.WriteString("<code>" + part + "</code>")
		}
	}
	return b.String()
}
