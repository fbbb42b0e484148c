package graphql

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// listLoader loads pages of a list that each of many objects has.
type listLoader[K comparable] struct {
	loader[K, *web.List[payload]]

	rows func(ctx context.Context, list []repo.Of[K], page web.Page) (map[repo.Of[K]]*web.List[payload], error)
}

// pager loads pages of the lists of objects.
type pager interface {
	// loadPage loads a page of the list of each object that has not been loaded yet.
	loadPage(ctx context.Context, q *query, objects []*object, number, size int)
	// pageOf returns a page of an object's list, or nil if the object has none.
	pageOf(ctx context.Context, q *query, o *object, number, size int) (*web.List[payload], error)
	// group names the loader: pages of one group can be loaded together.
	group() string
}

// lists returns a listLoader for a feature's function.
func lists[K comparable, V any](l loader[K, *web.List[payload]], rows func(
	ctx context.Context, list []repo.Of[K], page web.Page) (map[repo.Of[K]]*web.List[V], error),
) listLoader[K] {
	l.size = bytesOf
	return listLoader[K]{l, func(ctx context.Context, list []repo.Of[K], page web.Page) (
		map[repo.Of[K]]*web.List[payload], error) {
		found, err := rows(ctx, list, page)
		return listsOf(ctx, found, err)
	}}
}

// ofRepositories returns a listLoader for a feature's function that lists what repositories have once.
func ofRepositories[V any](l loader[string, *web.List[payload]], rows func(
	ctx context.Context, list []*repo.Access, page web.Page) (map[repo.ID]*web.List[V], error),
) listLoader[string] {
	l.key = func(*object) string { return "" }
	return lists(l, func(ctx context.Context, list []repo.Of[string], page web.Page) (
		map[repo.Of[string]]*web.List[V], error) {
		found, err := rows(ctx, repo.AccessesOf(list), page)
		out := map[repo.Of[string]]*web.List[V]{}
		for _, of := range list {
			out[of] = found[of.In.ID]
		}
		return out, err
	})
}

// page loads a page of the list of each object.
func (l listLoader[K]) page(number, size int) loader[K, *web.List[payload]] {
	page := web.Page{Number: int64(number), Size: int64(size)}
	one := l.loader
	one.name = fmt.Sprint(l.name, " ", number, "/", size)
	one.read = func(ctx context.Context, list []repo.Of[K]) (map[repo.Of[K]]*web.List[payload], error) {
		return l.rows(ctx, list, page)
	}
	return one
}

func (l listLoader[K]) loadPage(ctx context.Context, q *query, objects []*object, number, size int) {
	l.page(number, size).load(ctx, q, objects)
}

func (l listLoader[K]) pageOf(
	ctx context.Context, q *query, o *object, number, size int,
) (*web.List[payload], error) {
	return l.page(number, size).get(ctx, q, o)
}

func (l listLoader[K]) group() string { return fmt.Sprint(l.name, l.route, l.media, l.members) }

// full returns a loader of full payloads for a feature's function.
func full[K comparable, V any](
	l loader[K, payload], read func(ctx context.Context, list []repo.Of[K]) (map[repo.Of[K]]V, error),
) loader[K, payload] {
	l.size = bytesOfRow
	l.read = func(ctx context.Context, list []repo.Of[K]) (map[repo.Of[K]]payload, error) {
		found, err := read(ctx, list)
		return payloadsOf(ctx, found, err)
	}
	return l
}

// loadAll loads the lists of objects, up to a number of pages of a hundred, each page of all together.
func (l listLoader[K]) loadAll(ctx context.Context, q *query, objects []*object, most int) {
	for n := 1; n <= most && len(objects) > 0; n++ {
		page := l.page(n, web.MaxPageSize)
		page.load(ctx, q, objects)
		objects = slices.DeleteFunc(slices.Clone(objects), func(o *object) bool {
			rows, there := page.known(q, o)
			return !there || rows == nil || !rows.More
		})
	}
}

// all reads the list of an object up to a number of pages of a hundred.
func (l listLoader[K]) all(ctx context.Context, q *query, o *object, most int) (all []payload, err error) {
	for n := 1; n <= most; n++ {
		page, err := l.page(n, web.MaxPageSize).get(ctx, q, o)
		if err != nil || page == nil {
			return all, err
		}
		if all = append(all, page.Rows...); !page.More {
			break
		}
	}
	return all, nil
}

// connections returns a resolver of a connection that each of many objects has. It loads the pages of all
// together.
func connections(list func(ctx context.Context, f *exec.Field, o *object) (pages, error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		var all []pages
		var at []int
		for n, o := range objectsOf(parents) {
			l, err := list(ctx, f, o)
			if err != nil {
				values[n] = asError(err)
				continue
			}
			if l.of == nil {
				l.of = o
			}
			all, at = append(all, l), append(at, n)
		}
		for k, v := range queryOf(ctx).connectEach(ctx, f, all) {
			if err, wrong := v.(error); wrong {
				v = asError(err)
			}
			values[at[k]] = v
		}
		return values
	}
}

// maxRows limits the bytes that one call of a loader renders.
const maxRows = 32 << 20

// timesRow is the memory of a row as a multiple of its text: the feature's value, the text and the decoded
// text.
const timesRow = 3

// rows renders the payloads of one call of a loader and reserves memory for them.
type rows struct {
	ctx         context.Context
	bytes, held int64
}

// show renders a feature's value as REST does. Errors: TooLarge, those of reserving memory.
func (r *rows) show(v any) (payload, error) {
	row, err := payloadOf(v)
	if r.bytes += bytesOfRow(row); err == nil && r.bytes > maxRows {
		err = errs.New(errs.TooLarge, "There is too much here: ask for less at one time.")
	}
	if err == nil && r.bytes-r.held >= holdStep {
		err = admission.Hold(r.ctx, timesRow*(r.bytes-r.held))
		r.held = r.bytes
	}
	return row, err
}

func payloadOf(v any) (payload, error) {
	if m, ok := v.(json.Marshaler); ok { // a feature's own, which needs no second look
		b, err := m.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return members(b)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return members(b.Bytes())
}

// payloadsOf renders a feature's values as REST does. Error: err, or that of rendering.
func payloadsOf[K comparable, V any](ctx context.Context, found map[K]V, err error) (map[K]payload, error) {
	if err != nil && !repo.AreSome(err) {
		return nil, err
	}
	r, out := rows{ctx: ctx}, make(map[K]payload, len(found))
	for key, v := range found {
		var wrong error
		if out[key], wrong = r.show(v); wrong != nil {
			return nil, wrong
		}
	}
	return out, err
}

// listsOf renders lists of a feature's values as REST does. Error: err, or that of rendering.
func listsOf[K comparable, V any](
	ctx context.Context, found map[K]*web.List[V], err error,
) (map[K]*web.List[payload], error) {
	if err != nil && !repo.AreSome(err) {
		return nil, err
	}
	r, out := rows{ctx: ctx}, make(map[K]*web.List[payload], len(found))
	for key, list := range found {
		if list == nil {
			continue
		}
		shown := &web.List[payload]{More: list.More, Total: list.Total, Rows: make([]payload, len(list.Rows))}
		for n, v := range list.Rows {
			var wrong error
			if shown.Rows[n], wrong = r.show(v); wrong != nil {
				return nil, wrong
			}
		}
		out[key] = shown
	}
	return out, err
}

func bytesOfRow(row payload) (bytes int64) {
	for _, m := range row {
		bytes += int64(len(m.name) + len(m.value))
	}
	return bytes
}

// bytesOf returns the size of a page of rows.
func bytesOf(page *web.List[payload]) int64 {
	bytes := int64(smallValue)
	if page != nil {
		for _, row := range page.Rows {
			bytes += bytesOfRow(row)
		}
	}
	return bytes
}
