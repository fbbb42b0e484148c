// Package settings is the pages where people change what is their own.
//
//	GET, POST /settings/profile          profile.go: name, bio and the like
//	GET, POST /settings/account          account.go: the time zone; renaming and deleting oneself, and who can
//	GET, POST /settings/emails           emails.go
//	GET, POST /settings/notifications    notifications.go
//	GET, POST /settings/keys             keys.go: SSH keys
//	GET, POST /settings/signing          signing.go: keys that sign commits
//	GET, POST /settings/replies          replies.go: saved replies
//	GET, POST /settings/imported         imported.go: texts of other servers that the caller asks for
//	GET, POST /settings/password         password.go
//	GET, POST /settings/identities       identities.go: identities of other servers, linked with the account
//	GET, POST /settings/security         security.go: authenticator app, recovery codes, passkeys
//	GET, POST /settings/sessions         sessions.go: browsers that are signed in
//	GET, POST /settings/tokens           tokens.go; /settings/tokens/new makes one
//	GET /settings/organizations         organizations.go: the organizations to which one belongs
//	GET, POST /settings/watching         watching.go: watched repositories
//	GET, POST /settings/deleted          deleted.go: deleted repositories that can be restored
//	GET, POST /settings/installations    installations.go: Apps that act on one's account; .../{installation_id} is one
//	GET, POST /settings/applications     authorized.go: OAuth Apps that the caller allowed something
//	GET, POST /settings/oauth-apps       oauthapps.go: OAuth Apps of one's own; .../{client_id} is one
//	GET, POST /settings/apps             apps.go: Apps of one's own
//	GET       /github-apps/{app_slug}    offer.go: what an App is, for everybody; .../installations/new installs it
//	GET       /settings/apps/new         newapp.go: a new App, also /organizations/{org}/settings/apps/new
//	POST      /settings/apps/new         manifest.go: an App that a program asks for
//	GET, POST /settings/apps/{app_slug}  newapp.go: an App of one's own
//	GET       /settings/apps/{app_slug}/advanced  package webhook: its deliveries
//	GET, POST .../deliveries/{delivery_id}        package webhook: what was sent, and sending it again
//
// What is dangerous is done only after a recent confirmation: package page, confirm.go.
//
// Most of it are operations of package account and its rooms on the caller's own account; REST has no addresses
// for passwords, sessions and tokens. A caller whose token is limited opens none of these pages.
package settings

import (
	"embed"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/account/claim"
	"arbor/internal/account/key"
	"arbor/internal/account/savedreply"
	"arbor/internal/account/session"
	"arbor/internal/account/signkey"
	"arbor/internal/account/token"
	"arbor/internal/app"
	"arbor/internal/ldap"
	"arbor/internal/mail"
	"arbor/internal/oauth"
	"arbor/internal/oidc"
	"arbor/internal/page"
	"arbor/internal/page/webhook"
	"arbor/internal/repo"
	"arbor/internal/repo/deleted"
	"arbor/internal/repo/list"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/star"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files, webhook.Files)

// Services are what the pages show and change.
type Services struct {
	Accounts *account.Service
	Tokens   *token.Service
	Sessions *session.Service
	Keys     *key.Service
	Signing  *signkey.Service
	Replies  *savedreply.Service
	Claims   *claim.Service
	Repos    *repo.Service
	Apps     *app.Service
	OAuth    *oauth.Service
	Lists    *list.Service
	Stars    *star.Service
	Deleted  *deleted.Service

	Identities  *oidc.Service
	Directories *ldap.Service
	Mail        *mail.Sender
}

// Pages are the pages of one's own settings.
type Pages struct {
	kit         *page.Kit
	t           *page.Templates
	accounts    *account.Service
	tokens      *token.Service
	sessions    *session.Service
	keys        *key.Service
	signing     *signkey.Service
	replies     *savedreply.Service
	claims      *claim.Service
	repos       *repo.Service
	apps        *app.Service
	oauth       *oauth.Service
	identities  *oidc.Service
	directories *ldap.Service
	mail        *mail.Sender
	lists       *list.Service
	stars       *star.Service
	deleted     *deleted.Service
	hooks       *webhook.Pages
}

// New returns the pages.
func New(kit *page.Kit, of Services) *Pages {
	return &Pages{kit: kit, t: roomTemplates, accounts: of.Accounts, tokens: of.Tokens, sessions: of.Sessions,
		keys: of.Keys, signing: of.Signing, replies: of.Replies, claims: of.Claims, repos: of.Repos, apps: of.Apps,
		oauth: of.OAuth, identities: of.Identities, directories: of.Directories, mail: of.Mail, lists: of.Lists,
		stars: of.Stars, deleted: of.Deleted, hooks: webhook.New(kit, roomTemplates)}
}

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	unlimited := p.kit.ForUnlimited()
	in, free, sudo := unlimited.SignedIn, p.kit.Router(route.Needs(scope.None, route.None)), p.kit.Sudo
	return []route.Route{
		in("GET /settings", p.Home),
		in("GET /settings/profile", p.Profile),
		in("POST /settings/profile", p.SaveProfile),
		in("GET /settings/account", p.Account),
		in("POST /settings/account", p.SaveZone),
		in("GET /settings/emails", p.Emails),
		in("POST /settings/emails", sudo(p.ChangeEmails)),
		in("GET /settings/keys", p.Keys),
		in("POST /settings/keys", sudo(p.ChangeKeys)),
		in("GET /settings/signing", p.SigningKeys),
		in("POST /settings/signing", sudo(p.ChangeSigningKeys)),
		in("GET /settings/notifications", p.Notifications),
		in("POST /settings/notifications", p.SaveNotifications),
		in("GET /settings/replies", p.Replies),
		in("POST /settings/replies", p.ChangeReplies),
		in("GET /settings/imported", p.Imported),
		in("POST /settings/imported", p.ChangeImported),
		in("GET /settings/password", p.Password).WithoutFactor(),
		in("POST /settings/password", p.ChangePassword).WithoutFactor(),
		in("GET /settings/security", p.Security).WithoutFactor(),
		in("POST /settings/security", sudo(p.ChangeFactors)).WithoutFactor(),
		in("GET /settings/identities", p.Identities),
		in("POST /settings/identities", sudo(p.ChangeIdentities)),
		in("GET /settings/sessions", p.Sessions),
		in("POST /settings/sessions", p.EndSessions),
		in("GET /settings/tokens", p.Tokens),
		in("POST /settings/tokens", p.RevokeToken),
		in("GET /settings/tokens/new", p.NewToken),
		in("POST /settings/tokens/new", sudo(p.CreateToken)),
		in("GET /settings/organizations", p.Organizations),
		in("GET /settings/watching", p.Watching),
		in("POST /settings/watching", p.Unwatch),
		in("GET /settings/deleted", p.Deleted),
		in("POST /settings/deleted", sudo(p.ChangeDeleted)),
		in("GET /settings/installations", p.Installations),
		in("GET /settings/installations/{installation_id}", p.Installation),
		in("POST /settings/installations/{installation_id}", p.ChangeInstallation),
		in("GET /settings/applications", p.Authorized),
		in("POST /settings/applications", p.RevokeGrant),
		in("GET /settings/connections/applications/{client_id}", p.Connection),
		in("POST /settings/connections/applications/{client_id}", p.AskApproval).Counted(),
		in("GET /settings/oauth-apps", p.OAuthApps),
		in("POST /settings/oauth-apps", p.CreateOAuthApp),
		in("GET /settings/oauth-apps/new", p.NewOAuthApp),
		in("GET /organizations/{org}/settings/oauth-apps/new", p.NewOAuthAppOf),
		in("GET /settings/oauth-apps/{client_id}", p.OAuthApp),
		in("POST /settings/oauth-apps/{client_id}", sudo(p.ChangeOAuthApp)),
		in("GET /settings/apps", p.Apps),
		in("POST /settings/apps", p.CreateApp),
		in("GET /settings/apps/new", p.NewApp).WithoutToken(),
		unlimited.Anyone("POST /settings/apps/new", p.AskForApp).FromElsewhere().Counted().WithoutToken(),
		in("GET /organizations/{org}/settings/apps/new", p.NewAppOf).WithoutToken(),
		unlimited.Anyone("POST /organizations/{org}/settings/apps/new",
			p.AskForAppOf).FromElsewhere().Counted().WithoutToken(),
		in("GET /settings/apps/{app_slug}", p.App),
		in("POST /settings/apps/{app_slug}", sudo(p.ChangeApp)),
		in("GET /settings/apps/{app_slug}/advanced", p.ofApp(p.hooks.Recent)),
		in("GET /settings/apps/{app_slug}/deliveries/{delivery_id}",
			p.ofApp(p.hooks.Delivery)),
		in("POST /settings/apps/{app_slug}/deliveries/{delivery_id}",
			p.ofApp(p.hooks.Redeliver)),
		free.Anyone("GET /github-apps/{app_slug}", p.Offer),
		in("GET /github-apps/{app_slug}/installations/new", p.InstallForm),
		in("POST /github-apps/{app_slug}/installations/new", p.Install),
	}
}

// GET /settings
//
// Home leads to the first page of the settings.
func (p *Pages) Home(w http.ResponseWriter, r *http.Request) error {
	return page.SeeOther(w, r, "/settings/profile")
}

// view is what all pages of the settings have.
type view struct {
	page.Frame
	Section string // that is open, by the last part of its address
}

func (p *Pages) frame(r *http.Request, section, title string) (view, error) {
	f, err := p.kit.Frame(r, title)
	return view{f, section}, err
}

func caller(r *http.Request) *account.Caller { return account.CallerFrom(r.Context()) }
