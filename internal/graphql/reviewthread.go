package graphql

import (
	"context"
	"encoding/json"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/review"
	"arbor/internal/web"
)

// reviewThreads resolves the threads of a pull request.
func reviewThreads(ctx context.Context, f *exec.Field, o *object) (pages, error) {
	media := textMedia(f)
	l := loader[int64, *web.List[payload]]{name: "threads", route: "/pulls/comments", media: media, key: byNumber}
	return pages{kind: "PullRequestReviewThreadConnection", rank: &rank{of: firstComment},
		many: lists(l, queryOf(ctx).load.Reviews.ListManyThreads),
		node: func(data payload) (any, error) { return newThread(o, data, media) }}, nil
}

// firstComment ranks threads, which stand as they began.
func firstComment(data payload) string {
	comments, _ := objectsIn(data.get("comments"))
	if len(comments) == 0 {
		return ""
	}
	return sortable(string(comments[0].get("id")))
}

// newThread is a thread of a pull request: its payload with that of its first comment.
func newThread(of *object, data payload, media string) (*object, error) {
	comments, err := objectsIn(data.get("comments"))
	if err == nil && len(comments) == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	for _, name := range [...]string{"path", "line", "original_line", "start_line",
		"original_start_line", "side", "start_side",
		"subject_type", "outdated"} {
		data = data.with(name, comments[0].get(name))
	}
	as, _ := json.Marshal(media)
	return &object{kind: "PullRequestReviewThread", data: data.with("media", as), whole: true, repo: of.repo,
		of: of}, nil
}

func reviewThreadFields() map[string]exec.Resolver {
	may := func(resolve bool) exec.Resolver {
		return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return string(o.data.get("may_resolve")) == "true" &&
				(string(o.data.get("resolved")) == "true") != resolve, nil
		})
	}
	return map[string]exec.Resolver{
		"id": same("node_id"), "path": same("path"), "line": same("line"),
		"originalLine": same("original_line"),
		"startLine":    same("start_line"), "originalStartLine": same("original_start_line"), "diffSide": same("side"),
		"startDiffSide": same("start_side"), "subjectType": upper("subject_type"),
		"isOutdated": same("outdated"),
		"isResolved": same("resolved"), "isCollapsed": same("resolved"),
		"resolvedBy": accountField("resolved_by"),
		"repository": inRepository, "pullRequest": ofPull,
		"viewerCanResolve": may(true), "viewerCanUnresolve": may(false),
		"viewerCanReply": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			locked, err := o.of.value(ctx, "locked")
			if err != nil || locked != true {
				return true, err
			}
			p, err := permissionOn(ctx, o.repo)
			return p != "READ", err
		}),
		"comments": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			list, err := objectsIn(o.data.get("comments"))
			if err != nil {
				return nil, err
			}
			all := make([]any, len(list))
			for n, data := range list {
				all[n] = newReviewComment(o.of, data, textOf(o.data, "media"))
			}
			return connectAll(f, "PullRequestReviewCommentConnection", all)
		}),
	}
}

// ofPull is the pull request of what is in one.
func ofPull(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
	values := make([]any, len(parents))
	for n, p := range parents {
		values[n] = p.(*object).of
	}
	return values
}

// threadsByRoot loads threads by the ids of their first comments.
func threadsByRoot(q *query, _ *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "threads by root", route: "/pulls/comments", key: byIdentity}
	return full(l, q.load.Reviews.Threads)
}

// threadOf is the thread of a comment.
func (q *query) threadOf(ctx context.Context, of *object, comment payload) (*object, error) {
	root := comment.get("in_reply_to_id")
	if isNullJSON(root) {
		root = comment.get("id")
	}
	at := &object{kind: review.ThreadKind, data: payload{}.with("id", root), repo: of.repo}
	data, err := threadsByRoot(q, at).get(ctx, q, at)
	if err == nil && data == nil {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return newThread(of, data, "raw")
}
