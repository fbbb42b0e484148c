//go:build long

package clients

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v89/github"

	"arbor/internal/account"
	"arbor/internal/test/testkit"
)

// tracker is a project of the organization garden, in which alice owns, will
// writes and everyone files issues.
func tracker(t *testing.T, h *hub) {
	h.Users(t, "alice", "will", "sam")
	h.Org(t, "garden", "alice")
	h.Grant(t, h.Repo(t, "garden/plot", false), "will", account.Push)
}

// A project's tracker, with only a client written for GitHub: from its first label to the lock on its last
// conversation.
func wholeTracker(t *testing.T, h *hub) {
	tracker(t, h)
	labels(t, h)
	milestones(t, h)
	assignees(t, h)
	n := issues(t, h)
	onIssue(t, h, n)
	comments(t, h, n)
	reactions(t, h, n)
	subscription(t, h, n)
	locks(t, h, n)
	refusals(t, h, n)
}

func labels(t *testing.T, h *hub) {
	ctx, c := t.Context(), h.as(t, "will")
	all := got[[]*github.Label](t)(c.Issues.ListLabels(ctx, "garden", "plot", nil))
	equal(t, "the number of default labels", len(all), 9)
	made := got[*github.Label](t)(c.Issues.CreateLabel(ctx, "garden", "plot",
		&github.Label{Name: github.Ptr("soil & water"), Color: github.Ptr("00FF7f"),
			Description: github.Ptr("what grows things")}))
	equal(t, "the colour", made.GetColor(), "00ff7f")
	equal(t, "default", made.GetDefault(), false)
	read := got[*github.Label](t)(c.Issues.GetLabel(ctx, "garden", "plot", "soil & water"))
	equal(t, "the description", read.GetDescription(), "what grows things")
	equal(t, "the id", read.GetID(), made.GetID())
	edited := got[*github.Label](t)(c.Issues.EditLabel(ctx, "garden", "plot", "soil & water",
		&github.Label{Name: github.Ptr("soil"), Color: github.Ptr("795548")}))
	equal(t, "the new name", edited.GetName(), "soil")
	equal(t, "the id after a rename", edited.GetID(), made.GetID())
	_, _, err := c.Issues.CreateLabel(ctx, "garden", "plot", &github.Label{Name: github.Ptr("SOIL")})
	refused(t, err, http.StatusUnprocessableEntity, "name", "already_exists")
	done(t)(c.Issues.DeleteLabel(ctx, "garden", "plot", "wontfix"))
	_, _, err = c.Issues.GetLabel(ctx, "garden", "plot", "wontfix")
	refused(t, err, http.StatusNotFound, "", "")
	names := map[string]bool{}
	for l, err := range c.Issues.ListLabelsIter(ctx, "garden", "plot", &github.ListOptions{PerPage: 2}) {
		testkit.NoError(t, err)
		names[l.GetName()] = true
	}
	if len(names) != 9 || !names["soil"] || names["wontfix"] {
		t.Errorf("the labels are %v", names)
	}
}

func milestones(t *testing.T, h *hub) {
	ctx, c := t.Context(), h.as(t, "will")
	due := time.Date(2030, 5, 1, 7, 0, 0, 0, time.UTC)
	spring := got[*github.Milestone](t)(c.Issues.CreateMilestone(ctx, "garden", "plot",
		&github.Milestone{Title: github.Ptr("Spring"), Description: github.Ptr("sow"),
			DueOn: &github.Timestamp{Time: due}}))
	equal(t, "the number", spring.GetNumber(), 1)
	equal(t, "the creator", spring.GetCreator().GetLogin(), "will")
	equal(t, "the title read again", got[*github.Milestone](t)(c.Issues.GetMilestone(ctx, "garden", "plot",
		1)).GetTitle(), "Spring")
	if !spring.GetDueOn().Equal(github.Timestamp{Time: due}) {
		t.Errorf("due_on is %v", spring.GetDueOn())
	}
	got[*github.Milestone](t)(c.Issues.CreateMilestone(ctx, "garden", "plot",
		&github.Milestone{Title: github.Ptr("Autumn"), State: github.Ptr("closed")}))
	got[*github.Milestone](t)(c.Issues.CreateMilestone(ctx, "garden", "plot",
		&github.Milestone{Title: github.Ptr("Never")}))
	edited := got[*github.Milestone](t)(c.Issues.EditMilestone(ctx, "garden", "plot", 1,
		&github.Milestone{Description: github.Ptr("sow and plant")}))
	equal(t, "the description", edited.GetDescription(), "sow and plant")
	done(t)(c.Issues.DeleteMilestone(ctx, "garden", "plot", 3))
	_, _, err := c.Issues.GetMilestone(ctx, "garden", "plot", 3)
	refused(t, err, http.StatusNotFound, "", "")
	_, _, err = c.Issues.CreateMilestone(ctx, "garden", "plot",
		&github.Milestone{Title: github.Ptr("Spring")})
	refused(t, err, http.StatusUnprocessableEntity, "title", "already_exists")
	for state, want := range map[string]string{"": "Spring", "open": "Spring", "closed": "Autumn",
		"all": "Spring Autumn"} {
		var titles []string
		for m, err := range c.Issues.ListMilestonesIter(ctx, "garden", "plot",
			&github.MilestoneListOptions{State: state, Sort: "due_on", Direction: "asc",
				ListOptions: github.ListOptions{PerPage: 1}}) {
			testkit.NoError(t, err)
			titles = append(titles, m.GetTitle())
		}
		equal(t, "the milestones in state "+state, strings.Join(titles, " "), want)
	}
}

func assignees(t *testing.T, h *hub) {
	ctx, c := t.Context(), h.as(t, "will")
	var logins []string
	for u, err := range c.Issues.ListAssigneesIter(ctx, "garden", "plot", &github.ListOptions{PerPage: 1}) {
		testkit.NoError(t, err)
		logins = append(logins, u.GetLogin())
	}
	equal(t, "who can be assigned", strings.Join(logins, " "), "alice will")
	equal(t, "will can be assigned", got[bool](t)(c.Issues.IsAssignee(ctx, "garden", "plot", "will")), true)
	equal(t, "sam can be assigned", got[bool](t)(c.Issues.IsAssignee(ctx, "garden", "plot", "sam")), false)
}

// issues takes an issue through its states, and returns its number.
func issues(t *testing.T, h *hub) int {
	ctx, c := t.Context(), h.as(t, "will")
	made, response, err := c.Issues.Create(ctx, "garden", "plot", &github.IssueRequest{
		Title: github.Ptr("Slugs"), Body: github.Ptr("They *ate* the lettuce, @sam."),
		Labels:    &[]string{"bug", "soil", "urgent"},
		Assignees: &[]string{"will", "alice"}, Milestone: github.Ptr(1),
	})
	testkit.NoError(t, err)
	equal(t, "Location", response.Header.Get("Location"), made.GetURL())
	n := made.GetNumber()
	i := got[*github.Issue](t)(c.Issues.Get(ctx, "garden", "plot", n))
	equal(t, "the title", i.GetTitle(), "Slugs")
	equal(t, "the body", i.GetBody(), "They *ate* the lettuce, @sam.")
	equal(t, "the author", i.GetUser().GetLogin(), "will")
	equal(t, "the state", i.GetState(), "open")
	equal(t, "the milestone", i.GetMilestone().GetTitle(), "Spring")
	equal(t, "the milestone's open issues", i.GetMilestone().GetOpenIssues(), 1)
	equal(t, "the labels", labelNames(i.Labels), "bug soil urgent")
	equal(t, "the first assignee", i.GetAssignee().GetLogin(), "will")
	equal(t, "the second assignee", i.Assignees[1].GetLogin(), "alice")
	equal(t, "the author's association", i.GetAuthorAssociation(), "COLLABORATOR")
	equal(t, "a pull request", i.IsPullRequest(), false)
	if i.GetReactions() == nil {
		t.Error("the issue has no rollup of reactions")
	}
	edit := func(r *github.IssueRequest) *github.Issue {
		t.Helper()
		return got[*github.Issue](t)(c.Issues.Edit(ctx, "garden", "plot", n, r))
	}
	i = edit(&github.IssueRequest{Title: github.Ptr("Slugs and snails"), Body: github.Ptr(""),
		Labels: &[]string{"bug"}, Assignees: &[]string{"alice"}})
	equal(t, "the new title", i.GetTitle(), "Slugs and snails")
	equal(t, "a body that was taken away", i.Body == nil, true)
	equal(t, "the labels that are left", labelNames(i.Labels), "bug")
	equal(t, "the assignees that are left", len(i.Assignees), 1)
	i = edit(&github.IssueRequest{State: github.Ptr("closed"), StateReason: github.Ptr("not_planned")})
	equal(t, "the state", i.GetState(), "closed")
	equal(t, "the reason", i.GetStateReason(), "not_planned")
	equal(t, "who closed it", i.GetClosedBy().GetLogin(), "will")
	equal(t, "closed at no time", i.GetClosedAt().IsZero(), false)
	equal(t, "the milestone's closed issues", i.GetMilestone().GetClosedIssues(), 1)
	i = edit(&github.IssueRequest{State: github.Ptr("open")})
	equal(t, "the reason", i.GetStateReason(), "reopened")
	equal(t, "not closed any more", i.ClosedAt == nil && i.ClosedBy == nil, true)
	i = got[*github.Issue](t)(c.Issues.RemoveMilestone(ctx, "garden", "plot", n))
	equal(t, "without a milestone", i.Milestone == nil, true)
	return n
}

func labelNames(list []*github.Label) string {
	names := make([]string, len(list))
	for n, l := range list {
		names[n] = l.GetName()
	}
	return strings.Join(names, " ")
}

// onIssue changes labels and assignees at their own addresses.
func onIssue(t *testing.T, h *hub, n int) {
	ctx, c := t.Context(), h.as(t, "will")
	list := got[[]*github.Label](t)
	equal(t, "labels after adding",
		labelNames(list(c.Issues.AddLabelsToIssue(ctx, "garden", "plot", n,
			[]string{"soil", "BUG", "odd/ name"}))), "bug soil odd/ name")
	equal(t, "labels", labelNames(list(c.Issues.ListLabelsByIssue(ctx, "garden", "plot", n, nil))),
		"bug soil odd/ name")
	done(t)(c.Issues.RemoveLabelForIssue(ctx, "garden", "plot", n, "Soil"))
	_, err := c.Issues.RemoveLabelForIssue(ctx, "garden", "plot", n, "soil")
	refused(t, err, http.StatusNotFound, "", "")
	equal(t, "labels after replacing",
		labelNames(list(c.Issues.ReplaceLabelsForIssue(ctx, "garden", "plot", n,
			[]string{"question", "bug"}))), "question bug")
	got[*github.Issue](t)(c.Issues.Edit(ctx, "garden", "plot", n,
		&github.IssueRequest{Milestone: github.Ptr(1)}))
	equal(t, "labels of the milestone",
		labelNames(list(c.Issues.ListLabelsForMilestone(ctx, "garden", "plot", 1, nil))), "bug question")
	done(t)(c.Issues.RemoveLabelsForIssue(ctx, "garden", "plot", n))
	equal(t, "labels after clearing",
		labelNames(list(c.Issues.ListLabelsByIssue(ctx, "garden", "plot", n, nil))), "")
	i := got[*github.Issue](t)(c.Issues.AddAssignees(ctx, "garden", "plot", n, []string{"will", "sam"}))
	equal(t, "assignees after adding, of whom one cannot be assigned", len(i.Assignees), 2)
	i = got[*github.Issue](t)(c.Issues.RemoveAssignees(ctx, "garden", "plot", n, []string{"alice", "sam"}))
	equal(t, "assignees after removing", len(i.Assignees), 1)
	equal(t, "the assignee who is left", i.GetAssignee().GetLogin(), "will")
	call(t, c, http.MethodGet, fmt.Sprintf("repos/garden/plot/issues/%d/assignees/alice", n), nil)
}

func comments(t *testing.T, h *hub, n int) {
	ctx, sam := t.Context(), h.as(t, "sam")
	var ids []int64
	for k := range 5 {
		made := got[*github.IssueComment](t)(sam.Issues.CreateComment(ctx, "garden", "plot", n,
			&github.IssueComment{Body: github.Ptr(fmt.Sprint("beer trap ", k))}))
		equal(t, "the author", made.GetUser().GetLogin(), "sam")
		ids = append(ids, made.GetID())
	}
	equal(t, "the count", got[*github.Issue](t)(sam.Issues.Get(ctx, "garden", "plot", n)).GetComments(), 5)
	edited := got[*github.IssueComment](t)(sam.Issues.EditComment(ctx, "garden", "plot", ids[1],
		&github.IssueComment{Body: github.Ptr("beer trap one")}))
	equal(t, "the body", edited.GetBody(), "beer trap one")
	read := got[*github.IssueComment](t)(sam.Issues.GetComment(ctx, "garden", "plot", ids[1]))
	equal(t, "the body read again", read.GetBody(), "beer trap one")
	equal(t, "its issue", strings.HasSuffix(read.GetIssueURL(), fmt.Sprint("/repos/garden/plot/issues/", n)),
		true)
	done(t)(sam.Issues.DeleteComment(ctx, "garden", "plot", ids[0]))
	for _, number := range []int{n, 0} { // 0: of the whole repository
		for direction, want := range map[string][]int64{"asc": ids[1:],
			"desc": {ids[4], ids[3], ids[2], ids[1]}} {
			if number != 0 && direction == "desc" {
				continue // comments of one issue have but one order
			}
			var listed []int64
			for c, err := range sam.Issues.ListCommentsIter(ctx, "garden", "plot", number,
				&github.IssueListCommentsOptions{
					Sort: github.Ptr("created"), Direction: &direction,
					Since:       github.Ptr(time.Now().Add(-time.Hour)),
					ListOptions: github.ListOptions{PerPage: 3}}) {
				testkit.NoError(t, err)
				listed = append(listed, c.GetID())
			}
			if !slices.Equal(listed, want) {
				t.Errorf("the comments of %d, %s: %v, want %v", number, direction, listed, want)
			}
		}
	}
	none := got[[]*github.IssueComment](t)(sam.Issues.ListComments(ctx, "garden", "plot", n,
		&github.IssueListCommentsOptions{Since: github.Ptr(time.Now().Add(time.Hour))}))
	equal(t, "comments of the future", len(none), 0)
}

func reactions(t *testing.T, h *hub, n int) {
	ctx, sam, will := t.Context(), h.as(t, "sam"), h.as(t, "will")
	list := got[[]*github.Reaction](t)
	for _, content := range []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"} {
		got[*github.Reaction](t)(sam.Reactions.CreateIssueReaction(ctx, "garden", "plot", n, content))
	}
	mine := got[*github.Reaction](t)(will.Reactions.CreateIssueReaction(ctx, "garden", "plot", n, "heart"))
	again := got[*github.Reaction](t)(will.Reactions.CreateIssueReaction(ctx, "garden", "plot", n, "heart"))
	equal(t, "a second heart by the same", again.GetID(), mine.GetID())
	rollup := got[*github.Issue](t)(sam.Issues.Get(ctx, "garden", "plot", n)).GetReactions()
	equal(t, "the hearts in the issue", rollup.GetHeart(), 2)
	equal(t, "all reactions in the issue", rollup.GetTotalCount(), 9)
	equal(t, "hearts", len(list(sam.Reactions.ListIssueReactions(ctx, "garden", "plot", n,
		&github.ListReactionOptions{Content: "heart"}))), 2)
	done(t)(will.Reactions.DeleteIssueReaction(ctx, "garden", "plot", n, mine.GetID()))
	equal(t, "reactions left", len(list(sam.Reactions.ListIssueReactions(ctx, "garden", "plot", n, nil))), 8)

	said := got[[]*github.IssueComment](t)(sam.Issues.ListComments(ctx, "garden", "plot", n, nil))[0]
	on := got[*github.Reaction](t)(will.Reactions.CreateIssueCommentReaction(ctx, "garden", "plot",
		said.GetID(), "rocket"))
	equal(t, "whose reaction", on.GetUser().GetLogin(), "will")
	equal(t, "rockets on the comment",
		len(list(sam.Reactions.ListIssueCommentReactions(ctx, "garden", "plot", said.GetID(),
			&github.ListReactionOptions{Content: "rocket"}))), 1)
	read := got[*github.IssueComment](t)(sam.Issues.GetComment(ctx, "garden", "plot", said.GetID()))
	equal(t, "rockets in the comment", read.GetReactions().GetRocket(), 1)
	done(t)(will.Reactions.DeleteIssueCommentReaction(ctx, "garden", "plot", said.GetID(), on.GetID()))
	_, _, err := sam.Reactions.CreateIssueReaction(ctx, "garden", "plot", n, "thumb")
	refused(t, err, http.StatusUnprocessableEntity, "content", "invalid")
}

// The client has no method for subscriptions, so subscription sends requests in the client's own way.
func subscription(t *testing.T, h *hub, n int) {
	c := h.as(t, "sam")
	path := fmt.Sprintf("repos/garden/plot/issues/%d/subscription", n)
	send := func(method string, body any) (*github.Subscription, error) {
		t.Helper()
		r, err := c.NewRequest(t.Context(), method, path, body)
		testkit.NoError(t, err)
		s := new(github.Subscription)
		if method == http.MethodDelete {
			_, err = c.Do(r, nil)
		} else {
			_, err = c.Do(r, s)
		}
		return s, err
	}
	s, err := send(http.MethodGet, nil)
	if err != nil || !s.GetSubscribed() {
		t.Errorf("who was mentioned and commented is not subscribed: %v, %v", s, err)
	}
	if s, err = send(http.MethodPut, &github.Subscription{Ignored: github.Ptr(true)}); err != nil ||
		!s.GetIgnored() {
		t.Errorf("ignoring: %v, %v", s, err)
	}
	if s, err = send(http.MethodPut, &github.Subscription{Subscribed: github.Ptr(true)}); err != nil ||
		!s.GetSubscribed() || s.GetIgnored() {
		t.Errorf("subscribing: %v, %v", s, err)
	}
	if _, err = send(http.MethodDelete, nil); err != nil {
		t.Error(err)
	}
	_, err = send(http.MethodGet, nil)
	refused(t, err, http.StatusNotFound, "", "")
}

func locks(t *testing.T, h *hub, n int) {
	ctx, will, sam := t.Context(), h.as(t, "will"), h.as(t, "sam")
	say := func(c *github.Client) error {
		_, _, err := c.Issues.CreateComment(ctx, "garden", "plot", n,
			&github.IssueComment{Body: github.Ptr("one more thing")})
		return err
	}
	for _, reason := range []string{"off-topic", "too heated", "resolved", "spam"} {
		done(t)(will.Issues.Lock(ctx, "garden", "plot", n, &github.LockIssueOptions{LockReason: reason}))
		i := got[*github.Issue](t)(sam.Issues.Get(ctx, "garden", "plot", n))
		equal(t, "locked", i.GetLocked(), true)
		equal(t, "the lock's reason", i.GetActiveLockReason(), reason)
	}
	refused(t, say(sam), http.StatusForbidden, "", "")
	if err := say(will); err != nil {
		t.Errorf("a writer on a locked conversation: %v", err)
	}
	_, err := sam.Issues.Unlock(ctx, "garden", "plot", n)
	refused(t, err, http.StatusForbidden, "", "")
	done(t)(will.Issues.Unlock(ctx, "garden", "plot", n))
	i := got[*github.Issue](t)(sam.Issues.Get(ctx, "garden", "plot", n))
	equal(t, "unlocked", !i.GetLocked() && i.ActiveLockReason == nil, true)
	if err := say(sam); err != nil {
		t.Errorf("on an unlocked conversation: %v", err)
	}
	done(t)(will.Issues.Lock(ctx, "garden", "plot", n, nil))
	i = got[*github.Issue](t)(sam.Issues.Get(ctx, "garden", "plot", n))
	equal(t, "locked for no reason", i.GetLocked() && i.ActiveLockReason == nil, true)
}

// refusals come as the client's own type of error, which programs look into.
func refusals(t *testing.T, h *hub, n int) {
	ctx, will, sam := t.Context(), h.as(t, "will"), h.as(t, "sam")
	invalid := http.StatusUnprocessableEntity
	for _, c := range []struct {
		what        string
		r           *github.IssueRequest
		field, code string
	}{
		{"no title", &github.IssueRequest{}, "title", "missing_field"},
		{"a long title", &github.IssueRequest{Title: github.Ptr(strings.Repeat("x", 257))},
			"title", "custom"},
		{"a long body", &github.IssueRequest{Title: github.Ptr("x"),
			Body: github.Ptr(strings.Repeat("x", 65_537))}, "body", "custom"},
		{"no such milestone", &github.IssueRequest{Title: github.Ptr("x"), Milestone: github.Ptr(99)},
			"milestone", "invalid"},
		{"no such assignee", &github.IssueRequest{Title: github.Ptr("x"), Assignees: &[]string{"nobody"}},
			"assignees", "invalid"},
		{"one who cannot be assigned", &github.IssueRequest{Title: github.Ptr("x"),
			Assignee: github.Ptr("sam")}, "assignee", "invalid"},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, _, err := will.Issues.Create(ctx, "garden", "plot", c.r)
			refused(t, err, invalid, c.field, c.code)
		})
	}
	_, _, err := will.Issues.Edit(ctx, "garden", "plot", n, &github.IssueRequest{State: github.Ptr("ajar")})
	refused(t, err, invalid, "state", "invalid")
	_, _, err = sam.Issues.Edit(ctx, "garden", "plot", n, &github.IssueRequest{Title: github.Ptr("x")})
	refused(t, err, http.StatusForbidden, "", "")
	_, _, err = sam.Issues.Get(ctx, "garden", "plot", 99_999)
	refused(t, err, http.StatusNotFound, "", "")
	_, _, err = sam.Issues.Get(ctx, "garden", "nowhere", 1)
	refused(t, err, http.StatusNotFound, "", "")
	_, _, err = h.as(t, "").Issues.Create(ctx, "garden", "plot", &github.IssueRequest{Title: github.Ptr("x")})
	refused(t, err, http.StatusUnauthorized, "", "")
	_, err = will.Issues.Lock(ctx, "garden", "plot", n, &github.LockIssueOptions{LockReason: "boring"})
	refused(t, err, invalid, "lock_reason", "invalid")
}
