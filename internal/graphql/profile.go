package graphql

import (
	"context"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/pin"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
	"arbor/internal/web"
)

const pinnableKind = "PinnableItemConnection"

// addressOfPins is the route with whose right pinned repositories are read.
const addressOfPins = "GET /users/{username}/repos"

// profileFields are the fields of users and organizations about what they pin.
func profileFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"pinnedItems":      pinnedItems,
		"pinnableItems":    connections(pinnableItems),
		"anyPinnableItems": anyPinnableItems,
		"pinnedItemsRemaining": ofPinned(func(_ context.Context, _ *exec.Field, _ *object, pinned []any) (any, error) {
			return pin.Max - len(pinned), nil
		}),
		"itemShowcase": ofPinned(func(ctx context.Context, _ *exec.Field, o *object, pinned []any) (any, error) {
			return &object{kind: "ProfileItemShowcase", whole: true, value: &showcase{len(pinned) > 0, pinned}, of: o}, nil
		}),
	}
}

// ofPinned resolves a field of accounts with the repositories that they pinned and the caller sees, of all accounts
// together.
func ofPinned(show func(ctx context.Context, f *exec.Field, o *object, pinned []any) (any, error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, objects, values := queryOf(ctx), objectsOf(parents), make([]any, len(parents))
		l := accountsPager[*repo.Payload]{"pins", addressOfPins, readPins}
		l.loadPage(ctx, q, objects, 1, pin.Max)
		for n, o := range objects {
			page, err := l.pageOf(ctx, q, o, 1, pin.Max)
			if err != nil {
				values[n] = asError(err)
				continue
			}
			var pinned []any
			if page != nil {
				for _, p := range page.Rows {
					pinned = append(pinned, newRepository(p))
				}
			}
			values[n] = orError(show(ctx, f, o, pinned))
		}
		return values
	}
}

func readPins(
	ctx context.Context, q *query, of []account.ID, _ web.Page,
) (map[account.ID]*web.List[*repo.Payload], error) {
	pinned, err := q.load.Pins.Of(ctx, account.CallerFrom(ctx), of)
	out := map[account.ID]*web.List[*repo.Payload]{}
	for id, list := range pinned {
		out[id] = &web.List[*repo.Payload]{Rows: repo.NewPayloads(list, web.From(ctx)), Total: int64(len(list))}
	}
	return out, err
}

// wantsRepositories reports whether the argument types, if given, has repositories: nobody has gists.
func wantsRepositories(f *exec.Field) bool {
	types, given := f.Args["types"].([]any)
	if !given {
		return f.Args["type"] == nil || f.Args["type"] == "REPOSITORY"
	}
	for _, name := range namesIn(types) {
		if name == "REPOSITORY" {
			return true
		}
	}
	return false
}

var pinnedItems = ofPinned(func(_ context.Context, f *exec.Field, _ *object, pinned []any) (any, error) {
	if !wantsRepositories(f) {
		pinned = nil
	}
	return connectAll(f, pinnableKind, pinned)
})

// pinnable reads pages of what accounts can pin.
func pinnable(f *exec.Field) accountsPager[*repo.Payload] {
	wanted := wantsRepositories(f)
	return accountsPager[*repo.Payload]{fmt.Sprint("pinnable ", wanted), addressOfPins, func(
		ctx context.Context, q *query, of []account.ID, page web.Page,
	) (map[account.ID]*web.List[*repo.Payload], error) {
		if !wanted {
			return nil, nil
		}
		found, err := q.load.Pins.ChoicesOfEach(ctx, viewer(ctx), of, page)
		return payloadsOf(ctx, found), err
	}}
}

// pinnableItems resolves what an account can pin.
func pinnableItems(_ context.Context, f *exec.Field, _ *object) (pages[*repo.Payload], error) {
	return pages[*repo.Payload]{kind: pinnableKind, many: pinnable(f), node: repositoryNode,
		key: func(p *repo.Payload) string { return decimal(int64(p.ID)) }}, nil
}

// anyPinnableItems resolves whether accounts can pin anything.
func anyPinnableItems(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, l := queryOf(ctx), pinnable(f)
	l.loadPage(ctx, q, objectsOf(parents), 1, 1)
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		page, err := l.pageOf(ctx, q, o, 1, 1)
		return page != nil && len(page.Rows) > 0, err
	})(ctx, f, parents)
}

// showcase is what a profile shows first.
type showcase struct {
	pinned bool
	items  []any
}

func showcaseFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"hasPinnedItems": pick(func(s *showcase) any { return s.pinned }),
		"items":          shownItems,
	}
}

// shownItems resolves what profiles show first: what is pinned, else as many repositories as can be pinned.
func shownItems(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	var without []*object
	for _, o := range objectsOf(parents) {
		if !o.value.(*showcase).pinned {
			without = append(without, o.of)
		}
	}
	popular().loadPage(ctx, queryOf(ctx), without, 1, pin.Max)
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		s := o.value.(*showcase)
		if s.pinned {
			return connectAll(f, pinnableKind, s.items)
		}
		page, err := popular().pageOf(ctx, queryOf(ctx), o.of, 1, pin.Max)
		if err != nil || page == nil {
			return nil, err
		}
		all := make([]any, len(page.Rows))
		for n, p := range page.Rows {
			all[n] = newRepository(p)
		}
		return connectAll(f, pinnableKind, all)
	})(ctx, f, parents)
}

// popular loads the repositories of owners with the most stars.
func popular() accountsPager[*repo.Payload] {
	return repositoriesOf(list.Choice{Affiliation: "owner"}, list.Order{By: "stars", Desc: true})
}
