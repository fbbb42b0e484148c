// Package webhook is the pages of webhooks, of repositories and of organizations, below the settings of both.
//
//	GET       .../hooks                                     hooks.go: the webhooks
//	GET, POST .../hooks/new, .../hooks/{hook_id}            hooks.go: the forms of one
//	GET, POST .../hooks/{hook_id}/deliveries/{delivery_id}  deliveries.go: what was sent, and sending it again
//
// A GitHub App has one hook, whose form is the App's own: of these pages it has those of deliveries.
//
// The rooms of the settings have the routes, and give each request the Place whose webhooks they are. Their
// templates "settings" and "end" stand around the pages.
package webhook

import (
	"context"
	"embed"
	"net/http"

	"arbor/internal/hook"
	"arbor/internal/page"
)

// Files are the templates, for those of a room.
//
//go:embed templates
var Files embed.FS

// Pages are the pages of webhooks.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
}

// New returns the pages with the templates of a package, which include Files.
func New(kit *page.Kit, t *page.Templates) *Pages { return &Pages{kit, t} }

// Owner is a repository, organization or App with webhooks.
type Owner struct {
	API      string       // its address in the API
	Settings string       // the address of its settings
	Org      string       // login of the organization; empty: it is a repository
	App      bool         // it is an App, which has one hook; its deliveries are below Settings
	May      func() error // asks for the right before anything else is looked at
	Frame    func(title string) (page.Frame, error)

	// Open asks for what an act needs besides, and returns who owns the hooks and the context for the operation.
	Open func(act hook.Act) (context.Context, hook.Owner, error)
	// Test sends the last push to a hook; nil if the owner is not a repository.
	Test func(ctx context.Context, id int64) error
}

// View is what all pages of webhooks have.
type View struct {
	page.Frame
	Section  string // of the settings that is open: hooks; apps
	Settings string
	Org      string
}

// frame returns the frame of a page. Errors: those of May.
func (at *Owner) frame(title string) (View, error) {
	if err := at.May(); err != nil {
		return View{}, err
	}
	section := "hooks"
	if at.App {
		section = "apps"
	}
	f, err := at.Frame(title)
	return View{f, section, at.Settings, at.Org}, err
}

// Handler answers a page of a place's webhooks.
type Handler = func(w http.ResponseWriter, r *http.Request, at *Owner) error

// Route is a page, by its address below the settings.
type Route struct {
	Method, Path string
	Do           Handler
}

// Routes are the pages.
func (p *Pages) Routes() []Route {
	return []Route{
		{"GET", "/hooks", p.Hooks},
		{"GET", "/hooks/new", p.NewHook},
		{"POST", "/hooks/new", p.CreateHook},
		{"GET", "/hooks/{hook_id}", p.Hook},
		{"POST", "/hooks/{hook_id}", p.ChangeHook},
		{"GET", "/hooks/{hook_id}/deliveries/{delivery_id}", p.Delivery},
		{"POST", "/hooks/{hook_id}/deliveries/{delivery_id}", p.Redeliver},
	}
}
