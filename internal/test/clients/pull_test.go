//go:build long

package clients

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v89/github"

	"arbor/internal/account"
)

// A change from a fork into the project, with only a client written for GitHub: proposed, tested, reviewed,
// updated and merged.
func forkToMerge(t *testing.T, h *hub) {
	nursery(t, h)
	fork(t, h)
	n := proposed(t, h)
	changed(t, h, n)
	reviewed(t, h, n)
	checked(t, h, n)
	merged(t, h, n)
	refusedMerges(t, h)
}

// nursery is alice's project, in which will writes; sam proposes.
func nursery(t *testing.T, h *hub) {
	h.Users(t, "alice", "will", "sam")
	h.Grant(t, h.Repo(t, "alice/nursery", false), "will", account.Push)
	c := h.as(t, "alice")
	got[*github.RepositoryContentResponse](t)(c.Repositories.CreateFile(t.Context(), "alice",
		"nursery", "README.md", &github.RepositoryContentFileOptions{Message: github.Ptr("Begin"),
			Content: []byte("# Nursery\n\nOf plants.\n")}))
	got[*github.Issue](t)(c.Issues.Create(t.Context(), "alice", "nursery",
		&github.IssueRequest{Title: github.Ptr("No ferns")}))
}

func fork(t *testing.T, h *hub) {
	ctx, c := t.Context(), h.as(t, "sam")
	made, answer, err := c.Repositories.CreateFork(ctx, "alice", "nursery", nil)
	if _, ok := errors.AsType[*github.AcceptedError](err); !ok || answer.StatusCode != http.StatusAccepted {
		t.Fatalf("forking: %v", err)
	}
	equal(t, "the fork", made.GetFullName(), "sam/nursery")
	equal(t, "its parent", got[*github.Repository](t)(c.Repositories.Get(ctx, "sam",
		"nursery")).GetParent().GetFullName(), "alice/nursery")
	forks := got[[]*github.Repository](t)(c.Repositories.ListForks(ctx, "alice", "nursery", nil))
	equal(t, "the number of forks", len(forks), 1)
	main := got[*github.Reference](t)(c.Git.GetRef(ctx, "sam", "nursery", "heads/main"))
	got[*github.Reference](t)(c.Git.CreateRef(ctx, "sam", "nursery",
		github.CreateRef{Ref: "refs/heads/ferns", SHA: main.GetObject().GetSHA()}))
	for _, name := range []string{"ferns.txt", "moss.txt"} {
		got[*github.RepositoryContentResponse](t)(c.Repositories.CreateFile(ctx, "sam", "nursery", name,
			&github.RepositoryContentFileOptions{Message: github.Ptr("Add " + name),
				Content: []byte("one\ntwo\nthree\n"), Branch: github.Ptr("ferns")}))
	}
}

func proposed(t *testing.T, h *hub) int {
	ctx, c := t.Context(), h.as(t, "sam")
	p := got[*github.PullRequest](t)(c.PullRequests.Create(ctx, "alice", "nursery", &github.NewPullRequest{
		Title: github.Ptr("Add ferns"), Body: github.Ptr("closes #1"), Head: github.Ptr("sam:ferns"),
		Base: github.Ptr("main"), MaintainerCanModify: github.Ptr(true)}))
	n := p.GetNumber()
	equal(t, "the number", n, 2)
	equal(t, "mergeable", p.GetMergeable(), true)
	equal(t, "the state", p.GetMergeableState(), "clean")
	equal(t, "the head", p.GetHead().GetLabel(), "sam:ferns")
	equal(t, "the head's repository", p.GetHead().GetRepo().GetFullName(), "sam/nursery")
	equal(t, "the counts", [4]int{p.GetCommits(), p.GetChangedFiles(), p.GetAdditions(), p.GetDeletions()},
		[4]int{2, 2, 6, 0})
	equal(t, "maintainer_can_modify", p.GetMaintainerCanModify(), true)
	for _, o := range []*github.PullRequestListOptions{nil, {State: "all"}, {Head: "sam:ferns"},
		{Base: "main"}, {Sort: "popularity"}, {Sort: "updated", Direction: "desc"}, {Sort: "long-running"}} {
		list := got[[]*github.PullRequest](t)(c.PullRequests.List(ctx, "alice", "nursery", o))
		if len(list) != 1 || list[0].GetNumber() != n {
			t.Errorf("%+v lists %v", o, list)
		}
	}
	if list := got[[]*github.PullRequest](t)(c.PullRequests.List(ctx, "alice", "nursery",
		&github.PullRequestListOptions{State: "closed"})); len(list) != 0 {
		t.Errorf("closed are %v", list)
	}
	_, _, err := c.PullRequests.Create(ctx, "alice", "nursery", &github.NewPullRequest{Title: github.Ptr("x"),
		Head: github.Ptr("nobody:x"), Base: github.Ptr("main")})
	refused(t, err, http.StatusUnprocessableEntity, "head", "invalid")
	closed := got[*github.PullRequest](t)(c.PullRequests.Edit(ctx, "alice", "nursery", n,
		&github.PullRequest{State: github.Ptr("closed"), Title: github.Ptr("Add ferns and moss")}))
	equal(t, "the state", closed.GetState(), "closed")
	opened := got[*github.PullRequest](t)(c.PullRequests.Edit(ctx, "alice", "nursery", n,
		&github.PullRequest{State: github.Ptr("open")}))
	equal(t, "the title", opened.GetTitle(), "Add ferns and moss")
	main := got[*github.Reference](t)(h.as(t, "will").Git.GetRef(ctx, "alice", "nursery", "heads/main"))
	got[*github.Reference](t)(h.as(t, "will").Git.CreateRef(ctx, "alice", "nursery",
		github.CreateRef{Ref: "refs/heads/next", SHA: main.GetObject().GetSHA()}))
	for _, may := range []bool{false, true} {
		edited := got[*github.PullRequest](t)(c.PullRequests.Edit(ctx, "alice", "nursery", n,
			&github.PullRequest{MaintainerCanModify: github.Ptr(may)}))
		equal(t, "maintainer_can_modify", edited.GetMaintainerCanModify(), may)
	}
	for _, base := range []string{"next", "main"} {
		edited := got[*github.PullRequest](t)(c.PullRequests.Edit(ctx, "alice", "nursery", n,
			&github.PullRequest{Base: &github.PullRequestBranch{Ref: github.Ptr(base)}}))
		equal(t, "the base", edited.GetBase().GetRef(), base)
	}
	got[*github.IssueComment](t)(c.Issues.CreateComment(ctx, "alice", "nursery", n,
		&github.IssueComment{Body: github.Ptr("Please!")}))
	return n
}

// changed looks at what the pull request would bring.
func changed(t *testing.T, h *hub, n int) {
	ctx, c := t.Context(), h.as(t, "will")
	commits := got[[]*github.RepositoryCommit](t)(c.PullRequests.ListCommits(ctx, "alice", "nursery", n, nil))
	equal(t, "the commits", len(commits), 2)
	equal(t, "the first", commits[0].GetCommit().GetMessage(), "Add ferns.txt")
	files := got[[]*github.CommitFile](t)(c.PullRequests.ListFiles(ctx, "alice", "nursery", n,
		&github.ListOptions{PerPage: 1}))
	equal(t, "the files of a page", len(files), 1)
	equal(t, "the file", files[0].GetFilename()+" "+files[0].GetStatus()+" "+files[0].GetPatch(),
		"ferns.txt added @@ -0,0 +1,3 @@\n+one\n+two\n+three")
	for kind, want := range map[github.RawType]string{github.Diff: "diff --git a/ferns.txt b/ferns.txt\n",
		github.Patch: "From " + commits[0].GetSHA()} {
		text := got[string](t)(c.PullRequests.GetRaw(ctx, "alice", "nursery", n,
			github.RawOptions{Type: kind}))
		if !strings.HasPrefix(text, want) {
			t.Errorf("raw %v is %s", kind, text)
		}
	}
}

func reviewed(t *testing.T, h *hub, n int) {
	ctx, sam, will := t.Context(), h.as(t, "sam"), h.as(t, "will")
	asked := got[*github.PullRequest](t)(sam.PullRequests.RequestReviewers(ctx, "alice", "nursery", n,
		github.ReviewersRequest{Reviewers: []string{"will"}}))
	equal(t, "who is asked", len(asked.RequestedReviewers), 1)
	review := got[*github.PullRequestReview](t)(will.PullRequests.CreateReview(ctx, "alice", "nursery", n,
		&github.PullRequestReviewRequest{
			Body: github.Ptr("Nearly."), Event: github.Ptr("REQUEST_CHANGES"),
			Comments: []*github.DraftReviewComment{{Path: github.Ptr("ferns.txt"), Position: github.Ptr(2),
				Body: github.Ptr("Which?")}}}))
	equal(t, "the review", review.GetState(), "CHANGES_REQUESTED")
	comments := got[[]*github.PullRequestComment](t)(sam.PullRequests.ListComments(ctx, "alice",
		"nursery", n, nil))
	equal(t, "the review comments", len(comments), 1)
	answer := got[*github.PullRequestComment](t)(sam.PullRequests.CreateCommentInReplyTo(ctx, "alice",
		"nursery", n, "All.", comments[0].GetID()))
	equal(t, "what it answers", answer.GetInReplyTo(), comments[0].GetID())
	p := got[*github.PullRequest](t)(sam.PullRequests.Get(ctx, "alice", "nursery", n))
	equal(t, "counted", [2]int{p.GetComments(), p.GetReviewComments()}, [2]int{1, 2})
	done := got[*github.PullRequestReview](t)(will.PullRequests.DismissReview(ctx, "alice", "nursery", n,
		review.GetID(), &github.PullRequestReviewDismissalRequest{Message: github.Ptr("fine")}))
	equal(t, "the review", done.GetState(), "DISMISSED")
	got[*github.PullRequestReview](t)(will.PullRequests.CreateReview(ctx, "alice", "nursery", n,
		&github.PullRequestReviewRequest{Event: github.Ptr("APPROVE")}))
	equal(t, "the reviews",
		len(got[[]*github.PullRequestReview](t)(sam.PullRequests.ListReviews(ctx, "alice", "nursery",
			n, nil))), 3)
}

// checked reports a failing and a passing build, and updates the branch.
func checked(t *testing.T, h *hub, n int) {
	ctx, will, sam := t.Context(), h.as(t, "will"), h.as(t, "sam")
	p := got[*github.PullRequest](t)(will.PullRequests.Get(ctx, "alice", "nursery", n))
	for _, c := range [][2]string{{"failure", "unstable"}, {"success", "clean"}} {
		got[*github.RepoStatus](t)(will.Repositories.CreateStatus(ctx, "alice", "nursery",
			p.GetHead().GetSHA(), github.RepoStatus{State: github.Ptr(c[0]), Context: github.Ptr("build")}))
		now := got[*github.PullRequest](t)(will.PullRequests.Get(ctx, "alice", "nursery", n))
		equal(t, "the state after "+c[0], now.GetMergeableState(), c[1])
	}
	combined := got[*github.CombinedStatus](t)(will.Repositories.GetCombinedStatus(ctx, "alice", "nursery",
		p.GetHead().GetSHA(), nil))
	equal(t, "all together", combined.GetState(), "success")
	got[*github.RepositoryContentResponse](t)(will.Repositories.CreateFile(ctx, "alice",
		"nursery", "trees.txt", &github.RepositoryContentFileOptions{Message: github.Ptr("Trees"),
			Content: []byte("oak\n")}))
	_, answer, err := sam.PullRequests.UpdateBranch(ctx, "alice", "nursery", n,
		&github.PullRequestBranchUpdateOptions{ExpectedHeadSHA: p.GetHead().SHA})
	var accepted *github.AcceptedError
	if err != nil && !errors.As(err, &accepted) || answer.StatusCode != http.StatusAccepted {
		t.Fatalf("updating the branch: %v", err)
	}
	now := got[*github.PullRequest](t)(will.PullRequests.Get(ctx, "alice", "nursery", n))
	equal(t, "mergeable", now.GetMergeable(), true)
	equal(t, "the commits", now.GetCommits(), 3)
	if now.GetHead().GetSHA() == p.GetHead().GetSHA() {
		t.Error("the head is as before")
	}
}

func merged(t *testing.T, h *hub, n int) {
	ctx, will := t.Context(), h.as(t, "will")
	is := got[bool](t)
	equal(t, "merged", is(will.PullRequests.IsMerged(ctx, "alice", "nursery", n)), false)
	_, _, err := h.as(t, "sam").PullRequests.Merge(ctx, "alice", "nursery", n, "", nil)
	refused(t, err, http.StatusForbidden, "", "")
	_, _, err = will.PullRequests.Merge(ctx, "alice", "nursery", n, "",
		&github.PullRequestOptions{SHA: strings.Repeat("1", 40)})
	refused(t, err, http.StatusConflict, "", "")
	result := got[*github.PullRequestMergeResult](t)(will.PullRequests.Merge(ctx, "alice", "nursery", n,
		"For the shade.", &github.PullRequestOptions{CommitTitle: "Ferns", MergeMethod: "squash"}))
	equal(t, "merged", result.GetMerged(), true)
	equal(t, "merged", is(will.PullRequests.IsMerged(ctx, "alice", "nursery", n)), true)
	p := got[*github.PullRequest](t)(will.PullRequests.Get(ctx, "alice", "nursery", n))
	equal(t, "what it says", [4]string{p.GetState(), p.GetMergeCommitSHA(), p.GetMergedBy().GetLogin(),
		p.GetHead().GetRef()}, [4]string{"closed", result.GetSHA(), "will", "ferns"})
	c := got[*github.Commit](t)(will.Git.GetCommit(ctx, "alice", "nursery", result.GetSHA()))
	equal(t, "the commit", c.GetMessage()+"|"+c.GetAuthor().GetName(), "Ferns\n\nFor the shade.|sam")
	i := got[*github.Issue](t)(will.Issues.Get(ctx, "alice", "nursery", 1))
	equal(t, "the issue that it closes", i.GetState(), "closed")
	_, _, err = will.PullRequests.Merge(ctx, "alice", "nursery", n, "", nil)
	refused(t, err, http.StatusMethodNotAllowed, "", "")
	done(t)(h.as(t, "sam").Git.DeleteRef(ctx, "sam", "nursery", "heads/ferns"))
}

// refusedMerges tries to merge two conflicting branches.
func refusedMerges(t *testing.T, h *hub) {
	ctx, will := t.Context(), h.as(t, "will")
	main := got[*github.Reference](t)(will.Git.GetRef(ctx, "alice", "nursery", "heads/main"))
	for _, b := range []string{"left", "right"} {
		got[*github.Reference](t)(will.Git.CreateRef(ctx, "alice", "nursery",
			github.CreateRef{Ref: "refs/heads/" + b, SHA: main.GetObject().GetSHA()}))
		got[*github.RepositoryContentResponse](t)(will.Repositories.CreateFile(ctx, "alice",
			"nursery", "way.txt", &github.RepositoryContentFileOptions{Message: github.Ptr(b),
				Content: []byte(b), Branch: github.Ptr(b)}))
	}
	asked := got[*github.Issue](t)(will.Issues.Create(ctx, "alice", "nursery",
		&github.IssueRequest{Title: github.Ptr("Which way?"), Labels: &[]string{"question"}}))
	p := got[*github.PullRequest](t)(will.PullRequests.Create(ctx, "alice", "nursery",
		&github.NewPullRequest{Issue: asked.Number, Head: github.Ptr("left"), Base: github.Ptr("right")}))
	equal(t, "the issue that became it", p.GetNumber(), asked.GetNumber())
	equal(t, "with its title and label", p.GetTitle()+" "+p.Labels[0].GetName(), "Which way? question")
	equal(t, "mergeable", p.GetMergeable(), false)
	equal(t, "the state", p.GetMergeableState(), "dirty")
	_, _, err := will.PullRequests.Merge(ctx, "alice", "nursery", p.GetNumber(), "", nil)
	refused(t, err, http.StatusMethodNotAllowed, "", "")
	_, _, err = will.Repositories.Merge(ctx, "alice", "nursery",
		&github.RepositoryMergeRequest{Base: github.Ptr("left"), Head: github.Ptr("right")})
	refused(t, err, http.StatusConflict, "", "")
}
