package graphql

import (
	"context"
	"fmt"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/follow"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// accountsPager loads pages of a list that accounts have, of all of them together.
type accountsPager[V any] struct {
	name    string // distinguishes its pages from those of others
	address string // of the route that lists the same
	read    func(ctx context.Context, q *query, of []account.ID, page web.Page) (map[account.ID]*web.List[V], error)
}

func (l accountsPager[V]) group() string { return l.name }

func (l accountsPager[V]) keyOf(o *object, number, size int) string {
	return fmt.Sprint(l.name, " ", o.id, " ", number, "/", size)
}

func (l accountsPager[V]) loadPage(ctx context.Context, q *query, objects []*object, number, size int) {
	var missing []account.ID
	for _, o := range objects {
		if _, known := q.kept[l.keyOf(o, number, size)]; !known && !slices.Contains(missing, account.ID(o.id)) {
			missing = append(missing, account.ID(o.id))
		}
	}
	for ids := range slices.Chunk(missing, maxLoaded) {
		var found map[account.ID]*web.List[V]
		in, _, err := q.on(ctx, l.address)
		if err == nil {
			found, err = l.read(in, q, ids, web.Page{Number: int64(number), Size: int64(size)})
		}
		err = q.noteError(err)
		for _, id := range ids {
			k := kept{value: found[id], err: err}
			if err == nil {
				k.err = q.hold(ctx, sizeOfList(found[id]))
			}
			q.kept[l.keyOf(&object{id: int64(id)}, number, size)] = k
		}
	}
}

func (l accountsPager[V]) pageOf(ctx context.Context, q *query, o *object, number, size int) (*web.List[V], error) {
	l.loadPage(ctx, q, []*object{o}, number, size)
	k := q.kept[l.keyOf(o, number, size)]
	page, _ := k.value.(*web.List[V])
	return page, k.err
}

// followed resolves the people on one side of users, the first one first.
func followed(side follow.Side, kind, address string) exec.Resolver {
	return connections(func(context.Context, *exec.Field, *object) (pages[*account.Simple], error) {
		read := func(ctx context.Context, q *query, of []account.ID, page web.Page) (
			map[account.ID]*web.List[*account.Simple], error) {
			return q.do.Follows.ListMany(ctx, of, side, page)
		}
		return pages[*account.Simple]{kind: kind, many: accountsPager[*account.Simple]{address, address, read},
			key: func(a *account.Simple) string { return decimal(int64(a.ID)) }, node: accountNode}, nil
	})
}

// between resolves whether the caller follows accounts, or else whether they follow the caller. A token that does not
// tell follows nobody.
func between(side follow.Side) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		values, ids := make([]any, len(parents)), make([]account.ID, len(parents))
		for n, o := range objectsOf(parents) {
			values[n], ids[n] = false, account.ID(o.id)
		}
		in, caller, err := queryOf(ctx).on(ctx, "GET /user/following/{username}")
		if errs.Is(err, errs.Forbidden) {
			return values
		}
		if err != nil {
			return failed(asError(err), len(parents))
		}
		does, them, err := queryOf(ctx).do.Follows.Between(in, caller, db.Unique(ids))
		if err != nil {
			return failed(asError(queryOf(ctx).noteError(err)), len(parents))
		}
		if side == follow.Followers {
			does = them
		}
		for n, id := range ids {
			values[n] = does[id]
		}
		return values
	}
}

// followFields are the fields of users about who follows whom.
func followFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"followers":         followed(follow.Followers, "FollowerConnection", "GET /users/{username}/followers"),
		"following":         followed(follow.Following, "FollowingConnection", "GET /users/{username}/following"),
		"viewerIsFollowing": between(follow.Following), "isFollowingViewer": between(follow.Followers),
		"viewerCanFollow": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return viewer(ctx).App == 0 && account.ID(o.id) != viewer(ctx).ID, nil
		}),
	}
}
