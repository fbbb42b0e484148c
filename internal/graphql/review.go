package graphql

import (
	"context"
	"encoding/base64"
	"slices"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/pull"
	"arbor/internal/review"
	"arbor/internal/rule"
	"arbor/internal/team"
	"arbor/internal/web"
)

func reviewRequests(ctx context.Context, f *exec.Field, o *object) (any, error) {
	v := o.value.(*pull.View)
	var all []any
	for n, who := range persons(ctx, v.Reviewers) {
		all = append(all, requestOf(o, who, v.Reviewers[n].Login, v.Owners[v.Reviewers[n].ID]))
	}
	for _, t := range v.Teams {
		all = append(all, requestOf(o, newTeam(t), t.Slug, v.OwningTeams[t.ID]))
	}
	return connectAll(f, "ReviewRequestConnection", all)
}

// requestOf returns the request to somebody with a name for a review. It has no id of its own.
func requestOf(of *object, reviewer any, name string, owner bool) any {
	id := base64.RawURLEncoding.EncodeToString([]byte(account.NodeID("ReviewRequest", of.id) + ":" + name))
	return bare{"ReviewRequest", map[string]any{"id": id, "requestedReviewer": reviewer, "asCodeOwner": owner,
		"pullRequest": of}}
}

// viewersRequest resolves the request to the caller for a review.
func viewersRequest(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	v := o.value.(*pull.View)
	for n, who := range v.Reviewers {
		if who.Login == viewer(ctx).Login {
			return requestOf(o, person(ctx, v.Reviewers[n]), who.Login, v.Owners[who.ID]), nil
		}
	}
	return nil, nil
}

// viewersReview resolves the caller's latest review.
func viewersReview(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q := queryOf(ctx)
	list, err := reviewLists(q, f).all(ctx, q, o, mostReviews)
	for _, v := range slices.Backward(list) {
		if loginOf(v.User) == viewer(ctx).Login {
			return newReview(o, v, textMedia(f)), err
		}
	}
	return nil, err
}

// newReview returns a review of a pull request.
func newReview(of *object, v *review.Payload, media string) *object {
	return &object{kind: "PullRequestReview", value: v, whole: true, id: v.ID, media: media, repo: of.repo, of: of}
}

// reviewAt returns a review by id.
func reviewAt(of *object, id int64) *object {
	return &object{kind: "PullRequestReview", id: id, media: "raw", repo: of.repo, of: of}
}

// reviews resolves the reviews of pull requests, or those of an author or in some states.
func reviews(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	states, some := f.Args["states"].([]any)
	author, by := f.Args["author"].(string)
	if !some && !by {
		return connections(allReviews)(ctx, f, parents)
	}
	return withReviews(one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		q, media := queryOf(ctx), textMedia(f)
		list, err := reviewLists(q, f).all(ctx, q, o, mostReviews)
		var all []any
		for _, v := range list {
			if (!by || account.Fold(loginOf(v.User)) == account.Fold(author)) &&
				(!some || slices.Contains(states, any(enumName(v.State)))) {
				all = append(all, newReview(o, v, media))
			}
		}
		if err != nil {
			return nil, err
		}
		return connectAll(f, "PullRequestReviewConnection", all)
	}))(ctx, f, parents)
}

func allReviews(ctx context.Context, f *exec.Field, o *object) (pages[*review.Payload], error) {
	media := textMedia(f)
	return pages[*review.Payload]{kind: "PullRequestReviewConnection", many: reviewLists(queryOf(ctx), f),
		rank: rankByID(func(v *review.Payload) int64 { return v.ID }),
		node: func(v *review.Payload) (any, error) { return newReview(o, v, media), nil }}, nil
}

// reviewLists loads the reviews of pull requests.
func reviewLists(q *query, f *exec.Field) listLoader[int64, *review.Payload] {
	return lists(loader[int64, *web.List[*review.Payload]]{name: "reviews", route: "/pulls/{number}/reviews",
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
	return connectReviews(ctx, f, o, func(*review.Payload) bool { return true })
}

// latestOpinionatedReviews resolves the last review of each author that approves or requests changes.
func latestOpinionatedReviews(ctx context.Context, f *exec.Field, o *object) (any, error) {
	return connectReviews(ctx, f, o, func(v *review.Payload) bool {
		return hasOpinion(v) && (f.Args["writersOnly"] != true || byWriter(v))
	})
}

func connectReviews(
	ctx context.Context, f *exec.Field, o *object, counts func(v *review.Payload) bool,
) (any, error) {
	list, err := latestOf(ctx, f, o, counts)
	if err != nil {
		return nil, err
	}
	all, media := make([]any, len(list)), textMedia(f)
	for n, v := range list {
		all[n] = newReview(o, v, media)
	}
	return connectAll(f, "PullRequestReviewConnection", all)
}

// latestOf returns the last counted review of each author, in the order of the first.
func latestOf(
	ctx context.Context, f *exec.Field, o *object, counts func(v *review.Payload) bool,
) (latest []*review.Payload, err error) {
	q := queryOf(ctx)
	list, err := reviewLists(q, f).all(ctx, q, o, mostReviews)
	at := map[string]int{}
	for _, v := range list {
		if v.State == "PENDING" || !counts(v) {
			continue
		}
		n, there := at[loginOf(v.User)]
		if !there {
			at[loginOf(v.User)] = len(latest)
			latest = append(latest, v)
			continue
		}
		latest[n] = v
	}
	return latest, err
}

// hasOpinion reports whether a review approves or requests changes, or did until it was dismissed.
func hasOpinion(v *review.Payload) bool { return v.State != "COMMENTED" }

// byWriter reports whether the author of a review has write access to the repository.
func byWriter(v *review.Payload) bool {
	switch v.Association {
	case "OWNER", "MEMBER", "COLLABORATOR":
		return true
	}
	return false
}

// outlooksOf loads what the rules of their bases ask of pull requests.
func outlooksOf(q *query) loader[int64, *rule.Outlook] {
	return loader[int64, *rule.Outlook]{name: "outlooks", route: "/pulls/{number}", key: byNumber,
		read: q.load.Pulls.Outlooks}
}

// reviewDecisions loads what reviewDecision needs of all pull requests.
func reviewDecisions(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	outlooksOf(q).load(ctx, q, objectsOf(parents))
	return withReviews(one(reviewDecision))(ctx, f, parents)
}

// reviewDecision resolves the combined last opinions of those with write access. Without one it is null, unless
// rules require reviews.
func reviewDecision(ctx context.Context, f *exec.Field, o *object) (any, error) {
	all, err := latestOf(ctx, f, o, func(v *review.Payload) bool { return hasOpinion(v) && byWriter(v) })
	var decision any
	for _, v := range all {
		switch v.State {
		case "CHANGES_REQUESTED":
			return "CHANGES_REQUESTED", err
		case "APPROVED":
			decision = "APPROVED"
		}
	}
	if err != nil {
		return nil, err
	}
	q := queryOf(ctx)
	outlook, err := outlooksOf(q).get(ctx, q, o)
	switch {
	case outlook == nil || !outlook.Reviews:
		return decision, err
	case outlook.Reviewed:
		return "APPROVED", err
	}
	return "REVIEW_REQUIRED", err
}

// reviewsByID loads reviews by id.
func reviewsByID(q *query, media string) loader[int64, *review.Payload] {
	return loader[int64, *review.Payload]{name: "reviews by id", route: "/pulls/{number}/reviews/{id}", media: media,
		key: byID, read: q.load.Reviews.ByIDs}
}

func reviewFields() map[string]exec.Resolver {
	submitted := pick(func(v *review.Payload) any { return v.SubmittedAt })
	// When a review was begun is not kept: until it is submitted, it is one of now.
	made := pick(func(v *review.Payload) any {
		if v.SubmittedAt.IsZero() {
			return db.FromTime(time.Now())
		}
		return v.SubmittedAt
	})
	return merge(after(isWhole, merge(reactable(), written(), reviewRights(), map[string]exec.Resolver{
		"fullDatabaseId":            key(func(o *object) any { return decimal(o.id) }),
		"publishedAt":               submitted,
		"authorCanPushToRepository": pick(func(v *review.Payload) any { return byWriter(v) }),
		"state":                     pick(func(v *review.Payload) any { return enumName(v.State) }),
		"submittedAt":               submitted, "createdAt": made, "updatedAt": made,
		"commit": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			if sha := o.value.(*review.Payload).Commit; sha != "" {
				return gitObject(o.repo, "commit", string(sha)), nil
			}
			return nil, nil
		}),
	})), keyFields(), reviewHidden(), map[string]exec.Resolver{"comments": connections(reviewComments),
		"onBehalfOf": onBehalfOf})
}

// onBehalfOf resolves the teams that reviews answered, as far as the caller sees them.
func onBehalfOf(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	l := loader[int64, []team.ID]{name: "teams of reviews", route: "/pulls/{number}/reviews/{id}", key: byID,
		read: q.load.Reviews.TeamsOf}
	l.load(ctx, q, objectsOf(parents))
	var all []team.ID
	for _, o := range objectsOf(parents) {
		ids, _ := l.known(q, o)
		all = append(all, ids...)
	}
	seen := map[team.ID]*team.Access{}
	if len(all) > 0 {
		var err error
		if seen, err = q.teamsByID(ctx, db.Unique(all)); err != nil && !errs.Is(err, errs.Forbidden) {
			return failed(asError(err), len(parents))
		}
	}
	return l.values(ctx, parents, func(_ *object, ids []team.ID) (any, error) {
		var teams []any
		for _, id := range ids {
			if a := seen[id]; a != nil {
				teams = append(teams, newTeam(a.Team))
			}
		}
		return connectAll(f, "TeamConnection", teams)
	})
}

// keyFields are the fields of reviews and of comments on lines that need no more than their ids.
func keyFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{"id": key(nodeOf), "databaseId": key(func(o *object) any { return o.id }),
		"repository": inRepository, "pullRequest": parent}
}
