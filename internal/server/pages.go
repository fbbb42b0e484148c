package server

import (
	"sync"

	"arbor/internal/apidoc"
	"arbor/internal/issue/revision"
	"arbor/internal/page"
	"arbor/internal/page/attach"
	checkpages "arbor/internal/page/checks"
	codepage "arbor/internal/page/code"
	"arbor/internal/page/explore"
	"arbor/internal/page/help"
	"arbor/internal/page/inbox"
	"arbor/internal/page/invite"
	issuepages "arbor/internal/page/issue"
	"arbor/internal/page/people"
	"arbor/internal/page/project"
	pullpages "arbor/internal/page/pull"
	"arbor/internal/page/reference"
	"arbor/internal/page/releases"
	"arbor/internal/page/reposettings"
	settingpages "arbor/internal/page/settings"
	"arbor/internal/page/shelf"
	"arbor/internal/page/signin"
	"arbor/internal/page/talk"
)

// newKit returns the parts that all pages share.
func (of *apis) newKit(s *Server) *page.Kit {
	return page.NewKit(page.Options{Repos: s.forge.Repos, Sessions: s.forge.Sessions, Issues: s.forge.Issues,
		Stars: of.stars, Hooks: of.hooks,
		Notices: of.notices, Markups: of.markups, Room: s.roomFor})
}

// pages returns all pages except the operator's.
func (of *apis) pages(s *Server, kit *page.Kit, door *signin.Pages) []feature {
	f, repos := s.forge, s.forge.Repos
	conversations := talk.New(kit, of.conversations(s))
	code := of.codePages(s, kit)
	return []feature{
		kit,
		code,
		door,
		people.New(kit, people.Services{Accounts: f.Accounts, OAuth: f.OAuth, Teams: f.Teams, Follows: of.follows,
			Stars: of.stars,
			Lists: of.lists, Searches: of.repositories, Activities: of.activities,
			Collaborators: of.collaborators, Invitations: f.Invitations,
			Repos: repos, Pins: of.pins, Readme: code.Readme}),
		project.New(kit, project.Services{Accounts: f.Accounts, Settings: f.Settings, Networks: f.Network,
			Pulls: f.Pulls, Git: of.objects, Mirrors: f.Mirrors, Imports: s.imports}),
		explore.New(kit, explore.Services{Repositories: of.repositories, People: of.People, Commits: of.commits,
			Code: of.code, Issues: f.Searches}),
		help.New(kit),
		reference.New(kit, sync.OnceValues(func() ([]*apidoc.Reference, error) {
			return apidoc.References(s.Rights())
		})),
		inbox.New(kit, f.Invitations),
		invite.New(kit, f.Invitations),
		releases.New(kit, releases.Services{DB: s.o.DB, Releases: f.Releases, Git: of.objects}),
		checkpages.New(kit, checkpages.Services{Git: of.objects, Checks: of.checks, Statuses: of.statuses,
			Deployments: of.deployments}),
		shelf.New(kit, of.plants),
		issuepages.New(kit, issuepages.Services{Pages: conversations, Deletions: of.deletions, Git: of.objects}),
		of.pullPages(s, kit, conversations),
		conversations,
		reposettings.New(kit, reposettings.Services{Settings: f.Settings, Collaborators: of.collaborators,
			Invitations: f.Invitations, Apps: f.Apps, Attachments: f.Attachments, Rules: f.Rules,
			Deleted: f.Deleted, Mirrors: f.Mirrors, Imports: s.imports}),
		attach.New(kit, f.Attachments),
		settingpages.New(kit, settingpages.Services{Accounts: f.Accounts, Tokens: f.Tokens, Sessions: f.Sessions,
			Keys: f.Keys, Signing: f.SigningKeys, Replies: of.replies, Claims: f.Claims, Repos: repos, Apps: f.Apps,
			OAuth: f.OAuth, Identities: s.identities, Directories: s.directories, Mail: s.mails, Lists: of.lists,
			Stars: of.stars, Deleted: f.Deleted}),
	}
}

// codePages returns the pages of files, commits and branches.
func (of *apis) codePages(s *Server, kit *page.Kit) *codepage.Pages {
	f := s.forge
	return codepage.New(kit, codepage.Services{Git: of.objects, Texts: of.Git, Comments: of.onCommits,
		Edits: revision.New(s.o.DB), Statuses: of.statuses, Checks: of.checks, Releases: f.Releases, Detect: f.Detect, Searches: of.code, Forks: f.Network,
		Pulls: f.Pulls, Autolinks: of.autolinks, Owners: of.codeOwners,
		Activities: of.activities, Mirrors: f.Mirrors})
}

// pullPages returns the pages of pull requests.
func (of *apis) pullPages(s *Server, kit *page.Kit, conversations *talk.Pages) *pullpages.Pages {
	return pullpages.New(kit, conversations, pullpages.Services{Git: of.objects, Pulls: s.forge.Pulls, Checks: of.checks,
		Statuses: of.statuses, Owners: of.codeOwners, Text: of.Pulls.Text})
}
