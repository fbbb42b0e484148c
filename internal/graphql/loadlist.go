package graphql

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// listLoader loads pages of a list that each of many objects has.
type listLoader[K comparable] struct {
	loader[K, *web.List[payload]]

	rows func(ctx context.Context, a *repo.Access, keys []K, page web.Page) (map[K]*web.List[payload], error)
}

// pager loads a page of an object's list. It returns nil if the object has none.
type pager interface {
	pageOf(ctx context.Context, q *query, o *object, number, size int) (*web.List[payload], error)
}

// lists returns a listLoader for a feature's function.
func lists[K comparable, V any](l loader[K, *web.List[payload]], rows func(
	ctx context.Context, a *repo.Access, keys []K, page web.Page) (map[K]*web.List[V], error),
) listLoader[K] {
	return listLoader[K]{l, func(ctx context.Context, a *repo.Access, keys []K, page web.Page) (
		map[K]*web.List[payload], error) {
		found, err := rows(ctx, a, keys, page)
		return listsOf(ctx, found, err)
	}}
}

// page loads a page of the list of each object.
func (l listLoader[K]) page(number, size int) loader[K, *web.List[payload]] {
	page := web.Page{Number: int64(number), Size: int64(size)}
	one := l.loader
	one.name = fmt.Sprint(l.name, " ", number, "/", size)
	one.size = bytesOf
	one.read = func(ctx context.Context, a *repo.Access, keys []K) (map[K]*web.List[payload], error) {
		return l.rows(ctx, a, keys, page)
	}
	return one
}

func (l listLoader[K]) pageOf(
	ctx context.Context, q *query, o *object, number, size int,
) (*web.List[payload], error) {
	return l.page(number, size).get(ctx, q, o)
}

// beginnings returns a loader of the first hundred rows of lists for a feature's function.
func beginnings[K comparable, V any](l loader[K, *web.List[payload]], rows func(
	ctx context.Context, a *repo.Access, keys []K, size int64) (map[K]*web.List[V], error),
) loader[K, *web.List[payload]] {
	l.size = bytesOf
	l.read = func(ctx context.Context, a *repo.Access, keys []K) (map[K]*web.List[payload], error) {
		found, err := rows(ctx, a, keys, web.MaxPageSize)
		return listsOf(ctx, found, err)
	}
	return l
}

// full returns a loader of full payloads for a feature's function.
func full[K comparable, V any](
	l loader[K, payload], read func(ctx context.Context, a *repo.Access, keys []K) (map[K]V, error),
) loader[K, payload] {
	l.size = bytesOfRow
	l.read = func(ctx context.Context, a *repo.Access, keys []K) (map[K]payload, error) {
		found, err := read(ctx, a, keys)
		return payloadsOf(ctx, found, err)
	}
	return l
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

// listed returns a resolver of lists that loads the first page for all parents before next renders each. It
// loads rows only if they are selected, and with counts the number of rows.
func listed[K comparable](
	of func(q *query, f *exec.Field) listLoader[K], counts bool, next exec.Resolver,
) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		p, err := readPart(f)
		size := 0
		switch {
		case err != nil:
		case !wantsNodes(f) && counts:
			size = 1
		case wantsNodes(f) && p.startsList():
			size = p.size
		}
		if size > 0 {
			q := queryOf(ctx)
			of(q, f).page(1, size).load(ctx, q, objectsOf(parents))
		}
		return next(ctx, f, parents)
	}
}

// listedWhole is listed for fields that need the whole list, even if only a part is selected.
func listedWhole[K comparable](
	of func(q *query, f *exec.Field) listLoader[K], next exec.Resolver,
) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		of(q, f).page(1, web.MaxPageSize).load(ctx, q, objectsOf(parents))
		return next(ctx, f, parents)
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
	r, out := rows{ctx: ctx}, make(map[K]payload, len(found))
	for key, v := range found {
		if err == nil {
			out[key], err = r.show(v)
		}
	}
	return out, err
}

// listsOf renders lists of a feature's values as REST does. Error: err, or that of rendering.
func listsOf[K comparable, V any](
	ctx context.Context, found map[K]*web.List[V], err error,
) (map[K]*web.List[payload], error) {
	r, out := rows{ctx: ctx}, make(map[K]*web.List[payload], len(found))
	for key, list := range found {
		shown := &web.List[payload]{More: list.More, Total: list.Total, Rows: make([]payload, len(list.Rows))}
		for n, v := range list.Rows {
			if err == nil {
				shown.Rows[n], err = r.show(v)
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
