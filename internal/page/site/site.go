// Package site is the pages of those who administrate the site. To others they do not exist.
//
//	GET       /site/people               people.go: everybody, with a search; .../new makes an account
//	GET, POST /site/people/{login}       person.go: suspend, promote, rename, delete, quota, a starting password
//	GET       /site/organizations        organizations.go; .../new makes one, .../{login} is one
//	GET, POST /site/repositories         repositories.go: archive, give a withdrawn fork back
//	GET, POST /site/sign-up              signup.go: how accounts begin, invitations, people who ask
//	GET, POST /site/sign-in              signin.go: whether everybody needs a second factor
//	GET, POST /site/imported             imported.go: users who ask for the texts of people of other servers
//	GET       /site/audit                audit.go: the log of who changed access
//	GET       /site/jobs, /site/health   health.go: what waits, and what the operator's doctor says
//	GET       /site/style                style.go: the parts of which pages are made, in each of their states
//
// The operations are those of packages account, repo and settings that the API and the operator's command line
// have. The transaction of each asks again whether the caller still administers the site (account.Caller.Holds),
// and writes the audit log.
package site

import (
	"context"
	"embed"
	"log/slog"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/account/claim"
	"arbor/internal/account/session"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/ldap"
	"arbor/internal/oidc"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/route"
	"arbor/internal/search/repository"
	"arbor/internal/signup"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Options are what the pages work with.
type Options struct {
	Accounts    *account.Service
	Tokens      *token.Service
	Sessions    *session.Service
	Repos       *repo.Service
	Networks    *network.Service
	Settings    *settings.Service
	Identities  *oidc.Service
	Directories *ldap.Service
	Signup      *signup.Service
	Claims      *claim.Service
	Searches    *repository.API
	DB          *db.DB
	Git         *git.Git
	Log         *slog.Logger
	DataDir     string
	Version     string // of the program; empty: unknown

	// Jobs are the jobs that are left, by their kinds, and the database's time.
	Jobs func(context.Context) (map[string]db.Backlog, db.Time, error)
}

// Pages are the pages of the site.
type Pages struct {
	Options
	kit *page.Kit
	t   *page.Templates
}

// New returns the pages.
func New(kit *page.Kit, o Options) *Pages {
	return &Pages{Options: o, kit: kit, t: roomTemplates}
}

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	in := p.kit.ForUnlimited().SiteAdmin
	return []route.Route{
		in("GET /site", p.Home),
		in("GET /site/people", p.People),
		in("GET /site/people/new", p.NewPerson),
		in("POST /site/people/new", p.kit.Sudo(p.CreatePerson)),
		in("GET /site/people/{login}", p.Person),
		in("POST /site/people/{login}", p.kit.Sudo(p.ChangePerson)),
		in("GET /site/organizations", p.Organizations),
		in("GET /site/organizations/new", p.NewOrganization),
		in("POST /site/organizations/new", p.CreateOrganization),
		in("GET /site/organizations/{login}", p.Organization),
		in("POST /site/organizations/{login}", p.kit.Sudo(p.ChangeOrganization)),
		in("GET /site/repositories", p.Repositories),
		in("POST /site/repositories", p.ChangeRepository),
		in("GET /site/sign-up", p.SignUp),
		in("POST /site/sign-up", p.kit.Sudo(p.ChangeSignUp)),
		in("GET /site/sign-in", p.SignIn),
		in("POST /site/sign-in", p.kit.Sudo(p.ChangeSignIn)),
		in("GET /site/imported", p.Imported),
		in("POST /site/imported", p.kit.Sudo(p.ChangeImported)),
		in("GET /site/audit", p.Audit),
		in("GET /site/jobs", p.ShowJobs),
		in("GET /site/health", p.Health),
		in("GET /site/style", p.Style),
	}
}

// GET /site
//
// Home leads to the first page.
func (p *Pages) Home(w http.ResponseWriter, r *http.Request) error {
	return page.SeeOther(w, r, "/site/people")
}

// view is what all pages of the site have.
type view struct {
	page.Frame
	Section string // that is open, by the last part of its address
}

func (p *Pages) frame(r *http.Request, section, title string) (view, error) {
	f, err := p.kit.Frame(r, title)
	return view{f, section}, err
}

func caller(r *http.Request) *account.Caller { return account.CallerFrom(r.Context()) }
