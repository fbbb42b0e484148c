//go:build long

package main

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account/session"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"

	"arbor/internal/db"
	"arbor/internal/test/browser"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// demoPages are the pages of the demo, by a name for their pictures. Each page that the server has must be
// among them.
var demoPages = []struct{ name, path string }{
	{"home", "/"},
	{"login", "/login"},
	{"login-device", "/login/device"},
	{"pulls", "/alice/greenhouse/pulls"},
	{"pull-new", "/alice/greenhouse/pulls/new?base=main&head=irrigation"},
	{"pull", "/alice/greenhouse/pull/12"},
	{"pull-conflict", "/alice/greenhouse/pull/9"},
	{"pull-merged", "/alice/greenhouse/pull/10"},
	{"pull-commits", "/alice/greenhouse/pull/12/commits"},
	{"pull-checks", "/alice/greenhouse/pull/12/checks"},
	{"pull-files", "/alice/greenhouse/pull/12/files"},
	{"pull-split", "/alice/greenhouse/pull/12/files?diff=split"},
	{"pull-reviewers", "/alice/greenhouse/pull/12/reviewers"},
	{"pull-comment", "/alice/greenhouse/pull/12/comments/1"},
	{"pull-comment-hide", "/alice/greenhouse/pull/12/comments/1/hide"},
	{"pull-review-hide", "/alice/greenhouse/pull/12/reviews/1/hide"},
	{"help", "/help"}, {"help-page", "/help/install"},
	{"docs", "/docs"}, {"docs-page", "/docs/issues"}, {"go", "/explore/go?q=issue"},
	{"contributors", "/alice/greenhouse/contributors"}, {"deployments", "/alice/greenhouse/deployments"},
	{"rules", "/alice/greenhouse/settings/rules"},
	{"repository", "/alice/greenhouse"},
	{"tree", "/alice/greenhouse/tree/main/docs"},
	{"blob", "/alice/greenhouse/blob/main/windows/night.go"},
	{"markdown", "/alice/greenhouse/blob/main/README.md"},
	{"blame", "/alice/greenhouse/blame/main/windows/night.go"},
	{"history", "/alice/greenhouse/commits"},
	{"history-of-file", "/alice/greenhouse/commits/main/README.md"},
	{"commit", "/alice/greenhouse/commit/main"},
	{"commit-split", "/alice/greenhouse/commit/main?diff=split"},
	{"compare-form", "/alice/greenhouse/compare"},
	{"compare", "/alice/greenhouse/compare/main...irrigation"},
	{"branches", "/alice/greenhouse/branches"},
	{"branches-deleted", "/alice/greenhouse/branches/deleted"},
	{"tags", "/alice/greenhouse/tags"},
	{"find", "/alice/greenhouse/find/main?q=go"},
	{"code-search", "/alice/greenhouse/search?q=windows"},
	{"edit", "/alice/greenhouse/edit/main/README.md"},
	{"new-file", "/alice/greenhouse/new/main"},
	{"delete-file", "/alice/greenhouse/delete/main/README.md"},
	{"upload", "/alice/greenhouse/upload/main"},
	{"profile", "/alice"},
	{"profile-repositories", "/alice?tab=repositories"},
	{"profile-followers", "/alice?tab=followers"},
	{"organization", "/orchard"},
	{"organization-repositories", "/orchard?tab=repositories"},
	{"organization-people", "/orgs/orchard/people"},
	{"organization-teams", "/orgs/orchard/people/teams"},
	{"organization-team-new", "/orgs/orchard/people/new-team"},
	{"organization-team", "/orgs/orchard/people/teams/weeders"},
	{"organization-team-repositories", "/orgs/orchard/people/teams/weeders/repositories"},
	{"organization-team-settings", "/orgs/orchard/people/teams/weeders/settings"},
	{"organization-settings", "/orgs/orchard/settings"},
	{"organization-pins", "/orgs/orchard/settings/pins"},
	{"organization-hooks", "/orgs/orchard/settings/hooks"},
	{"organization-hook", "/orgs/orchard/settings/hooks/new"},
	{"organization-delete", "/orgs/orchard/settings/delete"},
	{"new-organization", "/new/organization"},
	{"new-repository", "/new"},
	{"import-repository", "/new/import"},
	{"fork", "/alice/greenhouse/fork"},
	{"forks", "/alice/greenhouse/forks"},
	{"stargazers", "/alice/greenhouse/stargazers"},
	{"watchers", "/alice/greenhouse/watchers"},
	{"explore", "/explore"},
	{"search", "/search?q=the&type=issues"},
	{"search-code", "/search?q=water&in=alice/greenhouse"},
	{"notifications", "/dashboard/notifications?box=all"},
	{"notification", "/dashboard/notifications/1"},
	{"plants", "/dashboard/plants"},
	{"releases", "/alice/greenhouse/releases"},
	{"releases-deleted", "/alice/greenhouse/releases/deleted"},
	{"release", "/alice/greenhouse/releases/tag/v0.1.0"},
	{"release-latest", "/alice/greenhouse/releases/latest"},
	{"release-edit", "/alice/greenhouse/releases/edit/v0.1.0"},
	{"release-new", "/alice/greenhouse/releases/new"},
	{"attach", "/alice/greenhouse/attachments"},
	{"checks", "/alice/greenhouse/commit/irrigation/checks"},
	{"check", "/alice/greenhouse/runs/3"},
	{"annotation", "/alice/greenhouse/runs/3?annotation=3"},

	{"issues", "/alice/greenhouse/issues"},
	{"issues-searched", "/alice/greenhouse/issues?q=is:closed+label:bug"},
	{"issue", "/alice/greenhouse/issues/1"},
	{"issue-new", "/alice/greenhouse/issues/new"},
	{"issue-form", "/alice/greenhouse/issues/new?template=bug_report.yml"},
	{"issue-edits", "/alice/greenhouse/issues/1/edits"},
	{"issue-choices", "/alice/greenhouse/issues/choices/labels?q=b"},
	{"sync", "/bob/greenhouse/sync"},
	{"issue-edit", "/alice/greenhouse/issues/1/edit"},
	{"comment-edit", "/alice/greenhouse/issues/1/comments/1"},
	{"comment-hide", "/alice/greenhouse/issues/1/comments/1/hide"},
	{"issue-labels", "/alice/greenhouse/issues/1/labels"},
	{"issue-assignees", "/alice/greenhouse/issues/1/assignees"},
	{"issue-milestone", "/alice/greenhouse/issues/1/milestone"},
	{"issue-lock", "/alice/greenhouse/issues/1/lock"},
	{"issue-reactions", "/alice/greenhouse/issues/1/reactions"},
	{"issue-transfer", "/alice/greenhouse/issues/1/transfer"},
	{"issue-delete", "/alice/greenhouse/issues/1/delete"},
	{"issues-filter", "/alice/greenhouse/issues/filter/label"},
	{"labels", "/alice/greenhouse/labels?edit=bug"},
	{"milestones", "/alice/greenhouse/milestones"},
	{"milestone", "/alice/greenhouse/milestone/1"},
	{"milestone-new", "/alice/greenhouse/milestones/new"},
	{"milestone-edit", "/alice/greenhouse/milestones/1/edit"},
	{"dashboard-issues", "/dashboard/issues"},
	{"dashboard-pulls", "/dashboard/pulls"},
	{"dashboard-sort", "/dashboard/filter/sort"},

	{"repository-settings", "/alice/greenhouse/settings"},
	{"repository-access", "/alice/greenhouse/settings/access"},
	{"repository-invitation", "/bob/greenhouse/invitations"},
	{"organization-invitation", "/orgs/nursery/invitation"},
	{"repository-keys", "/alice/greenhouse/settings/keys"},
	{"repository-mirrors", "/alice/greenhouse/settings/mirrors"},
	{"repository-import", "/alice/greenhouse/settings/import"},
	{"repository-hooks", "/alice/greenhouse/settings/hooks"},
	{"repository-hook", "/alice/greenhouse/settings/hooks/new"},
	{"repository-attachments", "/alice/greenhouse/settings/attachments"},
	{"repository-apps", "/alice/greenhouse/settings/installations"},
	{"repository-visibility", "/alice/greenhouse/settings/visibility"},
	{"repository-archive", "/alice/greenhouse/settings/archive"},
	{"repository-transfer", "/alice/greenhouse/settings/transfer"},
	{"repository-delete", "/alice/greenhouse/settings/delete"},
	{"settings", "/settings/profile"},
	{"settings-account", "/settings/account"},
	{"settings-emails", "/settings/emails"},
	{"settings-keys", "/settings/keys"},
	{"settings-signing", "/settings/signing"},
	{"settings-password", "/settings/password"},
	{"settings-sessions", "/settings/sessions"},
	{"settings-security", "/settings/security"},
	{"settings-identities", "/settings/identities"},
	{"settings-replies", "/settings/replies"},
	{"settings-imported", "/settings/imported"},
	{"settings-notifications", "/settings/notifications"},
	{"settings-pins", "/settings/pins"},
	{"settings-applications", "/settings/applications"},
	{"settings-oauth-apps", "/settings/oauth-apps"},
	{"settings-oauth-app-new", "/settings/oauth-apps/new"},
	{"organization-oauth-policy", "/organizations/orchard/settings/oauth_application_policy"},
	{"organization-oauth-app-new", "/organizations/orchard/settings/oauth-apps/new"},
	{"settings-tokens", "/settings/tokens"},
	{"settings-token", "/settings/tokens/new"},
	{"settings-token-repositories", "/settings/tokens/new?kind=repositories"},
	{"settings-organizations", "/settings/organizations"},
	{"settings-watching", "/settings/watching"},
	{"settings-deleted", "/settings/deleted"},
	{"settings-installations", "/settings/installations"},
	{"settings-apps", "/settings/apps"},
	{"settings-installation", "/settings/installations/1"},
	{"settings-app", "/settings/apps/trellis-ci"},
	{"settings-app-advanced", "/settings/apps/trellis-ci/advanced"},
	{"app", "/github-apps/trellis-ci"},
	{"app-install", "/github-apps/trellis-ci/installations/new"},
	{"settings-app-new", "/settings/apps/new"},
	{"organization-app-new", "/organizations/orchard/settings/apps/new"},
	{"site-people", "/site/people"},
	{"site-sign-up", "/site/sign-up"},
	{"site-imported", "/site/imported"},
	{"site-sign-in", "/site/sign-in"},
	{"site-person", "/site/people/alice"},
	{"site-person-new", "/site/people/new"},
	{"site-organizations", "/site/organizations"},
	{"site-organization", "/site/organizations/orchard"},
	{"site-organization-new", "/site/organizations/new"},
	{"site-repositories", "/site/repositories"},
	{"site-audit", "/site/audit"},
	{"site-jobs", "/site/jobs"},
	{"site-health", "/site/health"},
	{"site-style", "/site/style"},
}

// pageless are the routes for browsers that are no pages.
var pageless = []string{"/avatars/{id}", "/emojis/{picture}",
	"/healthz", "/readyz", "/openapi/code-hosting.json", "/openapi/plants.json", "/assets/{asset}", "/setup",
	"/assets/images/{digest}/{address}",
	"/notifications/unsubscribe", // by a signed address
	"/password_reset",            // the demo sends no mail
	"/join",                      // accounts of the demo are closed
	"/settings", "/site", "/login/oidc/{provider}", "/login/oidc/{provider}/callback",
	"/login/oidc/{provider}/front-channel-logout", "/.well-known/openid-configuration", "/login/oauth/keys",
	"/login/oauth/userinfo",
	"/{owner}/{repo}/last-changes/{path...}", "/{owner}/{repo}/files/{path...}", "/{owner}/{repo}/pull/{number}/merging",
	"/{owner}/{repo}/suggest", "/{owner}/{repo}/issues/{number}/live",
	"/settings/apps/{app_slug}/deliveries/{delivery_id}"} // looks as that of another hook

// demoSession signs somebody in to a demo, and returns the session.
func demoSession(t testing.TB, address, login string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	answer, err := client.PostForm(address+"/login", url.Values{"login": {login}, "password": {demoPassword}})
	testkit.NoError(t, err)
	answer.Body.Close()
	for _, c := range answer.Cookies() {
		if c.Name == session.Cookie {
			return c.Value
		}
	}
	t.Fatalf("signing in as %s: %s", login, answer.Status)
	return ""
}

// A page that nobody looks at here would never be looked at for people who cannot see, or who have a small
// screen.
func TestDemoPagesAreAllPages(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../internal/server/testdata/routes.txt")
	testkit.NoError(t, err)
	placeholder := regexp.MustCompile(`\\\{[a-z_]+(\\\.\\\.\\\.)?\\\}`)
	for line := range strings.Lines(string(table)) {
		address, rest, _ := strings.Cut(line, " | ")
		pattern, isGet := strings.CutSuffix(address, " GET")
		if !isGet || !strings.HasPrefix(rest, "pages |") || slices.Contains(pageless, pattern) {
			continue
		}
		if slices.Contains(madePatterns, pattern) {
			continue
		}
		expression := placeholder.ReplaceAllStringFunc(regexp.QuoteMeta(pattern), func(p string) string {
			if strings.Contains(p, `\.\.\.`) {
				return `.+`
			}
			return `[^/]+`
		})
		matches := regexp.MustCompile(`^` + expression + `$`)
		found := false
		for _, p := range demoPages {
			path, _, _ := strings.Cut(p.path, "?")
			found = found || matches.MatchString(path)
		}
		if !found {
			t.Errorf("%s: name a page of the demo for it in demoPages", pattern)
		}
	}
}

// visitAll opens each page of the demo as the owner of the repositories, and those of the site as its
// administrator.
func visitAll(t *testing.T, d *demoProcess, look browser.Look, fn func(name string, b *browser.Tab)) {
	t.Helper()
	b := browser.Open(t, d.address(), look)
	b.Go("/login")
	fn("login", b)
	b.SignIn(demoSession(t, d.address(), "alice"))
	for _, p := range demoPages {
		if p.name == "login" {
			continue
		}
		if p.name == "site-people" { // from here on
			b.SignIn(demoSession(t, d.address(), "root-gardener"))
		}
		b.Go(p.path)
		fn(p.name, b)
	}
}

// People who cannot see, who see little or who have a small screen work in all pages (see browser.Walk).
func TestPages(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join(npm.Install(t, "testdata/axe"),
		"node_modules/axe-core/axe.min.js"))
	testkit.NoError(t, err)
	d := startDemo(t, db.SQLite, "git push")
	sessions := map[string]string{}
	for _, login := range []string{"alice", "root-gardener"} {
		sessions[login] = demoSession(t, d.address(), login)
	}
	made := &madePages{t: t, d: d, session: sessions["alice"]}
	stops := []browser.Stop{{Name: "login", Path: "/login"}, {Name: "home of strangers", Path: "/"},
		{Name: "nothing for strangers", Path: "/alice/diary"}, {Name: "no page", Path: "/alice/greenhouse/nothing"}}
	as := "alice"
	for _, p := range demoPages {
		if p.name == "site-people" { // from here on
			stops = append(stops, made.all()...)
			as = "root-gardener"
		}
		if p.name != "login" {
			stops = append(stops, browser.Stop{Name: p.name, Path: p.path, As: as})
		}
	}
	w := &browser.Walk{Base: d.address(), Axe: string(source), Stops: stops,
		Session: func(login string) string { return sessions[login] }}
	w.Run(t)
}

// Nothing shifts where the network and the processor are slow either, and pages come in pieces.
func TestPagesAccessibleSlowly(t *testing.T) {
	t.Parallel()
	d := startDemo(t, db.SQLite, "git push")
	for _, look := range []browser.Look{{}, {Width: 360, Height: 740}} {
		b := browser.Open(t, d.address(), look)
		b.SignIn(demoSession(t, d.address(), "alice"))
		b.Run(network.EmulateNetworkConditions(false, 5, 60_000, 60_000), emulation.SetCPUThrottlingRate(20))
		for _, path := range []string{"", "/compare", "/releases/new", "/pulls/new?base=main&head=irrigation",
			"/issues/1/edit"} {
			b.Go("/alice/greenhouse" + path)
			for _, shift := range b.Shifts() {
				t.Errorf("%s shifts while it loads: %s", b.Path(), shift)
			}
		}
	}
}

// pictured are the pages of which README shows pictures.
var pictured = []string{"home", "repository", "issue", "pull", "pull-files"}

// Pictures of the pages for README, by make screenshots.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("ARBOR_SCREENSHOTS")
	if dir == "" {
		t.Skip("pictures are made by: make screenshots")
	}
	d := startDemo(t, db.SQLite, "git push")
	for kind, look := range map[string]browser.Look{"light": {}, "dark": {Dark: true},
		"phone": {Width: 390, Height: 844}} {
		visitAll(t, d, look, func(name string, b *browser.Tab) {
			if !slices.Contains(pictured, name) {
				return
			}
			file := filepath.Join(dir, name+"-"+kind+".png")
			testkit.NoError(t, os.WriteFile(file, b.Picture(), 0o644))
		})
	}
}
