//go:build long

package clients

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
)

// What happened to an issue is read by programs that follow a project: all of
// it, in its order, by whom and with what.
func trackerEvents(t *testing.T, h *hub) {
	tracker(t, h)
	fill(t, h)
	n := happenings(t, h)
	events(t, h, n)
	timeline(t, h, n)
	repositoryEvents(t, h)
}

// happenings does everything to an issue that leaves an event.
func happenings(t *testing.T, h *hub) int {
	ctx, c := t.Context(), h.as(t, "will")
	n := got[*github.Issue](t)(c.Issues.Create(ctx, "garden", "plot",
		&github.IssueRequest{Title: github.Ptr("Frost")})).GetNumber()
	for _, r := range []*github.IssueRequest{
		{Title: github.Ptr("Late frost")}, {Labels: &[]string{"bug"}}, {Labels: &[]string{}},
		{Assignees: &[]string{"alice"}}, {Assignees: &[]string{}},
		{Milestone: github.Ptr(1)}, {State: github.Ptr("closed"), StateReason: github.Ptr("not_planned")},
		{State: github.Ptr("open")},
	} {
		got[*github.Issue](t)(c.Issues.Edit(ctx, "garden", "plot", n, r))
	}
	got[*github.Issue](t)(c.Issues.RemoveMilestone(ctx, "garden", "plot", n))
	got[*github.IssueComment](t)(c.Issues.CreateComment(ctx, "garden", "plot", n,
		&github.IssueComment{Body: github.Ptr("@sam: fleece?")}))
	done(t)(c.Issues.Lock(ctx, "garden", "plot", n, &github.LockIssueOptions{LockReason: "resolved"}))
	done(t)(c.Issues.Unlock(ctx, "garden", "plot", n))
	got[*github.Issue](t)(c.Issues.Create(ctx, "garden", "plot",
		&github.IssueRequest{Title: github.Ptr("Fleece"), Body: github.Ptr(fmt.Sprintf("For #%d", n))}))
	return n
}

func events(t *testing.T, h *hub, n int) {
	ctx, c := t.Context(), h.as(t, "sam")
	byName := map[string]*github.IssueEvent{}
	var names []string
	for e, err := range c.Issues.ListIssueEventsIter(ctx, "garden", "plot", n,
		&github.ListOptions{PerPage: 2}) {
		testkit.NoError(t, err)
		if e.GetID() == 0 || e.GetURL() == "" || e.GetCreatedAt().IsZero() || e.GetActor().GetLogin() == "" {
			t.Errorf("an event without its origin: %v", e)
		}
		names = append(names, e.GetEvent())
		byName[e.GetEvent()] = e
	}
	want := []string{"renamed", "labeled", "unlabeled", "assigned", "unassigned", "milestoned", "closed",
		"reopened", "demilestoned", "mentioned", "subscribed", "locked", "unlocked"}
	subscribed := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "subscribed" })
	if !slices.Equal(subscribed, slices.DeleteFunc(slices.Clone(want), func(s string) bool {
		return s == "subscribed"
	})) || !slices.Contains(names, "subscribed") {
		t.Fatalf("the events are %v, want %v", names, want)
	}
	equal(t, "the old title", byName["renamed"].GetRename().GetFrom(), "Frost")
	equal(t, "the new title", byName["renamed"].GetRename().GetTo(), "Late frost")
	equal(t, "the label", byName["labeled"].GetLabel().GetName(), "bug")
	equal(t, "the label's colour", byName["unlabeled"].GetLabel().GetColor(), "d73a4a")
	equal(t, "the assignee", byName["assigned"].GetAssignee().GetLogin(), "alice")
	equal(t, "the assigner", byName["unassigned"].GetAssigner().GetLogin(), "will")
	equal(t, "the milestone", byName["demilestoned"].GetMilestone().GetTitle(), "Spring")
	equal(t, "the lock's reason", byName["locked"].GetLockReason(), "resolved")
	equal(t, "who was mentioned", byName["mentioned"].GetActor().GetLogin(), "sam")
	equal(t, "who closed it", byName["closed"].GetActor().GetLogin(), "will")
	one := got[*github.IssueEvent](t)(c.Issues.GetEvent(ctx, "garden", "plot", byName["renamed"].GetID()))
	equal(t, "the event by its id", one.GetEvent(), "renamed")
	equal(t, "its issue", one.GetIssue().GetNumber(), n)
	_, _, err := c.Issues.GetEvent(ctx, "garden", "plot", 999_999)
	refused(t, err, http.StatusNotFound, "", "")
}

func timeline(t *testing.T, h *hub, n int) {
	c := h.as(t, "sam")
	var commented, referenced *github.Timeline
	last := ""
	for e, err := range c.Issues.ListIssueTimelineIter(t.Context(), "garden", "plot", n,
		&github.ListOptions{PerPage: 3}) {
		testkit.NoError(t, err)
		switch last = e.GetEvent(); last {
		case "commented":
			commented = e
		case "cross-referenced":
			referenced = e
		}
	}
	equal(t, "the last entry", last, "cross-referenced")
	equal(t, "the comment", commented.GetBody(), "@sam: fleece?")
	equal(t, "who commented", commented.GetUser().GetLogin(), "will")
	equal(t, "what referred to the issue", referenced.GetSource().GetIssue().GetTitle(), "Fleece")
}

func repositoryEvents(t *testing.T, h *hub) {
	var ids []int64
	seen := map[int]bool{}
	for e, err := range h.as(t, "").Issues.ListRepositoryEventsIter(t.Context(), "garden", "plot",
		&github.ListOptions{PerPage: 7}) {
		testkit.NoError(t, err)
		ids = append(ids, e.GetID())
		seen[e.GetIssue().GetNumber()] = true
	}
	if !slices.IsSortedFunc(ids, func(a, b int64) int {
		return int(b - a)
	}) || len(ids) < 20 || !seen[1] || !seen[8] {
		t.Errorf("events %v of issues %v", ids, seen)
	}
}
