package graphql

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/graphql/exec"
)

// mostLabels limits how many hundreds of labels are filtered or sorted.
const mostLabels = 10

// labels resolves the labels of a repository.
func labels(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q := queryOf(ctx)
	question := Question{Path: o.path("labels")}
	text, _ := f.Args["query"].(string)
	order, _ := f.Args["orderBy"].(map[string]any)
	if text == "" && order == nil {
		return q.connect(ctx, f, pages{kind: "LabelConnection", question: question, rank: byName(false, "name"),
			node: func(data payload) (any, error) {
				return &object{kind: "Label", data: data, whole: true, repo: o}, nil
			}})
	}
	list, err := q.all(ctx, question, mostLabels)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(label payload) bool {
		both := textOf(label, "name") + "\n" + textOf(label, "description")
		return !strings.Contains(strings.ToLower(both), strings.ToLower(text))
	})
	slices.SortStableFunc(list, func(x, y payload) int {
		var by int
		if order["field"] == "NAME" {
			by = strings.Compare(strings.ToLower(textOf(x, "name")), strings.ToLower(textOf(y, "name")))
		} else if order != nil { // ids grow in the order of creation
			i, _ := strconv.ParseInt(string(x.get("id")), 10, 64)
			j, _ := strconv.ParseInt(string(y.get("id")), 10, 64)
			by = int(max(-1, min(1, i-j)))
		}
		if order["direction"] == "DESC" {
			by = -by
		}
		return by
	})
	return connectAll(f, "LabelConnection", things("Label", o, list))
}

// milestones resolves the milestones of a repository.
func milestones(ctx context.Context, f *exec.Field, o *object) (any, error) {
	values := url.Values{"state": {"all"}}
	if list, ok := f.Args["states"].([]any); ok && len(list) == 1 {
		values.Set("state", strings.ToLower(list[0].(string)))
	}
	return queryOf(ctx).connect(ctx, f, pages{kind: "MilestoneConnection",
		question: Question{Path: o.path("milestones"), Query: values}, rank: byDue(),
		node: func(data payload) (any, error) {
			return &object{kind: "Milestone", data: data, whole: true, repo: o}, nil
		}})
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
	return full(l, inEach(q.load.Labels.Named))
}

// numberedMilestones loads milestones by number.
func numberedMilestones(q *query, _ *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "milestones", route: "/milestones", key: byNumber}
	return full(l, inEach(q.load.Milestones.Numbered))
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
