package graphql

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

// threadLists are the threads of pull requests.
func threadLists(q *query, f *exec.Field) listLoader {
	return lists(loader[int64, *web.List[payload]]{name: "threads", route: "/pulls/comments",
		media: textMedia(f), key: byNumber}, q.load.Reviews.ListManyThreads)
}

func reviewThreads(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q, media := queryOf(ctx), textMedia(f)
	of := threadLists(q, f)
	return q.connect(ctx, f, pages{kind: "PullRequestReviewThreadConnection", many: &of, of: o,
		rank: &rank{of: firstComment},
		node: func(data payload) (any, error) { return newThread(o, data, media) }})
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

// findInReviews finds a comment on a line, or a thread, by its id.
func (q *query) findInReviews(ctx context.Context, kind string, id int64) (any, error) {
	type place struct{ in, comment int64 }
	found, err := placed(ctx, q, kind+decimal(id), func(tx *db.Tx) (at place, err error) {
		at.comment = id
		if kind == review.ThreadKind {
			if at.comment, err = review.ThreadPlace(tx, id); err != nil {
				return at, err
			}
		}
		at.in, err = review.CommentPlace(tx, at.comment)
		return at, err
	})
	if err != nil {
		return nil, err
	}
	r, err := q.repositoryByID(ctx, repo.ID(found.in))
	if err != nil {
		return nil, err
	}
	comment := found.comment
	question := Question{Path: r.path("pulls", "comments", decimal(comment)), Handler: q.with.DraftComment}
	data, err := q.object(ctx, question)
	if err != nil {
		return nil, err
	}
	at := textOf(data, "pull_request_url")
	of := pullAt(r, at[strings.LastIndexByte(at, '/')+1:])
	if kind == review.CommentResource {
		return newReviewComment(of, data, "raw"), nil
	}
	return q.threadAt(ctx, of, comment)
}

// threadAt is the thread of a comment.
func (q *query) threadAt(ctx context.Context, of *object, comment int64) (*object, error) {
	data, err := q.object(ctx, Question{Path: of.repo.path("pulls", "comments", decimal(comment)),
		Handler: q.with.Thread,
		Query:   url.Values{"of": {"thread"}}})
	if err != nil {
		return nil, err
	}
	return newThread(of, data, "raw")
}
