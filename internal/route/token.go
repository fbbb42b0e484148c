package route

import (
	"net/http"
	"strings"

	"arbor/internal/scope"
)

// Need is what a route wants of a token. Without it, what everybody may read is read as by
// everybody, and all else is refused.
type Need struct {
	Scopes scope.Set // a classic token needs one of them, or one that includes it; 0: none
	Fine   string    // the permission of fine-grained tokens, as GitHub names it; empty: they need none
	Never  bool      // fine-grained tokens cannot do it

	// App is the permission that an App's installation needs, in the same form. Empty: it needs none;
	// "-": Apps cannot do it.
	App string
}

// Sets of scopes of which one is enough, or a scope that includes it. That private repositories
// take repo the reach of the caller says (package account).
const (
	none    scope.Set = 0
	code              = scope.PublicRepo
	builds            = code | scope.RepoStatus
	watches           = code | scope.Notifications
)

// never marks routes that fine-grained tokens cannot use, but to read what is public. They are for the
// repositories that they were made for.
const never = "-"

// apps say what an installation of an App needs where that is not what a fine-grained token does, in the form
// of needs. What fine-grained tokens can never do, an App cannot do either unless it stands here.
var apps = []struct{ method, pattern, permission string }{
	{"GET", "/installation/repositories", "metadata"},
	{"DELETE", "/installation/token", ""},
	{"GET", "/orgs/{org}/installations", "organization_administration"},
	{"*", "/repos/{owner}/{repo}/collaborators...", "administration"},
	{"PUT", "/repos/{owner}/{repo}/pulls/{number}/merge", "contents"},
	{"GET", "/orgs/{org}/memberships/{username}", "members"},
	{"*", "/orgs/{org}/memberships/{username}", "members"},
	{"*", "/orgs/{org}/members...", "members"},
	{"GET", "/orgs/{org}/audit-log", "organization_administration"},
	{"*", "/orgs/{org}/hooks...", "organization_hooks"},
	{"PATCH", "/orgs/{org}", "organization_administration"},
	{"DELETE", "/orgs/{org}", never},
	{"GET", "/orgs/{org}/issues", never},
	{"GET", "/user/{account_id}", ""},
	{"GET", "/users/{username}/events/orgs/{org}", never},
	{"GET", "/users...", ""},
	{"*", "/user...", never},
	{"GET", "/issues", never},
	{"*", "/notifications...", never}, // which are a person's
	{"*", "/repos/{owner}/{repo}/notifications", never},
	{"GET", "/{owner}/{repo}/info/refs", "contents"}, // git, before the pages for people
	{"POST", "/{owner}/{repo}/git-upload-pack", "contents=read"},
	{"POST", "/{owner}/{repo}/git-receive-pack", "contents"},
	{"GET", "/{owner}/{repo}/archive/...", "contents"},
	{"GET", "/{owner}/{repo}/raw/...", "contents"},
	{"GET", "/{owner}/{repo}/releases/download/...", "contents"},
	{"GET", "/{owner}/{repo}/attachments/{key}", "issues"},
	{"GET", "/{owner}/{repo}/releases/latest/download/...", "contents"},
	{"*", "/{owner}...", never},
	{"*", "/dashboard/...", never},
	{"*", "/new...", never},
	{"*", "/orgs/{org}/people", never},
	{"*", "/orgs/{org}/settings...", never},
}

// needs say for each route what it wants of a token. The first line counts that has the method,
// or "*", and the pattern; "..." at its end stands for anything. The method says whether a permission is to
// read or to write.
var needs = []struct {
	method, pattern string
	scopes          scope.Set
	fine            string
}{
	{"GET", "/repos/{owner}/{repo}/statuses/...", builds, "statuses"},
	{"POST", "/repos/{owner}/{repo}/statuses/...", builds, "statuses"},
	{"GET", "/repos/{owner}/{repo}/commits/{ref...}/status...", builds, "statuses"},
	{"*", "/repos/{owner}/{repo}/check-...", code, "checks"},
	{"GET", "/repos/{owner}/{repo}/commits/{ref...}/check-...", code, "checks"},
	{"DELETE", "/repos/{owner}/{repo}", scope.DeleteRepo, "administration"},
	{"PATCH", "/repos/{owner}/{repo}", code, "administration"},
	{"POST", "/repos/{owner}/{repo}/forks", code, never},
	{"POST", "/repos/{owner}/{repo}/generate", code, never},
	{"POST", "/repos/{owner}/{repo}/transfer", code, "administration"},
	{"*", "/repos/{owner}/{repo}/subscription", watches, never},
	{"*", "/repos/{owner}/{repo}/issues/{number}/subscription", watches, never},
	{"GET", "/apps/{app_slug}", none, ""},
	{"POST", "/app-manifests/{code}/conversions", none, ""},
	{"*", "/app...", none, never},
	{"GET", "/repos/{owner}/{repo}/installation", none, never},
	{"GET", "/orgs/{org}/installation", none, never},
	{"GET", "/users/{username}/installation", none, never},
	{"*", "/installation/...", none, never},
	{"GET", "/orgs/{org}/installations", scope.ReadOrg, never},
	{"GET", "/user/installations...", none, never},
	{"*", "/user/installations/{installation_id}/repositories/{repository_id}", scope.Repo, never},
	{"*", "/repos/{owner}/{repo}/notifications", watches, "metadata=read"},
	{"GET", "/repos/{owner}/{repo}/collaborators...", code, "metadata"},
	{"*", "/repos/{owner}/{repo}/collaborators...", code, never},
	{"*", "/repos/{owner}/{repo}/issues...", code, "issues"},
	{"*", "/repos/{owner}/{repo}/comments...", code, "contents"},
	{"POST", "/repos/{owner}/{repo}/commits/{sha}/comments", code, "contents"},
	{"*", "/repos/{owner}/{repo}/labels...", code, "issues"},
	{"*", "/repos/{owner}/{repo}/milestones...", code, "issues"},
	{"*", "/repos/{owner}/{repo}/assignees...", code, "issues"},
	{"*", "/repos/{owner}/{repo}/pulls...", code, "pull_requests"},
	{"GET", "/repos/{owner}/{repo}", code, "metadata"},
	{"GET", "/repos/{owner}/{repo}/events", code, "metadata"},
	{"GET", "/repos/{owner}/{repo}/languages", code, "metadata"},
	{"GET", "/repos/{owner}/{repo}/topics", code, "metadata"},
	{"PUT", "/repos/{owner}/{repo}/topics", code, "administration"},
	{"GET", "/repos/{owner}/{repo}/license", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/forks", code, "metadata"},
	{"GET", "/repos/{owner}/{repo}/stargazers", code, "metadata"},
	{"GET", "/repos/{owner}/{repo}/subscribers", code, "metadata"},
	{"*", "/repos/{owner}/{repo}/keys...", code, "administration"},
	{"GET", "/repos/{owner}/{repo}/hooks...", scope.Repo | scope.ReadRepoHooks, "repository_hooks"},
	{"DELETE", "/repos/{owner}/{repo}/hooks/{hook_id}", scope.Repo | scope.AdminRepoHooks,
		"repository_hooks"},
	{"*", "/repos/{owner}/{repo}/hooks...", scope.Repo | scope.WriteRepoHooks, "repository_hooks"},
	{"POST", "/repos/{owner}/{repo}/dispatches", code, "contents"},
	{"*", "/repos/{owner}/{repo}/git/...", code, "contents"},
	{"*", "/repos/{owner}/{repo}/contents...", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/branches...", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/commits...", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/compare/...", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/contributors", code, "contents"},
	{"POST", "/repos/{owner}/{repo}/merges", code, "contents"},
	{"POST", "/repos/{owner}/{repo}/merge-upstream", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/readme...", code, "contents"},
	{"*", "/repos/{owner}/{repo}/releases...", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/tags", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/tarball...", code, "contents"},
	{"GET", "/repos/{owner}/{repo}/zipball...", code, "contents"},
	{"GET", "/networks/{owner}/{repo}/events", code, "metadata"},
	{"GET", "/{owner}/{repo}/archive/...", code, "contents"},
	{"GET", "/{owner}/{repo}/raw/...", code, "contents"},
	{"GET", "/{owner}/{repo}/releases/download/...", code, "contents"},
	{"GET", "/{owner}/{repo}/attachments/{key}", code, "issues"},
	{"GET", "/{owner}/{repo}/releases/latest/download/...", code, "contents"},

	// git, and the pages for people.
	{"GET", "/{owner}/{repo}/info/refs", code, "contents"},
	{"POST", "/{owner}/{repo}/git-upload-pack", code, "contents=read"},
	{"POST", "/{owner}/{repo}/git-receive-pack", code, "contents"},
	{"*", "/{owner}...", code, ""},
	{"*", "/login", none, ""},
	{"*", "/logout", none, ""},
	{"*", "/setup", none, ""},
	{"GET", "/assets/{asset}", none, ""},

	// What a page asks of the API is asked of the token again.
	{"*", "/dashboard/...", none, ""},
	{"*", "/new...", none, ""},
	{"GET", "/explore", none, ""},
	{"GET", "/help...", none, ""},
	{"GET", "/search", none, ""},
	{"*", "/orgs/{org}/people", none, ""},
	{"*", "/orgs/{org}/settings...", none, ""},

	// These change what no scope lets a token change: passwords, tokens, and for site administrators
	// everything.
	{"*", "/settings...", scope.Whole, never},
	{"*", "/organizations/{org}/settings...", scope.Whole, never},
	{"GET", "/github-apps/{app_slug}", none, ""},
	{"*", "/github-apps/{app_slug}/installations/new", scope.Whole, never},
	{"*", "/site...", scope.Whole, never},
	{"*", "/login/...", none, ""},
	{"GET", "/user", none, ""},
	{"PATCH", "/user", scope.User, never},
	{"GET", "/user/{account_id}", none, ""},
	{"GET", "/user/repos", none, "metadata"},
	{"POST", "/user/repos", code, never},
	{"GET", "/user/orgs", scope.ReadOrg, never},
	{"GET", "/user/memberships/orgs", scope.ReadOrg, never},
	{"GET", "/user/followers", none, ""},
	{"GET", "/user/following...", none, ""},
	{"*", "/user/following/{username}", scope.FollowUsers, never},
	{"GET", "/user/starred...", none, ""},
	{"*", "/user/starred/{owner}/{repo}", code, never},
	{"GET", "/user/subscriptions", none, ""},
	{"GET", "/user/issues", none, "issues"},
	{"GET", "/issues", none, "issues"},
	{"*", "/notifications...", watches, "metadata=read"},
	{"GET", "/search/issues", code, "issues"},
	{"GET", "/search/repositories", code, "metadata"},
	{"GET", "/search/users", none, ""},
	{"GET", "/search/commits", code, "contents"},
	{"GET", "/search/code", code, "contents"},
	{"GET", "/events", none, ""},

	{"GET", "/user/emails", scope.UserEmail, never},
	{"*", "/user/emails", scope.User, never},

	{"GET", "/user/keys...", scope.ReadKeys, never},
	{"POST", "/user/keys", scope.WriteKeys, never},
	{"DELETE", "/user/keys/{key_id}", scope.AdminKeys, never},

	{"GET", "/users", none, ""},
	{"GET", "/users/{username}", none, ""},
	{"GET", "/users/{username}/keys", none, ""},
	{"GET", "/{username}.keys", none, ""},
	{"GET", "/users/{username}/orgs", scope.ReadOrg, ""},
	{"GET", "/users/{username}/repos", code, "metadata"},
	{"GET", "/users/{username}/events/orgs/{org}", scope.ReadOrg, never},
	{"GET", "/users/{username}/events...", code, ""},
	{"GET", "/users/{username}/received_events...", code, ""},
	{"GET", "/users/{username}/followers", none, ""},
	{"GET", "/users/{username}/following...", none, ""},
	{"GET", "/users/{username}/starred...", code, ""},
	{"GET", "/users/{username}/subscriptions", code, ""},

	{"GET", "/organizations", none, ""},
	{"GET", "/repositories", none, ""},
	{"GET", "/repositories/{repository_id}", code, "metadata"},
	{"GET", "/orgs/{org}/repos", code, "metadata"},
	{"POST", "/orgs/{org}/repos", code, never},
	{"GET", "/orgs/{org}/events", code, ""},
	{"GET", "/orgs/{org}/issues", none, "issues"},
	{"GET", "/orgs/{org}/memberships/{username}", scope.ReadOrg, never},
	{"GET", "/orgs/{org}/public_members...", none, ""},
	{"*", "/orgs/{org}/public_members/{username}", scope.WriteOrg, never},
	{"GET", "/orgs/{org}/audit-log", scope.ReadAuditLog, never},
	{"*", "/orgs/{org}/hooks...", scope.AdminOrgHooks, never},
	{"GET", "/orgs/{org}...", scope.ReadOrg, ""},
	{"*", "/orgs/{org}...", scope.AdminOrg, never},

	{"*", "/users/{username}/suspended", scope.SiteAdmin, never},
	{"*", "/users/{username}/site_admin", scope.SiteAdmin, never},
	{"*", "/admin/...", scope.SiteAdmin, never},
	{"*", "/plants...", scope.Plants, never},

	// Each question that GraphQL asks has a route of its own, whose need is asked.
	{"POST", "/graphql", none, ""},
	{"POST", "/api/graphql", none, ""},

	{"GET", "/", none, ""},
	{"GET", "/rate_limit", none, ""},
	{"GET", "/meta", none, ""},
	{"GET", "/licenses...", none, ""},
	{"GET", "/gitignore...", none, ""},
	{"GET", "/emojis...", none, ""},
	{"POST", "/markdown...", none, ""},
	{"GET", "/avatars/{id}", none, ""},
	{"GET", "/docs...", none, ""},
	{"GET", "/openapi/...", none, ""},
	{"GET", "/healthz", none, ""},
	{"GET", "/readyz", none, ""},
}

// NeedOf is what a route wants of a token. A route that is in no line of needs lets no limited
// token through, and ok is false.
func NeedOf(method, pattern string) (n Need, ok bool) {
	n = Need{Scopes: scope.SiteAdmin, Never: true, App: never}
	for _, l := range needs {
		if fits(l.method, l.pattern, method, pattern) {
			n, ok = newNeed(method, l.scopes, l.fine), true
			break
		}
	}
	for _, l := range apps {
		if ok && fits(l.method, l.pattern, method, pattern) {
			n.App = withAccess(method, l.permission)
			break
		}
	}
	return n, ok
}

// fits reports whether a line of a table is about a route.
func fits(lineMethod, linePattern, method, pattern string) bool {
	prefix, open := strings.CutSuffix(linePattern, "...")
	return (pattern == linePattern || open && strings.HasPrefix(pattern, prefix)) &&
		(lineMethod == method || lineMethod == "*")
}

func newNeed(method string, scopes scope.Set, fine string) Need {
	if fine == never {
		return Need{Scopes: scopes, Never: true, App: never}
	}
	fine = withAccess(method, fine)
	return Need{Scopes: scopes, Fine: fine, App: fine}
}

// withAccess adds to a permission whether it is to read or to write.
func withAccess(method, permission string) string {
	switch {
	case permission == "" || permission == never || strings.Contains(permission, "="):
		return permission
	case method == http.MethodGet:
		return permission + "=read"
	default:
		return permission + "=write"
	}
}

// ByApp reads Need.App: the permission and the level that an installation needs; cannot says that no App can
// do it.
func (n Need) ByApp() (permission, level string, cannot bool) {
	permission, level, _ = strings.Cut(n.App, "=")
	return permission, level, n.App == never
}
