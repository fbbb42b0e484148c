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

func newReview(in, of *object, data payload, media string) *object {
	return &object{kind: "PullRequestReview", data: data, whole: true, repo: in, of: of,
		source: source{Path: of.repo.path("pulls", numberOf(of), "reviews", string(data.get("id"))), Media: media}}
}

func reviews(ctx context.Context, f *exec.Field, o *object) (pages, error) {
	media := textMedia(f)
	return pages{kind: "PullRequestReviewConnection", many: reviewLists(queryOf(ctx), f), rank: byID(false),
		node: func(data payload) (any, error) { return newReview(o.repo, o, data, media), nil }}, nil
}

// reviewLists loads the reviews of pull requests.
func reviewLists(q *query, f *exec.Field) listLoader[int64] {
	return lists(loader[int64, *web.List[payload]]{name: "reviews", route: "/pulls/{number}/reviews",
		media: textMedia(f), key: byNumber}, q.load.Reviews.ListMany)
}

// withReviews returns a resolver that first loads all reviews of the pull requests.
func withReviews(next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		reviewLists(q, f).loadAll(ctx, q, objectsOf(parents), mostReviews)
		return next(ctx, f, parents)
	}
}

// mostReviews limits how many hundreds of reviews are searched for the latest.
const mostReviews = 10

// latestReviews resolves the last review of each author, in the order of the first.
func latestReviews(ctx context.Context, f *exec.Field, o *object) (any, error) {
	all, err := latestOf(ctx, f, o, func(*object) bool { return true })
	if err != nil {
		return nil, err
	}
	return connectAll(f, "PullRequestReviewConnection", all)
}

// latestOpinionatedReviews resolves the last review of each author that approves or requests changes.
func latestOpinionatedReviews(ctx context.Context, f *exec.Field, o *object) (any, error) {
	all, err := latestOf(ctx, f, o, func(v *object) bool {
		return hasOpinion(v) && (f.Args["writersOnly"] != true || byWriter(v))
	})
	if err != nil {
		return nil, err
	}
	return connectAll(f, "PullRequestReviewConnection", all)
}

// latestOf returns the last counted review of each author, in the order of the first.
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

// hasOpinion reports whether a review approves or requests changes, or did until it was dismissed.
func hasOpinion(v *object) bool { return textOf(v.data, "state") != "COMMENTED" }

// byWriter reports whether the author of a review has write access to the repository.
func byWriter(v *object) bool {
	switch textOf(v.data, "author_association") {
	case "OWNER", "MEMBER", "COLLABORATOR":
		return true
	}
	return false
}

// reviewDecision resolves the combined last opinions of those with write access. It is null if nobody has
// one, because nothing requires reviews.
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

// reviewsByID loads reviews by id.
func reviewsByID(q *query, o *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "reviews by id", route: "/pulls/{number}/reviews/{id}", media: o.source.Media,
		key: byIdentity}
	return full(l, q.load.Reviews.ByIDs)
}

func reviewFields() map[string]exec.Resolver {
	fields := merge(commented(), map[string]exec.Resolver{
		"comments": connections(reviewComments), "pullRequest": ofPull,
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
