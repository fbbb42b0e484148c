package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
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

// issueNumbered finds an issue or a pull request. kind is the one that is wanted; empty: either.
func (q *query) issueNumbered(
	ctx context.Context, f *exec.Field, in *object, kind, article string,
) (any, error) {
	number := f.Args["number"].(int)
	what := fmt.Sprintf("%s with the number of %d", article, number)
	media := textMedia(f)
	data, err := q.object(ctx, Question{Path: in.path("issues", strconv.Itoa(number)), Media: media})
	if err != nil {
		return nil, orUnresolved(err, what)
	}
	o, err := newIssue(in, data, media)
	if err != nil {
		return nil, err
	}
	if kind != "" && o.kind != kind {
		return nil, unresolved(what)
	}
	o.whole = o.kind == "Issue"
	return o, nil
}

// repositoryIssues are the fields of a repository about issues, labels and milestones.
func repositoryIssues() map[string]exec.Resolver {
	numbered := func(kind, article string) exec.Resolver {
		return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			return queryOf(ctx).issueNumbered(ctx, f, o, kind, article)
		})
	}
	return map[string]exec.Resolver{
		"issue":              numbered("Issue", "an Issue"),
		"issueOrPullRequest": numbered("", "an issue or pull request"),
		"issues":             one(issues), "labels": one(labels), "milestones": one(milestones),
		"issueTypes":      always(nil),
		"suggestedActors": suggested("ActorConnection", itself, plain),
		"assignableUsers": people("assignees", byID(false)), "mentionableUsers": people("assignees", byID(false)),
		"watchers": people("subscribers", nil),
		"label": orNull(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			return queryOf(ctx).thing(ctx, "Label", o, o.path("labels", f.Args["name"].(string)))
		}),
		"milestone": orNull(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			return queryOf(ctx).thing(ctx, "Milestone", o,
				o.path("milestones", strconv.Itoa(f.Args["number"].(int))))
		}),
	}
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

// thing asks for something in a repository.
func (q *query) thing(ctx context.Context, kind string, in *object, path string) (any, error) {
	data, err := q.object(ctx, Question{Path: path})
	if err != nil {
		return nil, err
	}
	return &object{kind: kind, data: data, whole: true, repo: in}, nil
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
func issues(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q, media := queryOf(ctx), textMedia(f)
	if on, err := o.value(ctx, "has_issues"); on == false || err != nil { // hasIssuesEnabled says so
		if err != nil {
			return nil, err
		}
		return connectAll(f, "IssueConnection", nil)
	}
	values := url.Values{"state": {"all"}, "direction": {"asc"}}
	filter, _ := f.Args["filterBy"].(map[string]any)
	states := f.Args["states"]
	if states == nil {
		states = filter["states"]
	}
	list, _ := states.([]any)
	both := slices.Contains(list, any("OPEN")) && slices.Contains(list, any("CLOSED"))
	if len(list) > 0 && !both {
		values.Set("state", strings.ToLower(list[0].(string)))
	}
	sorts := map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated", "COMMENTS": "comments"}
	if err := setOrder(f, values, sorts); err != nil {
		return nil, err
	}
	for name, parameter := range map[string]string{"assignee": "assignee", "createdBy": "creator",
		"mentioned": "mentioned",
		"since":     "since", "milestoneNumber": "milestone"} {
		if v, ok := filter[name]; ok {
			text, _ := v.(string)
			if v == nil && (name == "assignee" || name == "milestoneNumber") {
				text = "none"
			}
			if text != "" {
				values.Set(parameter, text)
			}
		}
	}
	if list, ok := filter["labels"].([]any); ok {
		names := make([]string, len(list))
		for n, name := range list {
			if names[n], _ = name.(string); strings.Contains(names[n], ",") {
				return nil, refused("Labels with a comma in their name cannot be filtered by: use search.")
			}
		}
		values.Set("labels", strings.Join(names, ","))
	}
	return q.connect(ctx, f, pages{kind: "IssueConnection",
		question: Question{Path: o.path("issues"), Query: values, Media: media, Handler: q.with.Issues,
			Members: membersOfIssues(f)},
		rank: rankOf(values, "id"),
		node: func(data payload) (any, error) { return newIssue(o, data, media) }})
}

// rankOf is the order of a list of issues or of pull requests; the member tie decides between equal ones.
func rankOf(values url.Values, tie string) *rank {
	desc := values.Get("direction") == "desc"
	switch values.Get("sort") {
	case "updated":
		return byMembers(desc, "updated_at", tie)
	case "comments", "popularity":
		return byMembers(desc, "comments", tie)
	}
	return byMembers(desc, tie)
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
		"comments": listed(commentLists, false, one(comments)),
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
		"state": upper("state"), "stateReason": upper("state_reason"), "isPinned": one(isPinned),
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

func isPinned(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	q := queryOf(ctx)
	question := Question{Path: o.repo.path("issues"), Query: url.Values{"pinned": {"true"}},
		Handler: q.with.Pinned}
	answer, err := q.read(ctx, question)
	if err != nil {
		return nil, err
	}
	list, err := elements(answer.Body.Bytes())
	number := numberOf(o)
	return slices.ContainsFunc(list, func(n json.RawMessage) bool { return string(n) == number }), err
}
