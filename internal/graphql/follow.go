package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/follow"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

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

// resolveFollows resolves whether the caller follows accounts, or otherwise whether they follow the caller. It is
// false if the token may not read whom the caller follows.
func resolveFollows(side follow.Side) exec.Resolver {
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
		"viewerIsFollowing": resolveFollows(follow.Following), "isFollowingViewer": resolveFollows(follow.Followers),
		"viewerCanFollow": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return viewer(ctx).App == 0 && account.ID(o.id) != viewer(ctx).ID, nil
		}),
	}
}
