//go:build long

package clients

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
)

// Reviews with only a client written for GitHub: from the review request to the approval.
func reviewers(t *testing.T, h *hub) {
	tracker(t, h)
	n, head := proposal(t, h)
	requested(t, h, n)
	first := pendingReview(t, h, n, head)
	lineComments(t, h, n, head, first)
	verdicts(t, h, n)
}

// proposal is a pull request of will's that changes one of ten lines.
func proposal(t *testing.T, h *hub) (number int, head string) {
	ctx, c := t.Context(), h.as(t, "will")
	text := strings.Repeat("peas\n", 10)
	file := &github.RepositoryContentFileOptions{Message: github.Ptr("Sow"), Content: []byte(text)}
	made := got[*github.RepositoryContentResponse](t)(c.Repositories.CreateFile(ctx, "garden", "plot",
		"beds.txt", file))
	got[*github.Reference](t)(c.Git.CreateRef(ctx, "garden", "plot",
		github.CreateRef{Ref: "refs/heads/beans", SHA: made.GetSHA()}))
	file = &github.RepositoryContentFileOptions{Message: github.Ptr("Sow beans"),
		Content: []byte("beans\n" + text[5:]),
		SHA:     made.Content.SHA, Branch: github.Ptr("beans")}
	changed := got[*github.RepositoryContentResponse](t)(c.Repositories.UpdateFile(ctx, "garden", "plot",
		"beds.txt", file))
	pull := got[*github.PullRequest](t)(c.PullRequests.Create(ctx, "garden", "plot",
		&github.NewPullRequest{Title: github.Ptr("Beans"), Head: github.Ptr("beans"),
			Base: github.Ptr("main")}))
	return pull.GetNumber(), changed.GetSHA()
}

func requested(t *testing.T, h *hub, n int) {
	ctx, c := t.Context(), h.as(t, "will")
	pull := got[*github.PullRequest](t)(c.PullRequests.RequestReviewers(ctx, "garden", "plot", n,
		github.ReviewersRequest{Reviewers: []string{"alice", "sam"}}))
	equal(t, "who is asked", len(pull.RequestedReviewers), 2)
	done(t)(c.PullRequests.RemoveReviewers(ctx, "garden", "plot", n,
		github.ReviewersRequest{Reviewers: []string{"sam"}}))
	list := got[*github.Reviewers](t)(c.PullRequests.ListReviewers(ctx, "garden", "plot", n))
	equal(t, "who is asked", len(list.Users), 1)
	equal(t, "who", list.Users[0].GetLogin(), "alice")
}

func pendingReview(t *testing.T, h *hub, n int, head string) (comment int64) {
	ctx, c := t.Context(), h.as(t, "sam")
	made := got[*github.PullRequestReview](t)(c.PullRequests.CreateReview(ctx, "garden", "plot", n,
		&github.PullRequestReviewRequest{
			Body: github.Ptr("A thought"), Comments: []*github.DraftReviewComment{
				{Path: github.Ptr("beds.txt"), Line: github.Ptr(1), Side: github.Ptr("RIGHT"),
					Body: github.Ptr("Beans?")}}}))
	equal(t, "the state", made.GetState(), "PENDING")
	edited := got[*github.PullRequestReview](t)(c.PullRequests.UpdateReview(ctx, "garden", "plot", n,
		made.GetID(), "Another thought"))
	equal(t, "the text", edited.GetBody(), "Another thought")
	equal(t, "the text read again", got[*github.PullRequestReview](t)(c.PullRequests.GetReview(ctx, "garden",
		"plot", n, made.GetID())).GetBody(), "Another thought")
	seen := got[[]*github.PullRequestReview](t)(h.as(t, "will").PullRequests.ListReviews(ctx, "garden",
		"plot", n, nil))
	equal(t, "what others see of it", len(seen), 0)
	submitted := got[*github.PullRequestReview](t)(c.PullRequests.SubmitReview(ctx, "garden", "plot", n,
		made.GetID(), &github.PullRequestReviewRequest{Event: github.Ptr("COMMENT")}))
	equal(t, "the state", submitted.GetState(), "COMMENTED")
	equal(t, "the commit", submitted.GetCommitID(), head)
	list := got[[]*github.PullRequestComment](t)(c.PullRequests.ListReviewComments(ctx, "garden", "plot", n,
		made.GetID(), nil))
	equal(t, "its comments", len(list), 1)
	return list[0].GetID()
}

func lineComments(t *testing.T, h *hub, n int, head string, first int64) {
	ctx, c := t.Context(), h.as(t, "will")
	reply := got[*github.PullRequestComment](t)(c.PullRequests.CreateCommentInReplyTo(ctx, "garden", "plot",
		n, "They climb", first))
	equal(t, "what it answers", reply.GetInReplyTo(), first)
	made := got[*github.PullRequestComment](t)(c.PullRequests.CreateComment(ctx, "garden", "plot", n,
		&github.PullRequestComment{
			Body: github.Ptr("Here too"), CommitID: github.Ptr(head), Path: github.Ptr("beds.txt"),
			Line: github.Ptr(1), Side: github.Ptr("LEFT")}))
	equal(t, "the hunk", made.GetDiffHunk(), "@@ -1,4 +1,4 @@\n-peas")
	equal(t, "the position", made.GetPosition(), 1)
	edited := got[*github.PullRequestComment](t)(c.PullRequests.EditComment(ctx, "garden", "plot",
		made.GetID(), &github.PullRequestComment{Body: github.Ptr("There")}))
	equal(t, "the text", edited.GetBody(), "There")
	reaction := got[*github.Reaction](t)(c.Reactions.CreatePullRequestCommentReaction(ctx, "garden", "plot",
		made.GetID(), "heart"))
	equal(t, "the reaction", reaction.GetContent(), "heart")
	equal(t, "hearts", len(got[[]*github.Reaction](t)(c.Reactions.ListPullRequestCommentReactions(ctx,
		"garden", "plot", made.GetID(), &github.ListReactionOptions{Content: "heart"}))), 1)
	equal(t, "hearts in the comment", got[*github.PullRequestComment](t)(c.PullRequests.GetComment(ctx,
		"garden", "plot", made.GetID())).GetReactions().GetHeart(), 1)
	done(t)(c.Reactions.DeletePullRequestCommentReaction(ctx, "garden", "plot", made.GetID(),
		reaction.GetID()))
	equal(t, "comments of all",
		len(got[[]*github.PullRequestComment](t)(c.PullRequests.ListComments(ctx, "garden", "plot", 0, nil))),
		3)
	answer := new(github.PullRequestComment)
	r, err := c.NewRequest(ctx, http.MethodPost, fmt.Sprintf("repos/garden/plot/pulls/%d/comments/%d/replies",
		n, first), map[string]string{"body": "As high as that"})
	testkit.NoError(t, err)
	if _, err := c.Do(r, answer); err != nil || answer.GetInReplyTo() != first {
		t.Errorf("a reply at its own address: %v, %v", answer, err)
	}
	done(t)(c.PullRequests.DeleteComment(ctx, "garden", "plot", answer.GetID()))
	list := got[[]*github.PullRequestComment](t)(c.PullRequests.ListComments(ctx, "garden", "plot", n,
		&github.PullRequestListCommentsOptions{Sort: "created", Direction: "desc"}))
	equal(t, "how many", len(list), 3)
	equal(t, "the newest", list[0].GetID(), made.GetID())
	done(t)(c.PullRequests.DeleteComment(ctx, "garden", "plot", made.GetID()))
	pull := got[*github.PullRequest](t)(c.PullRequests.Get(ctx, "garden", "plot", n))
	equal(t, "how many are left", pull.GetReviewComments(), 2)
	_, _, err = c.PullRequests.CreateComment(ctx, "garden", "plot", n, &github.PullRequestComment{
		Body: github.Ptr("x"), CommitID: github.Ptr(head), Path: github.Ptr("beds.txt"), Line: github.Ptr(9)})
	refused(t, err, http.StatusUnprocessableEntity, "pull_request_review_thread.line", "custom")
}

func verdicts(t *testing.T, h *hub, n int) {
	ctx, alice := t.Context(), h.as(t, "alice")
	pending := got[*github.PullRequestReview](t)(alice.PullRequests.CreateReview(ctx, "garden", "plot", n,
		&github.PullRequestReviewRequest{Body: github.Ptr("Hm")}))
	got[*github.PullRequestReview](t)(alice.PullRequests.DeletePendingReview(ctx, "garden", "plot", n,
		pending.GetID()))
	made := got[*github.PullRequestReview](t)(alice.PullRequests.CreateReview(ctx, "garden", "plot", n,
		&github.PullRequestReviewRequest{Event: github.Ptr("REQUEST_CHANGES"),
			Body: github.Ptr("No stakes")}))
	equal(t, "the state", made.GetState(), "CHANGES_REQUESTED")
	pull := got[*github.PullRequest](t)(alice.PullRequests.Get(ctx, "garden", "plot", n))
	equal(t, "who is still asked", len(pull.RequestedReviewers), 0)
	dismissed := got[*github.PullRequestReview](t)(alice.PullRequests.DismissReview(ctx, "garden", "plot", n,
		made.GetID(), &github.PullRequestReviewDismissalRequest{Message: github.Ptr("There are some")}))
	equal(t, "the state", dismissed.GetState(), "DISMISSED")
	_, _, err := h.as(t, "will").PullRequests.CreateReview(ctx, "garden", "plot", n,
		&github.PullRequestReviewRequest{Event: github.Ptr("APPROVE")})
	refused(t, err, http.StatusUnprocessableEntity, "", "custom")
	events := got[[]*github.Timeline](t)(alice.Issues.ListIssueTimeline(ctx, "garden", "plot", n, nil))
	var names []string
	for _, e := range events {
		names = append(names, e.GetEvent())
	}
	if all := strings.Join(names, " "); !strings.Contains(all, "review_requested") ||
		strings.Count(all, "reviewed") < 3 || !strings.HasSuffix(all, "review_dismissed") {
		t.Errorf("the timeline is %s", all)
	}
}
