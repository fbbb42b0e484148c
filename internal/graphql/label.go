package graphql

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/issuekit"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// mostLabels limits how many hundreds of labels are filtered or sorted.
const mostLabels = 10

// labels resolves the labels of repositories.
func labels(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	all := ofRepositories(loader[string, *web.List[payload]]{name: "all labels", route: "/labels"},
		q.load.Labels.ListMany)
	text, _ := f.Args["query"].(string)
	order, _ := f.Args["orderBy"].(map[string]any)
	if text == "" && order == nil {
		return connections(func(_ context.Context, _ *exec.Field, o *object) (pages, error) {
			return pages{kind: "LabelConnection", many: all, rank: byName(false, "name"), node: nodeIn("Label", o)}, nil
		})(ctx, f, parents)
	}
	all.loadAll(ctx, q, objectsOf(parents), mostLabels)
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		list, err := all.all(ctx, q, o, mostLabels)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(label payload) bool {
			both := textOf(label, "name") + "\n" + textOf(label, "description")
			return !strings.Contains(strings.ToLower(both), strings.ToLower(text))
		})
		slices.SortStableFunc(list, byOrder(order))
		return connectAll(f, "LabelConnection", things("Label", o, list))
	})(ctx, f, parents)
}

// byOrder compares labels by an argument orderBy; nil: all are equal.
func byOrder(order map[string]any) func(x, y payload) int {
	return func(x, y payload) int {
		var by int
		if order["field"] == "NAME" {
			by = strings.Compare(strings.ToLower(textOf(x, "name")), strings.ToLower(textOf(y, "name")))
		} else if order != nil { // ids grow in the order of creation
			i, _ := strconv.ParseInt(string(x.get("id")), 10, 64)
			j, _ := strconv.ParseInt(string(y.get("id")), 10, 64)
			by = cmp.Compare(i, j)
		}
		if order["direction"] == "DESC" {
			by = -by
		}
		return by
	}
}

// nodeIn returns the node of a payload of a kind in a repository.
func nodeIn(kind string, in *object) func(payload) (any, error) {
	return func(data payload) (any, error) {
		return &object{kind: kind, data: data, whole: true, repo: in}, nil
	}
}

// milestones resolves the milestones of a repository.
func milestones(ctx context.Context, f *exec.Field, o *object) (pages, error) {
	q, state := queryOf(ctx), issuekit.State(0)
	if list, ok := f.Args["states"].([]any); ok && len(list) == 1 {
		state, _ = issuekit.ParseState(strings.ToLower(list[0].(string)))
	}
	l := loader[string, *web.List[payload]]{name: fmt.Sprint("all milestones ", int(state)), route: "/milestones"}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*milestone.Payload], error) {
		return q.load.Milestones.ListMany(ctx, list, state, at)
	}
	return pages{kind: "MilestoneConnection", many: ofRepositories(l, rows), rank: byDue(),
		node: nodeIn("Milestone", o)}, nil
}

// byDue returns REST's order of milestones: those without a date come last.
func byDue() *rank {
	return &rank{of: func(data payload) string {
		return cmp.Or(textOf(data, "due_on"), "~") + " " + sortable(string(data.get("number")))
	}}
}

// labelsNamed loads labels by name.
func labelsNamed(q *query, _ *object) loader[string, payload] {
	l := loader[string, payload]{name: "labels", route: "/labels",
		key: func(o *object) string { return textOf(o.data, "name") }}
	return full(l, q.load.Labels.Named)
}

// numberedMilestones loads milestones by number.
func numberedMilestones(q *query, _ *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "milestones", route: "/milestones", key: byNumber}
	return full(l, q.load.Milestones.Numbered)
}

func labelFields() map[string]exec.Resolver {
	page := func(ctx context.Context, o *object) (string, error) {
		at, err := o.repo.value(ctx, "html_url")
		text, _ := at.(string)
		return text + "/labels/" + url.PathEscape(textOf(o.data, "name")), err
	}
	missing := func(r exec.Resolver) exec.Resolver { return filled(labelsNamed, anyObject, r) } // in events
	return map[string]exec.Resolver{
		"id": missing(same("node_id")), "name": same("name"), "color": same("color"),
		"description": missing(same("description")),
		"isDefault":   missing(same("default")), "repository": inRepository,
		"createdAt": always(nil), "updatedAt": always(nil), // REST does not have them
		"url": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) { return page(ctx, o) }),
		"resourcePath": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			at, err := page(ctx, o)
			return strings.TrimPrefix(at, siteOf(ctx)), err
		}),
	}
}

func milestoneFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id": same("node_id"), "number": same("number"), "title": same("title"),
		"description": same("description"),
		"state":       upper("state"), "dueOn": same("due_on"), "createdAt": same("created_at"),
		"updatedAt": same("updated_at"),
		"closedAt":  same("closed_at"), "closed": isNull("closed_at", false),
		"creator": accountField("creator"),
		"url":     same("html_url"), "resourcePath": resourcePath("html_url"),
	}
}
