//go:build long

package clients

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
)

// An organization from its first repository to its last member leaving, with only a client written for
// GitHub.
func people(t *testing.T, h *hub) {
	h.Users(t, "alice", "will", "sam")
	h.Org(t, "garden", "alice")
	profiles(t, h)
	members(t, h)
	repositories(t, h)
	collaborators(t, h)
	leaving(t, h)
}

func profiles(t *testing.T, h *hub) {
	ctx, alice, nobody := t.Context(), h.as(t, "alice"), h.as(t, "")
	me := got[*github.User](t)(alice.Users.Get(ctx, ""))
	equal(t, "who is calling", me.GetLogin(), "alice")
	edited := got[*github.User](t)(alice.Users.Edit(ctx,
		&github.User{Name: github.Ptr("Alice Ash"), Bio: github.Ptr("Sows.")}))
	equal(t, "the name", edited.GetName(), "Alice Ash")
	seen := got[*github.User](t)(nobody.Users.Get(ctx, "alice"))
	equal(t, "what others see", seen.GetName()+" "+seen.GetBio()+" "+seen.GetType(), "Alice Ash Sows. User")
	equal(t, "the same account", seen.GetID(), me.GetID())
	var logins []string
	for options := (github.UserListOptions{PerPage: 1}); ; {
		list, response, err := nobody.Users.ListAll(ctx, &options)
		testkit.NoError(t, err)
		logins = append(logins, userLogins(list))
		if response.NextPage == 0 {
			break
		}
		options.Since = int64(response.NextPage) // an id, in this one list
	}
	equal(t, "everyone", strings.Join(logins, " "), "alice will sam garden")
	limits := got[*github.RateLimits](t)(nobody.RateLimit.Get(ctx))
	if limits.GetCore() == nil {
		t.Error("there is no rate limit to read")
	}
	root := map[string]string{}
	call(t, nobody, http.MethodGet, "", &root)
	equal(t, "where the root leads", strings.HasSuffix(root["current_user_url"], "/user"), true)
	_, _, err := nobody.Users.Get(ctx, "")
	refused(t, err, http.StatusUnauthorized, "", "")
	_, _, err = nobody.Users.Get(ctx, "nobody")
	refused(t, err, http.StatusNotFound, "", "")
}

// call sends a request without a method in the client, in the client's own way.
func call(t *testing.T, c *github.Client, method, path string, into any) {
	t.Helper()
	r, err := c.NewRequest(t.Context(), method, path, nil)
	testkit.NoError(t, err)
	if _, err := c.Do(r, into); err != nil {
		t.Fatal(err)
	}
}

func members(t *testing.T, h *hub) {
	ctx, alice, will, sam := t.Context(), h.as(t, "alice"), h.as(t, "will"), h.as(t, "sam")
	org := got[*github.Organization](t)(alice.Organizations.Edit(ctx, "garden",
		&github.Organization{Description: github.Ptr("Of plants"), Location: github.Ptr("Outside")}))
	equal(t, "the description", org.GetDescription(), "Of plants")
	equal(t, "where it is", got[*github.Organization](t)(sam.Organizations.Get(ctx, "garden")).GetLocation(),
		"Outside")
	joined := got[*github.Membership](t)(alice.Organizations.EditOrgMembership(ctx, "will", "garden",
		&github.Membership{Role: github.Ptr("member")}))
	equal(t, "will's membership", joined.GetRole()+" "+joined.GetState(), "member active")
	call(t, alice, http.MethodPut, "orgs/garden/members/sam", nil)
	equal(t, "alice's own", got[*github.Membership](t)(alice.Organizations.GetOrgMembership(ctx, "alice",
		"garden")).GetRole(), "admin")
	for what, c := range map[string]struct {
		options github.ListMembersOptions
		want    string
	}{
		"members":      {github.ListMembersOptions{}, "alice will sam"},
		"owners":       {github.ListMembersOptions{Role: "admin"}, "alice"},
		"who shows it": {github.ListMembersOptions{PublicOnly: true}, ""},
	} {
		equal(t, what, userLogins(got[[]*github.User](t)(will.Organizations.ListMembers(ctx, "garden",
			&c.options))), c.want)
	}
	is := got[bool](t)
	equal(t, "sam is a member", is(will.Organizations.IsMember(ctx, "garden", "sam")), true)
	equal(t, "and shows it", is(will.Organizations.IsPublicMember(ctx, "garden", "sam")), false)
	done(t)(sam.Organizations.PublicizeMembership(ctx, "garden", "sam"))
	equal(t, "and shows it now", is(h.as(t, "").Organizations.IsPublicMember(ctx, "garden", "sam")), true)
	equal(t, "to everyone",
		len(got[[]*github.Organization](t)(h.as(t, "").Organizations.List(ctx, "sam", nil))), 1)
	done(t)(sam.Organizations.ConcealMembership(ctx, "garden", "sam"))
	equal(t, "and hides it",
		len(got[[]*github.Organization](t)(h.as(t, "").Organizations.List(ctx, "sam", nil))), 0)
	equal(t, "but not from sam", got[[]*github.Organization](t)(sam.Organizations.List(ctx, "",
		nil))[0].GetLogin(), "garden")
	mine := got[[]*github.Membership](t)(sam.Organizations.ListOrgMemberships(ctx,
		&github.ListOrgMembershipsOptions{State: "active"}))
	equal(t, "sam's memberships", mine[0].GetOrganization().GetLogin()+" "+mine[0].GetRole(), "garden member")
	_, _, err := will.Organizations.EditOrgMembership(ctx, "sam", "garden",
		&github.Membership{Role: github.Ptr("admin")})
	refused(t, err, http.StatusForbidden, "", "")
}

func userLogins(list []*github.User) string {
	names := make([]string, len(list))
	for n, u := range list {
		names[n] = u.GetLogin()
	}
	return strings.Join(names, " ")
}

func repositories(t *testing.T, h *hub) {
	ctx, alice, sam := t.Context(), h.as(t, "alice"), h.as(t, "sam")
	plot := got[*github.Repository](t)(alice.Repositories.Create(ctx, "garden",
		&github.Repository{Name: github.Ptr("plot"), Description: github.Ptr("Peas"),
			AutoInit: github.Ptr(true)}))
	equal(t, "the repository", plot.GetFullName()+" "+plot.GetDescription()+" "+plot.GetDefaultBranch(),
		"garden/plot Peas main")
	own := got[*github.Repository](t)(alice.Repositories.Create(ctx, "",
		&github.Repository{Name: github.Ptr("diary"), Private: github.Ptr(true)}))
	equal(t, "hidden", own.GetPrivate(), true)
	_, _, err := alice.Repositories.Create(ctx, "", &github.Repository{Name: github.Ptr("diary")})
	refused(t, err, http.StatusUnprocessableEntity, "name", "custom")
	list := got[[]*github.Repository](t)
	equal(t, "alice's", len(list(alice.Repositories.ListByAuthenticatedUser(ctx,
		&github.RepositoryListByAuthenticatedUserOptions{Sort: "full_name"}))), 2)
	equal(t, "alice's alone",
		len(list(alice.Repositories.ListByAuthenticatedUser(ctx,
			&github.RepositoryListByAuthenticatedUserOptions{Affiliation: "owner"}))), 1)
	equal(t, "what others see of them", len(list(sam.Repositories.ListByUser(ctx, "alice", nil))), 0)
	equal(t, "the organization's",
		list(sam.Repositories.ListByOrg(ctx, "garden",
			&github.RepositoryListByOrgOptions{Type: "public", Sort: "updated"}))[0].GetID(), plot.GetID())
	_, _, err = sam.Repositories.Get(ctx, "alice", "diary")
	refused(t, err, http.StatusNotFound, "", "")
	edited := got[*github.Repository](t)(alice.Repositories.Edit(ctx, "alice", "diary",
		&github.Repository{Name: github.Ptr("journal"), HasIssues: github.Ptr(false)}))
	equal(t, "the new name", edited.GetFullName(), "alice/journal")
	equal(t, "under the old one", got[*github.Repository](t)(alice.Repositories.Get(ctx, "alice",
		"diary")).GetFullName(), "alice/journal")
	done(t)(alice.Repositories.Delete(ctx, "alice", "journal"))
	_, _, err = alice.Repositories.Get(ctx, "alice", "journal")
	refused(t, err, http.StatusNotFound, "", "")
}

func collaborators(t *testing.T, h *hub) {
	ctx, alice, sam := t.Context(), h.as(t, "alice"), h.as(t, "sam")
	c := alice.Repositories
	if _, _, err := c.AddCollaborator(ctx, "garden", "plot", "sam",
		&github.RepositoryAddCollaboratorOptions{Permission: "push"}); err != nil {
		t.Fatal(err)
	}
	equal(t, "sam may", got[*github.RepositoryPermissionLevel](t)(c.GetPermissionLevel(ctx, "garden", "plot",
		"sam")).GetPermission(), "write")
	equal(t, "sam is one", got[bool](t)(c.IsCollaborator(ctx, "garden", "plot", "sam")), true)
	equal(t, "a stranger is one", got[bool](t)(c.IsCollaborator(ctx, "garden", "plot", "nobody")), false)
	equal(t, "the collaborators",
		userLogins(got[[]*github.User](t)(c.ListCollaborators(ctx, "garden", "plot", nil))), "alice will sam")
	for want, options := range map[string]github.ListCollaboratorsOptions{"sam": {Affiliation: "direct"},
		"alice sam": {Permission: "push"}, "alice": {Permission: "admin"}, "": {Affiliation: "outside"}} {
		equal(t, fmt.Sprintf("the collaborators by %+v", options),
			userLogins(got[[]*github.User](t)(c.ListCollaborators(ctx, "garden", "plot", &options))), want)
	}
	_, err := sam.Repositories.RemoveCollaborator(ctx, "garden", "plot", "will")
	refused(t, err, http.StatusForbidden, "", "")
	done(t)(c.RemoveCollaborator(ctx, "garden", "plot", "sam"))
	equal(t, "sam may", got[*github.RepositoryPermissionLevel](t)(c.GetPermissionLevel(ctx, "garden", "plot",
		"sam")).GetPermission(), "read")
}

func leaving(t *testing.T, h *hub) {
	ctx, alice := t.Context(), h.as(t, "alice")
	done(t)(h.as(t, "sam").Organizations.RemoveMember(ctx, "garden", "sam"))
	done(t)(alice.Organizations.RemoveOrgMembership(ctx, "will", "garden"))
	equal(t, "who is left",
		userLogins(got[[]*github.User](t)(alice.Organizations.ListMembers(ctx, "garden", nil))), "alice")
	_, err := alice.Organizations.RemoveMember(ctx, "garden", "alice")
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("the last owner leaves: %v", err)
	}
}

// Stars and watching, as the star button and the bell of a client see them.
func starsAndWatching(t *testing.T, h *hub) {
	tracker(t, h)
	h.Repo(t, "alice/shed", false)
	ctx, sam, nobody := t.Context(), h.as(t, "sam"), h.as(t, "")
	starred := got[bool](t)
	equal(t, "starred", starred(sam.Activity.IsStarred(ctx, "garden", "plot")), false)
	done(t)(sam.Activity.Star(ctx, "garden", "plot"))
	done(t)(sam.Activity.Star(ctx, "alice", "shed"))
	equal(t, "starred", starred(sam.Activity.IsStarred(ctx, "garden", "plot")), true)
	fans := got[[]*github.Stargazer](t)(nobody.Activity.ListStargazers(ctx, "garden", "plot", nil))
	equal(t, "who starred it", fans[0].GetUser().GetLogin(), "sam")
	equal(t, "at no time", fans[0].GetStarredAt().IsZero(), false)
	equal(t, "the stars", got[*github.Repository](t)(nobody.Repositories.Get(ctx, "garden",
		"plot")).GetStargazersCount(), 1)
	for direction, want := range map[string]string{"asc": "garden/plot", "desc": "alice/shed"} {
		for _, login := range []string{"", "sam"} { // "" is the caller
			list := got[[]*github.StarredRepository](t)(sam.Activity.ListStarred(ctx, login,
				&github.ActivityListStarredOptions{Sort: "created", Direction: direction}))
			equal(t, "the first starred, "+direction, list[0].GetRepository().GetFullName(), want)
			equal(t, "when", list[0].GetStarredAt().IsZero(), false)
		}
	}
	done(t)(sam.Activity.Unstar(ctx, "garden", "plot"))
	equal(t, "starred", starred(sam.Activity.IsStarred(ctx, "garden", "plot")), false)
	_, _, err := nobody.Activity.ListStarred(ctx, "", nil)
	refused(t, err, http.StatusUnauthorized, "", "")

	set := got[*github.Subscription](t)(sam.Activity.SetRepositorySubscription(ctx, "garden", "plot",
		&github.Subscription{Subscribed: github.Ptr(true)}))
	equal(t, "watching", set.GetSubscribed(), true)
	equal(t, "watching", got[*github.Subscription](t)(sam.Activity.GetRepositorySubscription(ctx, "garden",
		"plot")).GetSubscribed(), true)
	equal(t, "among the watchers",
		strings.Contains(userLogins(got[[]*github.User](t)(nobody.Activity.ListWatchers(ctx, "garden", "plot",
			nil))), "sam"), true)
	for _, login := range []string{"", "sam"} {
		equal(t, "what sam watches", got[[]*github.Repository](t)(sam.Activity.ListWatched(ctx, login,
			nil))[0].GetFullName(), "garden/plot")
	}
	done(t)(sam.Activity.DeleteRepositorySubscription(ctx, "garden", "plot"))
	if none, _, err := sam.Activity.GetRepositorySubscription(ctx, "garden", "plot"); none != nil ||
		err != nil {
		t.Errorf("a subscription that was taken back is %v, %v", none, err)
	}
}
