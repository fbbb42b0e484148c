// Package signin is the pages at the door of the site.
//
//   - GET /: home.go; Home is called for browsers, the API's root document answers others
//   - GET, POST /login, POST /logout: login.go
//   - POST /login/passkey: passkey.go, what a browser asks an authenticator for
//   - GET, POST /login/device: device.go, where people confirm the code that a program shows
//   - GET /login/oidc/{provider}, .../callback: oidc.go, by an identity of another server, which may end sessions, too
//   - GET, POST /login/oauth/authorize: authorize.go, where people allow an OAuth App what it asks for
//   - GET, POST /login/oauth/logout: signout.go, where an OAuth App leads people who sign out of it
//   - GET, POST /join: join.go, where people begin an account, if the site lets them
//   - GET, POST /password_reset: reset.go, another password by a link in a mail
//   - GET, POST /setup: setup.go, on a server without users
//
// Sessions and passwords are package session's, the device flow is package token's, the web flow package oauth's.
package signin

import (
	"embed"

	"arbor/internal/account/session"
	"arbor/internal/account/token"
	"arbor/internal/activity"
	"arbor/internal/ldap"
	"arbor/internal/mail"
	"arbor/internal/oauth"
	"arbor/internal/oauth/openid"
	"arbor/internal/oidc"
	"arbor/internal/page"
	"arbor/internal/repo/list"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/search"
	"arbor/internal/search/repository"
	"arbor/internal/signup"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Services are what the pages show and change.
type Services struct {
	Sessions     *session.Service
	Tokens       *token.Service
	OAuth        *oauth.Service
	OpenID       *openid.Service
	Identities   *oidc.Service
	Directories  *ldap.Service
	Mail         *mail.Sender
	Signup       *signup.Service
	Issues       *search.Service
	Repositories *repository.API
	Lists        *list.Service
	Activities   *activity.Service
}

// Pages answers the pages at the door.
type Pages struct {
	kit      *page.Kit
	t        *page.Templates
	sessions *session.Service
	tokens   *token.Service
	oauth    *oauth.Service
	of       Services
	code     string // that opens the setup of an empty server
}

// New returns the pages. code opens the setup of a server that has no users.
func New(kit *page.Kit, of Services, code string) *Pages {
	return &Pages{kit: kit, t: roomTemplates, sessions: of.Sessions, tokens: of.Tokens, oauth: of.OAuth,
		of: of, code: code}
}

// Routes are the pages but Home, which shares its address with the API's root document.
func (p *Pages) Routes() []route.Route {
	free := p.kit.Router(route.Needs(scope.None, route.None))
	return []route.Route{
		free.Anyone("GET /login", p.LoginForm).WithoutToken().WithoutFactor(),
		free.Anyone("POST /login", p.Login).WithoutToken().WithoutFactor(),
		free.Anyone("POST /login/passkey", p.AskForPasskey).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("GET /login/oidc/{provider}", p.LeadToProvider).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("GET /login/oidc/{provider}/callback",
			p.ComeFromProvider).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("POST /login/oidc/{provider}/back-channel-logout",
			p.EndFromProvider).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("GET /login/oidc/{provider}/front-channel-logout",
			p.LeaveFromProvider).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("POST /logout", p.Logout).WithoutFactor(),
		free.SignedIn("GET /login/device", p.DeviceForm),
		free.SignedIn("POST /login/device", p.kit.Sudo(p.Device)),
		free.Anyone("GET /login/oauth/authorize", p.AuthorizeForm).WithoutToken().WithoutFactor().Counted(),
		free.SignedIn("POST /login/oauth/authorize", p.Authorize).Counted(),
		free.Anyone("GET /login/oauth/logout", p.SignOutForm).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("POST /login/oauth/logout", p.SignOut).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("GET /join", p.JoinForm).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("POST /join", p.Join).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("GET /password_reset", p.ResetForm).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("POST /password_reset", p.Reset).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("GET /setup", p.SetupForm).WithoutToken(),
		free.Anyone("POST /setup", p.Setup).WithoutToken(),
	}
}
