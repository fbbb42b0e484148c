//go:build long

package clients

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
)

// Followers, feeds, and a repository's files and contributors without a clone.
func feeds(t *testing.T, h *hub) {
	h.Users(t, "alice", "sam")
	h.Org(t, "garden", "alice")
	ctx, alice, sam, nobody := t.Context(), h.as(t, "alice"), h.as(t, "sam"), h.as(t, "")
	following(t, alice, sam)
	got[*github.Repository](t)(alice.Repositories.Create(ctx, "garden",
		&github.Repository{Name: github.Ptr("plot"), AutoInit: github.Ptr(true)}))
	got[*github.Issue](t)(sam.Issues.Create(ctx, "garden", "plot",
		&github.IssueRequest{Title: github.Ptr("Slugs")}))
	got[*github.Subscription](t)(sam.Activity.SetRepositorySubscription(ctx, "garden", "plot",
		&github.Subscription{Subscribed: github.Ptr(true)}))
	list, a := got[[]*github.Event](t), nobody.Activity
	const whole = "IssuesEvent sam, CreateEvent alice"
	for what, c := range map[string]struct {
		events []*github.Event
		want   string
	}{
		"everyone":         {list(a.ListEvents(ctx, nil)), whole},
		"a repository":     {list(a.ListRepositoryEvents(ctx, "garden", "plot", nil)), whole},
		"a network":        {list(a.ListEventsForRepoNetwork(ctx, "garden", "plot", nil)), whole},
		"an organization":  {list(a.ListEventsForOrganization(ctx, "garden", nil)), whole},
		"a user":           {list(a.ListEventsPerformedByUser(ctx, "sam", false, nil)), "IssuesEvent sam"},
		"a user, publicly": {list(a.ListEventsPerformedByUser(ctx, "alice", true, nil)), "CreateEvent alice"},
		"a member":         {list(alice.Activity.ListUserEventsForOrganization(ctx, "garden", "alice", nil)), whole},
		"received":         {list(sam.Activity.ListEventsReceivedByUser(ctx, "sam", false, nil)), whole},
		"publicly":         {list(a.ListEventsReceivedByUser(ctx, "sam", true, nil)), whole},
	} {
		var lines []string
		for _, e := range c.events {
			lines = append(lines, e.GetType()+" "+e.GetActor().GetLogin())
		}
		equal(t, what, strings.Join(lines, ", "), c.want)
	}
	payload, err := list(a.ListEvents(ctx, nil))[0].ParsePayload()
	if opened, ok := payload.(*github.IssuesEvent); err != nil || !ok ||
		opened.GetIssue().GetTitle() != "Slugs" || opened.GetAction() != "opened" {
		t.Errorf("the payload is %v, %v", payload, err)
	}
	call(t, nobody, http.MethodGet, "repos/garden/plot/contributors", nil)
	archives(t, h, nobody)
}

func following(t *testing.T, alice, sam *github.Client) {
	ctx := t.Context()
	done(t)(sam.Users.Follow(ctx, "alice"))
	is, list := got[bool](t), got[[]*github.User](t)
	equal(t, "sam follows", is(sam.Users.IsFollowing(ctx, "", "alice")), true)
	equal(t, "for others to see", is(alice.Users.IsFollowing(ctx, "sam", "alice")), true)
	equal(t, "and not back", is(alice.Users.IsFollowing(ctx, "", "sam")), false)
	equal(t, "alice's followers", userLogins(list(alice.Users.ListFollowers(ctx, "", nil))), "sam")
	equal(t, "and in public", userLogins(list(sam.Users.ListFollowers(ctx, "alice", nil))), "sam")
	equal(t, "whom sam follows", userLogins(list(sam.Users.ListFollowing(ctx, "", nil))), "alice")
	equal(t, "and in public", userLogins(list(alice.Users.ListFollowing(ctx, "sam", nil))), "alice")
	equal(t, "their number", got[*github.User](t)(alice.Users.Get(ctx, "alice")).GetFollowers(), 1)
	done(t)(alice.Users.Follow(ctx, "garden"))
	done(t)(alice.Users.Unfollow(ctx, "garden"))
	equal(t, "nobody any more", len(list(alice.Users.ListFollowing(ctx, "", nil))), 0)
}

func archives(t *testing.T, h *hub, c *github.Client) {
	ctx := t.Context()
	done(t)(h.as(t, "sam").Activity.Star(ctx, "garden", "plot"))
	call(t, c, http.MethodGet, "users/sam/starred/garden/plot", nil)
	for _, format := range []github.ArchiveFormat{github.Tarball, github.Zipball} {
		for _, ref := range []string{"", "main"} {
			link, _, err := c.Repositories.GetArchiveLink(ctx, "garden", "plot", format,
				&github.RepositoryContentGetOptions{Ref: ref}, 0)
			testkit.NoError(t, err)
			answer, err := http.Get(link.String())
			testkit.NoError(t, err)
			answer.Body.Close()
			equal(t, string(format)+" of "+ref, answer.StatusCode, http.StatusOK)
		}
	}
}
