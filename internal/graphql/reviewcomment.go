package graphql

import (
	"context"
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/review"
	"arbor/internal/web"
)

// newReviewComment returns a comment on a line of a pull request.
func newReviewComment(of *object, data payload, media string) *object {
	return &object{kind: "PullRequestReviewComment", data: data, whole: true, repo: of.repo, of: of,
		source: source{Path: of.repo.path("pulls", "comments", string(data.get("id"))), Media: media}}
}

func reviewCommentFields() map[string]exec.Resolver {
	commit := func(member string) exec.Resolver {
		return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "commit", o.text(ctx, member)), nil
		})
	}
	canEdit := one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		if own, err := didAuthor(ctx, o); own || err != nil {
			return own, err
		}
		p, err := permissionOn(ctx, o.repo)
		return p != "READ", err
	})
	fields := merge(commented(), map[string]exec.Resolver{
		"fullDatabaseId": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			id, err := o.member(ctx, "id")
			return string(id), err
		}),
		"path": same("path"), "diffHunk": same("diff_hunk"), "position": same("position"),
		"line":         same("line"),
		"originalLine": same("original_line"), "startLine": same("start_line"),
		"originalStartLine": same("original_start_line"),
		"originalPosition":  orZero("original_position"), "subjectType": upper("subject_type"),
		"commit": commit("commit_id"), "originalCommit": commit("original_commit_id"), "pullRequest": ofPull,
		"outdated": isNull("position", true), "isMinimized": always(false), "minimizedReason": always(nil),
		"publishedAt": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			if pending, err := pendingComment(ctx, o); pending || err != nil {
				return nil, err
			}
			return o.value(ctx, "created_at")
		}),
		"state": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			pending, err := pendingComment(ctx, o)
			return map[bool]string{true: "PENDING", false: "SUBMITTED"}[pending], err
		}),
		"includesCreatedEdit": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return o.text(ctx, "created_at") != o.text(ctx, "updated_at"), nil
		}),
		"pullRequestReview": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			id, err := o.value(ctx, "pull_request_review_id")
			number, _ := id.(json.Number)
			n, _ := number.Int64()
			if n == 0 {
				return nil, err
			}
			return reviewAt(o.of, n), err
		}),
		"replyTo": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			id, err := o.value(ctx, "in_reply_to_id")
			number, _ := id.(json.Number)
			n, _ := number.Int64()
			if n == 0 {
				return nil, err
			}
			return commentAt(o.of, n), err
		}),
		"viewerCanUpdate": canEdit, "viewerCanDelete": canEdit,
	})
	for name, r := range fields {
		if name != "id" && name != "databaseId" {
			fields[name] = filled(reviewCommentsByID, anyObject, r)
		}
	}
	return fields
}

// orZero is like same, but 0 for null.
func orZero(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		if v == nil {
			v = 0
		}
		return v, err
	})
}

// pendingComment reports whether a comment is visible only to its author. REST does not report it, and does
// not list such comments.
func pendingComment(ctx context.Context, o *object) (bool, error) {
	if raw, ok := o.data.find("pending"); ok {
		return string(raw) == "true", nil
	}
	q := queryOf(ctx)
	data, err := reviewCommentsByID(q, o).get(ctx, q, o)
	return string(data.get("pending")) == "true", err
}

// reviewCommentsByID loads comments on lines by id.
func reviewCommentsByID(q *query, o *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "review comments by id", route: "/pulls/comments", key: byIdentity,
		media: o.source.Media}
	return full(l, q.load.Reviews.CommentsByIDs)
}

// withID returns a payload that has only an id.
func withID(kind string, id int64) payload {
	node, _ := json.Marshal(account.NodeID(kind, id))
	return payload{}.with("id", json.RawMessage(decimal(id))).with("node_id", node)
}

// reviewAt returns a review by id.
func reviewAt(of *object, id int64) *object {
	o := newReview(of.repo, of, withID(review.Resource, id), "raw")
	o.whole = false
	return o
}

// commentAt returns a comment on a line by id.
func commentAt(of *object, id int64) *object {
	o := newReviewComment(of, withID(review.CommentResource, id), "raw")
	o.whole = false
	return o
}

// reviewComments resolves the comments of a review.
func reviewComments(ctx context.Context, f *exec.Field, o *object) (pages, error) {
	media := textMedia(f)
	l := loader[int64, *web.List[payload]]{name: "comments of reviews", route: "/pulls/comments",
		media: media, key: byIdentity}
	return pages{kind: "PullRequestReviewCommentConnection", rank: byID(false),
		many: lists(l, queryOf(ctx).load.Reviews.ListManyOfReviews),
		node: func(data payload) (any, error) { return newReviewComment(o.of, data, media), nil }}, nil
}
