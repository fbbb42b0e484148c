package graphql

import (
	"context"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/star"
	"arbor/internal/web"
)

// viewerHasStarred resolves whether the caller has starred repositories. A token that does not tell has not.
func viewerHasStarred(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	l := perRepository("starred", "GET /user/starred/{owner}/{repo}", q.load.Stars.Starred)
	l.load(ctx, q, objectsOf(parents))
	for n, o := range objectsOf(parents) {
		starred, err := l.get(ctx, q, o)
		if values[n] = starred; errs.Is(err, errs.NotFound) || errs.Is(err, errs.Forbidden) {
			values[n] = false
		} else if err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

// viewerSubscription resolves how the caller is subscribed to repositories.
func viewerSubscription(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	l := perRepository("subscription", "/subscription", q.load.Stars.Subscriptions)
	l.load(ctx, q, objectsOf(parents))
	for n, o := range objectsOf(parents) {
		wish, err := l.get(ctx, q, o)
		switch {
		case errs.Is(err, errs.Forbidden): // the token does not tell
		case err != nil && !errs.Is(err, errs.NotFound):
			values[n] = asError(err)
		default:
			values[n] = [...]string{star.NoWish: "UNSUBSCRIBED", star.Everything: "SUBSCRIBED",
				star.Nothing: "IGNORED"}[wish]
		}
	}
	return values
}

// people loads who marked repositories.
func people(k star.Kind, route string, desc bool) listLoader[string, star.Mark] {
	l := loader[string, *web.List[star.Mark]]{name: fmt.Sprint("people ", desc), route: route}
	return ofRepositories(l, func(ctx context.Context, list []*repo.Access, page web.Page) (
		map[repo.ID]*web.List[star.Mark], error) {
		return queryOf(ctx).load.Stars.PeopleOf(ctx, list, k, desc, page)
	})
}

// rankOfMarks is the order of people by when they marked a repository.
func rankOfMarks(desc bool) *sortKey[star.Mark] {
	return rankBy(desc, func(m star.Mark) []any { return []any{m.At, int64(m.ID)} })
}

// watchers resolves who watches repositories.
func watchers(context.Context, *exec.Field, *object) (pages[star.Mark], error) {
	return pages[star.Mark]{kind: "UserConnection", rank: rankOfMarks(false),
		many: people(star.Watch, "/subscribers", false),
		node: func(m star.Mark) (any, error) { return newAccount(m.Simple), nil }}, nil
}

// stargazers resolves who starred repositories, and when.
func stargazers(_ context.Context, f *exec.Field, _ *object) (pages[star.Mark], error) {
	_, desc, err := orderBy(f, map[string]string{"STARRED_AT": "created"})
	return pages[star.Mark]{kind: "StargazerConnection", rank: rankOfMarks(desc),
		many: people(star.Star, "/stargazers", desc),
		node: func(m star.Mark) (any, error) {
			return &edge{kind: "StargazerEdge", node: newAccount(m.Simple), fields: map[string]any{"starredAt": leaf(m.At)}}, nil
		}}, err
}

// marked is a repository that a user marked.
type marked struct {
	*repo.Payload
	at db.Time
}

// markedBy loads the repositories that users marked.
func markedBy(k star.Kind, address string, c star.Choice) accountsPager[marked] {
	return accountsPager[marked]{fmt.Sprint(address, c), address, func(
		ctx context.Context, q *query, of []account.ID, page web.Page,
	) (map[account.ID]*web.List[marked], error) {
		found, err := q.load.Stars.ReposOf(ctx, viewer(ctx), of, k, c, page)
		out := map[account.ID]*web.List[marked]{}
		for id, l := range found {
			list := &web.List[marked]{Total: l.Total, More: l.More}
			for _, m := range l.Rows {
				list.Rows = append(list.Rows, marked{repo.NewPayload(m.Access, web.From(ctx)), m.At})
			}
			out[id] = list
		}
		return out, err
	}}
}

func rankOfMarked(desc bool) *sortKey[marked] {
	return rankBy(desc, func(m marked) []any { return []any{m.at, int64(m.ID)} })
}

// starredRepositories resolves the repositories that a user starred and the caller sees.
func starredRepositories(ctx context.Context, f *exec.Field, _ *object) (pages[marked], error) {
	_, desc, err := orderBy(f, map[string]string{"STARRED_AT": "created"})
	c := star.Choice{Desc: desc}
	if f.Args["ownedByViewer"] == true {
		c.Owner = viewer(ctx).ID
	}
	return pages[marked]{kind: "StarredRepositoryConnection", rank: rankOfMarked(desc),
		many: markedBy(star.Star, "GET /users/{username}/starred", c),
		node: func(m marked) (any, error) {
			return &edge{kind: "StarredRepositoryEdge", node: newRepository(m.Payload),
				fields: map[string]any{"starredAt": leaf(m.at)}}, nil
		}}, err
}

// watching resolves the repositories that a user watches and the caller sees. Both kinds of affiliations are those of
// the caller, as GitHub describes them.
func watching(ctx context.Context, f *exec.Field, _ *object) (pages[marked], error) {
	p := pages[marked]{kind: "RepositoryConnection",
		key:  func(m marked) string { return decimal(int64(m.ID)) },
		node: func(m marked) (any, error) { return newRepository(m.Payload), nil }}
	var c star.Choice
	var err error
	c.By, c.Desc, err = orderBy(f, map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated",
		"PUSHED_AT": "pushed", "STARGAZERS": "stars", "NAME": "name"})
	for _, name := range [...]string{"privacy", "visibility"} {
		if word, ok := f.Args[name].(string); ok {
			if c.Private.Set && c.Private.Value != (word == "PRIVATE") {
				err = refused("privacy and visibility exclude each other.")
			}
			c.Private = web.Some(word == "PRIVATE")
			if word == "INTERNAL" {
				err = refused("Arbor has no internal repositories.")
			}
		}
	}
	if has, ok := f.Args["hasIssuesEnabled"].(bool); ok {
		c.HasIssues = web.Some(has)
	}
	if f.Args["isLocked"] == true {
		err = refused("Arbor locks no repositories.")
	}
	for _, name := range [...]string{"affiliations", "ownerAffiliations"} {
		if given, ok := f.Args[name].([]any); ok && !isDefault(f, name, f.Args[name]) {
			c.Of, c.Affiliations = viewer(ctx).ID, append([]string{}, namesIn(given)...)
		}
	}
	if c.By == "" {
		p.rank = rankOfMarked(false)
	}
	p.many = markedBy(star.Watch, "GET /users/{username}/subscriptions", c)
	return p, err
}
