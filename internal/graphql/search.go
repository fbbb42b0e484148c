package graphql

import (
	"cmp"
	"context"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/graphql/document"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
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
	kind, _ := f.Args["type"].(string)
	name := fmt.Sprintf("search %s %s %q", kind, media, text)
	switch kind {
	case "ISSUE":
		return resultsOf(ctx, f, "issueCount", pages[*issue.View]{
			many: foundPages[*issue.View]{name, "GET /search/issues", media, q.findIssues(text)},
			key:  func(v *issue.View) string { return decimal(int64(v.ID)) },
			node: func(v *issue.View) (any, error) { return newIssue(nil, v, media), nil }})
	case "REPOSITORY":
		return resultsOf(ctx, f, "repositoryCount", pages[*repo.Payload]{node: repositoryNode,
			many: foundPages[*repo.Payload]{name, "GET /search/repositories", media, q.searchRepositories(text)},
			key:  func(p *repo.Payload) string { return decimal(int64(p.ID)) }})
	case "USER":
		return resultsOf(ctx, f, "userCount", pages[*account.Simple]{node: accountNode,
			many: foundPages[*account.Simple]{name, "GET /search/users", media, q.searchAccounts(text)},
			key:  func(a *account.Simple) string { return decimal(int64(a.ID)) }})
	case "DISCUSSION": // there are none
		return resultsOf(ctx, f, "discussionCount", pages[any]{many: foundPages[any]{name, "GET /search/issues", media,
			func(context.Context, *account.Caller, web.Page) (*web.List[any], error) { return &web.List[any]{}, nil }}})
	}
	return nil, refused("Arbor does not search for " + kind + ".")
}

// resultsOf returns the part of what a search finds that a field selects.
func resultsOf[V any](ctx context.Context, f *exec.Field, counted string, l pages[V]) (any, error) {
	p, err := readPart(f)
	if err != nil {
		return nil, err
	}
	p.last = false // GitHub's search takes last for first, and gh sends it
	r := &results{connection: connection{kind: "SearchResultItemConnection", part: p}, counted: counted}
	err = l.place(ctx, queryOf(ctx), &r.part)
	if err == nil {
		err = readResults(ctx, queryOf(ctx), r, &l)
	}
	if err != nil {
		return nil, asError(err)
	}
	return r, nil
}

// foundPages are the pages of what a search finds.
type foundPages[V any] struct {
	name, route, media string
	find               func(ctx context.Context, caller *account.Caller, at web.Page) (*web.List[V], error)
}

// pageOf returns a page of what the search finds. The object is not looked at.
func (s foundPages[V]) pageOf(
	ctx context.Context, q *query, _ *object, number, size int,
) (*web.List[V], error) {
	key := fmt.Sprint(s.name, " ", number, "/", size)
	if k, known := q.kept[key]; known {
		return k.value.(*web.List[V]), k.err
	}
	p := q.permitRead(ctx, s.route)
	var found *web.List[V]
	err := cmp.Or(q.stopped, p.err)
	if err == nil {
		in := showing(account.WithCaller(ctx, p.caller), s.media)
		found, err = s.find(in, p.caller, web.Page{Number: int64(number), Size: int64(size)})
	}
	err = cmp.Or(q.noteError(err), q.hold(ctx, sizeOfList(found)))
	q.kept[key] = kept{value: found, err: err}
	return found, err
}

func (s foundPages[V]) loadPage(ctx context.Context, q *query, _ []*object, number, size int) {
	s.pageOf(ctx, q, nil, number, size)
}

func (s foundPages[V]) group() string { return s.name }

// findIssues returns a search for issues and pull requests.
func (q *query) findIssues(
	text string,
) func(context.Context, *account.Caller, web.Page) (*web.List[*issue.View], error) {
	return func(ctx context.Context, caller *account.Caller, at web.Page) (*web.List[*issue.View], error) {
		query, err := search.Parse(text)
		if err != nil {
			return nil, err
		}
		found, err := q.load.Searches.Search(ctx, caller, query, at)
		if err != nil {
			return nil, err
		}
		shown, err := q.load.Searches.Shown(ctx, found)
		return &web.List[*issue.View]{Rows: shown, Total: found.Total}, err
	}
}

func (q *query) searchRepositories(
	text string,
) func(context.Context, *account.Caller, web.Page) (*web.List[*repo.Payload], error) {
	return func(ctx context.Context, caller *account.Caller, at web.Page) (*web.List[*repo.Payload], error) {
		found, err := q.load.FindRepositories(ctx, search.Question{Text: text, Page: at, Caller: caller})
		if err != nil {
			return nil, err
		}
		return &web.List[*repo.Payload]{Rows: repo.NewPayloads(found.Items, web.From(ctx)), Total: found.Total}, nil
	}
}

func (q *query) searchAccounts(
	text string,
) func(context.Context, *account.Caller, web.Page) (*web.List[*account.Simple], error) {
	return func(ctx context.Context, caller *account.Caller, at web.Page) (*web.List[*account.Simple], error) {
		found, err := q.load.FindAccounts(ctx, search.Question{Text: text, Page: at, Caller: caller})
		if err != nil {
			return nil, err
		}
		return &web.List[*account.Simple]{Rows: account.NewSimples(found.Items, web.From(ctx)), Total: found.Total}, nil
	}
}

// results are a part of what a search finds.
type results struct {
	connection
	counted string // the field that tells the total
	count   int
}

// readResults reads the pages that hold the part, as pages.part does for lists.
func readResults[V any](ctx context.Context, q *query, r *results, l *pages[V]) error {
	at := r.part
	at.size = max(1, at.size)
	if at.offset >= maxFound {
		return refused(fmt.Sprintf("Only the first %d search results are available", maxFound))
	}
	var items []V
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
