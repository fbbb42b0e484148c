package graphql

import (
	"context"
	"fmt"
	"slices"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/graphql/exec"
	"arbor/internal/reaction"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// reactions are the names of reactions in REST and in GraphQL, in GitHub's order, which is that of a rollup.
var reactions = [...][2]string{{"+1", "THUMBS_UP"}, {"-1", "THUMBS_DOWN"}, {"laugh", "LAUGH"},
	{"hooray", "HOORAY"},
	{"confused", "CONFUSED"}, {"heart", "HEART"}, {"rocket", "ROCKET"}, {"eyes", "EYES"}}

// contentOf returns REST's name of a reaction, or "" if there is none.
func contentOf(name any) string {
	for _, r := range reactions {
		if r[1] == name {
			return r[0]
		}
	}
	return ""
}

// reactable returns the fields about reactions.
func reactable() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"reactionGroups": reactionGroups,
		"reactions": reactionLists(func(f *exec.Field, o *object) (*object, string) {
			return o, contentOf(f.Args["content"])
		}, reactionNodes),
		"viewerCanReact": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			of := o
			if o.of != nil {
				of = o.of
			}
			switch {
			case o.kind == "PullRequestReview": // REST has none
				return false, nil
			case of.kind != "Issue" && of.kind != "PullRequest":
				return true, nil
			}
			return mayJoin(ctx, of, o.repo)
		}),
	}
}

// subjectOf returns the kind of a reaction's subject and the route whose right is required for it.
func subjectOf(kind string) (of reaction.Kind, route string) {
	switch kind {
	case "Issue":
		return reaction.Issue, "/issues/comments"
	case "PullRequest":
		return reaction.Issue, "/pulls/comments"
	case "IssueComment":
		return reaction.IssueComment, "/issues/comments"
	case commitcomment.Resource:
		return reaction.CommitComment, "/comments"
	case release.Resource:
		return reaction.Release, "/releases"
	}
	return reaction.ReviewComment, "/pulls/comments"
}

// reactionsTo loads the reactions of one content, or with "" of all, to subjects of a kind.
func reactionsTo(q *query, kind, content string) listLoader[int64, reaction.Payload] {
	of, route := subjectOf(kind)
	c, _ := reaction.ParseContent(content)
	l := loader[int64, *web.List[reaction.Payload]]{name: fmt.Sprint("reactions ", of, content), route: route, key: byID}
	return lists(l, func(ctx context.Context, ids []repo.Of[int64], page web.Page) (
		map[repo.Of[int64]]*web.List[reaction.Payload], error) {
		return q.load.Reactions.List(ctx, of, ids, c, page)
	})
}

// reactionLists returns a resolver of connections of reactions. It loads those of all parents together,
// once per content.
func reactionLists(
	of func(f *exec.Field, o *object) (subject *object, content string),
	node func(o *object, kind string) (string, func(reaction.Payload) (any, error)),
) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, all := queryOf(ctx), make([]pages[reaction.Payload], len(parents))
		for n, parent := range parents {
			o, content := of(f, parent.(*object))
			kind, newNode := node(o, f.Name)
			all[n] = pages[reaction.Payload]{kind: kind, many: reactionsTo(q, o.kind, content), of: o, node: newNode,
				rank:  rankByID(func(r reaction.Payload) int64 { return r.ID }),
				count: func() (int, error) { return countReactions(ctx, o, content), nil },
				show:  func(c *connection) { c.reacted = o }}
		}
		return connectEach(ctx, q, f, all)
	}
}

// countReactions returns the number of reactions to a subject, of one content or of all.
func countReactions(ctx context.Context, o *object, content string) int {
	counts := wordsOf(ctx, o).reactions
	if c, ok := reaction.ParseContent(content); ok {
		return int(counts[c-1])
	}
	return int(counts.Total())
}

// reactionNodes returns the reactions to a subject.
func reactionNodes(o *object, _ string) (string, func(reaction.Payload) (any, error)) {
	return "ReactionConnection", func(r reaction.Payload) (any, error) { return newReaction(o, r), nil }
}

// reactors returns the users who reacted. Bots that reacted are not among them.
func reactors(_ *object, name string) (string, func(reaction.Payload) (any, error)) {
	kind := "ReactorConnection"
	if name == "users" {
		kind = "ReactingUserConnection"
	}
	return kind, func(r reaction.Payload) (any, error) {
		if name == "users" {
			return userOf(r.User), nil
		}
		return newAccount(r.User), nil
	}
}

// userOf returns an account if it is a user's, else nil.
func userOf(a *account.Simple) any {
	if a == nil || a.Type != "User" {
		return nil
	}
	return newAccount(a)
}

func newReaction(of *object, r reaction.Payload) any {
	content, _ := reaction.ParseContent(r.Content)
	return bare{"Reaction", map[string]any{"id": r.NodeID, "databaseId": r.ID, "content": reactions[content-1][1],
		"createdAt": r.CreatedAt, "user": userOf(r.User), "reactable": of}}
}

// reactionGroups resolves the reactions to a subject by content: a group for each that it may have.
func reactionGroups(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
		var list []any
		kind, _ := subjectOf(o.kind)
		for _, name := range kind.Contents() {
			c, _ := reaction.ParseContent(name)
			list = append(list, &object{kind: "ReactionGroup", value: c, whole: true, repo: o.repo, of: o})
		}
		return list, nil
	})(ctx, f, parents)
}

func reactionGroupFields() map[string]exec.Resolver {
	who := reactionLists(func(_ *exec.Field, o *object) (*object, string) {
		return o.of, o.value.(reaction.Content).String()
	}, reactors)
	return map[string]exec.Resolver{"users": who, "reactors": who, "subject": parent,
		"content":   pick(func(c reaction.Content) any { return reactions[c-1][1] }),
		"createdAt": groupTimes,
		"viewerHasReacted": func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			subjects := make([]*object, len(parents))
			for n, o := range objectsOf(parents) {
				subjects[n] = o.of
			}
			return ownReactions(ctx, subjects, func(n int, own []reaction.Content) bool {
				return slices.Contains(own, parents[n].(*object).value.(reaction.Content))
			})
		},
	}
}

// viewerReacted resolves whether the caller reacted to the subjects of the connections.
func viewerReacted(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	subjects := make([]*object, len(parents))
	for n, p := range parents {
		subjects[n] = p.(*connection).reacted
	}
	return ownReactions(ctx, subjects, func(_ int, own []reaction.Content) bool { return len(own) > 0 })
}

// ownReactions loads the caller's reactions to subjects, all of a kind together, and returns what show says of each.
func ownReactions(
	ctx context.Context, subjects []*object, show func(n int, own []reaction.Content) bool,
) []any {
	return ofSubjects(ctx, subjects, "own", queryOf(ctx).load.Reactions.Own,
		func(n int, own []reaction.Content) any { return show(n, own) })
}

// groupTimes resolves when the first reactions of groups were made; null for a group without any.
func groupTimes(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	subjects := make([]*object, len(parents))
	for n, o := range objectsOf(parents) {
		subjects[n] = o.of
	}
	return ofSubjects(ctx, subjects, "first", queryOf(ctx).load.Reactions.First,
		func(n int, first map[reaction.Content]db.Time) any {
			return leaf(first[parents[n].(*object).value.(reaction.Content)])
		})
}

// ofSubjects loads something about the reactions to subjects, of all of a kind together, and returns what show says
// of each.
func ofSubjects[V any](ctx context.Context, subjects []*object, name string,
	read func(ctx context.Context, kind reaction.Kind, list []repo.Of[int64]) (map[repo.Of[int64]]V, error),
	show func(n int, v V) any,
) []any {
	q, values, groups := queryOf(ctx), make([]any, len(subjects)), map[string][]*object{}
	for _, o := range subjects {
		if o != nil && o.kind != "PullRequestReview" { // which have none
			groups[o.kind] = append(groups[o.kind], o)
		}
	}
	of := func(kind string) loader[int64, V] {
		of, route := subjectOf(kind)
		return loader[int64, V]{name: name + " " + kind, route: route, key: byID,
			read: func(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]V, error) {
				return read(ctx, of, ids)
			}}
	}
	for kind, all := range groups {
		of(kind).load(ctx, q, all)
	}
	for n, o := range subjects {
		var v V
		var err error
		if o != nil && groups[o.kind] != nil {
			v, err = of(o.kind).get(ctx, q, o)
		}
		if values[n] = show(n, v); err != nil {
			values[n] = asError(err)
		}
	}
	return values
}
