package graphql

import (
	"context"
	"net/http"
)

// submitReview publishes a review that its author has begun: that of an id, or the one of a pull request.
func submitReview(ctx context.Context, m *mutation) (map[string]any, error) {
	v, err := m.begunReview(ctx)
	if err != nil {
		return nil, err
	}
	if m.text("event") == "DISMISS" {
		return nil, refused("A review that is not submitted cannot be dismissed.")
	}
	body := map[string]any{"event": m.text("event")}
	m.copy(body, "body", "body")
	return m.changeReview(ctx, v, http.MethodPost, "/events", body)
}

// begunReview finds the review that is to be submitted.
func (m *mutation) begunReview(ctx context.Context) (*object, error) {
	if m.given("pullRequestReviewId") {
		return m.target(ctx, "pullRequestReviewId", "PullRequestReview")
	}
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	list, err := m.all(ctx, reviewsOf(o, "raw"), 100)
	if err != nil {
		return nil, err
	}
	for _, data := range list {
		if textOf(data, "state") == "PENDING" { // others' are not shown
			return newReview(o.repo, o, data, "raw"), nil
		}
	}
	return nil, unresolved("a review of yours that is not submitted")
}

// changeReview asks for a change below a review's address.
func (m *mutation) changeReview(ctx context.Context, v *object, method, below string,
	body map[string]any) (map[string]any, error) {
	data, err := m.change(ctx, method, v.source.Path+below, body)
	if err != nil {
		return nil, err
	}
	return map[string]any{"pullRequestReview": newReview(v.repo, v.of, data, "raw")}, nil
}

func updateReview(ctx context.Context, m *mutation) (map[string]any, error) {
	v, err := m.target(ctx, "pullRequestReviewId", "PullRequestReview")
	if err != nil {
		return nil, err
	}
	return m.changeReview(ctx, v, http.MethodPut, "", map[string]any{"body": m.text("body")})
}

func deleteReview(ctx context.Context, m *mutation) (map[string]any, error) {
	v, err := m.target(ctx, "pullRequestReviewId", "PullRequestReview")
	if err != nil {
		return nil, err
	}
	return m.changeReview(ctx, v, http.MethodDelete, "", nil)
}

func dismissReview(ctx context.Context, m *mutation) (map[string]any, error) {
	v, err := m.target(ctx, "pullRequestReviewId", "PullRequestReview")
	if err != nil {
		return nil, err
	}
	return m.changeReview(ctx, v, http.MethodPut, "/dismissals", map[string]any{"message": m.text("message")})
}
