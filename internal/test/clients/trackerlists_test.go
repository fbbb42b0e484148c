//go:build long

package clients

import (
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
)

// fill files seven issues, numbered 1 to 7, that differ in all that lists
// choose by.
func fill(t *testing.T, h *hub) {
	ctx, will, sam := t.Context(), h.as(t, "will"), h.as(t, "sam")
	got[*github.Milestone](t)(will.Issues.CreateMilestone(ctx, "garden", "plot",
		&github.Milestone{Title: github.Ptr("Spring")}))
	file := func(c *github.Client, r *github.IssueRequest) {
		t.Helper()
		got[*github.Issue](t)(c.Issues.Create(ctx, "garden", "plot", r))
	}
	file(will, &github.IssueRequest{Title: github.Ptr("1"), Labels: &[]string{"bug", "soil"},
		Assignees: &[]string{"will"}, Milestone: github.Ptr(1)})
	file(will, &github.IssueRequest{Title: github.Ptr("2"), Labels: &[]string{"bug"},
		Assignees: &[]string{"alice", "will"}})
	file(sam, &github.IssueRequest{Title: github.Ptr("3"), Body: github.Ptr("Look at this, @will")})
	file(sam, &github.IssueRequest{Title: github.Ptr("4")})
	file(will, &github.IssueRequest{Title: github.Ptr("5"), Labels: &[]string{"soil", "a b"},
		Milestone: github.Ptr(1)})
	file(sam, &github.IssueRequest{Title: github.Ptr("6")})
	file(sam, &github.IssueRequest{Title: github.Ptr("7")})
	for _, n := range []int{4, 5} {
		got[*github.Issue](t)(will.Issues.Edit(ctx, "garden", "plot", n,
			&github.IssueRequest{State: github.Ptr("closed")}))
	}
	for _, n := range []int{6, 3, 3} {
		got[*github.IssueComment](t)(sam.Issues.CreateComment(ctx, "garden", "plot", n,
			&github.IssueComment{Body: github.Ptr("hm")}))
	}
}

// numbers reads what an iterator gives.
func numbers(t *testing.T, list iter.Seq2[*github.Issue, error]) string {
	t.Helper()
	var all []string
	for i, err := range list {
		testkit.NoError(t, err)
		all = append(all, fmt.Sprint(i.GetNumber()))
	}
	return strings.Join(all, " ")
}

// A program that lists issues gets those matching its options in the right order, for any page size.
func trackerLists(t *testing.T, h *hub) {
	tracker(t, h)
	fill(t, h)
	ofRepository(t, h)
	acrossRepositories(t, h)
	pages(t, h)
}

func ofRepository(t *testing.T, h *hub) {
	type by = github.IssueListByRepoOptions
	future, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		options by
		want    string
	}{
		"nothing":               {by{}, "7 6 3 2 1"},
		"open":                  {by{State: "open"}, "7 6 3 2 1"},
		"closed":                {by{State: "closed"}, "5 4"},
		"all":                   {by{State: "all"}, "7 6 5 4 3 2 1"},
		"ascending":             {by{State: "all", Direction: "asc"}, "1 2 3 4 5 6 7"},
		"by creation":           {by{Sort: "created", Direction: "desc"}, "7 6 3 2 1"},
		"by update":             {by{State: "all", Sort: "updated"}, "3 6 5 4 7 2 1"},
		"by comments":           {by{State: "all", Sort: "comments"}, "3 6 7 5 4 2 1"},
		"by comments ascending": {by{Sort: "comments", Direction: "asc"}, "1 2 7 6 3"},
		"in a milestone":        {by{Milestone: "1", State: "all"}, "5 1"},
		"in any milestone":      {by{Milestone: "*"}, "1"},
		"in no milestone":       {by{Milestone: "none"}, "7 6 3 2"},
		"assigned":              {by{Assignee: "Will"}, "2 1"},
		"assigned to the other": {by{Assignee: "alice"}, "2"},
		"assigned to anyone":    {by{Assignee: "*"}, "2 1"},
		"assigned to none":      {by{Assignee: "none", State: "all"}, "7 6 5 4 3"},
		"assigned to nobody":    {by{Assignee: "nobody-here"}, ""},
		"created":               {by{Creator: "will", State: "all"}, "5 2 1"},
		"mentioned":             {by{Mentioned: "will"}, "3"},
		"labelled":              {by{Labels: []string{"bug"}}, "2 1"},
		"labelled twice":        {by{Labels: []string{"Soil", "bug"}}, "1"},
		"labelled with a space": {by{Labels: []string{"a b"}, State: "all"}, "5"},
		"since an hour":         {by{Since: past}, "7 6 3 2 1"},
		"since in an hour":      {by{Since: future}, ""},
		"everything at once": {by{Milestone: "1", State: "all", Assignee: "will", Creator: "will",
			Labels: []string{"bug", "soil"},
			Sort:   "updated", Direction: "asc", Since: past}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{0, 1, 2} {
				c.options.ListOptions.PerPage = size
				equal(t, fmt.Sprint("in pages of ", size),
					numbers(t, h.as(t, "").Issues.ListByRepoIter(t.Context(), "garden", "plot", &c.options)),
					c.want)
			}
		})
	}
	c := h.as(t, "sam")
	for field, options := range map[string]*by{"state": {State: "ajar"}, "sort": {Sort: "title"},
		"direction": {Direction: "up"}, "milestone": {Milestone: "Spring"}} {
		_, _, err := c.Issues.ListByRepo(t.Context(), "garden", "plot", options)
		refused(t, err, http.StatusUnprocessableEntity, field, "invalid")
	}
}

func acrossRepositories(t *testing.T, h *hub) {
	ctx, will, sam := t.Context(), h.as(t, "will"), h.as(t, "sam")
	for filter, want := range map[string]string{"": "2 1", "assigned": "2 1", "created": "2 1",
		"mentioned": "3", "subscribed": "3 2 1", "all": "7 6 3 2 1"} {
		one := github.ListOptions{PerPage: 1}
		t.Run("filter "+filter, func(t *testing.T) {
			equal(t, "/issues", numbers(t, will.Issues.ListAllIssuesIter(ctx,
				&github.ListAllIssuesOptions{Filter: filter, ListOptions: one})), want)
			equal(t, "/user/issues",
				numbers(t, will.Issues.ListUserIssuesIter(ctx,
					&github.ListUserIssuesOptions{Filter: filter, ListOptions: one})), want)
			equal(t, "/orgs/garden/issues",
				numbers(t, will.Issues.ListByOrgIter(ctx, "garden",
					&github.IssueListByOrgOptions{Filter: filter, ListOptions: one})), want)
		})
	}
	every := &github.ListAllIssuesOptions{Filter: "all", State: "all", Labels: []string{"soil"},
		Sort: "created", Direction: "asc", Since: time.Now().Add(-time.Hour)}
	equal(t, "every option", numbers(t, will.Issues.ListAllIssuesIter(ctx, every)), "1 5")
	equal(t, "a stranger's", numbers(t,
		sam.Issues.ListAllIssuesIter(ctx, &github.ListAllIssuesOptions{Filter: "all"})), "")
	equal(t, "a public organization's", numbers(t,
		sam.Issues.ListByOrgIter(ctx, "garden", &github.IssueListByOrgOptions{Filter: "created"})), "7 6 3")
	list := got[[]*github.Issue](t)(will.Issues.ListAllIssues(ctx, nil))
	equal(t, "the repository", list[0].GetRepository().GetFullName(), "garden/plot")
	_, _, err := will.Issues.ListAllIssues(ctx, &github.ListAllIssuesOptions{Filter: "repos"})
	refused(t, err, http.StatusUnprocessableEntity, "filter", "invalid")
	_, _, err = h.as(t, "").Issues.ListAllIssues(ctx, nil)
	refused(t, err, http.StatusUnauthorized, "", "")
	_, _, err = will.Issues.ListByOrg(ctx, "nowhere", nil)
	refused(t, err, http.StatusNotFound, "", "")
}

// pages walks by the numbers that the client reads from Link.
func pages(t *testing.T, h *hub) {
	c := h.as(t, "sam")
	options := &github.IssueListByRepoOptions{State: "all", Labels: []string{},
		ListOptions: github.ListOptions{PerPage: 3}}
	var seen []string
	for steps := 0; ; steps++ {
		list, response, err := c.Issues.ListByRepo(t.Context(), "garden", "plot", options)
		if err != nil || steps > 3 {
			t.Fatalf("%d pages and more: %v", steps, err)
		}
		for _, i := range list {
			seen = append(seen, fmt.Sprint(i.GetNumber()))
		}
		if response.NextPage == 0 {
			equal(t, "the page before the last", response.PrevPage, 2)
			equal(t, "the first page", response.FirstPage, 1)
			break
		}
		equal(t, "the last page", response.LastPage, 3)
		options.ListOptions.Page = response.NextPage
	}
	equal(t, "all pages", strings.Join(seen, " "), "7 6 5 4 3 2 1")
	options.ListOptions.Page = 9
	list, response, err := c.Issues.ListByRepo(t.Context(), "garden", "plot", options)
	if err != nil || len(list) != 0 || response.LastPage != 3 || response.PrevPage != 3 ||
		response.NextPage != 0 {
		t.Errorf("past the end: %v, %+v, %v", list, response, err)
	}
}
