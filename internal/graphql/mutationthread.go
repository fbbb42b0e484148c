package graphql

import (
	"cmp"
	"context"

	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// addReviewThread starts a thread in the caller's pending review, and the review if there is none.
func addReviewThread(ctx context.Context, m *mutation) (map[string]any, error) {
	of, err := m.reviewed(ctx)
	if err != nil {
		return nil, err
	}
	fields := renamed(m.input, map[string]string{"body": "body", "path": "path", "line": "line", "side": "side",
		"startLine": "start_line"})
	if m.given("startLine") && m.given("startSide") {
		fields["start_side"] = m.text("startSide")
	}
	if m.text("subjectType") == "FILE" {
		fields["subject_type"] = "file"
	}
	made, err := m.draft(ctx, of, fields)
	if err != nil {
		return nil, err
	}
	thread, err := m.threadOf(ctx, made)
	return map[string]any{"thread": thread}, err
}

// reviewed returns the pull request that an input names, directly or by one of its reviews.
func (m *mutation) reviewed(ctx context.Context) (*object, error) {
	if !m.given("pullRequestReviewId") {
		return m.target(ctx, "pullRequestId", "PullRequest")
	}
	v, err := m.target(ctx, "pullRequestReviewId", review.Resource)
	if err != nil {
		return nil, err
	}
	if v.value.(*review.Payload).State != "PENDING" {
		return nil, refused("The review was submitted.")
	}
	return v.of, nil
}

// draft adds a comment to the caller's pending review. Without another commit it is about the head.
func (m *mutation) draft(ctx context.Context, of *object, fields map[string]any) (*object, error) {
	if fields["commit_id"] == nil {
		p, err := pullOf(ctx, of)
		if err != nil {
			return nil, err
		}
		fields["commit_id"] = string(p.Head.SHA)
	}
	return m.addReviewComment(ctx, of, func() (review.NewComment, error) {
		body, err := bodyOf(review.CommentResource, fields)
		if err != nil {
			return review.NewComment{}, err
		}
		n, err := review.ReadComment(body)
		n.Pending = true
		return n, err
	})
}

// addReviewComment adds a comment to a pull request and returns it.
func (m *mutation) addReviewComment(
	ctx context.Context, of *object, read func() (review.NewComment, error),
) (*object, error) {
	var made *review.Comment
	err := m.setPull(ctx, of, "POST /repos/{owner}/{repo}/pulls/{number}/comments",
		func(ctx context.Context, a *repo.Access, number int64) error {
			n, err := read()
			if err == nil {
				made, err = m.do.Reviews.AddComment(ctx, a, number, n)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	o, err := m.shown(ctx, review.CommentResource, of.repo, spot{}, made.ID)
	if err == nil {
		o.of = of
	}
	return o, err
}

// reply adds a comment to a thread: to the caller's pending review if the input names it, else at once.
func (m *mutation) reply(ctx context.Context, of *object, to int64) (*object, error) {
	n := review.NewComment{Text: issue.NewText(m.text("body")), ReplyTo: to}
	if m.given("pullRequestReviewId") {
		if _, err := m.reviewed(ctx); err != nil {
			return nil, err
		}
		n.Pending = true
	}
	return m.addReviewComment(ctx, of, func() (review.NewComment, error) { return n, nil })
}

func addThreadReply(ctx context.Context, m *mutation) (map[string]any, error) {
	thread, err := m.target(ctx, "pullRequestReviewThreadId", review.ThreadKind)
	if err != nil {
		return nil, err
	}
	made, err := m.reply(ctx, thread.of, thread.id)
	return map[string]any{"comment": made}, err
}

// threadOf returns the thread of a comment.
func (m *mutation) threadOf(ctx context.Context, made *object) (*object, error) {
	c := made.value.(*review.ThreadComment)
	return m.threadAt(ctx, made.of, cmp.Or(c.ReplyTo, c.ID))
}

func addReviewComment(ctx context.Context, m *mutation) (map[string]any, error) {
	var made *object
	if m.given("inReplyTo") {
		to, err := m.target(ctx, "inReplyTo", review.CommentResource)
		if err != nil {
			return nil, err
		}
		if made, err = m.reply(ctx, to.of, byID(to)); err != nil {
			return nil, err
		}
	} else {
		of, err := m.reviewed(ctx)
		if err != nil {
			return nil, err
		}
		made, err = m.draft(ctx, of, renamed(m.input, map[string]string{"body": "body", "path": "path",
			"position": "position", "commitOID": "commit_id"}))
		if err != nil {
			return nil, err
		}
	}
	return map[string]any{"comment": made,
		"commentEdge": &edge{kind: "PullRequestReviewCommentEdge", node: made,
			cursor: cursor{1, sortable(made.id) + " "}.String()}}, nil
}

func updateReviewComment(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.actShown(ctx, "pullRequestReviewComment", "pullRequestReviewCommentId", review.CommentResource,
		"PATCH /repos/{owner}/{repo}/pulls/comments/{id}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			c, err := m.do.Reviews.FindComment(ctx, a, byID(o))
			if err == nil {
				_, err = m.do.Reviews.EditComment(ctx, a, c, issue.NewText(m.text("body")))
			}
			return err
		})
}

// deleteReviewComment deletes a comment and returns it as it was.
func deleteReviewComment(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.act(ctx, "id", review.CommentResource, "DELETE /repos/{owner}/{repo}/pulls/comments/{id}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			c, err := m.do.Reviews.FindComment(ctx, a, byID(o))
			if err == nil {
				err = m.do.Reviews.DeleteComment(ctx, a, c)
			}
			return err
		})
	return map[string]any{"pullRequestReviewComment": o}, err
}

func resolveThread(ctx context.Context, m *mutation) (map[string]any, error) {
	return setResolved(ctx, m, true)
}

func unresolveThread(ctx context.Context, m *mutation) (map[string]any, error) {
	return setResolved(ctx, m, false)
}

func setResolved(ctx context.Context, m *mutation, resolved bool) (map[string]any, error) {
	thread, err := m.act(ctx, "threadId", review.ThreadKind, "PATCH /repos/{owner}/{repo}/pulls/comments/{id}",
		func(ctx context.Context, a *repo.Access, thread *object) error {
			c, err := m.do.Reviews.FindComment(ctx, a, thread.id)
			if err == nil {
				err = m.do.Reviews.Resolve(ctx, a, c, resolved)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	fresh, err := m.threadAt(ctx, thread.of, thread.id)
	return map[string]any{"thread": fresh}, err
}
