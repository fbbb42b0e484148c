package graphql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// issues lists those of a repository.
func issues(ctx context.Context, f *exec.Field, o *object) (pages[*issue.View], error) {
	q, media := queryOf(ctx), textMedia(f)
	options, err := issueOptions(f)
	if err != nil {
		return pages[*issue.View]{}, err
	}
	l := loader[string, *web.List[*issue.View]]{name: fmt.Sprintf("issues %+v", options), route: "/issues", media: media}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*issue.View], error) {
		return q.load.Issues.ListMany(ctx, list, options, at)
	}
	p := issuePages(o, options, media)
	p.many = ofRepositories(l, rows)
	return p, nil
}

// issuePages returns a list of issues of a repository without its loader.
func issuePages(in *object, o issue.ListOptions, media string) pages[*issue.View] {
	return pages[*issue.View]{kind: "IssueConnection",
		rank: rankBy(!o.Order.Asc, func(v *issue.View) []any {
			return append(sortedBy(v, o.Order.Sort), int64(v.ID))
		}),
		node: func(v *issue.View) (any, error) { return newIssue(in, v, media), nil }}
}

// sortedBy returns by what a list of issues or pull requests is sorted before the order of their creation.
func sortedBy(v *issue.View, by posting.Sort) []any {
	switch by {
	case posting.Updated:
		return []any{v.UpdatedAt}
	case posting.Comments:
		return []any{v.Comments}
	}
	return nil
}

// issueOptions reads the arguments of a list of issues.
func issueOptions(f *exec.Field) (o issue.ListOptions, err error) {
	o.OnlyIssues, o.Order.Asc = true, true
	filter, _ := f.Args["filterBy"].(map[string]any)
	if fields, _ := filter["issueFieldValues"].([]any); len(fields) > 0 {
		return o, refused("Arbor has no fields of issues.")
	}
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
	if named, ok := f.Args["labels"].([]any); ok {
		labels = append(labels, named...)
	}
	o.Labels = namesIn(labels)
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
