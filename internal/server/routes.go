package server

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/plant"
	"arbor/internal/pull"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/search"
	"arbor/internal/star"
	"arbor/internal/status"
	"arbor/internal/web"
)

// features are the handlers that the table names.
type features struct {
	accounts   *account.API
	repos      *repo.API
	service    *repo.Service
	issues     *issue.API
	labels     *label.API
	milestones *milestone.API
	pulls      *pull.API
	reviews    *review.API
	git        *gitdata.API
	statuses   *status.API
	searches   *search.API
	toIssues   *reaction.API
	toComments *reaction.API // of issues
	toReviews  *reaction.API // to comments of theirs
	stars      *star.API
	feeds      *activity.API
	plants     *plant.API
	pages      *page.Pages
}

// interfaceTable is the whole interface: a line a route, with the right that it
// needs. Every unsafe method of the API needs a signed-in caller besides
// (decision 11).
func (s *Server) interfaceTable(f features) []Route {
	a, r, g, c, i, m, p := f.accounts, f.repos, f.git, f.statuses, f.issues, f.pulls, f.plants
	v := f.reviews
	k, e := f.stars, f.feeds
	l, n := f.labels, f.milestones
	pull := func(h repo.Handler) Endpoint { return onRepo(f.service, Pull, h) }
	seen := func(h web.Handler) Endpoint { return Endpoint{Right: Pull, serve: h, handler: h} } // which finds the repository itself
	push := func(h repo.Handler) Endpoint { return onRepo(f.service, Push, h) }
	own := func(h repo.Handler) Endpoint { // pull, for who is signed in
		e := pull(h)
		e.Right = SignedIn
		return e
	}
	admin := func(h repo.Handler) Endpoint { return onRepo(f.service, Admin, h) }
	large := func(h repo.Handler) Endpoint { // push, with a body that holds files
		e := push(h)
		e.Limit = web.MaxBlob
		return e
	}
	fetching := func(h repo.Handler) Endpoint {
		return Endpoint{Group: Git, Right: Pull, serve: f.service.WithGit(repo.Fetching, h), handler: h,
			Limit: git.MaxFetchRequest, unpack: repo.Unpack}
	}
	pushing := func(h repo.Handler) Endpoint {
		return Endpoint{Group: Git, Right: Push, serve: f.service.WithGit(repo.Pushing, h), handler: h, streams: true}
	}
	either := func(h repo.Handler) Endpoint { // push when the request names git-receive-pack
		return Endpoint{Group: Git, Right: Pull, serve: f.service.WithGit(repo.ServiceRole, h), handler: h}
	}
	always := func(h web.Handler) Endpoint {
		e := people(h)
		e.always = true
		return e
	}
	shown := func(h repo.Handler) Endpoint { // to people, with errors as pages
		return Endpoint{Group: Pages, Right: Pull, serve: f.pages.With(h), handler: h}
	}
	return []Route{
		{"GET", "/", anyone(s.Root)},
		{"GET", "/rate_limit", anyone(s.RateLimit)},
		{"GET", "/healthz", always(s.Healthz)},
		{"GET", "/readyz", always(s.Readyz)},
		{"GET", "/docs", people(s.Docs)},
		{"GET", "/docs/docs.js", people(s.DocsScript)},
		{"GET", "/docs/redoc.js", people(s.DocsRenderer)},
		{"GET", "/openapi/code-hosting.json", people(s.CodeHostingDocument)},
		{"GET", "/openapi/plants.json", people(s.PlantsDocument)},

		// Accounts
		{"GET", "/user", signedIn(a.GetSelf)},
		{"PATCH", "/user", signedIn(a.UpdateSelf)},
		{"GET", "/user/orgs", signedIn(a.ListOwnOrgs)},
		{"GET", "/user/memberships/orgs", signedIn(a.ListOwnMemberships)},
		{"GET", "/users", anyone(a.ListUsers)},
		{"GET", "/users/{username}", anyone(a.GetUser)},
		{"GET", "/users/{username}/orgs", anyone(a.ListUserOrgs)},
		{"GET", "/users/{username}/followers", anyone(a.ListFollowers)},
		{"GET", "/users/{username}/following", anyone(a.ListFollowing)},
		{"GET", "/users/{username}/following/{target}", anyone(a.CheckFollowing)},
		{"GET", "/user/followers", signedIn(a.ListOwnFollowers)},
		{"GET", "/user/following", signedIn(a.ListOwnFollowing)},
		{"GET", "/user/following/{username}", signedIn(a.CheckOwnFollowing)},
		{"PUT", "/user/following/{username}", signedIn(a.Follow)},
		{"DELETE", "/user/following/{username}", signedIn(a.Unfollow)},
		{"GET", "/avatars/{id}", people(a.GetAvatar)},
		{"GET", "/orgs/{org}", anyone(a.GetOrg)},
		{"PATCH", "/orgs/{org}", signedIn(a.UpdateOrg)},
		{"GET", "/orgs/{org}/members", anyone(a.ListMembers)},
		{"GET", "/orgs/{org}/members/{username}", anyone(a.CheckMember)},
		{"PUT", "/orgs/{org}/members/{username}", signedIn(a.AddMember)},
		{"DELETE", "/orgs/{org}/members/{username}", signedIn(a.RemoveMember)},
		{"GET", "/orgs/{org}/memberships/{username}", signedIn(a.GetMembership)},
		{"PUT", "/orgs/{org}/memberships/{username}", signedIn(a.SetMembership)},
		{"DELETE", "/orgs/{org}/memberships/{username}", signedIn(a.RemoveMembership)},
		{"GET", "/orgs/{org}/public_members", anyone(a.ListPublicMembers)},
		{"GET", "/orgs/{org}/public_members/{username}", anyone(a.CheckPublicMember)},
		{"PUT", "/orgs/{org}/public_members/{username}", signedIn(a.PublicizeMember)},
		{"DELETE", "/orgs/{org}/public_members/{username}", signedIn(a.ConcealMember)},

		// Repositories
		{"GET", "/user/repos", signedIn(r.ListOwn)},
		{"POST", "/user/repos", signedIn(r.CreateOwn)},
		{"GET", "/users/{username}/repos", anyone(r.ListOfUser)},
		{"GET", "/orgs/{org}/repos", anyone(r.ListOfOrg)},
		{"POST", "/orgs/{org}/repos", signedIn(r.CreateForOrg)},
		{"GET", "/repos/{owner}/{repo}", pull(r.Get)},
		{"PATCH", "/repos/{owner}/{repo}", admin(r.Edit)},
		{"DELETE", "/repos/{owner}/{repo}", admin(r.Delete)},
		{"GET", "/repos/{owner}/{repo}/forks", pull(r.ListForks)},
		{"POST", "/repos/{owner}/{repo}/forks", pull(r.CreateFork)},
		{"GET", "/repos/{owner}/{repo}/collaborators", push(r.ListCollaborators)},
		{"GET", "/repos/{owner}/{repo}/collaborators/{username}", push(r.CheckCollaborator)},
		{"PUT", "/repos/{owner}/{repo}/collaborators/{username}", admin(r.AddCollaborator)},
		{"DELETE", "/repos/{owner}/{repo}/collaborators/{username}", pull(r.RemoveCollaborator)}, // oneself; others: admin
		{"GET", "/repos/{owner}/{repo}/collaborators/{username}/permission", push(r.GetPermission)},

		// Stars and watching
		{"GET", "/repos/{owner}/{repo}/stargazers", pull(k.ListStargazers)},
		{"GET", "/users/{username}/starred", anyone(k.ListStarred)},
		{"GET", "/users/{username}/starred/{owner}/{repo}", pull(k.CheckOf)},
		{"GET", "/user/starred", signedIn(k.ListOwnStarred)},
		{"GET", "/user/starred/{owner}/{repo}", own(k.Check)},
		{"PUT", "/user/starred/{owner}/{repo}", seen(k.Star)},
		{"DELETE", "/user/starred/{owner}/{repo}", seen(k.Unstar)},
		{"GET", "/repos/{owner}/{repo}/subscribers", pull(k.ListSubscribers)},
		{"GET", "/repos/{owner}/{repo}/subscription", own(k.GetSubscription)},
		{"PUT", "/repos/{owner}/{repo}/subscription", pull(k.SetSubscription)},
		{"DELETE", "/repos/{owner}/{repo}/subscription", pull(k.DeleteSubscription)},
		{"GET", "/users/{username}/subscriptions", anyone(k.ListWatched)},
		{"GET", "/user/subscriptions", signedIn(k.ListOwnWatched)},

		// Activity
		{"GET", "/events", anyone(e.ListPublic)},
		{"GET", "/repos/{owner}/{repo}/events", pull(e.ListOfRepo)},
		{"GET", "/networks/{owner}/{repo}/events", pull(e.ListOfNetwork)},
		{"GET", "/orgs/{org}/events", anyone(e.ListOfOrg)},
		{"GET", "/users/{username}/events", anyone(e.ListOfUser)},
		{"GET", "/users/{username}/events/public", anyone(e.ListOfUserInPublic)},
		{"GET", "/users/{username}/events/orgs/{org}", signedIn(e.ListOfUserInOrg)},
		{"GET", "/users/{username}/received_events", anyone(e.ListReceived)},
		{"GET", "/users/{username}/received_events/public", anyone(e.ListReceivedInPublic)},

		// Git objects
		{"GET", "/repos/{owner}/{repo}/git/trees/{sha...}", pull(g.GetTree)},
		{"POST", "/repos/{owner}/{repo}/git/trees", large(g.CreateTree)},
		{"GET", "/repos/{owner}/{repo}/git/blobs/{sha}", pull(g.GetBlob)},
		{"POST", "/repos/{owner}/{repo}/git/blobs", large(g.CreateBlob)},
		{"POST", "/repos/{owner}/{repo}/git/commits", push(g.CreateCommit)},
		{"GET", "/repos/{owner}/{repo}/git/commits/{sha}", pull(g.GetGitCommit)},
		{"GET", "/repos/{owner}/{repo}/git/tags/{sha}", pull(g.GetTag)},
		{"POST", "/repos/{owner}/{repo}/git/tags", push(g.CreateTag)},
		{"GET", "/repos/{owner}/{repo}/git/ref/{ref...}", pull(g.GetRef)},
		{"GET", "/repos/{owner}/{repo}/git/matching-refs/{ref...}", pull(g.MatchingRefs)},
		{"GET", "/repos/{owner}/{repo}/git/refs", pull(g.MatchingRefs)},
		{"POST", "/repos/{owner}/{repo}/git/refs", push(g.CreateRef)},
		{"GET", "/repos/{owner}/{repo}/git/refs/{ref...}", pull(g.GetRefs)},
		{"PATCH", "/repos/{owner}/{repo}/git/refs/{ref...}", push(g.UpdateRef)},
		{"DELETE", "/repos/{owner}/{repo}/git/refs/{ref...}", push(g.DeleteRef)},

		// Histories and files
		{"GET", "/repos/{owner}/{repo}/branches", pull(g.ListBranches)},
		{"GET", "/repos/{owner}/{repo}/branches/{branch...}", pull(g.GetBranch)},
		{"GET", "/repos/{owner}/{repo}/tags", pull(g.ListTags)},
		{"GET", "/repos/{owner}/{repo}/commits", pull(g.ListCommits)},
		{"GET", "/repos/{owner}/{repo}/commits/{sha}/branches-where-head", pull(g.ListBranchesAt)},
		{"GET", "/repos/{owner}/{repo}/commits/{ref...}", pull(g.GetCommit)},
		{"GET", "/repos/{owner}/{repo}/commits/{ref...}/status", pull(c.Combine)},
		{"GET", "/repos/{owner}/{repo}/commits/{ref...}/statuses", pull(c.List)},
		{"GET", "/repos/{owner}/{repo}/commits/{ref...}/pulls", pull(m.ListOfCommit)},
		{"GET", "/repos/{owner}/{repo}/statuses/{ref...}", pull(c.List)},
		{"POST", "/repos/{owner}/{repo}/statuses/{ref...}", push(c.Create)},
		{"GET", "/repos/{owner}/{repo}/compare/{basehead...}", pull(g.Compare)},
		{"GET", "/repos/{owner}/{repo}/contents", pull(g.GetContents)},
		{"GET", "/repos/{owner}/{repo}/contents/{path...}", pull(g.GetContents)},
		{"PUT", "/repos/{owner}/{repo}/contents/{path...}", large(g.PutContents)},
		{"DELETE", "/repos/{owner}/{repo}/contents/{path...}", push(g.DeleteContents)},
		{"GET", "/repos/{owner}/{repo}/readme", pull(g.GetReadme)},
		{"GET", "/repos/{owner}/{repo}/readme/{dir...}", pull(g.GetDirectoryReadme)},
		{"GET", "/repos/{owner}/{repo}/contributors", pull(g.ListContributors)},
		{"GET", "/repos/{owner}/{repo}/tarball", pull(g.GetTarball)},
		{"GET", "/repos/{owner}/{repo}/tarball/{ref...}", pull(g.GetTarball)},
		{"GET", "/repos/{owner}/{repo}/zipball", pull(g.GetZipball)},
		{"GET", "/repos/{owner}/{repo}/zipball/{ref...}", pull(g.GetZipball)},
		{"GET", "/{owner}/{repo}/raw/{path...}", pull(g.GetRaw)},
		{"GET", "/{owner}/{repo}/archive/{file...}", pull(g.GetArchive)},

		// Issues
		{"GET", "/issues", signedIn(i.ListAll)},
		{"GET", "/user/issues", signedIn(i.ListOwn)},
		{"GET", "/orgs/{org}/issues", signedIn(i.ListOfOrg)},
		{"GET", "/search/issues", anyone(f.searches.Issues)},
		{"GET", "/repos/{owner}/{repo}/issues", pull(i.List)},
		{"POST", "/repos/{owner}/{repo}/issues", pull(i.Create)},
		{"GET", "/repos/{owner}/{repo}/issues/{number}", pull(i.Get)},
		{"PATCH", "/repos/{owner}/{repo}/issues/{number}", pull(i.Edit)}, // its author; others: push
		{"POST", "/repos/{owner}/{repo}/issues/{number}/assignees", push(i.AddAssignees)},
		{"DELETE", "/repos/{owner}/{repo}/issues/{number}/assignees", push(i.RemoveAssignees)},
		{"GET", "/repos/{owner}/{repo}/issues/{number}/assignees/{assignee}", pull(i.CheckIssueAssignee)},
		{"GET", "/repos/{owner}/{repo}/issues/{number}/labels", pull(i.ListIssueLabels)},
		{"POST", "/repos/{owner}/{repo}/issues/{number}/labels", push(i.AddIssueLabels)},
		{"PUT", "/repos/{owner}/{repo}/issues/{number}/labels", push(i.SetIssueLabels)},
		{"DELETE", "/repos/{owner}/{repo}/issues/{number}/labels", push(i.ClearIssueLabels)},
		{"DELETE", "/repos/{owner}/{repo}/issues/{number}/labels/{name}", push(i.RemoveIssueLabel)},
		{"PUT", "/repos/{owner}/{repo}/issues/{number}/lock", push(i.Lock)},
		{"DELETE", "/repos/{owner}/{repo}/issues/{number}/lock", push(i.Unlock)},
		{"GET", "/repos/{owner}/{repo}/issues/{number}/subscription", own(i.GetSubscription)},
		{"PUT", "/repos/{owner}/{repo}/issues/{number}/subscription", own(i.SetSubscription)},
		{"DELETE", "/repos/{owner}/{repo}/issues/{number}/subscription", own(i.DeleteSubscription)},
		{"GET", "/repos/{owner}/{repo}/issues/{number}/reactions", pull(f.toIssues.List)},
		{"POST", "/repos/{owner}/{repo}/issues/{number}/reactions", pull(f.toIssues.Create)},
		{"DELETE", "/repos/{owner}/{repo}/issues/{number}/reactions/{reaction_id}", pull(f.toIssues.Delete)}, // one's own
		{"GET", "/repos/{owner}/{repo}/issues/{number}/comments", pull(i.ListComments)},
		{"POST", "/repos/{owner}/{repo}/issues/{number}/comments", pull(i.CreateComment)}, // when locked: push
		{"GET", "/repos/{owner}/{repo}/issues/{number}/events", pull(i.ListEvents)},
		{"GET", "/repos/{owner}/{repo}/issues/{number}/timeline", pull(i.Timeline)},
		{"GET", "/repos/{owner}/{repo}/issues/events", pull(i.ListRepoEvents)},
		{"GET", "/repos/{owner}/{repo}/issues/events/{id}", pull(i.GetEvent)},
		{"GET", "/repos/{owner}/{repo}/issues/comments", pull(i.ListRepoComments)},
		{"GET", "/repos/{owner}/{repo}/issues/comments/{id}", pull(i.GetComment)},
		{"PATCH", "/repos/{owner}/{repo}/issues/comments/{id}", pull(i.EditComment)},    // its author; others: push
		{"DELETE", "/repos/{owner}/{repo}/issues/comments/{id}", pull(i.DeleteComment)}, // the same
		{"GET", "/repos/{owner}/{repo}/issues/comments/{id}/reactions", pull(f.toComments.List)},
		{"POST", "/repos/{owner}/{repo}/issues/comments/{id}/reactions", pull(f.toComments.Create)},
		{"DELETE", "/repos/{owner}/{repo}/issues/comments/{id}/reactions/{reaction_id}", pull(f.toComments.Delete)}, // one's own

		// Labels, milestones, assignees
		{"GET", "/repos/{owner}/{repo}/assignees", pull(i.ListAssignees)},
		{"GET", "/repos/{owner}/{repo}/assignees/{assignee}", pull(i.CheckAssignee)},
		{"GET", "/repos/{owner}/{repo}/labels", pull(l.List)},
		{"POST", "/repos/{owner}/{repo}/labels", push(l.Create)},
		{"GET", "/repos/{owner}/{repo}/labels/{name}", pull(l.Get)},
		{"PATCH", "/repos/{owner}/{repo}/labels/{name}", push(l.Edit)},
		{"DELETE", "/repos/{owner}/{repo}/labels/{name}", push(i.DeleteLabel)},
		{"GET", "/repos/{owner}/{repo}/milestones", pull(n.List)},
		{"POST", "/repos/{owner}/{repo}/milestones", push(n.Create)},
		{"GET", "/repos/{owner}/{repo}/milestones/{number}", pull(n.Get)},
		{"PATCH", "/repos/{owner}/{repo}/milestones/{number}", push(n.Edit)},
		{"DELETE", "/repos/{owner}/{repo}/milestones/{number}", push(i.DeleteMilestone)},
		{"GET", "/repos/{owner}/{repo}/milestones/{number}/labels", pull(n.ListLabels)},

		// Pull requests
		{"GET", "/repos/{owner}/{repo}/pulls", pull(m.List)},
		{"POST", "/repos/{owner}/{repo}/pulls", pull(m.Create)},
		{"GET", "/repos/{owner}/{repo}/pulls/{number}", pull(m.Get)},
		{"PATCH", "/repos/{owner}/{repo}/pulls/{number}", pull(m.Edit)}, // its author; others: push
		{"GET", "/repos/{owner}/{repo}/pulls/{number}/commits", pull(m.ListCommits)},
		{"GET", "/repos/{owner}/{repo}/pulls/{number}/files", pull(m.ListFiles)},
		{"GET", "/repos/{owner}/{repo}/pulls/{number}/merge", pull(m.CheckMerged)},
		{"PUT", "/repos/{owner}/{repo}/pulls/{number}/merge", push(m.Merge)},
		{"GET", "/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", pull(m.ListRequested)},
		{"POST", "/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", pull(m.RequestReviewers)},     // its author; others: push
		{"DELETE", "/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", pull(m.UnrequestReviewers)}, // the same
		{"PUT", "/repos/{owner}/{repo}/pulls/{number}/update-branch", pull(m.UpdateBranch)},                // push to the head
		{"POST", "/repos/{owner}/{repo}/merges", push(m.MergeInto)},

		// Reviews
		{"GET", "/repos/{owner}/{repo}/pulls/comments", pull(v.ListRepoComments)},
		{"GET", "/repos/{owner}/{repo}/pulls/comments/{id}", pull(v.GetComment)},
		{"PATCH", "/repos/{owner}/{repo}/pulls/comments/{id}", pull(v.EditComment)},    // its author; others: push
		{"DELETE", "/repos/{owner}/{repo}/pulls/comments/{id}", pull(v.DeleteComment)}, // the same
		{"GET", "/repos/{owner}/{repo}/pulls/comments/{id}/reactions", pull(f.toReviews.List)},
		{"POST", "/repos/{owner}/{repo}/pulls/comments/{id}/reactions", pull(f.toReviews.Create)},
		{"DELETE", "/repos/{owner}/{repo}/pulls/comments/{id}/reactions/{reaction_id}", pull(f.toReviews.Delete)}, // one's own
		{"GET", "/repos/{owner}/{repo}/pulls/{number}/comments", pull(v.ListComments)},
		{"POST", "/repos/{owner}/{repo}/pulls/{number}/comments", pull(v.CreateComment)},      // when locked: push
		{"POST", "/repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", pull(v.Reply)}, // the same
		{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews", pull(v.List)},
		{"POST", "/repos/{owner}/{repo}/pulls/{number}/reviews", pull(v.Create)}, // the same
		{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", pull(v.Get)},
		{"PUT", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", pull(v.Edit)},      // one's own
		{"DELETE", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", pull(v.Delete)}, // one's own
		{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments", pull(v.ListReviewComments)},
		{"POST", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/events", pull(v.Submit)}, // one's own
		{"PUT", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals", push(v.Dismiss)},

		// Git over HTTP
		{"GET", "/{owner}/{repo}/info/refs", either(r.InfoRefs)},
		{"POST", "/{owner}/{repo}/git-upload-pack", fetching(r.UploadPack)},
		{"POST", "/{owner}/{repo}/git-receive-pack", pushing(r.ReceivePack)},

		// The plant store
		{"GET", "/plants", plants(p.List)},
		{"POST", "/plants", plants(p.Create)},
		{"DELETE", "/plants/{id}", plants(p.Delete)},

		// Pages for people, where html_url leads
		{"GET", "/{owner}", people(f.pages.Owner)},
		{"GET", "/{owner}/{repo}", people(f.pages.Repo)},
		{"GET", "/{owner}/{repo}/issues", shown(f.pages.IssueList)},
		{"GET", "/{owner}/{repo}/issues/{number}", shown(f.pages.Issue)},
		{"GET", "/{owner}/{repo}/milestone/{number}", shown(f.pages.Milestone)},
		{"GET", "/{owner}/{repo}/pulls", shown(f.pages.PullList)},
		{"GET", "/{owner}/{repo}/pull/{file}", shown(f.pages.Pull)},
		{"GET", "/{owner}/{repo}/commit/{sha}", shown(f.pages.Commit)},
		{"GET", "/{owner}/{repo}/compare/{basehead...}", shown(f.pages.Compare)},
		{"GET", "/{owner}/{repo}/tree/{path...}", shown(f.pages.Tree)},
		{"GET", "/{owner}/{repo}/blob/{path...}", shown(f.pages.Blob)},
	}
}
