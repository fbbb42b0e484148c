package graphql

import (
	"context"
	"encoding/json"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// comments resolves the comments of an issue or a pull request.
func comments(ctx context.Context, f *exec.Field, o *object) (pages, error) {
	q, media := queryOf(ctx), textMedia(f)
	l := loader[int64, *web.List[payload]]{name: "comments", route: "/issues/{number}/comments", media: media,
		key: byNumber}
	return pages{kind: "IssueCommentConnection", many: lists(l, q.load.Comments.ListMany), rank: byID(false),
		count: func() (int, error) { return countedBy(ctx, o, "comments") },
		node:  func(data payload) (any, error) { return newComment(o.repo, o, data, media), nil }}, nil
}

// countedBy returns a member of an object that is a number.
func countedBy(ctx context.Context, o *object, member string) (int, error) {
	n, err := o.value(ctx, member)
	number, _ := n.(json.Number)
	count, _ := number.Int64()
	return int(count), err
}

// commentsByID loads comments by id.
func commentsByID(q *query, o *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "comments by id", route: "/issues/comments/{id}", media: o.source.Media, key: byIdentity}
	return full(l, q.load.Comments.ByIDs)
}

// newComment returns a comment of an issue or a pull request.
func newComment(in, of *object, data payload, media string) *object {
	return &object{kind: "IssueComment", data: data, whole: true, repo: in, of: of,
		source: source{Path: in.path("issues", "comments", string(data.get("id"))), Media: media}}
}

func commentFields() map[string]exec.Resolver {
	return merge(commented(), map[string]exec.Resolver{
		"isMinimized": always(false), "minimizedReason": always(nil),
		"includesCreatedEdit": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return o.text(ctx, "created_at") != o.text(ctx, "updated_at"), nil
		}),
		"issue": issueOfComment,
	})
}

// issueOfComment resolves the issues of comments, which may be pull requests.
func issueOfComment(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, of, missing := queryOf(ctx), map[*object]*object{}, []*object{}
	for _, o := range objectsOf(parents) {
		if of[o] = o.of; o.of == nil || o.of.kind != "Issue" {
			at := o.text(ctx, "issue_url")
			of[o] = issueAt(o.repo, at[strings.LastIndexByte(at, '/')+1:], "raw")
			missing = append(missing, of[o])
		}
	}
	numberedThings(q, &object{source: source{Media: "raw"}}).load(ctx, q, missing)
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		if of[o] == o.of {
			return o.of, nil
		}
		found, err := q.issueOrPull(ctx, of[o])
		if err != nil {
			return nil, err
		}
		found.kind, found.whole = "Issue", true // also of a pull request, as at GitHub
		return found, nil
	})(ctx, f, parents)
}

// commented returns the fields of everything that users write in a conversation.
func commented() map[string]exec.Resolver {
	return merge(reactable(), map[string]exec.Resolver{
		"id": same("node_id"), "databaseId": same("id"), "author": accountField("user"),
		"authorAssociation": same("author_association"), "body": orEmpty("body"),
		"bodyText": texts("body_text"),
		"bodyHTML": texts("body_html"), "createdAt": same("created_at"), "updatedAt": same("updated_at"),
		"url": same("html_url"), "resourcePath": resourcePath("html_url"), "repository": inRepository,
		"includesCreatedEdit": always(false),
		"viewerDidAuthor": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return didAuthor(ctx, o)
		}),
	})
}

// texts resolves a text as HTML or without markup. Payloads have these only if the query asks for them, so
// those that have not are loaded again, together.
func texts(member string) exec.Resolver {
	show := orEmpty(member)
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		var missing []*object
		for _, o := range objectsOf(parents) {
			if _, there := o.data.find(member); !there && o.source.Path != "" {
				o.source.Media = "full"
				missing = append(missing, o)
			}
		}
		if len(missing) > 0 {
			q.loaderOf(missing[0]).load(ctx, q, missing)
		}
		for _, o := range missing {
			data, err := q.wholeOf(ctx, o)
			if err != nil {
				return failed(asError(err), len(parents))
			}
			o.data, o.whole = data, true
		}
		return show(ctx, f, parents)
	}
}

func didAuthor(ctx context.Context, o *object) (bool, error) {
	author, err := o.inner(ctx, "user")
	return textOf(author, "login") == viewer(ctx).Login, err
}
