package graphql

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// threadsOf is where the threads of a pull request are.
func (q *query) threadsOf(o *object, media string) Question {
	return Question{Path: o.repo.path("pulls", numberOf(o), "comments"), Query: url.Values{"of": {"threads"}}, Media: media,
		Handler: q.with.Threads}
}

// manyThreads asks for the threads of many pull requests.
func manyThreads(q *query, f *exec.Field) many {
	media := textMedia(f)
	return many{path: "/pulls/comments", handler: q.with.ManyThreads, keys: "numbers", key: numberOf, media: media,
		question: func(o *object) Question { return q.threadsOf(o, media) }}
}

func reviewThreads(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q, media := queryOf(ctx), textMedia(f)
	return q.connect(ctx, f, pages{kind: "PullRequestReviewThreadConnection", question: q.threadsOf(o, media),
		total: q.totalOf(ctx, f, q.threadsOf(o, media)),
		node:  func(data payload) (any, error) { return newThread(o, data, media) }})
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
	for _, name := range [...]string{"path", "line", "original_line", "start_line", "original_start_line", "side", "start_side",
		"subject_type", "outdated"} {
		data = data.with(name, comments[0].get(name))
	}
	as, _ := json.Marshal(media)
	return &object{kind: "PullRequestReviewThread", data: data.with("media", as), whole: true, repo: of.repo, of: of}, nil
}

func reviewThreadFields() map[string]exec.Resolver {
	may := func(resolve bool) exec.Resolver {
		return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return string(o.data.get("may_resolve")) == "true" && (string(o.data.get("resolved")) == "true") != resolve, nil
		})
	}
	return map[string]exec.Resolver{
		"id": same("node_id"), "path": same("path"), "line": same("line"), "originalLine": same("original_line"),
		"startLine": same("start_line"), "originalStartLine": same("original_start_line"), "diffSide": same("side"),
		"startDiffSide": same("start_side"), "subjectType": upper("subject_type"), "isOutdated": same("outdated"),
		"isResolved": same("resolved"), "isCollapsed": same("resolved"), "resolvedBy": accountField("resolved_by"),
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

// newReviewComment is a comment on a line of a pull request.
func newReviewComment(of *object, data payload, media string) *object {
	return &object{kind: "PullRequestReviewComment", data: data, whole: true, repo: of.repo, of: of,
		source: Question{Path: of.repo.path("pulls", "comments", string(data.get("id"))), Media: media}}
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
	return merge(commented(), map[string]exec.Resolver{
		"fullDatabaseId": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			id, err := o.member(ctx, "id")
			return string(id), err
		}),
		"path": same("path"), "diffHunk": same("diff_hunk"), "position": same("position"), "line": same("line"),
		"originalLine": same("original_line"), "startLine": same("start_line"), "originalStartLine": same("original_start_line"),
		"originalPosition": orZero("original_position"), "subjectType": upper("subject_type"),
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
}

// orZero is same for a number that is never null.
func orZero(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		if v == nil {
			v = 0
		}
		return v, err
	})
}

// pendingComment reports a comment that its author alone sees. REST does not tell, and lists none.
func pendingComment(ctx context.Context, o *object) (bool, error) {
	if raw, ok := o.data.find("pending"); ok {
		return string(raw) == "true", nil
	}
	question := o.source
	question.Handler = queryOf(ctx).with.DraftComment
	data, err := queryOf(ctx).object(ctx, question)
	return string(data.get("pending")) == "true", err
}

// withID is a payload of which only the id is at hand.
func withID(kind string, id int64) payload {
	node, _ := json.Marshal(account.NodeID(kind, id))
	return payload{}.with("id", json.RawMessage(decimal(id))).with("node_id", node)
}

// reviewAt is a review of which only the id is at hand.
func reviewAt(of *object, id int64) *object {
	o := newReview(of.repo, of, withID(review.Resource, id), "raw")
	o.whole = false
	return o
}

// commentAt is a comment on a line of which only the id is at hand.
func commentAt(of *object, id int64) *object {
	o := newReviewComment(of, withID(review.CommentResource, id), "raw")
	o.whole = false
	return o
}

// reviewComments are the comments that a review was made with.
func reviewComments(ctx context.Context, f *exec.Field, o *object) (any, error) {
	media := textMedia(f)
	q := queryOf(ctx)
	return q.connect(ctx, f, pages{kind: "PullRequestReviewCommentConnection", question: commentsOfReview(o, media),
		total: q.totalOf(ctx, f, commentsOfReview(o, media)),
		node:  func(data payload) (any, error) { return newReviewComment(o.of, data, media), nil }})
}

func commentsOfReview(o *object, media string) Question {
	return Question{Path: o.source.Path + "/comments", Media: media}
}

func manyOfReviews(q *query, f *exec.Field) many {
	media := textMedia(f)
	return many{path: "/pulls/comments", handler: q.with.OfReviews, keys: "ids", media: media,
		key:      func(o *object) string { return string(o.data.get("id")) },
		question: func(o *object) Question { return commentsOfReview(o, media) }}
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
	data, err := q.object(ctx, Question{Path: of.repo.path("pulls", "comments", decimal(comment)), Handler: q.with.Thread,
		Query: url.Values{"of": {"thread"}}})
	if err != nil {
		return nil, err
	}
	return newThread(of, data, "raw")
}

// addReviewThread begins a thread in the caller's pending review, which is begun where there is none.
func addReviewThread(ctx context.Context, m *mutation) (map[string]any, error) {
	of, err := m.reviewed(ctx)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"body": m.text("body")}
	for name, as := range map[string]string{"path": "path", "line": "line", "side": "side", "startLine": "start_line"} {
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
	id, _ := decode(made.data.get("id")).(json.Number).Int64()
	thread, err := m.threadAt(ctx, of, id)
	return map[string]any{"thread": thread}, err
}

// reviewed is the pull request that an input names, by itself or by a review of it.
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

// draft makes a comment that waits in the caller's pending review.
func (m *mutation) draft(ctx context.Context, of *object, body map[string]any) (*object, error) {
	if body["in_reply_to"] == nil && body["commit_id"] == nil {
		head, err := of.inner(ctx, "head")
		if err != nil {
			return nil, err
		}
		body["commit_id"] = textOf(head, "sha")
	}
	data, err := m.changeBy(ctx, Question{Method: http.MethodPost, Path: numbered(of, "pulls", "comments"), Handler: m.with.AddDraft}, body)
	if err != nil {
		return nil, err
	}
	return newReviewComment(of, data, "raw"), nil
}

// reply answers in a thread: in the caller's pending review where the input names it, else at once.
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
	return map[string]any{"comment": made, "commentEdge": &edge{kind: "PullRequestReviewCommentEdge", node: made, cursor: cursorOf(1)}}, nil
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
	question := Question{Method: http.MethodPatch, Path: thread.repo.path("pulls", "comments", decimal(id)), Handler: m.with.Resolve}
	if _, err := m.changeBy(ctx, question, map[string]any{"resolved": resolved}); err != nil {
		return nil, err
	}
	fresh, err := m.threadAt(ctx, thread.of, id)
	return map[string]any{"thread": fresh}, err
}
