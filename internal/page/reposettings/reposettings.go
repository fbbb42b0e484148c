// Package reposettings is the pages of a repository's settings, for those who administrate it.
//
//	GET, POST /{owner}/{repo}/settings               general.go: name, description, topics, branch, features, merging
//	GET, POST /{owner}/{repo}/settings/access        access.go: collaborators and invitations
//	GET, POST /{owner}/{repo}/settings/keys          keys.go: deploy keys
//	GET, POST /{owner}/{repo}/settings/import        import.go: an import from another server, and its report
//	GET, POST /{owner}/{repo}/settings/mirrors       mirrors.go: copies from and to other servers
//	GET, POST /{owner}/{repo}/settings/rules         rules.go: protections of branches
//	GET, POST /{owner}/{repo}/settings/hooks         package webhook; .../new and .../{hook_id} are the forms
//	GET, POST .../hooks/{hook_id}/deliveries/{delivery_id}     package webhook: what was sent, and sending it again
//	GET       /{owner}/{repo}/settings/attachments   attachments.go: files of texts, by age or by size
//	GET       /{owner}/{repo}/settings/installations access.go: Apps that are installed on the owner's account
//	GET, POST /{owner}/{repo}/settings/visibility, archive, transfer, delete      danger.go
//
// The operations are those of packages settings, collaborator, hook, rule and attachment. An action that
// cannot be undone has a page of its own, where the repository's full name has to be typed.
package reposettings

import (
	"context"
	"embed"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/attachment"
	"arbor/internal/hook"
	"arbor/internal/invitation"
	"arbor/internal/migration/job"
	"arbor/internal/mirror"
	"arbor/internal/page"
	"arbor/internal/page/webhook"
	"arbor/internal/repo"
	"arbor/internal/repo/collaborator"
	"arbor/internal/repo/deleted"
	"arbor/internal/repo/settings"
	"arbor/internal/route"
	"arbor/internal/rule"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files, webhook.Files)

// Pages are the pages of the settings.
type Pages struct {
	kit   *page.Kit
	t     *page.Templates
	of    Services
	hooks *webhook.Pages
}

// Services are what the pages work with.
type Services struct {
	Settings      *settings.Service
	Collaborators *collaborator.Service
	Invitations   *invitation.Service
	Apps          *app.Service
	Attachments   *attachment.Service
	Rules         *rule.Service
	Deleted       *deleted.Service
	Mirrors       *mirror.Service
	Imports       *job.Service
}

// New returns the pages.
func New(kit *page.Kit, of Services) *Pages {
	return &Pages{kit, roomTemplates, of, webhook.New(kit, roomTemplates)}
}

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	on := p.kit.OnRepo
	const at = "/{owner}/{repo}/settings"
	list := []route.Route{
		on("GET "+at, p.General),
		on("POST "+at, p.SaveGeneral),
		on("GET "+at+"/access", p.Access),
		on("POST "+at+"/access", p.ChangeAccess),
		on("GET "+at+"/keys", p.Keys),
		on("POST "+at+"/keys", p.kit.SudoOnRepo(p.ChangeKeys)),
		on("GET "+at+"/mirrors", p.Mirrors),
		on("POST "+at+"/mirrors", p.kit.SudoOnRepo(p.ChangeMirrors)),
		on("GET "+at+"/import", p.Import),
		on("POST "+at+"/import", p.kit.SudoOnRepo(p.ChangeImport)),
		on("GET "+at+"/rules", p.Rules),
		on("POST "+at+"/rules", p.ChangeRules),
		on("GET "+at+"/attachments", p.Attachments),
		on("GET "+at+"/installations", p.Installations),
		on("GET "+at+"/visibility", p.Visibility),
		on("POST "+at+"/visibility", p.kit.SudoOnRepo(p.ChangeVisibility)),
		on("GET "+at+"/archive", p.Archive),
		on("POST "+at+"/archive", p.ChangeArchived),
		on("GET "+at+"/transfer", p.Transfer),
		on("POST "+at+"/transfer", p.kit.SudoOnRepo(p.ChangeOwner)),
		on("GET "+at+"/delete", p.Delete),
		on("POST "+at+"/delete", p.kit.SudoOnRepo(p.ChangeDeleted)),
	}
	for _, x := range p.hooks.Routes() {
		list = append(list, on(x.Method+" "+at+x.Path,
			func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
				return x.Do(w, r, p.hooksOf(r, a))
			}))
	}
	return list
}

// hooksOf is the repository as what has webhooks.
func (p *Pages) hooksOf(r *http.Request, a *repo.Access) *webhook.Owner {
	return &webhook.Owner{API: "/repos" + path(a), Settings: at(a, ""), May: func() error { return mayAdmin(a) },
		Frame: func(title string) (page.Frame, error) { return p.kit.RepoFrame(r, a, "settings", title) },
		Open: func(act hook.Act) (ctx context.Context, o hook.Owner, err error) {
			ctx, o = r.Context(), hook.OfRepository(a)
			if err = a.Caller.Allows(act.Scopes(), true); err != nil {
				return ctx, o, err
			}
			switch act {
			case hook.Changing:
				ctx, err = p.kit.Write(r, a, account.Admin)
			case hook.Removing:
				ctx, err = p.kit.DeleteArchived(r, a, account.Admin)
			}
			return ctx, o, err
		},
		Test: func(ctx context.Context, id int64) error { return p.kit.Hooks.Test(ctx, a, id) }}
}

// view is what all pages of the settings have.
type view struct {
	page.Frame
	Section string // of the settings that is open: general, access, keys, rules, hooks, attachments, installations
	Days    int64  // for which a deleted repository can be restored; 0: it cannot
}

// frame returns the frame of a page of the settings. Errors: 401, 403 for callers without admin access to the
// repository.
func (p *Pages) frame(r *http.Request, a *repo.Access, section, title string) (view, error) {
	return p.frameFor(r, a, account.Admin, section, title)
}

func (p *Pages) frameFor(
	r *http.Request, a *repo.Access, need account.Role, section, title string,
) (view, error) {
	if err := may(a, need); err != nil {
		return view{}, err
	}
	f, err := p.kit.RepoFrame(r, a, "settings", title)
	return view{f, section, p.of.Deleted.Days()}, err
}

// mayAdmin asks for the right before anything else is looked at. Errors: 401, 403.
func mayAdmin(a *repo.Access) error { return may(a, account.Admin) }

func may(a *repo.Access, need account.Role) error {
	if a.Caller == nil {
		return page.NoCaller()
	}
	return a.Require(need)
}

// at is the address of a page of the settings.
func at(a *repo.Access, rest string) string { return path(a) + "/settings" + rest }
