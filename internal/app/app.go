// Package app is GitHub Apps: programs with rights of their own, which act where they are installed.
//
//	app.go       what an App and an installation are
//	manifest.go  an App as its manifest describes it
//	signin.go    Apps sign users in: callback addresses, client secrets; the flow is in package oauth
//	jwt.go       the signed requests of an App (RS256)
//	create.go    Apps are made and removed, by the operator; register.go: by people, in a browser
//	install.go   installations are made, changed and removed; own.go: by people, in a browser
//	suspend.go   suspending an installation, and ending that
//	asked.go     what an App asks for beyond what was granted, and granting it
//	token.go     tokens of installations
//	store.go     the SQL of table apps; storeinstallation.go of installations and what they reach
//	api.go       the handlers for the App itself: GET /app, /app/installations, ...
//	apiread.go   those for users and installations: GET /installation/repositories, /user/installations, ...
//	json.go      their JSON
//
// An App proves who it is with a JWT that its private key signs; that opens /app and nothing else. To act it
// gets a token of an installation, which acts as the bot SLUG[bot]: package token makes these tokens, package
// account knows what they reach, package route which permission each route needs. Of a key only the public half is kept.
//
// An installation belongs to an account and can access only repositories that the account owns at the time
// of a request. It has the permissions and events that it was granted; if its App requests more later, the
// account's owner must grant them.
//
// It is below package hook. Package forge sends payloads to hooks, through [Forge].
package app

import (
	"crypto/rsa"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// App is a row of the table apps.
type App struct {
	ID          account.AppID
	Owner       *account.Account
	BotID       account.ID
	Slug        string
	ClientID    string
	Name        string
	Description *string
	ExternalURL string
	Public      bool
	Permissions scope.Permissions
	Events      []string // in order
	CreatedAt   db.Time
	UpdatedAt   db.Time

	publicKey []byte // PKIX
}

// Installation is a row of the table installations.
type Installation struct {
	ID          account.InstallationID
	App         *App
	Account     *account.Account
	Every       bool // all repositories of the account; else some
	Permissions scope.Permissions
	Events      []string
	SuspendedAt db.Time // zero: it is not
	CreatedAt   db.Time
	UpdatedAt   db.Time
}

// Forge is what happens to hooks and accounts, in the same transaction. Package forge implements it.
type Forge interface {
	// CreateAppHook creates the hook of a new App.
	CreateAppHook(tx *db.Tx, a *App, h Hook) error
	// AppHook is the App's webhook, without the secret.
	AppHook(tx *db.Tx, appID account.AppID) (Hook, error)
	// EditAppHook changes the hook of an App.
	EditAppHook(tx *db.Tx, a *App, c HookChange) error
	// ReachedAt notes the address at which an App reaches the server: payloads of its webhooks use that from
	// then on.
	ReachedAt(tx *db.Tx, appID account.AppID, i *web.Info) error
	// TellInstallation sends the App an event about its installation: created, deleted, suspend, unsuspend,
	// new_permissions_accepted. It is called
	// before the rows it describes are deleted. by is 0 for the operator.
	TellInstallation(tx *db.Tx, i *Installation, action string, by account.ID) error
	// TellInstallationRepos sends the App an event about repositories added to an installation or removed
	// from it.
	TellInstallationRepos(tx *db.Tx, i *Installation, added, removed []repo.ID, by account.ID) error
}

// Service holds what the operations on Apps share. Safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts *account.Service
	repos    *repo.Service
	forge    Forge
	clock    func() time.Time // against which times in JWTs are held

	// CheckHookURL returns an error for an invalid webhook address; nil: any address is allowed.
	CheckHookURL func(string) error

	// NewKey creates the private keys of Apps. It is the function NewKey, except in tests with prepared keys.
	NewKey func() (*rsa.PrivateKey, error)
}

// New returns the service.
func New(d *db.DB, accounts *account.Service, repos *repo.Service, forge Forge) *Service {
	return &Service{db: d, accounts: accounts, repos: repos, forge: forge, clock: time.Now, NewKey: NewKey}
}

// Find finds Apps by their ids, in one query; those that are not there are missing from the map.
func (s *Service) Find(tx *db.Tx, ids ...account.AppID) (map[account.AppID]*App, error) {
	return findApps(tx, ids)
}

// maxName is the greatest length of an App's name, as at GitHub.
const maxName = 34

// slugOf returns the name of an App in addresses: small letters, digits and hyphens. Error: 422 if nothing of
// the name is left.
func slugOf(name string) (string, error) {
	words := strings.FieldsFunc(account.Fold(name), func(c rune) bool {
		return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_')
	})
	slug := strings.Join(words, "-")
	if slug == "" {
		return "", errs.Newf(errs.Invalid,
			"the name %q has no letters or digits from which an address could be made", name)
	}
	return slug, nil
}

// joined returns a list of events as stored.
func joined(events []string) string { return "," + strings.Join(events, ",") + "," }

func splitEvents(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
}

// tidy sorts names and removes duplicates.
func tidy(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
