package graphql

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// linked makes a resolver of a handler that answers an object of lists, by the numbers of the parents: for all parents
// of a repository at one time.
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
func (l linked) resolvePart(ctx context.Context, f *exec.Field, in *object, parents []exec.Object, at []int, values []any) {
	q := queryOf(ctx)
	numbers := make([]string, len(at))
	for k, n := range at {
		numbers[k] = numberOf(parents[n].(*object))
	}
	found, err := q.object(ctx, Question{Path: in.path(l.path), Handler: l.handler(q), Query: l.ask(f, numbers)})
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
		source: Question{Path: in.path("issues", number)}}
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
		for path, list := range byRepo {
			if len(list) == 1 {
				continue
			}
			if err := q.fillIn(ctx, Question{Path: path + "/issues", Handler: q.with.NumberedIssues}, list); err != nil {
				return failed(asError(err), len(parents))
			}
		}
		return next(ctx, f, parents)
	}
}

// mergeText is a part of what a merge writes unless it is told something else.
func mergeText(part string) exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		q := queryOf(ctx)
		method, _ := f.Args["mergeType"].(string)
		data, err := q.object(ctx, Question{Path: o.repo.path("pulls", numberOf(o)), Handler: q.with.MergeText,
			Query: url.Values{"method": {strings.ToLower(method)}}})
		return textOf(data, part), err
	})
}

// compare is how a ref stands to another one, which may be another owner's: owner:branch.
func compare(ctx context.Context, f *exec.Field, o *object) (any, error) {
	head, _ := f.Args["headRef"].(string)
	base := textOf(o.data, "ref")
	data, err := queryOf(ctx).object(ctx, paged(Question{Path: o.repo.path("compare", base+"..."+head)}, 1, 1))
	if err != nil {
		return nil, orUnresolved(err, "a Ref with the name '"+clip(head)+"'")
	}
	return bare{"Comparison", map[string]any{"aheadBy": decode(data.get("ahead_by")), "behindBy": decode(data.get("behind_by")),
		"status": strings.ToUpper(textOf(data, "status"))}}, nil
}
