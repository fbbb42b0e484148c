// Package forge implements the changes that affect several features. Each is one function that names its
// steps in order: those of one transaction, and those after the commit.
//
//	push.go         updates of refs by git push, by a merge, or by the API
//	rename.go       a branch gets a new name
//	create.go       a new repository or fork
//	visibility.go   a repository becomes private or public
//	transfer.go     a repository gets another owner
//	delete.go       the deletion of a repository
//	access.go       users get access to a repository, or lose it
//	member.go       users are invited to an organization
//	account.go      the deletion of an account; storeaccount.go: the fate of each column
//	app.go          webhooks of GitHub Apps
//	issue.go        an issue is created, changed, deleted or transferred
//	publish.go      a release is published, a commit is commented on
//	hook.go         webhooks of repositories and organizations
//
// A feature starts the transaction, checks rights and input, and locks. Then it calls an interface of its
// own ([repo.Forge], [settings.Forge], [issue.Forge], [account.Forge] and others), which [Forge]
// implements. So package repo does not import pull requests. To add an effect on a feature, add a line to
// the function.
//
// Two changes are implemented in a feature, because it may import everything that they affect: a merge is
// Service.complete in package pull, and starts with Push; a fork is fork.insert in package network, and
// starts with Create.
package forge

import (
	"log/slog"
	"path/filepath"

	"arbor/internal/account"
	"arbor/internal/account/claim"
	"arbor/internal/account/key"
	"arbor/internal/account/session"
	"arbor/internal/account/signkey"
	"arbor/internal/account/token"
	"arbor/internal/app"
	"arbor/internal/attachment"
	"arbor/internal/db"
	"arbor/internal/detect"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/invitation"
	"arbor/internal/issue"
	"arbor/internal/keywords"
	"arbor/internal/lfs"
	"arbor/internal/mirror"
	"arbor/internal/notification"
	"arbor/internal/oauth"
	"arbor/internal/oauth/openid"
	"arbor/internal/packs"
	"arbor/internal/pull"
	"arbor/internal/pull/automerge"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/repo/deleted"
	"arbor/internal/repo/maintenance"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/repo/transport"
	"arbor/internal/rule"
	"arbor/internal/search"
	"arbor/internal/signature"
	"arbor/internal/signup"
	"arbor/internal/statistic"
	"arbor/internal/team"
)

// Forge holds the services that change together.
type Forge struct {
	Accounts    *account.Service
	Tokens      *token.Service
	Sessions    *session.Service
	Keys        *key.Service
	SigningKeys *signkey.Service
	Signatures  *signature.Service
	Repos       *repo.Service
	Teams       *team.Service
	Signup      *signup.Service
	Rules       *rule.Service
	Network     *network.Service
	Settings    *settings.Service
	Transport   *transport.Service
	Packs       *packs.Service
	Maintenance *maintenance.Service
	Issues      *issue.Service
	Pulls       *pull.Service
	Closing     *keywords.Service
	Detect      *detect.Service
	Statistics  *statistic.Service
	Searches    *search.Service
	Notifier    *notification.Worker
	Files       *file.Store
	Releases    *release.Service
	Attachments *attachment.Service
	LFS         *lfs.Service
	Mirrors     *mirror.Service
	Apps        *app.Service
	OAuth       *oauth.Service
	OpenID      *openid.Service
	Invitations *invitation.Service
	Claims      *claim.Service
	Deleted     *deleted.Service
}

// New creates the services, for a server or for a command that works on a store.
func New(d *db.DB, g *git.Git, log *slog.Logger, dataDir string) *Forge {
	f := &Forge{}
	f.Accounts = account.New(d, f)
	f.Tokens = token.New(d, log)
	f.Sessions = session.New(d, f.Tokens)
	f.Keys = key.New(d, f.Accounts)
	f.SigningKeys = signkey.New(d)
	f.SigningKeys.OnAdded = automerge.WakeCommits
	f.Signatures = signature.New(d, filepath.Join(dataDir, signature.Folder))
	f.Repos = repo.New(d, g, log, RepositoriesDir(dataDir), f)
	f.Teams = team.New(d, f.Repos, f)
	f.Invitations = invitation.New(d, f.Repos, f.Accounts)
	f.Invitations.Teams = f.Teams
	f.Claims = claim.New(d, f.giveByLogin)
	f.Signup = signup.New(d, f.Accounts, f.Sessions, f.Teams)
	f.Rules = rule.New(d, f.Repos, f.Signatures, log)
	f.Network = network.New(d, f.Repos)
	f.Settings = settings.New(d, f.Repos, f)
	f.Deleted = deleted.New(d, f.Repos, f)
	f.Transport = transport.New(d, g, log, f.Repos, f)
	f.Issues = issue.New(d, f.Repos, log, f)
	f.Pulls = pull.New(d, f.Repos, f.Issues, f.Signatures, log)
	f.Pulls.OnNewHead = f.newHead
	f.Closing = keywords.New(d, f.Repos, f.Issues, log)
	f.Detect = detect.New(d, f.Repos, log)
	f.Statistics = statistic.New(d, f.Repos, log)
	f.Notifier = notification.NewWorker(d, f.Repos, log)
	f.Searches = search.New(d, f.Issues, log)
	f.Files = file.New(d, f.Repos, log, dataDir)
	f.Packs = packs.New(d, g, log, f.Repos, f.Files)
	f.Repos.Packs, f.Transport.Bundles = f.Packs, f.Packs
	f.Maintenance = maintenance.New(d, g, log, f.Repos, f.Files, f.Packs)
	f.Maintenance.Bundles = f.Packs
	f.Apps = app.New(d, f.Accounts, f.Repos, f)
	f.OAuth = oauth.New(d)
	f.OAuth.TellRevoked = hook.TellRevoked
	f.OpenID = openid.New(d, f.OAuth, f.Tokens)
	f.Releases = release.New(d, f.Repos, f.Issues, f.Files, f, log)
	f.Attachments = attachment.New(d, f.Repos, f.Files)
	f.LFS = lfs.New(d, f.Repos, f.Files, f.Transport, log)
	f.Mirrors = mirror.New(d, g, f.Repos, f.LFS, log, dataDir)
	return f
}

// RepositoriesDir returns the repositories' directory in a data directory.
func RepositoriesDir(dataDir string) string { return filepath.Join(dataDir, "repositories") }
