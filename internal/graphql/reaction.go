package graphql

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"arbor/internal/graphql/exec"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// reactions are the names of reactions in REST and in GraphQL, in GitHub's order.
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
			if o.kind == "PullRequestReview" { // REST has none
				return false, nil
			}
			locked := o
			if o.of != nil {
				locked = o.of
			}
			if locked.kind != "Issue" && locked.kind != "PullRequest" {
				return true, nil
			}
			if v, err := locked.value(ctx, "locked"); v != true || err != nil {
				return err == nil, err
			}
			may, err := permissionOn(ctx, o.repo)
			return may != "READ", err
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
	}
	return reaction.ReviewComment, "/pulls/comments"
}

// reactionsTo loads the reactions of one content, or with "" of all, to subjects of a kind.
func reactionsTo(q *query, kind, content string) listLoader[int64] {
	of, route := subjectOf(kind)
	c, _ := reaction.ParseContent(content)
	l := loader[int64, *web.List[payload]]{name: fmt.Sprint("reactions ", of, content), route: route, key: byIdentity}
	return lists(l, func(ctx context.Context, ids []repo.Of[int64], page web.Page) (
		map[repo.Of[int64]]*web.List[reaction.Payload], error) {
		return q.load.Reactions.List(ctx, of, ids, c, page)
	})
}

// reactionLists returns a resolver of connections of reactions. It loads those of all parents together,
// once per content.
func reactionLists(
	of func(f *exec.Field, o *object) (subject *object, content string),
	node func(o *object, kind string) (string, func(payload) (any, error)),
) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q, values := queryOf(ctx), make([]any, len(parents))
		all := make([]pages, len(parents))
		for n, parent := range parents {
			o, content := of(f, parent.(*object))
			kind, newNode := node(o, f.Name)
			all[n] = pages{kind: kind, many: reactionsTo(q, o.kind, content), of: o, node: newNode, rank: byID(false),
				count: func() (int, error) { return countReactions(ctx, o, content) },
				show:  func(c *connection) { c.reacted = o }}
		}
		for n, v := range q.connectEach(ctx, f, all) {
			if err, wrong := v.(error); wrong {
				v = asError(err)
			}
			values[n] = v
		}
		return values
	}
}

// countReactions returns the number of reactions to a subject, of one content or of all.
func countReactions(ctx context.Context, o *object, content string) (int, error) {
	counts, err := o.inner(ctx, "reactions")
	if err != nil {
		return 0, err
	}
	if content == "" {
		content = "total_count"
	}
	number, _ := decode(counts.get(content)).(json.Number)
	n, _ := number.Int64()
	return int(n), nil
}

// reactionNodes returns the reactions to a subject.
func reactionNodes(o *object, _ string) (string, func(payload) (any, error)) {
	return "ReactionConnection", func(data payload) (any, error) { return newReaction(o, data) }
}

// reactors returns the users who reacted. Bots that reacted are not among them.
func reactors(_ *object, name string) (string, func(payload) (any, error)) {
	kind := "ReactorConnection"
	if name == "users" {
		kind = "ReactingUserConnection"
	}
	return kind, func(data payload) (any, error) {
		who, err := members(data.get("user"))
		if err != nil || name == "users" && textOf(who, "type") != "User" {
			return nil, err
		}
		return newAccount(who), nil
	}
}

func newReaction(of *object, data payload) (any, error) {
	who, err := members(data.get("user"))
	if err != nil {
		return nil, err
	}
	var user any
	if textOf(who, "type") == "User" {
		user = newAccount(who)
	}
	content := ""
	for _, r := range reactions {
		if r[0] == textOf(data, "content") {
			content = r[1]
		}
	}
	return bare{"Reaction", map[string]any{"id": data.get("node_id"), "databaseId": data.get("id"),
		"content":   content,
		"createdAt": data.get("created_at"), "user": user, "reactable": of}}, nil
}

// reactionGroups resolves the reactions to a subject by content: always eight groups.
func reactionGroups(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	if f.Selects("viewerHasReacted") {
		if err := queryOf(ctx).ownReactions(ctx, parents); err != nil {
			return failed(asError(err), len(parents))
		}
	}
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		counts, err := o.inner(ctx, "reactions")
		if err != nil {
			return nil, err
		}
		list := make([]any, len(reactions))
		for n, name := range reactions {
			content, _ := json.Marshal(name[1])
			list[n] = &object{kind: "ReactionGroup", whole: true, repo: o.repo, of: o,
				data: payload{{[]byte("content"), content}, {[]byte("count"), counts.get(name[0])}}}
		}
		return list, nil
	})(ctx, f, parents)
}

func reactionGroupFields() map[string]exec.Resolver {
	who := reactionLists(func(_ *exec.Field, o *object) (*object, string) {
		return o.of, contentOf(textOf(o.data, "content"))
	}, reactors)
	return map[string]exec.Resolver{"content": same("content"), "createdAt": always(nil), "users": who,
		"reactors": who,
		"subject":  ofPull,
		"viewerHasReacted": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			own, err := o.of.value(ctx, "own_reactions")
			list, _ := own.([]any)
			return slices.Contains(list, any(contentOf(textOf(o.data, "content")))), err
		}),
	}
}

// viewerReacted resolves whether the caller reacted to the subjects of the connections.
func viewerReacted(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	subjects, values := make([]exec.Object, len(parents)), make([]any, len(parents))
	for n, p := range parents {
		subjects[n] = p.(*connection).reacted
	}
	if err := queryOf(ctx).ownReactions(ctx, subjects); err != nil {
		return failed(asError(err), len(parents))
	}
	for n, s := range subjects {
		own, _ := decode(s.(*object).data.get("own_reactions")).([]any)
		values[n] = len(own) > 0
	}
	return values
}

// ownReactions sets a member own_reactions of the subjects to the caller's reactions.
func (q *query) ownReactions(ctx context.Context, subjects []exec.Object) error {
	groups := map[string][]*object{}
	var failure error
	for _, s := range subjects {
		o := s.(*object)
		if _, known := o.data.find("own_reactions"); known || o.kind == "PullRequestReview" {
			continue
		}
		if _, err := o.member(ctx, "reactions"); err != nil { // may load the full payload
			failure = cmp.Or(failure, err)
			continue
		}
		groups[o.kind] = append(groups[o.kind], o)
	}
	if failure != nil {
		return failure
	}
	for kind, all := range groups {
		of, route := subjectOf(kind)
		l := loader[int64, []reaction.Content]{name: "own " + kind, route: route, key: byIdentity,
			read: func(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]][]reaction.Content, error) {
				return q.load.Reactions.Own(ctx, of, ids)
			}}
		l.load(ctx, q, all)
		for _, o := range all {
			said, err := l.get(ctx, q, o)
			names := make([]string, len(said))
			for n, c := range said {
				names[n] = c.String()
			}
			raw, _ := json.Marshal(names)
			o.data, failure = o.data.with("own_reactions", raw), cmp.Or(failure, err)
		}
	}
	return failure
}
