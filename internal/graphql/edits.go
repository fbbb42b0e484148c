package graphql

import (
	"context"
	"encoding/base64"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue/revision"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// textOf names what somebody wrote as the history of texts does.
func textOf(o *object) revision.Text {
	switch o.kind {
	case "IssueComment":
		return revision.Text{Kind: revision.OfComment, ID: o.id}
	case review.Resource:
		return revision.Text{Kind: revision.OfReview, ID: o.id}
	case review.CommentResource:
		return revision.Text{Kind: revision.OfLine, ID: o.id}
	case commitcomment.Resource:
		return revision.Text{Kind: revision.OfCommit, ID: o.id}
	}
	return revision.Text{Kind: revision.OfIssue, ID: o.id}
}

// routeOfText returns the route whose right is required for the history of what somebody wrote.
func routeOfText(kind string) string {
	switch kind {
	case "IssueComment":
		return "/issues/comments/{id}"
	case review.Resource:
		return "/pulls/{number}/reviews/{id}"
	case review.CommentResource:
		return "/pulls/comments"
	case commitcomment.Resource:
		return "/comments/{id}"
	case "PullRequest":
		return "/pulls/{number}"
	}
	return "/issues/{number}"
}

// lastEdits loads the last edits of texts.
func lastEdits(q *query, kind string) loader[revision.Text, *revision.Edit] {
	return loader[revision.Text, *revision.Edit]{name: "last edits", route: routeOfText(kind), key: textOf,
		read: func(ctx context.Context, list []repo.Of[revision.Text]) (
			map[repo.Of[revision.Text]]*revision.Edit, error) {
			texts := make([]revision.Text, len(list))
			for n, of := range list {
				texts[n] = of.Key
			}
			found, err := q.load.Revisions.Last(ctx, texts)
			out := map[repo.Of[revision.Text]]*revision.Edit{}
			for _, of := range list {
				if e := found[of.Key]; e != nil {
					out[of] = e
				}
			}
			return out, err
		}}
}

// allEdits loads the edits of texts, the newest first, with the texts before them if texts is true.
func allEdits(q *query, kind string, texts bool) loader[revision.Text, []*revision.Edit] {
	name := map[bool]string{true: "edits with texts", false: "edits"}[texts]
	return loader[revision.Text, []*revision.Edit]{name: name, route: routeOfText(kind), key: textOf,
		read: func(ctx context.Context, list []repo.Of[revision.Text]) (
			map[repo.Of[revision.Text]][]*revision.Edit, error) {
			in := make(map[revision.Text]*repo.Access, len(list))
			for _, of := range list {
				in[of.Key] = of.In
			}
			found, err := q.load.Revisions.List(ctx, in, texts)
			out := map[repo.Of[revision.Text]][]*revision.Edit{}
			for _, of := range list {
				out[of] = found[of.Key]
			}
			return out, err
		}}
}

// ofLastEdit resolves a field with a part of the last edit of a text; never is the value without an edit.
func ofLastEdit(never any, part func(ctx context.Context, e *revision.Edit) any) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		l := lastEdits(queryOf(ctx), parents[0].TypeName())
		return l.values(ctx, parents, func(_ *object, e *revision.Edit) (any, error) {
			if e == nil {
				return never, nil
			}
			return leaf(part(ctx, e)), nil
		})
	}
}

// edited returns the fields about the edits of what people write.
func edited() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"lastEditedAt": ofLastEdit(nil, func(_ context.Context, e *revision.Edit) any { return e.At }),
		"editor":       ofLastEdit(nil, func(ctx context.Context, e *revision.Edit) any { return person(ctx, e.Editor) }),
		"includesCreatedEdit": ofLastEdit(false, func(_ context.Context, e *revision.Edit) any {
			return e.N <= revision.MaxKept
		}),
		"userContentEdits": userContentEdits,
	}
}

// userContentEdits resolves the edits of texts, the newest first. The last of them is what was written first, unless
// there are so many edits that it is not kept.
func userContentEdits(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	l := allEdits(queryOf(ctx), parents[0].TypeName(), f.Deep("diff"))
	return l.values(ctx, parents, func(o *object, edits []*revision.Edit) (any, error) {
		w, all, keys := wordsOf(ctx, o), make([]any, 0, len(edits)+1), make([]string, 0, len(edits)+1)
		var after any // the text after an edit, as far as the caller may read it
		if w.text.Raw != nil {
			after = orEmpty(*w.text.Raw)
		}
		for _, e := range edits {
			all, keys = append(all, newEdit(ctx, o, e, after)), append(keys, sortable(e.N))
			after = orNull(e.Was)
		}
		if len(edits) > 0 && edits[len(edits)-1].N == 1 {
			all, keys = append(all, firstEdit(ctx, o, w, after)), append(keys, sortable(0))
		}
		return connectKeyed(f, "UserContentEditConnection", all, keys, false)
	})
}

// newEdit returns an edit with the text after it.
func newEdit(ctx context.Context, o *object, e *revision.Edit, after any) any {
	id := account.NodeID("UserContentEdit", e.ID)
	if e.Of.Kind == revision.OfCommit { // they have ids of their own
		id = account.NodeID("CommitCommentEdit", e.ID)
	}
	return bare{"UserContentEdit", map[string]any{"id": id, "diff": after,
		"createdAt": e.At, "editedAt": e.At, "updatedAt": e.At, "editor": person(ctx, e.Editor),
		"deletedAt": e.DeletedAt, "deletedBy": person(ctx, e.Deleter)}}
}

// firstEdit returns what was written first as an edit.
func firstEdit(ctx context.Context, o *object, w words, text any) any {
	author := newAccount(w.user)
	if w.by != nil {
		author = person(ctx, w.by)
	}
	id := base64.RawURLEncoding.EncodeToString([]byte(account.NodeID("UserContentEdit", o.id) + ":" + o.kind))
	return bare{"UserContentEdit", map[string]any{"id": id, "diff": text, "createdAt": w.created,
		"editedAt": w.created, "updatedAt": w.created, "editor": author}}
}
