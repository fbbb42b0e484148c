package graphql

import (
	"context"
	"net/url"
	"strconv"
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
	rollup *rollup             // of contexts of checks; else nil

	reacted *object // of reactions: their subject

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

// readPart reads first, last, after and before. Without first and last it selects only counts. The offsets
// are those of the cursors until query.place finds the rows again.
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

// pages is a list of the REST API, or one that a feature loads for many objects.
type pages struct {
	kind     string // of the connection
	question Question
	many     pager   // instead of question
	of       *object // the owner of the list that many loads
	in       string  // the member of the answer that has the list; empty: the whole answer
	rank     *rank   // nil: the order of the rows is unknown, see query.seek
	tip      string  // of an immutable list: its owner, which cursors contain
	node     func(payload) (any, error)
	count    func() (int, error) // if another list has it
}

// connect returns the selected part of a list as a connection.
func (q *query) connect(ctx context.Context, f *exec.Field, l pages) (any, error) {
	p, err := readPart(f)
	if err != nil {
		return nil, err
	}
	c := &connection{kind: l.kind, total: l.count}
	if c.total == nil && l.many != nil {
		size := 1
		if wantsNodes(f) && p.startsList() {
			size = p.size // of the page that contains the total
		}
		c.total = func() (int, error) {
			page, err := l.many.pageOf(ctx, q, l.of, 1, size)
			if page == nil {
				return 0, err
			}
			return int(page.Total), err
		}
	}
	if c.total == nil {
		c.total = func() (int, error) { return q.count(ctx, l.question) }
	}
	if !wantsNodes(f) {
		return c, nil
	}
	if err := q.place(ctx, &l, &p); err != nil {
		return nil, err
	}
	if err := p.settle(c.total); err != nil {
		return nil, err
	}
	c.part = p
	if l.count != nil {
		if n, err := l.count(); err != nil || p.offset >= n {
			return c, err
		}
	}
	list, next, err := q.part(ctx, &l, p)
	if err != nil {
		return nil, err
	}
	c.next = next
	if err := q.hold(ctx, int64(len(list))*nodeBytes); err != nil {
		return nil, err
	}
	for _, data := range list {
		node, err := l.node(data)
		if err != nil {
			return nil, err
		}
		c.nodes, c.keys = append(c.nodes, node), append(c.keys, l.keyOf(data))
	}
	return c, nil
}

// part reads the pages of a list that contain a part: one page, or two if it begins within one.
func (q *query) part(ctx context.Context, l *pages, p part) (list []payload, next bool, err error) {
	if p.size == 0 {
		return nil, false, nil
	}
	first, skip := p.offset/p.size, p.offset%p.size
	for n := first; n <= first+min(skip, 1); n++ {
		var more []payload
		if more, next, err = q.page(ctx, l, n+1, p.size); err != nil {
			return nil, false, err
		}
		list = append(list, more...)
		if !next {
			break
		}
	}
	list = list[min(skip, len(list)):]
	if len(list) > p.size {
		list, next = list[:p.size], true
	}
	return list, next, nil
}

// page reads a page of a list.
func (q *query) page(ctx context.Context, l *pages, number, size int) (list []payload, next bool, err error) {
	if l.many != nil {
		page, err := l.many.pageOf(ctx, q, l.of, number, size)
		if page == nil || err != nil {
			return nil, false, err
		}
		return page.Rows, page.More, nil
	}
	question := paged(l.question, number, size)
	if l.in == "" {
		if list, next, err = q.list(ctx, question); err == nil {
			q.noteTotal(ctx, l.question, question)
		}
		return list, next, err
	}
	data, err := q.object(ctx, question)
	if err != nil {
		return nil, false, err
	}
	list, err = objectsIn(data.get(l.in))
	return list, false, err
}

func paged(question Question, number, size int) Question {
	values := url.Values{}
	for k, v := range question.Query {
		values[k] = v
	}
	values.Set("page", strconv.Itoa(number))
	values.Set("per_page", strconv.Itoa(size))
	question.Query = values
	return question
}

// noteTotal caches the length of a list if a page that was read contains it.
func (q *query) noteTotal(ctx context.Context, question, page Question) {
	if answer, err := q.read(ctx, page); err == nil && answer.Total > 0 {
		q.kept[totalOf(question)] = kept{value: int(answer.Total)}
	}
}

// totalOf returns the key of the length of a list.
func totalOf(question Question) string { return "total " + keyOf(question) }

// count returns the length of a list. It asks for the last page of one row each, unless the length is
// cached.
func (q *query) count(ctx context.Context, question Question) (int, error) {
	if k, ok := q.kept[totalOf(question)]; ok {
		return k.value.(int), nil
	}
	question = paged(question, 1, 1)
	list, _, err := q.list(ctx, question)
	if err != nil {
		return 0, err
	}
	answer, err := q.read(ctx, question)
	if err != nil {
		return 0, err
	}
	for link := range strings.SplitSeq(answer.Header().Get("Link"), ",") {
		address, rel, _ := strings.Cut(strings.TrimSpace(link), ">; ")
		if rel != `rel="last"` {
			continue
		}
		u, err := url.Parse(strings.TrimPrefix(address, "<"))
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(u.Query().Get("page"))
	}
	return len(list), nil
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

// none resolves an empty connection, for what Arbor does not have.
func none(kind string) exec.Resolver {
	return func(_ context.Context, f *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		for n := range values {
			c, err := connectAll(f, kind, nil)
			if values[n] = c; err != nil {
				values[n] = asError(err)
			}
		}
		return values
	}
}

// connectionFields returns the fields of all connections.
func connectionFields(kind string) map[string]exec.Resolver {
	each := func(value func(c *connection) (any, error)) exec.Resolver {
		return func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				v, err := value(p.(*connection))
				if values[n] = v; err != nil {
					values[n] = asError(err)
				}
			}
			return values
		}
	}
	edges := strings.TrimSuffix(kind, "Connection") + "Edge"
	return map[string]exec.Resolver{
		"nodes": each(func(c *connection) (any, error) {
			list := make([]any, len(c.nodes))
			for n, node := range c.nodes {
				if e, ok := node.(*edge); ok {
					node = e.node
				}
				list[n] = node
			}
			return list, nil
		}),
		"edges": each(func(c *connection) (any, error) {
			list := make([]any, len(c.nodes))
			for n, node := range c.nodes {
				if e, ok := node.(*edge); ok {
					e.cursor = c.cursor(n)
					list[n] = e
					continue
				}
				list[n] = &edge{kind: edges, node: node, cursor: c.cursor(n)}
			}
			return list, nil
		}),
		"totalCount": each(func(c *connection) (any, error) {
			n, err := c.total()
			return n, err
		}),
		"pageInfo": each(func(c *connection) (any, error) {
			info := map[string]any{"hasNextPage": c.next, "hasPreviousPage": c.part.offset > 0,
				"startCursor": nil, "endCursor": nil}
			if len(c.nodes) > 0 {
				info["startCursor"], info["endCursor"] = c.cursor(0), c.cursor(len(c.nodes)-1)
			}
			return bare{"PageInfo", info}, nil
		}),
	}
}

// edgeFields returns the fields of all edges.
func edgeFields() map[string]exec.Resolver {
	each := func(value func(e *edge) any) exec.Resolver {
		return func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				values[n] = value(p.(*edge))
			}
			return values
		}
	}
	return map[string]exec.Resolver{
		"node":   each(func(e *edge) any { return e.node }),
		"cursor": each(func(e *edge) any { return e.cursor }),
		"size":   each(func(e *edge) any { return e.fields["size"] }),

		"permission": each(func(e *edge) any { return e.fields["permission"] }),
	}
}
