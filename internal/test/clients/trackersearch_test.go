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

// A program that searches a tracker finds what GitHub's language of searches
// says, and as many as there are.
func trackerSearch(t *testing.T, h *hub) {
	tracker(t, h)
	fill(t, h)
	h.Repo(t, "garden/shed", true)
	got[*github.Issue](t)(h.as(t, "alice").Issues.Create(t.Context(), "garden", "shed",
		&github.IssueRequest{Title: github.Ptr("hidden lettuce")}))
	got[*github.Issue](t)(h.as(t, "will").Issues.Edit(t.Context(), "garden", "plot", 2,
		&github.IssueRequest{Title: github.Ptr("Slugs ate the lettuce")}))
	for _, c := range []struct{ as, query, want string }{
		{"", "repo:garden/plot is:open", "7 6 3 2 1"}, {"", "repo:garden/plot is:closed", "5 4"},
		{"", "repo:garden/plot author:will", "5 2 1"},
		{"", "repo:garden/plot label:bug", "2 1"}, {"", `repo:garden/plot label:"a b"`, "5"},
		{"", "repo:garden/plot label:bug label:soil", "1"},
		{"", "repo:garden/plot -label:bug is:open", "7 6 3"},
		{"", "repo:garden/plot assignee:alice", "2"}, {"", "repo:garden/plot no:assignee state:open",
			"7 6 3"}, {"", "repo:garden/plot milestone:Spring", "5 1"}, {"",
			"repo:garden/plot mentions:will", "3"},
		{"", "repo:garden/plot look in:body", "3"}, {"", "repo:garden/plot hm in:comments", "6 3"},
		{"will", "author:@me is:open", "2 1"}, {"", "org:garden is:open author:sam", "7 6 3"},
		{"", "LETTUCE", "2"}, {"", "lettuce slugs", "2"}, {"", "lettuce -slugs", ""},
		{"alice", "lettuce user:garden", "2 1"}, {"", "is:pr", ""},
	} {
		t.Run(c.query+" as "+c.as, func(t *testing.T) {
			var found []string
			options := &github.SearchOptions{Sort: "created", Order: "desc",
				ListOptions: github.ListOptions{PerPage: 2}}
			for {
				page, response, err := h.as(t, c.as).Search.Issues(t.Context(), c.query, options)
				testkit.NoError(t, err)
				equal(t, "the total", page.GetTotal(), len(strings.Fields(c.want)))
				equal(t, "incomplete", page.GetIncompleteResults(), false)
				for _, i := range page.Issues {
					found = append(found, fmt.Sprint(i.GetNumber()))
				}
				if response.NextPage == 0 {
					break
				}
				options.Page = response.NextPage
			}
			if c.as == "alice" { // of two repositories, the newest first
				found[0], found[1] = found[1], found[0]
			}
			equal(t, "what was found", strings.Join(found, " "), c.want)
		})
	}
	equal(t, "repositories", got[*github.RepositoriesSearchResult](t)(h.as(t,
		"").Search.Repositories(t.Context(), "plot user:garden", nil)).GetTotal(), 1)
	equal(t, "users", got[*github.UsersSearchResult](t)(h.as(t, "").Search.Users(t.Context(), "alice",
		nil)).Users[0].GetLogin(), "alice")
	equal(t, "commits", got[*github.CommitsSearchResult](t)(h.as(t, "").Search.Commits(t.Context(),
		"nothinglikeit user:garden", nil)).GetTotal(), 0)
	equal(t, "code", got[*github.CodeSearchResult](t)(h.as(t, "").Search.Code(t.Context(),
		"nothinglikeit user:garden", &github.SearchOptions{TextMatch: true})).GetTotal(), 0)
	plot := got[*github.Repository](t)(h.as(t, "").Repositories.Get(t.Context(), "garden", "plot"))
	equal(t, "labels", got[*github.LabelsSearchResult](t)(h.as(t, "").Search.Labels(t.Context(), plot.GetID(), "bug",
		nil)).Labels[0].GetName(), "bug")
	equal(t, "topics", got[*github.TopicsSearchResult](t)(h.as(t, "").Search.Topics(t.Context(), "nothinglikeit",
		nil)).GetTotal(), 0)
	_, _, err := h.as(t, "sam").Search.Issues(t.Context(), "", nil)
	refused(t, err, http.StatusUnprocessableEntity, "q", "missing")
	for _, repository := range []string{"garden/shed", "garden/nowhere"} {
		_, _, err := h.as(t, "sam").Search.Issues(t.Context(), "repo:"+repository, nil)
		refused(t, err, http.StatusUnprocessableEntity, "q", "invalid")
	}
}
