package graphql

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// listLoader loads pages of a list that each of many objects has.
type listLoader[K comparable, V any] struct {
	loader[K, *web.List[V]]

	rows func(ctx context.Context, list []repo.Of[K], page web.Page) (map[repo.Of[K]]*web.List[V], error)
}

// pager loads pages of the lists of objects.
type pager[V any] interface {
	// loadPage loads a page of the list of each object that has not been loaded yet.
	loadPage(ctx context.Context, q *query, objects []*object, number, size int)
	// pageOf returns a page of an object's list, or nil if the object has none.
	pageOf(ctx context.Context, q *query, o *object, number, size int) (*web.List[V], error)
	// group names the loader: pages of one group can be loaded together.
	group() string
}

// lists returns a listLoader for a feature's function.
func lists[K comparable, V any](l loader[K, *web.List[V]], rows func(
	ctx context.Context, list []repo.Of[K], page web.Page) (map[repo.Of[K]]*web.List[V], error),
) listLoader[K, V] {
	l.size = sizeOfList[V]
	return listLoader[K, V]{l, rows}
}

// ofRepositories returns a listLoader for a feature's function that lists what repositories have once.
func ofRepositories[V any](l loader[string, *web.List[V]], rows func(
	ctx context.Context, list []*repo.Access, page web.Page) (map[repo.ID]*web.List[V], error),
) listLoader[string, V] {
	l.key = noKey
	return lists(l, func(ctx context.Context, list []repo.Of[string], page web.Page) (
		map[repo.Of[string]]*web.List[V], error) {
		found, err := rows(ctx, repo.AccessesOf(list), page)
		return ofEach(list, found), err
	})
}

// perRepository returns a loader for a feature's function that reads what repositories have once.
func perRepository[V any](
	name, route string, read func(ctx context.Context, list []*repo.Access) (map[repo.ID]V, error),
) loader[string, V] {
	return loader[string, V]{name: name, route: route, key: noKey,
		read: func(ctx context.Context, list []repo.Of[string]) (map[repo.Of[string]]V, error) {
			found, err := read(ctx, slices.Collect(maps.Values(repo.In(list))))
			return ofEach(list, found), err
		}}
}

// ofEach returns the values of repositories as those of things of which they have one.
func ofEach[V any](list []repo.Of[string], found map[repo.ID]V) map[repo.Of[string]]V {
	out := map[repo.Of[string]]V{}
	for _, of := range list {
		if v, there := found[of.In.ID]; there {
			out[of] = v
		}
	}
	return out
}

// page loads a page of the list of each object.
func (l listLoader[K, V]) page(number, size int) loader[K, *web.List[V]] {
	page := web.Page{Number: int64(number), Size: int64(size)}
	one := l.loader
	one.name = fmt.Sprint(l.name, " ", number, "/", size)
	one.read = func(ctx context.Context, list []repo.Of[K]) (map[repo.Of[K]]*web.List[V], error) {
		return l.rows(ctx, list, page)
	}
	return one
}

func (l listLoader[K, V]) loadPage(ctx context.Context, q *query, objects []*object, number, size int) {
	l.page(number, size).load(ctx, q, objects)
}

func (l listLoader[K, V]) pageOf(
	ctx context.Context, q *query, o *object, number, size int,
) (*web.List[V], error) {
	return l.page(number, size).get(ctx, q, o)
}

func (l listLoader[K, V]) group() string { return fmt.Sprint(l.name, l.route, l.media) }

// loadAll loads the lists of objects, up to a number of pages of a hundred, each page of all together.
func (l listLoader[K, V]) loadAll(ctx context.Context, q *query, objects []*object, most int) {
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
func (l listLoader[K, V]) all(ctx context.Context, q *query, o *object, most int) (all []V, err error) {
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
func connections[V any](list func(ctx context.Context, f *exec.Field, o *object) (pages[V], error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		var all []pages[V]
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
		for k, v := range connectEach(ctx, queryOf(ctx), f, all) {
			values[at[k]] = v
		}
		return values
	}
}
