package graphql

import (
	"context"
	"encoding/json"
	"net/http"
)

// addReviewThread starts a thread in the caller's pending review, and the review if there is none.
func addReviewThread(ctx context.Context, m *mutation) (map[string]any, error) {
	of, err := m.reviewed(ctx)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"body": m.text("body")}
	for name, as := range map[string]string{"path": "path", "line": "line", "side": "side",
		"startLine": "start_line"} {
		m.copy(body, name, as)
	}
	if m.given("startLine") {
		m.copy(body, "startSide", "start_side")
	}
	if m.text("subjectType") == "FILE" {
		body["subject_type"] = "file"
	}
	made, err := m.draft(ctx, of, body)
	if err != nil {
		return nil, err
	}
	thread, err := m.threadOf(ctx, of, made.data)
	return map[string]any{"thread": thread}, err
}

// reviewed returns the pull request that an input names, directly or by one of its reviews.
func (m *mutation) reviewed(ctx context.Context) (*object, error) {
	if !m.given("pullRequestReviewId") {
		return m.target(ctx, "pullRequestId", "PullRequest")
	}
	v, err := m.target(ctx, "pullRequestReviewId", "PullRequestReview")
	if err != nil {
		return nil, err
	}
	if v.text(ctx, "state") != "PENDING" {
		return nil, refused("The review was submitted.")
	}
	return v.of, nil
}

// draft adds a comment to the caller's pending review.
func (m *mutation) draft(ctx context.Context, of *object, body map[string]any) (*object, error) {
	if body["in_reply_to"] == nil && body["commit_id"] == nil {
		head, err := of.inner(ctx, "head")
		if err != nil {
			return nil, err
		}
		body["commit_id"] = textOf(head, "sha")
	}
	data, err := m.changeBy(ctx, Question{Method: http.MethodPost, Path: numbered(of, "pulls", "comments"),
		Handler: m.with.AddDraft}, body)
	if err != nil {
		return nil, err
	}
	return newReviewComment(of, data, "raw"), nil
}

// reply adds a comment to a thread: to the caller's pending review if the input names it, else at once.
func (m *mutation) reply(ctx context.Context, of *object, to json.RawMessage) (*object, error) {
	body := map[string]any{"body": m.text("body"), "in_reply_to": to}
	if m.given("pullRequestReviewId") {
		if _, err := m.reviewed(ctx); err != nil {
			return nil, err
		}
		return m.draft(ctx, of, body)
	}
	data, err := m.change(ctx, http.MethodPost, numbered(of, "pulls", "comments"), body)
	if err != nil {
		return nil, err
	}
	return newReviewComment(of, data, "raw"), nil
}

func addThreadReply(ctx context.Context, m *mutation) (map[string]any, error) {
	thread, err := m.target(ctx, "pullRequestReviewThreadId", "PullRequestReviewThread")
	if err != nil {
		return nil, err
	}
	comments, err := objectsIn(thread.data.get("comments"))
	if err != nil {
		return nil, err
	}
	made, err := m.reply(ctx, thread.of, comments[0].get("id"))
	return map[string]any{"comment": made}, err
}

func addReviewComment(ctx context.Context, m *mutation) (map[string]any, error) {
	var made *object
	if m.given("inReplyTo") {
		to, err := m.target(ctx, "inReplyTo", "PullRequestReviewComment")
		if err != nil {
			return nil, err
		}
		if made, err = m.reply(ctx, to.of, to.data.get("id")); err != nil {
			return nil, err
		}
	} else {
		of, err := m.reviewed(ctx)
		if err != nil {
			return nil, err
		}
		body := map[string]any{"body": m.text("body")}
		m.copy(body, "path", "path")
		m.copy(body, "position", "position")
		m.copy(body, "commitOID", "commit_id")
		if made, err = m.draft(ctx, of, body); err != nil {
			return nil, err
		}
	}
	return map[string]any{"comment": made,
		"commentEdge": &edge{kind: "PullRequestReviewCommentEdge", node: made,
			cursor: cursor{1, byID(false).of(made.data)}.String()}}, nil
}

func updateReviewComment(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestReviewCommentId", "PullRequestReviewComment")
	if err != nil {
		return nil, err
	}
	data, err := m.change(ctx, http.MethodPatch, o.source.Path, map[string]any{"body": m.text("body")})
	if err != nil {
		return nil, err
	}
	return map[string]any{"pullRequestReviewComment": newReviewComment(o.of, data, "raw")}, nil
}

func deleteReviewComment(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "PullRequestReviewComment")
	if err != nil {
		return nil, err
	}
	_, err = m.change(ctx, http.MethodDelete, o.source.Path, nil)
	return map[string]any{"pullRequestReviewComment": o}, err
}

func resolveThread(ctx context.Context, m *mutation) (map[string]any, error) {
	return setResolved(ctx, m, true)
}

func unresolveThread(ctx context.Context, m *mutation) (map[string]any, error) {
	return setResolved(ctx, m, false)
}

func setResolved(ctx context.Context, m *mutation, resolved bool) (map[string]any, error) {
	thread, err := m.target(ctx, "threadId", "PullRequestReviewThread")
	if err != nil {
		return nil, err
	}
	comments, err := objectsIn(thread.data.get("comments"))
	if err != nil {
		return nil, err
	}
	id, _ := decode(comments[0].get("id")).(json.Number).Int64()
	question := Question{Method: http.MethodPatch, Path: thread.repo.path("pulls", "comments", decimal(id)),
		Handler: m.with.Resolve}
	if _, err := m.changeBy(ctx, question, map[string]any{"resolved": resolved}); err != nil {
		return nil, err
	}
	fresh, err := m.threadOf(ctx, thread.of, comments[0])
	return map[string]any{"thread": fresh}, err
}
