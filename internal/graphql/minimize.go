package graphql

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue/comment"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// hiddenOf returns why a comment or a review is hidden.
func hiddenOf(o *object) issuekit.Hidden {
	switch v := o.value.(type) {
	case *comment.Payload:
		return v.Hidden
	case *review.ThreadComment:
		return v.Hidden
	case *commitcomment.Shown:
		return v.Hidden
	}
	return o.value.(*review.Payload).Hidden
}

// minimizable returns the fields about hidden comments. GitHub calls them minimized.
func minimizable() map[string]exec.Resolver {
	hidden := func(show func(h issuekit.Hidden) any) exec.Resolver {
		return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) { return show(hiddenOf(o)), nil })
	}
	return map[string]exec.Resolver{
		"isMinimized":       hidden(func(h issuekit.Hidden) any { return h != 0 }),
		"minimizedReason":   hidden(func(h issuekit.Hidden) any { return orNil(h.String()) }),
		"viewerCanMinimize": one(mayMinimize),
	}
}

// mayMinimize resolves whether the caller may hide a comment, or show it again.
func mayMinimize(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	if isPending(o) {
		return false, nil
	}
	if hiddenOf(o) == 0 && didAuthor(ctx, o) {
		return true, nil
	}
	role, err := roleOn(ctx, o.repo)
	return role >= account.Triage, err
}

// isPending reports a review, or a comment of one, that was not submitted.
func isPending(o *object) bool {
	switch v := o.value.(type) {
	case *review.ThreadComment:
		return v.Pending
	case *review.Payload:
		return v.State == "PENDING"
	}
	return false
}

// reviewHidden returns the fields about hidden reviews. Timelines do not know these, so the reviews are loaded.
func reviewHidden() map[string]exec.Resolver {
	fields := after(isWhole, minimizable())
	for name, next := range fields {
		fields[name] = func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			fresh := make([]exec.Object, len(parents))
			for n, o := range objectsOf(parents) {
				fresh[n] = reviewAt(o.of, o.id)
			}
			return next(ctx, f, fresh)
		}
	}
	return fields
}

// minimizeComment hides a comment or a review.
func minimizeComment(ctx context.Context, m *mutation) (map[string]any, error) {
	word := strings.ToLower(strings.ReplaceAll(m.text("classifier"), "_", "-"))
	why, ok := issuekit.ParseHidden(word)
	if !ok {
		return nil, refused("Arbor does not hide comments for the reason " + clip(m.text("classifier")) + ".")
	}
	return m.hide(ctx, "minimizedComment", why)
}

// unminimizeComment shows a comment or a review again.
func unminimizeComment(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.hide(ctx, "unminimizedComment", 0)
}

// hide hides what subjectId names, or shows it again for 0.
func (m *mutation) hide(ctx context.Context, payload string, why issuekit.Hidden) (map[string]any, error) {
	o, err := m.target(ctx, "subjectId", "IssueComment", review.Resource, review.CommentResource, commitcomment.Resource)
	if err != nil {
		return nil, err
	}
	addresses := map[string]string{"IssueComment": "PATCH /repos/{owner}/{repo}/issues/comments/{id}",
		review.Resource:        "PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}",
		review.CommentResource: "PATCH /repos/{owner}/{repo}/pulls/comments/{id}",
		commitcomment.Resource: "PATCH /repos/{owner}/{repo}/comments/{id}"}
	to, a, err := m.change(ctx, o.repo, addresses[o.kind])
	if err == nil {
		err = m.hideText(to, a, o, why)
	}
	if err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{payload: o}, err
}

func (m *mutation) hideText(ctx context.Context, a *repo.Access, o *object, why issuekit.Hidden) error {
	switch v := o.value.(type) {
	case *comment.Payload:
		c, err := m.do.Comments.ByID(ctx, a, o.id)
		if err == nil {
			_, err = m.do.Comments.Hide(ctx, a, c, why)
		}
		return err
	case *review.Payload:
		return m.do.Reviews.Hide(ctx, a, o.of.number, v.ID, why)
	case *commitcomment.Shown:
		return m.load.OnCommits.Hide(ctx, a, v.ID, why)
	}
	c, err := m.do.Reviews.FindComment(ctx, a, o.id)
	if err == nil {
		err = m.do.Reviews.HideComment(ctx, a, c, why)
	}
	return err
}
