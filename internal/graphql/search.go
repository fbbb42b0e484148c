package graphql

import (
	"cmp"
	"context"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/graphql/document"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/search"
	"arbor/internal/web"
)

// maxFound is how many results of a search can be read.
const maxFound = 1000

// searchResults resolves what a search finds: a connection with a count for each kind.
func searchResults(ctx context.Context, f *exec.Field) (any, error) {
	q, media := queryOf(ctx), textMedia(f)
	text := f.Args["query"].(string)
	node := func(data payload) (any, error) { return newIssue(nil, data, media) }
	counts := map[string]string{"ISSUE": "issueCount", "REPOSITORY": "repositoryCount", "USER": "userCount"}
	kind, _ := f.Args["type"].(string)
	found := foundPages{name: fmt.Sprintf("search %s %s %q", kind, media, text), media: media}
	switch kind {
	case "ISSUE":
		found.route, found.find = "GET /search/issues", q.findIssues(text)
	case "REPOSITORY":
		found.route, found.find, node = "GET /search/repositories", q.searchRepositories(text), repositoryNode
	case "USER":
		found.route, found.find = "GET /search/users", q.searchAccounts(text)
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
	l := &pages{many: found, node: node}
	err = q.place(ctx, l, &r.part)
	if err == nil {
		err = r.read(ctx, q, l)
	}
	if err != nil {
		return nil, asError(err)
	}
	return r, nil
}

// foundPages are the pages of what a search finds.
type foundPages struct {
	name, route, media string
	find               func(ctx context.Context, caller *account.Caller, at web.Page) (*web.List[payload], error)
}

// pageOf returns a page of what the search finds. The object is not looked at.
func (s foundPages) pageOf(
	ctx context.Context, q *query, _ *object, number, size int,
) (*web.List[payload], error) {
	key := fmt.Sprint(s.name, " ", number, "/", size)
	if k, known := q.kept[key]; known {
		return k.value.(*web.List[payload]), k.err
	}
	p := q.permitRead(ctx, s.route)
	var found *web.List[payload]
	err := cmp.Or(q.stopped, p.err)
	if err == nil {
		in := showing(account.WithCaller(ctx, p.caller), s.media, nil)
		found, err = s.find(in, p.caller, web.Page{Number: int64(number), Size: int64(size)})
	}
	err = cmp.Or(q.noteError(err), q.hold(ctx, bytesOf(found)))
	q.kept[key] = kept{value: found, err: err}
	return found, err
}

func (s foundPages) loadPage(ctx context.Context, q *query, _ []*object, number, size int) {
	s.pageOf(ctx, q, nil, number, size)
}

func (s foundPages) group() string { return s.name }

// findIssues returns a search for issues and pull requests.
func (q *query) findIssues(text string) func(context.Context, *account.Caller, web.Page) (*web.List[payload], error) {
	return func(ctx context.Context, caller *account.Caller, at web.Page) (*web.List[payload], error) {
		query, err := search.Parse(text)
		if err != nil {
			return nil, err
		}
		found, err := q.load.Searches.Search(ctx, caller, query, at)
		if err != nil {
			return nil, err
		}
		shown, err := q.load.Searches.Payloads(ctx, found)
		return listOf(ctx, shown, found.Total, err)
	}
}

func (q *query) searchRepositories(
	text string,
) func(context.Context, *account.Caller, web.Page) (*web.List[payload], error) {
	return func(ctx context.Context, caller *account.Caller, at web.Page) (*web.List[payload], error) {
		found, err := q.load.FindRepositories(ctx, search.Question{Text: text, Page: at, Caller: caller})
		if err != nil {
			return nil, err
		}
		shown := make([]*repo.Payload, len(found.Items))
		for n, a := range found.Items {
			shown[n] = repo.NewPayload(a, web.From(ctx))
		}
		return listOf(ctx, shown, found.Total, nil)
	}
}

func (q *query) searchAccounts(
	text string,
) func(context.Context, *account.Caller, web.Page) (*web.List[payload], error) {
	return func(ctx context.Context, caller *account.Caller, at web.Page) (*web.List[payload], error) {
		found, err := q.load.FindAccounts(ctx, search.Question{Text: text, Page: at, Caller: caller})
		if err != nil {
			return nil, err
		}
		shown := make([]*account.Simple, len(found.Items))
		for n, a := range found.Items {
			shown[n] = account.NewSimple(a, web.From(ctx))
		}
		return listOf(ctx, shown, found.Total, nil)
	}
}

// listOf renders a page of a list as REST does.
func listOf[V any](ctx context.Context, list []V, total int64, err error) (*web.List[payload], error) {
	const key = 0
	out, err := listsOf(ctx, map[int]*web.List[V]{key: {Rows: list, Total: total}}, err)
	return out[key], err
}

// results are a part of what a search finds.
type results struct {
	connection
	counted string // the field that tells the total
	count   int
}

// read reads the pages that hold the part, as query.part does for lists.
func (r *results) read(ctx context.Context, q *query, l *pages) error {
	at := r.part
	at.size = max(1, at.size)
	if at.offset >= maxFound {
		return refused(fmt.Sprintf("Only the first %d search results are available", maxFound))
	}
	var items []payload
	for _, at := range at.pages() {
		page, err := l.many.pageOf(ctx, q, nil, at.number, at.size)
		if err != nil {
			return err
		}
		items = append(items, page.Rows...)
		r.count = int(page.Total)
	}
	items = items[min(at.offset%at.size, len(items)):]
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
