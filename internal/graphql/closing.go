package graphql

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// linked makes a resolver of a handler that answers an object of lists, by the numbers of the parents: for
// all parents of a repository at one time.
type linked struct {
	kind    string // of the connection
	path    string // below the repository: the route whose right is asked
	handler func(q *query) web.Handler
	more    func(f *exec.Field) url.Values // tells the question from others at that address
	node    func(in *object, raw json.RawMessage) (any, error)
}

func (l linked) resolve(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	byRepo := map[*object][]int{}
	for n, p := range parents {
		in := q.sameRepository(p.(*object).repo)
		byRepo[in] = append(byRepo[in], n)
	}
	for in, places := range byRepo {
		for part := range slices.Chunk(places, maxPrimed) {
			l.resolvePart(ctx, f, in, parents, part, values)
		}
	}
	return values
}

// resolvePart sets the values at some places, whose parents are in one repository.
func (l linked) resolvePart(
	ctx context.Context, f *exec.Field, in *object, parents []exec.Object, at []int, values []any,
) {
	q := queryOf(ctx)
	numbers := make([]string, len(at))
	for k, n := range at {
		numbers[k] = numberOf(parents[n].(*object))
	}
	found, err := q.object(ctx, Question{Path: in.path(l.path), Handler: l.handler(q),
		Query: l.ask(f, numbers)})
	for _, n := range at {
		if err != nil {
			values[n] = asError(err)
			continue
		}
		o := parents[n].(*object)
		list, err := elements(found.get(numberOf(o)))
		all := make([]any, len(list))
		for k, raw := range list {
			if err == nil {
				all[k], err = l.node(o.repo, raw)
			}
		}
		if err == nil {
			values[n], err = connectAll(f, l.kind, all)
		}
		if err != nil {
			values[n] = asError(err)
		}
	}
}

func (l linked) ask(f *exec.Field, numbers []string) url.Values {
	values := l.more(f)
	values.Set("numbers", strings.Join(numbers, ","))
	return values
}

// closingIssues are the issues that a pull request closes when it is merged.
func closingIssues() exec.Resolver {
	return linked{kind: "IssueConnection", path: "pulls",
		node:    func(in *object, number json.RawMessage) (any, error) { return issueAt(in, string(number)), nil },
		handler: func(q *query) web.Handler { return q.with.Fixed },
		more:    func(*exec.Field) url.Values { return url.Values{"of": {"fixed"}} }}.resolve
}

// closedByPulls are the pull requests that close an issue when they are merged, or did.
func closedByPulls() exec.Resolver {
	return linked{kind: "PullRequestConnection", path: "pulls",
		node:    func(in *object, number json.RawMessage) (any, error) { return pullAt(in, string(number)), nil },
		handler: func(q *query) web.Handler { return q.with.Fixing },
		more: func(f *exec.Field) url.Values {
			values := url.Values{"of": {"fixing"}}
			if f.Args["includeClosedPrs"] == true {
				values.Set("closed", "true")
			}
			return values
		}}.resolve
}

// issueAt is an issue of which only the number is at hand.
func issueAt(in *object, number string) *object {
	return &object{kind: "Issue", data: payload{}.with("number", json.RawMessage(number)), repo: in,
		source: source{Path: in.path("issues", number)}}
}

// fillIssues asks for the issues of which only the numbers are at hand, of all of a repository at one time.
func fillIssues(next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		byRepo := map[string][]*object{}
		for _, p := range parents {
			if o := p.(*object); !o.whole && len(o.data) == 1 {
				byRepo[o.repo.source.Path] = append(byRepo[o.repo.source.Path], o)
			}
		}
		var failure error
		for path, list := range byRepo {
			if len(list) == 1 {
				continue
			}
			failure = cmp.Or(failure, q.fillIn(ctx,
				Question{Path: path + "/issues", Handler: q.with.NumberedIssues}, list))
		}
		if failure != nil {
			return failed(asError(failure), len(parents))
		}
		return next(ctx, f, parents)
	}
}

// byRepository calls fn with parents of one repository each, a hundred at most, and where they stand.
func byRepository(q *query, parents []exec.Object, fn func(in *object, list []*object, at []int)) {
	places, repos := map[*object][]int{}, []*object{}
	for n, p := range parents {
		in := q.sameRepository(p.(*object).repo)
		if places[in] == nil {
			repos = append(repos, in)
		}
		places[in] = append(places[in], n)
	}
	for _, in := range repos {
		for at := range slices.Chunk(places[in], maxPrimed) {
			list := make([]*object, len(at))
			for k, n := range at {
				list[k] = parents[n].(*object)
			}
			fn(in, list, at)
		}
	}
}

// joinedBy joins what names things, in their order.
func joinedBy(list []*object, name func(o *object) string) string {
	names := make([]string, len(list))
	for n, o := range list {
		names[n] = name(o)
	}
	return strings.Join(names, ",")
}

// mergeText is a part of what a merge writes unless it is told something else.
func mergeText(part string) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, values := queryOf(ctx), make([]any, len(parents))
		method, _ := f.Args["mergeType"].(string)
		byRepository(q, parents, func(in *object, list []*object, at []int) {
			found, err := q.object(ctx, Question{Path: in.path("pulls"), Handler: q.with.MergeTexts,
				Query: url.Values{"method": {strings.ToLower(method)},
					"numbers": {joinedBy(list, numberOf)}}})
			for k, n := range at {
				text, err2 := members(found.get(numberOf(list[k])))
				if values[n] = textOf(text, part); err != nil || err2 != nil {
					values[n] = asError(cmp.Or(err, err2))
				}
			}
		})
		return values
	}
}

// compare is how refs stand to another one, which may be another owner's: owner:branch.
func compare(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	head, _ := f.Args["headRef"].(string)
	target := func(o *object) string {
		to, _ := members(o.data.get("object"))
		return textOf(to, "sha")
	}
	byRepository(q, parents, func(in *object, list []*object, at []int) {
		found, err := q.object(ctx, Question{Path: in.path("compare", textOf(list[0].data, "ref")+"..."+head),
			Handler: q.with.Compared,
			Query:   url.Values{"shas": {joinedBy(list, target)}}})
		for k, n := range at {
			data, err2 := members(found.get(target(list[k])))
			switch err := cmp.Or(err, err2); {
			case err == nil && data == nil:
				values[n] = asError(unresolved("a Ref with the name '" + clip(head) + "'"))
			case err != nil:
				values[n] = asError(orUnresolved(err, "a Ref with the name '"+clip(head)+"'"))
			default:
				values[n] = bare{"Comparison", map[string]any{"aheadBy": decode(data.get("ahead_by")),
					"behindBy": decode(data.get("behind_by")),
					"status":   strings.ToUpper(textOf(data, "status"))}}
			}
		}
	})
	return values
}
