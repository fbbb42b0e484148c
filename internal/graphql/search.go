package graphql

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"arbor/internal/graphql/document"
	"arbor/internal/graphql/exec"
)

// maxFound is how many results of a search can be read.
const maxFound = 1000

// found is what a search finds: a connection with a count for each kind.
func search(ctx context.Context, f *exec.Field) (any, error) {
	q, media := queryOf(ctx), textMedia(f)
	question := Question{Media: media, Query: url.Values{"q": {f.Args["query"].(string)}}}
	node := func(data payload) (any, error) { return newIssue(nil, data, media) }
	counts := map[string]string{"ISSUE": "issueCount", "REPOSITORY": "repositoryCount", "USER": "userCount"}
	kind, _ := f.Args["type"].(string)
	switch kind {
	case "ISSUE":
		question.Path = "/search/issues"
	case "REPOSITORY":
		question.Path, node = "/search/repositories", repositoryNode
	case "USER":
		question.Path = "/search/users"
		node = func(data payload) (any, error) { return newAccount(data), nil }
	default:
		return nil, refused("Arbor does not search for " + kind + ".")
	}
	p, err := readPart(f)
	if err != nil {
		return nil, err
	}
	p.last = false // GitHub's search takes last for first, and gh sends it
	r := &results{connection: connection{kind: "SearchResultItemConnection", part: p}, counted: counts[kind]}
	l := &pages{question: question, in: "items", node: node}
	err = q.place(ctx, l, &r.part)
	if err == nil {
		err = r.read(ctx, q, l)
	}
	if err != nil {
		return nil, asError(err)
	}
	return r, nil
}

// results are a part of what a search finds.
type results struct {
	connection
	counted string // the field that tells the total
	count   int
}

// read asks for the pages that hold the part, as query.part does for lists.
func (r *results) read(ctx context.Context, q *query, l *pages) error {
	size := max(1, r.part.size)
	first, skip := r.part.offset/size, r.part.offset%size
	if r.part.offset >= maxFound {
		return refused(fmt.Sprintf("Only the first %d search results are available", maxFound))
	}
	var items []payload
	for n := first; n <= first+min(skip, 1); n++ {
		data, err := q.object(ctx, paged(l.question, n+1, size))
		if err != nil {
			return err
		}
		list, err := objectsIn(data.get(l.in))
		if err != nil {
			return err
		}
		items = append(items, list...)
		r.count, _ = strconv.Atoi(string(data.get("total_count")))
	}
	items = items[min(skip, len(items)):]
	items = items[:min(r.part.size, len(items))]
	for _, found := range items {
		v, err := l.node(found)
		if err != nil {
			return err
		}
		r.nodes, r.keys = append(r.nodes, v), append(r.keys, l.keyOf(found))
	}
	r.next = r.part.offset+len(items) < min(r.count, maxFound)
	return nil
}

// searchFields returns the counts that search connections have in addition to the fields of all
// connections.
func searchFields() map[string]exec.Resolver {
	inner := connectionFields("SearchResultItemConnection")
	fields := map[string]exec.Resolver{}
	for _, name := range document.NodeFields() {
		fields[name] = func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			connections := make([]exec.Object, len(parents))
			for n, p := range parents {
				connections[n] = &p.(*results).connection
			}
			return inner[name](ctx, f, connections)
		}
	}
	for _, name := range [...]string{"issueCount", "repositoryCount", "userCount", "codeCount",
		"discussionCount", "wikiCount"} {
		fields[name] = func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				values[n] = 0
				if r := p.(*results); r.counted == name {
					values[n] = r.count
				}
			}
			return values
		}
	}
	return fields
}
