package graphql

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// mostLabels limits how many hundreds of labels are filtered or sorted.
const mostLabels = 10

// labels resolves the labels of repositories.
func labels(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	all := ofRepositories(loader[string, *web.List[*label.Label]]{name: "all labels", route: "/labels"},
		q.load.Labels.ListMany)
	text, _ := f.Args["query"].(string)
	order, _ := f.Args["orderBy"].(map[string]any)
	if text == "" && order == nil {
		return connections(func(_ context.Context, _ *exec.Field, o *object) (pages[*label.Label], error) {
			return pages[*label.Label]{kind: "LabelConnection", many: all, node: nodeIn[*label.Label]("Label", o),
				rank: &sortKey[*label.Label]{of: func(l *label.Label) string { return foldedName(l.Name) }}}, nil
		})(ctx, f, parents)
	}
	all.loadAll(ctx, q, objectsOf(parents), mostLabels)
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		list, err := all.all(ctx, q, o, mostLabels)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(l *label.Label) bool {
			both := l.Name + "\n" + orEmpty(l.Description)
			return !strings.Contains(strings.ToLower(both), strings.ToLower(text))
		})
		slices.SortStableFunc(list, byOrder(order))
		return connectAll(f, "LabelConnection", things("Label", o, list))
	})(ctx, f, parents)
}

// byOrder compares labels by an argument orderBy; nil: all are equal.
func byOrder(order map[string]any) func(x, y *label.Label) int {
	return func(x, y *label.Label) int {
		var by int
		if order["field"] == "NAME" {
			by = strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name))
		} else if order != nil { // ids grow in the order of creation
			by = cmp.Compare(x.ID, y.ID)
		}
		if order["direction"] == "DESC" {
			by = -by
		}
		return by
	}
}

// mostMilestones limits how many hundreds of milestones are filtered or sorted.
const mostMilestones = 10

// milestones resolves the milestones of repositories: in REST's order, where those without a date come last, or in
// the one of the argument orderBy.
func milestones(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	state := issuekit.State(0)
	if list, ok := f.Args["states"].([]any); ok && len(list) == 1 {
		state, _ = issuekit.ParseState(strings.ToLower(list[0].(string)))
	}
	q := queryOf(ctx)
	l := loader[string, *web.List[*milestone.View]]{name: fmt.Sprint("all milestones ", int(state)), route: "/milestones"}
	all := ofRepositories(l, func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*milestone.View], error) {
		return q.load.Milestones.ListMany(ctx, list, state, at)
	})
	text, _ := f.Args["query"].(string)
	order, sorted := f.Args["orderBy"].(map[string]any)
	if text == "" && !sorted {
		return connections(func(_ context.Context, _ *exec.Field, o *object) (pages[*milestone.View], error) {
			return pages[*milestone.View]{kind: "MilestoneConnection", many: all,
				rank: &sortKey[*milestone.View]{of: func(m *milestone.View) string {
					return cmp.Or(m.DueOn.String(), "~") + " " + sortable(m.Number)
				}},
				node: nodeIn[*milestone.View]("Milestone", o)}, nil
		})(ctx, f, parents)
	}
	all.loadAll(ctx, q, objectsOf(parents), mostMilestones)
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		list, err := all.all(ctx, q, o, mostMilestones)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(m *milestone.View) bool {
			return !strings.Contains(strings.ToLower(m.Title), strings.ToLower(text))
		})
		if sorted {
			slices.SortStableFunc(list, milestonesBy(order))
		}
		return connectAll(f, "MilestoneConnection", things("Milestone", o, list))
	})(ctx, f, parents)
}

// milestonesBy compares milestones by an argument orderBy.
func milestonesBy(order map[string]any) func(x, y *milestone.View) int {
	return func(x, y *milestone.View) int {
		by := cmp.Compare(x.Number, y.Number)
		switch order["field"] {
		case "DUE_DATE":
			by = cmp.Or(cmp.Compare(x.DueOn, y.DueOn), by)
		case "UPDATED_AT":
			by = cmp.Or(cmp.Compare(x.UpdatedAt, y.UpdatedAt), by)
		}
		if order["direction"] == "DESC" {
			by = -by
		}
		return by
	}
}

// labelsNamed loads labels by name.
func labelsNamed(q *query) loader[string, *label.Label] {
	return loader[string, *label.Label]{name: "labels", route: "/labels", key: byName, read: q.load.Labels.Named}
}

// numberedMilestones loads milestones by number.
func numberedMilestones(q *query) loader[int64, *milestone.View] {
	return loader[int64, *milestone.View]{name: "milestones", route: "/milestones", key: byNumber,
		read: q.load.Milestones.Numbered}
}

// below returns the address of a page below that of an object's repository.
func below(ctx context.Context, o *object, path string) string {
	owner, name, _ := strings.Cut(o.repo.name, "/")
	return web.From(ctx).Page(web.Path(owner, name) + path)
}

// pageFields are the fields about the address of an object's page.
func pageFields(address func(ctx context.Context, o *object) string) map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"url": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) { return address(ctx, o), nil }),
		"resourcePath": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return strings.TrimPrefix(address(ctx, o), siteOf(ctx)), nil
		}),
	}
}

func labelFields() map[string]exec.Resolver {
	return merge(after(isKnown, map[string]exec.Resolver{ // events know names and colors
		"name":  pick(func(l *label.Label) any { return l.Name }),
		"color": pick(func(l *label.Label) any { return l.Color }),
	}), after(isWhole, map[string]exec.Resolver{
		"id":          pick(func(l *label.Label) any { return account.NodeID("Label", l.ID) }),
		"description": pick(func(l *label.Label) any { return l.Description }),
		"isDefault":   pick(func(l *label.Label) any { return l.Default }),
		"createdAt":   pick(func(l *label.Label) any { return l.CreatedAt }),
		"updatedAt":   pick(func(l *label.Label) any { return l.UpdatedAt }),
	}), after(isWhole, issueAndPullLists(posting.ByLabel)), pageFields(func(ctx context.Context, o *object) string {
		return below(ctx, o, "/labels/"+url.PathEscape(o.name))
	}), map[string]exec.Resolver{"repository": inRepository})
}

func milestoneFields() map[string]exec.Resolver {
	return after(isWhole, merge(pageFields(func(ctx context.Context, o *object) string {
		return below(ctx, o, "/milestone/"+decimal(o.number))
	}), issueAndPullLists(posting.ByMilestone), map[string]exec.Resolver{
		"repository": inRepository,
		"progressPercentage": pick(func(m *milestone.View) any {
			if all := m.OpenIssues + m.ClosedIssues; all > 0 {
				return json.Number(fmt.Sprintf("%g", 100*float64(m.ClosedIssues)/float64(all)))
			}
			return 0
		}),
		"openIssueCount":   pick(func(m *milestone.View) any { return m.OpenIssues }),
		"closedIssueCount": pick(func(m *milestone.View) any { return m.ClosedIssues }),
		"viewerCanClose": may(account.Push, false, func(o *object) bool {
			return o.value.(*milestone.View).ClosedAt.IsZero()
		}),
		"viewerCanReopen": may(account.Push, false, func(o *object) bool {
			return !o.value.(*milestone.View).ClosedAt.IsZero()
		}),
		"id":          pick(func(m *milestone.View) any { return account.NodeID("Milestone", m.ID) }),
		"number":      pick(func(m *milestone.View) any { return m.Number }),
		"title":       pick(func(m *milestone.View) any { return m.Title }),
		"description": pick(func(m *milestone.View) any { return m.Description }),
		"state":       pick(func(m *milestone.View) any { return enumName(m.State.String()) }),
		"dueOn":       pick(func(m *milestone.View) any { return m.DueOn }),
		"createdAt":   pick(func(m *milestone.View) any { return m.CreatedAt }),
		"updatedAt":   pick(func(m *milestone.View) any { return m.UpdatedAt }),
		"closedAt":    pick(func(m *milestone.View) any { return m.ClosedAt }),
		"closed":      pick(func(m *milestone.View) any { return !m.ClosedAt.IsZero() }),
		"creator":     viewed(func(ctx context.Context, m *milestone.View) any { return person(ctx, m.Creator) }),
	}))
}
