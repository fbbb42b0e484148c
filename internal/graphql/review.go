package graphql

import (
	"context"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

func reviewRequests(ctx context.Context, f *exec.Field, o *object) (any, error) {
	list, err := o.list(ctx, "requested_reviewers")
	if err != nil {
		return nil, err
	}
	all := make([]any, len(list))
	for n, data := range list {
		all[n] = bare{"ReviewRequest", map[string]any{"requestedReviewer": newAccount(data)}}
	}
	return connectAll(f, "ReviewRequestConnection", all)
}

// reviewsOf is where a pull request's reviews are.
func reviewsOf(o *object, media string) Question {
	return Question{Path: o.repo.path("pulls", string(o.data.get("number")), "reviews"), Media: media}
}

func newReview(in, of *object, data payload, media string) *object {
	return &object{kind: "PullRequestReview", data: data, whole: true, repo: in, of: of,
		source: source{Path: reviewsOf(of, media).Path + "/" + string(data.get("id")), Media: media}}
}

func reviews(ctx context.Context, f *exec.Field, o *object) (any, error) {
	media := textMedia(f)
	q := queryOf(ctx)
	of := reviewLists(q, f)
	return q.connect(ctx, f, pages{kind: "PullRequestReviewConnection", many: of, of: o, rank: byID(false),
		node: func(data payload) (any, error) { return newReview(o.repo, o, data, media), nil }})
}

// reviewLists are the reviews of pull requests.
func reviewLists(q *query, f *exec.Field) listLoader[int64] {
	return lists(loader[int64, *web.List[payload]]{name: "reviews", route: "/pulls", media: textMedia(f),
		key: byNumber}, q.load.Reviews.ListMany)
}

// mostReviews is how many hundreds of reviews are looked through for the latest.
const mostReviews = 10

// latestReviews are the last reviews of each author, in the order of the first.
func latestReviews(ctx context.Context, f *exec.Field, o *object) (any, error) {
	all, err := latestOf(ctx, f, o, func(*object) bool { return true })
	if err != nil {
		return nil, err
	}
	return connectAll(f, "PullRequestReviewConnection", all)
}

// latestOpinionatedReviews are the last reviews of each author that approve, or ask for changes.
func latestOpinionatedReviews(ctx context.Context, f *exec.Field, o *object) (any, error) {
	all, err := latestOf(ctx, f, o, func(v *object) bool {
		return hasOpinion(v) && (f.Args["writersOnly"] != true || byWriter(v))
	})
	if err != nil {
		return nil, err
	}
	return connectAll(f, "PullRequestReviewConnection", all)
}

// latestOf are the last reviews of each author among those that count, in the order of the first.
func latestOf(
	ctx context.Context, f *exec.Field, o *object, counts func(v *object) bool,
) (all []any, err error) {
	media := textMedia(f)
	q := queryOf(ctx)
	list, err := reviewLists(q, f).all(ctx, q, o, mostReviews)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, data := range list {
		v := newReview(o.repo, o, data, media)
		if textOf(v.data, "state") == "PENDING" || !counts(v) {
			continue
		}
		author, err := v.inner(ctx, "user")
		if err != nil {
			return nil, err
		}
		n, there := at[textOf(author, "login")]
		if !there {
			at[textOf(author, "login")] = len(all)
			all = append(all, v)
			continue
		}
		all[n] = v
	}
	return all, nil
}

// hasOpinion reports a review that approves, asks for changes, or did until it was dismissed.
func hasOpinion(v *object) bool { return textOf(v.data, "state") != "COMMENTED" }

// byWriter reports a review of somebody whose word counts in the repository.
func byWriter(v *object) bool {
	switch textOf(v.data, "author_association") {
	case "OWNER", "MEMBER", "COLLABORATOR":
		return true
	}
	return false
}

// reviewDecision is what the last opinions of those come to whose word counts; null where nobody has one,
// since nothing requires reviews.
func reviewDecision(ctx context.Context, f *exec.Field, o *object) (any, error) {
	all, err := latestOf(ctx, f, o, func(v *object) bool { return hasOpinion(v) && byWriter(v) })
	if err != nil {
		return nil, err
	}
	var decision any
	for _, v := range all {
		switch textOf(v.(*object).data, "state") {
		case "CHANGES_REQUESTED":
			return "CHANGES_REQUESTED", nil
		case "APPROVED":
			decision = "APPROVED"
		}
	}
	return decision, nil
}

// reviewsByID loads reviews of which only the ids are at hand.
func reviewsByID(q *query, _ *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "reviews by id", route: "/pulls/0/reviews", key: byIdentity}
	return full(l, q.load.Reviews.ByIDs)
}

func reviewFields() map[string]exec.Resolver {
	fields := merge(commented(), map[string]exec.Resolver{
		"comments": listed(reviewCommentLists, true, one(reviewComments)), "pullRequest": ofPull,
		"state": upper("state"), "submittedAt": same("submitted_at"),
		"createdAt": same("submitted_at"), "updatedAt": same("submitted_at"),
		"commit": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			sha := o.text(ctx, "commit_id")
			if sha == "" {
				return nil, nil
			}
			return gitObject(o.repo, "commit", sha), nil
		}),
	})
	for name, r := range fields {
		if name != "id" && name != "databaseId" {
			fields[name] = filled(reviewsByID, anyObject, r)
		}
	}
	return fields
}
