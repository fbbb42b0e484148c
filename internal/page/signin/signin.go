// Package signin is the pages at the door of the site.
//
//   - GET /: home.go; Home is called for browsers, the API's root document answers others
//   - GET, POST /login, POST /logout: login.go
//   - GET, POST /login/device: device.go, where people confirm the code that a program shows
//   - GET, POST /setup: setup.go, on a server without users
//
// Sessions and passwords are package account's.
package signin

import (
	"embed"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/route"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages at the door.
type Pages struct {
	kit      *page.Kit
	t        *page.Templates
	accounts *account.Service
	code     string // that opens the setup of an empty server
}

// New returns the pages. code opens the setup of a server that has no users.
func New(kit *page.Kit, accounts *account.Service, code string) *Pages {
	return &Pages{kit: kit, t: roomTemplates, accounts: accounts, code: code}
}

// Routes are the pages but Home, which shares its address with the API's root document.
func (p *Pages) Routes() []route.Route {
	return []route.Route{
		p.kit.Anyone("GET /login", p.LoginForm),
		p.kit.Anyone("POST /login", p.Login),
		p.kit.Anyone("POST /logout", p.Logout),
		p.kit.SignedIn("GET /login/device", p.DeviceForm),
		p.kit.SignedIn("POST /login/device", p.Device),
		p.kit.Anyone("GET /setup", p.SetupForm),
		p.kit.Anyone("POST /setup", p.Setup),
	}
}
