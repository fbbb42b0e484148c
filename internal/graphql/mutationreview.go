package graphql

import (
	"context"
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

func addPullRequestReview(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	if m.text("event") == "DISMISS" {
		return nil, refused("A new review cannot be dismissed.")
	}
	var made *review.Review
	err = m.setPull(ctx, o, "POST /repos/{owner}/{repo}/pulls/{number}/reviews",
		func(ctx context.Context, a *repo.Access, number int64) error {
			p, i, err := m.do.Pulls.Find(ctx, a, number)
			if err != nil {
				return err
			}
			n, err := m.newReview()
			if err == nil {
				made, err = m.do.Reviews.Create(ctx, a, p, i, n)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	return m.reviewPayload(ctx, o, made)
}

// newReview returns the review that an input describes.
func (m *mutation) newReview() (review.NewReview, error) {
	fields := renamed(m.input, map[string]string{"body": "body", "event": "event", "commitOID": "commit_id"})
	if list := m.drafts(); len(list) > 0 {
		fields["comments"] = list
	}
	body, err := bodyOf(review.Resource, fields)
	if err != nil {
		return review.NewReview{}, err
	}
	return review.ReadReview(body)
}

// bodyOf returns fields as an object that features decode.
func bodyOf(resource string, fields map[string]any) (*web.Object, error) {
	b, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return web.ParseObject(b, resource)
}

// draftPlaces are REST's names of what comments say that a review is made with, by input.
var draftPlaces = [...]struct {
	input  string
	fields map[string]string
}{
	{"comments", map[string]string{"body": "body", "path": "path", "position": "position"}},
	{"threads", map[string]string{"body": "body", "path": "path", "line": "line", "side": "side",
		"startLine": "start_line",
		"startSide": "start_side"}},
}

// drafts are the comments that a review is made with.
func (m *mutation) drafts() (list []map[string]any) {
	for _, kind := range draftPlaces {
		given, _ := m.input[kind.input].([]any)
		for _, v := range given {
			fields := renamed(v, kind.fields)
			if fields["start_line"] == nil {
				delete(fields, "start_side")
			}
			list = append(list, fields)
		}
	}
	return list
}

func (m *mutation) reviewPayload(ctx context.Context, of *object, v *review.Review) (map[string]any, error) {
	o, err := m.shown(ctx, review.Resource, of.repo, spot{number: byNumber(of)}, v.ID)
	if o != nil {
		o.of = of
	}
	return map[string]any{"pullRequestReview": o}, err
}

// changeReview changes a review by an operation, with the access that the route at the address grants.
func (m *mutation) changeReview(ctx context.Context, v *object, address string,
	change func(ctx context.Context, a *repo.Access, i *issue.Issue, id int64) (*review.Review, error),
) (map[string]any, error) {
	var changed *review.Review
	err := m.setPull(ctx, v.of, address, func(ctx context.Context, a *repo.Access, number int64) error {
		_, i, err := m.do.Pulls.Find(ctx, a, number)
		if err == nil {
			changed, err = change(ctx, a, i, byID(v))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m.reviewPayload(ctx, v.of, changed)
}

// submitReview publishes a review that its author has begun: that of an id, or the one of a pull request.
func submitReview(ctx context.Context, m *mutation) (map[string]any, error) {
	v, err := m.begunReview(ctx)
	if err != nil {
		return nil, err
	}
	if m.text("event") == "DISMISS" {
		return nil, refused("A review that is not submitted cannot be dismissed.")
	}
	return m.changeReview(ctx, v, "POST /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/events",
		func(ctx context.Context, a *repo.Access, i *issue.Issue, id int64) (*review.Review, error) {
			state, err := review.ParseEvent(m.text("event"))
			if err != nil {
				return nil, err
			}
			return m.do.Reviews.Submit(ctx, a, i, id, state, review.NewSummary(m.text("body")))
		})
}

// begunReview finds the review that is to be submitted.
func (m *mutation) begunReview(ctx context.Context) (*object, error) {
	if m.given("pullRequestReviewId") {
		return m.target(ctx, "pullRequestReviewId", review.Resource)
	}
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	to, a, err := m.access(ctx, o.repo, "GET /repos/{owner}/{repo}/pulls/{number}/reviews", account.Pull)
	if err != nil {
		return nil, err
	}
	_, i, err := m.do.Pulls.Find(to, a, byNumber(o))
	if err != nil {
		return nil, err
	}
	p, err := m.do.Reviews.Progress(to, a, i)
	if err != nil {
		return nil, err
	}
	if p.Pending == 0 {
		return nil, unresolved("a review of yours that is not submitted")
	}
	return reviewAt(o, p.Pending), nil
}

func updateReview(ctx context.Context, m *mutation) (map[string]any, error) {
	v, err := m.target(ctx, "pullRequestReviewId", review.Resource)
	if err != nil {
		return nil, err
	}
	return m.changeReview(ctx, v, "PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}",
		func(ctx context.Context, a *repo.Access, i *issue.Issue, id int64) (*review.Review, error) {
			return m.do.Reviews.Edit(ctx, a, i, id, issue.NewText(m.text("body")))
		})
}

// deleteReview deletes a review that is not submitted, and returns it as it was.
func deleteReview(ctx context.Context, m *mutation) (map[string]any, error) {
	v, err := m.act(ctx, "pullRequestReviewId", review.Resource,
		"DELETE /repos/{owner}/{repo}/pulls/{number}/reviews/{id}",
		func(ctx context.Context, a *repo.Access, v *object) error {
			_, i, err := m.do.Pulls.Find(ctx, a, byNumber(v.of))
			if err == nil {
				_, err = m.do.Reviews.Delete(ctx, a, i, byID(v))
			}
			return err
		})
	return map[string]any{"pullRequestReview": v}, err
}

func dismissReview(ctx context.Context, m *mutation) (map[string]any, error) {
	v, err := m.target(ctx, "pullRequestReviewId", review.Resource)
	if err != nil {
		return nil, err
	}
	return m.changeReview(ctx, v, "PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals",
		func(ctx context.Context, a *repo.Access, i *issue.Issue, id int64) (*review.Review, error) {
			return m.do.Reviews.Dismiss(ctx, a, i, id, m.text("message"))
		})
}
