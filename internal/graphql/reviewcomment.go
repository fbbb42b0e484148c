package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/review"
	"arbor/internal/web"
)

// newReviewComment returns a comment on a line of a pull request.
func newReviewComment(of *object, c *review.ThreadComment, media string) *object {
	return &object{kind: review.CommentResource, value: c, whole: true, id: c.ID, media: media, repo: of.repo, of: of}
}

// ofLine is pick for comments on lines.
func ofLine(part func(c *review.ThreadComment) any) exec.Resolver { return pick(part) }

func reviewCommentFields() map[string]exec.Resolver {
	commit := func(sha func(c *review.ThreadComment) string) exec.Resolver {
		return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "commit", sha(o.value.(*review.ThreadComment))), nil
		})
	}
	return merge(after(isWhole, merge(reactable(), written(), map[string]exec.Resolver{
		"fullDatabaseId":    key(func(o *object) any { return decimal(o.id) }),
		"path":              ofLine(func(c *review.ThreadComment) any { return c.Path }),
		"diffHunk":          ofLine(func(c *review.ThreadComment) any { return c.Hunk }),
		"position":          ofLine(func(c *review.ThreadComment) any { return c.Position }),
		"line":              ofLine(func(c *review.ThreadComment) any { return c.Line }),
		"originalLine":      ofLine(func(c *review.ThreadComment) any { return c.OriginalLine }),
		"startLine":         ofLine(func(c *review.ThreadComment) any { return c.StartLine }),
		"originalStartLine": ofLine(func(c *review.ThreadComment) any { return c.OriginalStartLine }),
		"originalPosition": ofLine(func(c *review.ThreadComment) any {
			if c.OriginalPosition == nil {
				return 0
			}
			return *c.OriginalPosition
		}),
		"subjectType":    ofLine(func(c *review.ThreadComment) any { return enumName(c.Subject) }),
		"commit":         commit(func(c *review.ThreadComment) string { return string(c.Commit) }),
		"originalCommit": commit(func(c *review.ThreadComment) string { return string(c.OriginalCommit) }),
		"outdated":       ofLine(func(c *review.ThreadComment) any { return c.Position == nil }),
		"publishedAt": ofLine(func(c *review.ThreadComment) any {
			if c.Pending {
				return nil
			}
			return c.CreatedAt
		}),
		"state": ofLine(func(c *review.ThreadComment) any {
			return map[bool]string{true: "PENDING", false: "SUBMITTED"}[c.Pending]
		}),
		"pullRequestReview": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			if id := o.value.(*review.ThreadComment).ReviewID; id != nil {
				return reviewAt(o.of, *id), nil
			}
			return nil, nil
		}),
		"replyTo": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			if id := o.value.(*review.ThreadComment).ReplyTo; id != 0 {
				return &object{kind: review.CommentResource, id: id, media: "raw", repo: o.repo, of: o.of}, nil
			}
			return nil, nil
		}),
		"draftedAt": ofLine(func(c *review.ThreadComment) any { return c.CreatedAt }),
	}, editable(one(canUpdate), one(canUpdate)), minimizable())), keyFields())
}

// reviewCommentsByID loads comments on lines by id.
func reviewCommentsByID(q *query, media string) loader[int64, *review.ThreadComment] {
	return loader[int64, *review.ThreadComment]{name: "review comments by id", route: "/pulls/comments", media: media,
		key: byID, read: q.load.Reviews.CommentsByIDs}
}

// reviewComments resolves the comments of a review.
func reviewComments(ctx context.Context, f *exec.Field, o *object) (pages[*review.ThreadComment], error) {
	media := textMedia(f)
	l := loader[int64, *web.List[*review.ThreadComment]]{name: "comments of reviews", route: "/pulls/comments",
		media: media, key: byID}
	return pages[*review.ThreadComment]{kind: "PullRequestReviewCommentConnection",
		rank: rankByID(func(c *review.ThreadComment) int64 { return c.ID }),
		many: lists(l, queryOf(ctx).load.Reviews.ListManyOfReviews),
		node: func(c *review.ThreadComment) (any, error) { return newReviewComment(o.of, c, media), nil }}, nil
}

// reviewThreads resolves the threads of a pull request, which stand as they began.
func reviewThreads(ctx context.Context, f *exec.Field, o *object) (pages[*review.ThreadPayload], error) {
	media := textMedia(f)
	l := loader[int64, *web.List[*review.ThreadPayload]]{name: "threads", route: "/pulls/comments", media: media,
		key: byNumber}
	return pages[*review.ThreadPayload]{kind: "PullRequestReviewThreadConnection",
		rank: &sortKey[*review.ThreadPayload]{of: func(t *review.ThreadPayload) string { return sortable(t.Root) }},
		many: lists(l, queryOf(ctx).load.Reviews.ListManyThreads),
		node: func(t *review.ThreadPayload) (any, error) { return newThread(o, t, media) }}, nil
}

// newThread is a thread of a pull request. Error: 404 if the caller sees none of its comments.
func newThread(of *object, t *review.ThreadPayload, media string) (*object, error) {
	if t == nil || len(t.Comments) == 0 {
		return nil, errs.Absent()
	}
	return &object{kind: review.ThreadKind, value: t, whole: true, media: media, repo: of.repo, of: of, id: t.Root}, nil
}

// ofThread is pick for threads; first is a thread's first comment.
func ofThread(part func(t *review.ThreadPayload, first *review.ThreadComment) any) exec.Resolver {
	return pick(func(t *review.ThreadPayload) any { return part(t, t.Comments[0]) })
}

func reviewThreadFields() map[string]exec.Resolver {
	type (
		thread  = *review.ThreadPayload
		comment = *review.ThreadComment
	)
	return map[string]exec.Resolver{
		"id":                 ofThread(func(t thread, _ comment) any { return t.NodeID }),
		"path":               ofThread(func(_ thread, c comment) any { return c.Path }),
		"line":               ofThread(func(_ thread, c comment) any { return c.Line }),
		"originalLine":       ofThread(func(_ thread, c comment) any { return c.OriginalLine }),
		"startLine":          ofThread(func(_ thread, c comment) any { return c.StartLine }),
		"originalStartLine":  ofThread(func(_ thread, c comment) any { return c.OriginalStartLine }),
		"diffSide":           ofThread(func(_ thread, c comment) any { return c.Side }),
		"startDiffSide":      ofThread(func(_ thread, c comment) any { return c.StartSide }),
		"subjectType":        ofThread(func(_ thread, c comment) any { return enumName(c.Subject) }),
		"isOutdated":         ofThread(func(_ thread, c comment) any { return c.Outdated }),
		"isResolved":         ofThread(func(t thread, _ comment) any { return t.Resolved }),
		"isCollapsed":        ofThread(func(t thread, _ comment) any { return t.Resolved }),
		"resolvedBy":         ofThread(func(t thread, _ comment) any { return newAccount(t.ResolvedBy) }),
		"viewerCanResolve":   ofThread(func(t thread, _ comment) any { return t.MayResolve && !t.Resolved }),
		"viewerCanUnresolve": ofThread(func(t thread, _ comment) any { return t.MayResolve && t.Resolved }),
		"repository":         inRepository, "pullRequest": parent,
		"viewerCanReply": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return mayJoin(ctx, o.of, o.repo)
		}),
		"comments": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			var all []any
			list := o.value.(thread).Comments
			if skip, ok := f.Args["skip"].(int); ok {
				list = list[min(max(skip, 0), len(list)):]
			}
			for _, c := range list {
				all = append(all, newReviewComment(o.of, c, o.media))
			}
			return connectAll(f, "PullRequestReviewCommentConnection", all)
		}),
	}
}

// mayJoin reports whether the caller may take part in a conversation, which may be locked.
func mayJoin(ctx context.Context, of, in *object) (bool, error) {
	if err := queryOf(ctx).loadOne(ctx, of, isKnown); err != nil || !viewOf(of).Locked {
		return true, err
	}
	role, err := roleOn(ctx, in)
	return role >= account.Push, err
}

// threadsByRoot loads threads by the ids of their first comments.
func threadsByRoot(q *query) loader[int64, *review.ThreadPayload] {
	return loader[int64, *review.ThreadPayload]{name: "threads by root", route: "/pulls/comments", key: byID,
		read: q.load.Reviews.Threads}
}

// threadAt loads the thread that begins with a comment.
func (q *query) threadAt(ctx context.Context, of *object, root int64) (*object, error) {
	at := &object{kind: review.ThreadKind, id: root, repo: of.repo}
	t, err := threadsByRoot(q).get(ctx, q, at)
	if err != nil {
		return nil, err
	}
	return newThread(of, t, "raw")
}
