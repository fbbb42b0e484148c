package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// textMedia asks for texts as HTML where the query wants them.
func textMedia(f *exec.Field) string {
	if f.Deep("bodyHTML", "bodyText", "descriptionHTML") {
		return "full"
	}
	return "raw"
}

// newIssue is an issue, or the pull request that it is. media is that of its payload.
func newIssue(in *object, data payload, media string) (*object, error) {
	if in == nil { // of a list across repositories
		u, err := url.Parse(textOf(data, "repository_url"))
		if err != nil {
			return nil, err
		}
		path := u.EscapedPath()
		in = repositoryAt(path[strings.Index(path, "/repos/"):])
	}
	number := string(data.get("number"))
	if data.get("pull_request") != nil {
		return &object{kind: "PullRequest", data: data, repo: in,
			source: source{Path: in.path("pulls", number), Media: media}}, nil
	}
	return &object{kind: "Issue", data: data, repo: in, source: source{Path: in.path("issues", number),
		Media: media}}, nil
}

// issuesNumbered resolves the issue or pull request of a number in each repository. kind is the one that is
// wanted; empty: either.
func issuesNumbered(kind, article string) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, values, list := queryOf(ctx), make([]any, len(parents)), make([]*object, len(parents))
		number, media := f.Args["number"].(int), textMedia(f)
		for n, in := range objectsOf(parents) {
			list[n] = issueAt(in, strconv.Itoa(number), media)
		}
		if len(list) > 0 {
			numberedThings(q, list[0]).load(ctx, q, list)
		}
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
	data, err := numberedThings(q, at).get(ctx, q, at)
	if err == nil && data == nil {
		at, err = q.transferred(ctx, at)
		if err == nil {
			data, err = numberedThings(q, at).get(ctx, q, at)
		}
	}
	if err == nil && data == nil {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	o, err := newIssue(at.repo, data, at.source.Media)
	if err == nil {
		o.whole = o.kind == "Issue"
	}
	return o, err
}

// transferred finds where an issue is now that is not in its repository any more. Errors: 404, 410.
func (q *query) transferred(ctx context.Context, at *object) (*object, error) {
	in, err := q.accesses(ctx, "/issues/{number}", []*object{at.repo})
	if err != nil {
		return nil, err
	}
	_, err = q.load.Issues.ByNumber(ctx, in[at.repo.source.Path].access, byNumber(at))
	var moved *repo.MovedError
	if errors.As(err, &moved) {
		to := repositoryAt(web.Path("repos", moved.To.Owner.Login, moved.To.Name))
		return issueAt(to, moved.Value, at.source.Media), nil
	}
	if err == nil {
		err = errs.Absent()
	}
	return nil, err
}

// repositoryIssues are the fields of a repository about issues, labels and milestones.
func repositoryIssues() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"issue":              issuesNumbered("Issue", "an Issue"),
		"issueOrPullRequest": issuesNumbered("", "an issue or pull request"),
		"issues":             connections(issues), "labels": labels, "milestones": connections(milestones),
		"issueTypes":      always(nil),
		"suggestedActors": suggested("ActorConnection", itself, plain),
		"assignableUsers": people(assignees, byID(false)), "mentionableUsers": people(assignees, byID(false)),
		"watchers": people(watchers, nil),
		"label": thingIn(labelsNamed, func(f *exec.Field, in *object) *object {
			return labelAt(in, f.Args["name"].(string))
		}),
		"milestone": thingIn(numberedMilestones, func(f *exec.Field, in *object) *object {
			return milestoneAt(in, strconv.Itoa(f.Args["number"].(int)))
		}),
	}
}

// thingIn resolves a thing of each repository; null if it does not exist. at returns it with its key alone.
func thingIn[K comparable](
	of func(q *query, o *object) loader[K, payload], at func(f *exec.Field, in *object) *object,
) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, things := queryOf(ctx), make([]exec.Object, len(parents))
		for n, in := range objectsOf(parents) {
			things[n] = at(f, in)
		}
		l := of(q, &object{source: source{Media: "raw"}})
		l.load(ctx, q, objectsOf(things))
		return orNull(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := l.get(ctx, q, o)
			if data == nil {
				return nil, err
			}
			o.data, o.whole = data, true
			return o, nil
		})(ctx, f, things)
	}
}

// labelAt and milestoneAt return a thing of a repository with its key alone.
func labelAt(in *object, name string) *object {
	raw, _ := json.Marshal(name)
	return &object{kind: "Label", data: payload{}.with("name", raw), repo: in}
}

func milestoneAt(in *object, number string) *object {
	return &object{kind: "Milestone", data: payload{}.with("number", json.RawMessage(number)), repo: in}
}

// orNull is like one, but resolves to null if the object does not exist.
func orNull(value func(ctx context.Context, f *exec.Field, o *object) (any, error)) exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		v, err := value(ctx, f, o)
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Gone) {
			return nil, nil
		}
		return v, err
	})
}

// things are objects of one kind in a repository.
func things(kind string, in *object, list []payload) []any {
	all := make([]any, len(list))
	for n, data := range list {
		all[n] = &object{kind: kind, data: data, whole: true, repo: in}
	}
	return all
}

// issues lists those of a repository.
func issues(ctx context.Context, f *exec.Field, o *object) (pages, error) {
	q, media := queryOf(ctx), textMedia(f)
	options, err := issueOptions(f)
	if err != nil {
		return pages{}, err
	}
	l := loader[string, *web.List[payload]]{name: fmt.Sprintf("issues %+v", options), route: "/issues",
		media: media, members: membersOfIssues(f)}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[json.Marshaler], error) {
		return q.load.Issues.ListMany(ctx, list, options, at)
	}
	by := map[posting.Sort][]string{posting.Updated: {"updated_at"}, posting.Comments: {"comments"}}[options.Order.Sort]
	return pages{kind: "IssueConnection", many: ofRepositories(l, rows),
		rank: byMembers(!options.Order.Asc, append(by, "id")...),
		node: func(data payload) (any, error) { return newIssue(o, data, media) }}, nil
}

// issueOptions reads the arguments of a list of issues.
func issueOptions(f *exec.Field) (o issue.ListOptions, err error) {
	o.OnlyIssues, o.Order.Asc = true, true
	filter, _ := f.Args["filterBy"].(map[string]any)
	states := f.Args["states"]
	if states == nil {
		states = filter["states"]
	}
	list, _ := states.([]any)
	if both := slices.Contains(list, any("OPEN")) && slices.Contains(list, any("CLOSED")); len(list) > 0 && !both {
		o.State, _ = issuekit.ParseState(strings.ToLower(list[0].(string)))
	}
	if o.Order, err = orderOf(f, o.Order, map[string]posting.Sort{"CREATED_AT": posting.Created,
		"UPDATED_AT": posting.Updated, "COMMENTS": posting.Comments}); err != nil {
		return o, err
	}
	if text, ok := filter["since"].(string); ok {
		since, ok := web.ParseTime(text)
		if !ok {
			return o, refused("`" + clip(text) + "` is not a time such as 2011-04-22T13:33:48Z.")
		}
		o.Since = db.FromTime(since)
	}
	for name, to := range map[string]*string{"assignee": &o.Assignee, "createdBy": &o.Creator,
		"mentioned": &o.Mentioned, "milestoneNumber": &o.Milestone} {
		v, given := filter[name]
		*to, _ = v.(string)
		if given && v == nil && (name == "assignee" || name == "milestoneNumber") {
			*to = "none"
		}
	}
	labels, _ := filter["labels"].([]any)
	for _, name := range labels {
		text, _ := name.(string)
		o.Labels = append(o.Labels, text)
	}
	return o, nil
}

// orderOf reads orderBy; without it the order is otherwise. Error: for an order that Arbor does not have.
func orderOf(f *exec.Field, otherwise posting.Order, sorts map[string]posting.Sort) (posting.Order, error) {
	order, ok := f.Args["orderBy"].(map[string]any)
	if !ok {
		return otherwise, nil
	}
	field, _ := order["field"].(string)
	sort, ok := sorts[field]
	if !ok {
		return otherwise, &exec.Error{Message: "Arbor does not order by " + clip(field) + " here."}
	}
	return posting.Order{Sort: sort, Asc: order["direction"] == "ASC"}, nil
}

// tracked are the fields of issues and pull requests.
func tracked() map[string]exec.Resolver {
	return merge(commented(), map[string]exec.Resolver{
		"number": same("number"), "title": same("title"), "closedAt": same("closed_at"),
		"locked":           same("locked"),
		"activeLockReason": upper("active_lock_reason"),
		"closed": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return o.text(ctx, "state") == "closed", nil
		}),
		"assignees": one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			list, err := o.list(ctx, "assignees")
			if err != nil {
				return nil, err
			}
			all := make([]any, len(list))
			for n, data := range list {
				all[n] = newAccount(data)
			}
			return connectAll(f, "UserConnection", all)
		}),
		"labels": one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			list, err := o.list(ctx, "labels")
			if err != nil {
				return nil, err
			}
			return connectAll(f, "LabelConnection", things("Label", o.repo, list))
		}),
		"milestone": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, "milestone")
			if data == nil {
				return nil, err
			}
			return &object{kind: "Milestone", data: data, whole: true, repo: o.repo}, nil
		}),
		"comments": connections(comments),
		"viewerCanUpdate": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			if own, err := didAuthor(ctx, o); own || err != nil {
				return own, err
			}
			may, err := permissionOn(ctx, o.repo)
			return may != "READ", err
		}),
		"projectCards": none("ProjectCardConnection"), "projectItems": none("ProjectV2ItemConnection"),
		"assignedActors": one(assignedActors), "timelineItems": timelineItems,
		"suggestedActors": suggested("AssigneeConnection", repositoryOf, plain),
	})
}

func issueFields() map[string]exec.Resolver {
	fields := merge(tracked(), absentOfIssues(), map[string]exec.Resolver{
		"state": upper("state"), "stateReason": upper("state_reason"), "isPinned": isPinned,
		"closedByPullRequestsReferences": closedByPulls, "linkedBranches": linkedBranches,
		"titleHTML": one(titleHTML),
	})
	for name, r := range fields {
		fields[name] = filled(numberedIssues, isNumber, r)
	}
	return fields
}

// titleHTML is a title as HTML: text between backticks is code.
func titleHTML(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	parts := strings.Split(html.EscapeString(o.text(ctx, "title")), "`")
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
	return b.String(), nil
}

// isPinned resolves whether issues are pinned in their repositories.
func isPinned(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	l := loader[string, []int64]{name: "pinned", route: "/issues", check: issuesEnabled,
		key: func(*object) string { return "" },
		read: func(ctx context.Context, list []repo.Of[string]) (map[repo.Of[string]][]int64, error) {
			found, err := q.load.Issues.PinnedNumbers(ctx, repo.AccessesOf(list))
			out := map[repo.Of[string]][]int64{}
			for _, of := range list {
				out[of] = found[of.In.ID]
			}
			return out, err
		}}
	return l.values(ctx, parents, func(o *object, numbers []int64) (any, error) {
		return slices.Contains(numbers, byNumber(o)), nil
	})
}
