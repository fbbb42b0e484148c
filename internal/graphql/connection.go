package graphql

import (
	"context"
	"strings"

	"arbor/internal/graphql/document"
	"arbor/internal/graphql/exec"
)

// connection is a list, or the part of a list that a query selects.
type connection struct {
	kind   string
	part   part
	nodes  []any
	keys   []string            // of the nodes, for their cursors
	next   bool                // more rows follow
	total  func() (int, error) // of all parts
	empty  bool                // the part begins after the list's end
	rollup *rollup             // of contexts of checks; else nil

	reacted  *object // of reactions: their subject
	compared *object // of commits of a comparison

	sum int64 // of languages: their bytes

	updated string // of a timeline: when it last changed, RFC 3339
}

func (c *connection) TypeName() string { return c.kind }

// cursor returns the cursor of a node.
func (c *connection) cursor(n int) string {
	return cursor{place: c.part.offset + n + 1, key: c.keys[n]}.String()
}

// edge is a node with its cursor.
type edge struct {
	kind   string
	node   any
	cursor string
	fields map[string]any // additional fields of this edge
}

func (e *edge) TypeName() string { return e.kind }

// part is the part of a list that a query selects.
type part struct {
	after, before cursor

	offset int
	size   int
	last   bool // size counts from the end
	end    int  // of the rows before the cursor; -1: the end of the list
}

// readPart reads first, last, after and before. Without first and last it selects only counts, but for
// document.DefaultSize. The offsets are those of the cursors until pages.place finds the rows again.
func readPart(f *exec.Field) (p part, err error) {
	p.end = -1
	if s, ok := f.Args["after"].(string); ok && s != "" {
		if p.after, err = readCursor(s); err != nil {
			return p, err
		}
		p.offset = p.after.place
	}
	if s, ok := f.Args["before"].(string); ok && s != "" {
		if p.before, err = readCursor(s); err != nil {
			return p, err
		}
		p.end = max(0, p.before.place-1)
	}
	if n, ok := f.Args["first"].(int); ok {
		p.size = n
	} else if n, ok := f.Args["last"].(int); ok {
		p.size, p.last = n, true
	} else if wantsNodes(f) {
		p.size = int(document.DefaultSize(f.Type, f.Name))
	}
	return p, nil
}

// startsList reports whether a part is the first page of a list.
func (p part) startsList() bool { return !p.last && p.end < 0 && p.size > 0 && p.offset == 0 }

// settle converts a part counted from the end into one counted from the beginning.
func (p *part) settle(total func() (int, error)) error {
	if p.last {
		end := p.end
		if end < 0 {
			var err error
			if end, err = total(); err != nil {
				return err
			}
		}
		begin := max(p.offset, end-p.size)
		p.offset, p.size, p.last = begin, max(0, end-begin), false
	} else if p.end >= 0 {
		p.size = max(0, min(p.size, p.end-p.offset))
	}
	return nil
}

// wantsNodes reports whether a query selects a connection's nodes or where they end.
func wantsNodes(f *exec.Field) bool { return f.Selects(document.NodeFields()...) }

// pages is a list that a feature loads for many objects.
type pages[V any] struct {
	kind  string // of the connection
	many  pager[V]
	of    *object // the owner of the list
	rank  *sortKey[V]
	key   func(V) string // what names a row, for a list whose order is unknown; see pages.seek
	tip   string         // of an immutable list: its owner, which cursors contain
	node  func(V) (any, error)
	count func() (int, error) // if the owner has it; nil: the list has it
	show  func(c *connection) // completes the connection; nil: nothing
}

// connectEach returns the selected part of each list as a connection, or an error. It loads the pages that
// lists of one loader need together.
func connectEach[V any](ctx context.Context, q *query, f *exec.Field, lists []pages[V]) []any {
	values := make([]any, len(lists))
	p, err := readPart(f)
	if err != nil {
		return failed(asError(err), len(lists))
	}
	connections, wrong := make([]*connection, len(lists)), make([]error, len(lists))
	counted := pageNumber{1, 1}
	if wantsNodes(f) && p.startsList() {
		counted.size = p.size // the page that is shown has the total, too
	}
	for n := range lists {
		connections[n] = &connection{kind: lists[n].kind, part: p, total: lists[n].totalOf(ctx, q, counted.size)}
	}
	if p.last && p.end < 0 || f.Selects("totalCount") {
		loadPages(ctx, q, lists, func(n int) []pageNumber { return counted.unless(lists[n].count != nil) })
	}
	if wantsNodes(f) {
		for _, c := range []cursor{p.after, p.before} {
			loadPages(ctx, q, lists, func(int) []pageNumber { return pageNumber{c.place, 1}.unless(c.key == "") })
		}
		for n := range lists {
			wrong[n] = lists[n].settle(ctx, q, connections[n])
		}
		loadPages(ctx, q, lists, func(n int) []pageNumber {
			if wrong[n] != nil || connections[n].empty {
				return nil
			}
			return connections[n].part.pages()
		})
	}
	for n, c := range connections {
		if wantsNodes(f) && wrong[n] == nil && !c.empty {
			wrong[n] = lists[n].fill(ctx, q, c)
		}
		if values[n] = c; wrong[n] != nil {
			values[n] = asError(wrong[n])
		} else if lists[n].show != nil {
			lists[n].show(c)
		}
	}
	return values
}

// totalOf returns a function that counts the rows of the list. size is that of the first page that has the total.
func (l *pages[V]) totalOf(ctx context.Context, q *query, size int) func() (int, error) {
	if l.count != nil {
		return l.count
	}
	return func() (int, error) {
		page, err := l.many.pageOf(ctx, q, l.of, 1, size)
		if page == nil {
			return 0, err
		}
		return int(page.Total), err
	}
}

// settle finds where the part of a connection is in its list now.
func (l *pages[V]) settle(ctx context.Context, q *query, c *connection) error {
	if err := l.place(ctx, q, &c.part); err != nil {
		return err
	}
	if err := c.part.settle(c.total); err != nil {
		return err
	}
	if l.count != nil {
		n, err := c.total()
		c.empty = c.part.offset >= n
		return err
	}
	return nil
}

// fill sets the nodes of a connection.
func (l *pages[V]) fill(ctx context.Context, q *query, c *connection) error {
	list, next, err := l.part(ctx, q, c.part)
	if err != nil {
		return err
	}
	c.next = next
	if err := q.hold(ctx, int64(len(list))*nodeBytes); err != nil {
		return err
	}
	for _, row := range list {
		node, err := l.node(row)
		if err != nil {
			return err
		}
		c.nodes, c.keys = append(c.nodes, node), append(c.keys, l.keyOf(row))
	}
	return nil
}

// pageNumber is a page of a list by its number and size.
type pageNumber struct{ number, size int }

// unless returns the page, or none if not is true.
func (p pageNumber) unless(not bool) []pageNumber {
	if not || p.number == 0 {
		return nil
	}
	return []pageNumber{p}
}

// pages returns the pages that contain a part: one page, or two if it begins within one.
func (p part) pages() (list []pageNumber) {
	if p.size == 0 {
		return nil
	}
	first, skip := p.offset/p.size, p.offset%p.size
	for n := first; n <= first+min(skip, 1); n++ {
		list = append(list, pageNumber{n + 1, p.size})
	}
	return list
}

// loadPages loads pages of lists, those of one loader together.
func loadPages[V any](ctx context.Context, q *query, lists []pages[V], of func(n int) []pageNumber) {
	type group struct {
		loader string
		page   pageNumber
	}
	objects, loaders := map[group][]*object{}, map[string]pager[V]{}
	for n, l := range lists {
		for _, page := range of(n) {
			at := group{l.many.group(), page}
			objects[at], loaders[at.loader] = append(objects[at], l.of), l.many
		}
	}
	for at, list := range objects {
		loaders[at.loader].loadPage(ctx, q, list, at.page.number, at.page.size)
	}
}

// part reads the pages of the list that contain a part.
func (l *pages[V]) part(ctx context.Context, q *query, p part) (list []V, next bool, err error) {
	if p.size == 0 {
		return nil, false, nil
	}
	for _, page := range p.pages() {
		var more []V
		if more, next, err = l.page(ctx, q, page.number, page.size); err != nil {
			return nil, false, err
		}
		list = append(list, more...)
		if !next {
			break
		}
	}
	list = list[min(p.offset%p.size, len(list)):]
	if len(list) > p.size {
		list, next = list[:p.size], true
	}
	return list, next, nil
}

// page reads a page of the list.
func (l *pages[V]) page(ctx context.Context, q *query, number, size int) (list []V, next bool, err error) {
	page, err := l.many.pageOf(ctx, q, l.of, number, size)
	if page == nil || err != nil {
		return nil, false, err
	}
	return page.Rows, page.More, nil
}

// connectAll returns a connection of a complete list.
func connectAll(f *exec.Field, kind string, all []any) (any, error) {
	keys := make([]string, len(all))
	for n, node := range all {
		keys[n] = keyOfNode(node)
	}
	return connectKeyed(f, kind, all, keys, false)
}

// connectKeyed is connectAll for nodes with keys. If the list is sorted by them, cursors of deleted nodes
// keep their position.
func connectKeyed(f *exec.Field, kind string, all []any, keys []string, sorted bool) (any, error) {
	p, err := readPart(f)
	if err != nil {
		return nil, err
	}
	c := &connection{kind: kind, total: func() (int, error) { return len(all), nil }}
	p.offset, p.end = placeAmong(keys, p.after, p.offset, sorted, 1), placeAmong(keys, p.before, p.end, sorted, 0)
	if err := p.settle(c.total); err != nil {
		return nil, err
	}
	c.part = p
	begin := min(p.offset, len(all))
	end := min(begin+p.size, len(all))
	c.nodes, c.keys, c.next = all[begin:end], keys[begin:end], end < len(all)
	return c, nil
}

// connectionFields returns the fields of all connections.
func connectionFields(kind string) map[string]exec.Resolver {
	edges := strings.TrimPrefix(strings.TrimSuffix(kind, "Connection"), "Comparison") + "Edge"
	return map[string]exec.Resolver{
		"nodes": each(func(c *connection) any {
			list := make([]any, len(c.nodes))
			for n, node := range c.nodes {
				list[n] = node
				if e, ok := node.(*edge); ok {
					list[n] = e.node
				}
			}
			return list
		}),
		"edges": each(func(c *connection) any {
			list := make([]any, len(c.nodes))
			for n, node := range c.nodes {
				e, ok := node.(*edge)
				if !ok {
					e = &edge{kind: edges, node: node}
				}
				e.cursor = c.cursor(n)
				list[n] = e
			}
			return list
		}),
		"totalCount": each(func(c *connection) any { return orError(c.total()) }),
		"pageInfo": each(func(c *connection) any {
			info := map[string]any{"hasNextPage": c.next, "hasPreviousPage": c.part.offset > 0,
				"startCursor": nil, "endCursor": nil}
			if len(c.nodes) > 0 {
				info["startCursor"], info["endCursor"] = c.cursor(0), c.cursor(len(c.nodes)-1)
			}
			return bare{"PageInfo", info}
		}),
	}
}

// edgeFields returns the fields of all edges.
func edgeFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"node":                     each(func(e *edge) any { return e.node }),
		"cursor":                   each(func(e *edge) any { return e.cursor }),
		"size":                     each(func(e *edge) any { return e.fields["size"] }),
		"permission":               each(func(e *edge) any { return e.fields["permission"] }),
		"role":                     each(func(e *edge) any { return e.fields["role"] }),
		"memberAccessUrl":          each(func(e *edge) any { return e.fields["memberAccessUrl"] }),
		"memberAccessResourcePath": each(func(e *edge) any { return e.fields["memberAccessResourcePath"] }),
		"starredAt":                each(func(e *edge) any { return e.fields["starredAt"] }),
	}
}
