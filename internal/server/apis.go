package server

import (
	"arbor/internal/account"
	"arbor/internal/account/key"
	"arbor/internal/account/signkey"
	"arbor/internal/activity"
	"arbor/internal/app"
	"arbor/internal/attachment"
	"arbor/internal/autolink"
	"arbor/internal/avatar"
	"arbor/internal/checkrun"
	"arbor/internal/codeowner"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/deployment"
	"arbor/internal/detect"
	"arbor/internal/follow"
	"arbor/internal/forge"
	"arbor/internal/gitdata"
	"arbor/internal/hook"
	"arbor/internal/hook/payloads"
	"arbor/internal/invitation"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/deletion"
	"arbor/internal/issue/subscription"
	"arbor/internal/issue/timeline"
	"arbor/internal/label"
	"arbor/internal/lacking"
	"arbor/internal/lfs"
	"arbor/internal/license"
	"arbor/internal/markup"
	"arbor/internal/migration/job"
	"arbor/internal/milestone"
	"arbor/internal/mirror"
	"arbor/internal/notification"
	"arbor/internal/oauth"
	"arbor/internal/oauth/openid"
	"arbor/internal/plant"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo/collaborator"
	"arbor/internal/repo/list"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/repo/transport"
	"arbor/internal/review"
	"arbor/internal/rule"
	"arbor/internal/scim"
	"arbor/internal/search"
	"arbor/internal/search/commit"
	"arbor/internal/search/tag"
	"arbor/internal/search/user"
	"arbor/internal/signature"
	"arbor/internal/star"
	"arbor/internal/statistic"
	"arbor/internal/status"
	"arbor/internal/team"
)

// apis are the APIs that pages, GraphQL and webhooks also use.
type apis struct {
	*operations
	Issues      *issue.API
	Comments    *comment.API
	Timelines   *timeline.API
	Labels      *label.API
	Milestones  *milestone.API
	Pulls       *pull.API
	Reviews     *review.API
	Git         *gitdata.API
	Releases    *release.API
	OnCommits   *commitcomment.API
	Statuses    *status.API
	Checks      *checkrun.API
	Deployments *deployment.API
	Attachments *attachment.API
	Deletions   *deletion.API
	Notices     *notification.API
	Searches    *search.API
	People      *user.API
	Markups     *markup.API
	Hooks       *hook.API
	Plants      *plant.API
	commits     *commit.API // searches
}

// newAPIs creates the APIs that others use, and registers their background work.
func (s *Server) newAPIs() *apis {
	f := s.forge
	repos, issues := f.Repos, f.Issues
	o := s.newOperations()
	f.Apps.CheckHookURL = o.hooks.CheckURL
	s.runners = append(s.runners, o.deletions, release.NewRemover(f.Releases))
	files := gitdata.NewAPI(o.objects)
	return &apis{operations: o,
		commits:     commit.NewAPI(o.kinds, repos, o.objects),
		Issues:      issue.NewAPI(issues),
		Comments:    comment.NewAPI(o.comments, repos),
		Timelines:   timeline.NewAPI(o.timelines, repos),
		Labels:      label.NewAPI(o.labels, repos),
		Milestones:  milestone.NewAPI(o.milestones, repos),
		Pulls:       pull.NewAPI(f.Pulls, o.objects, files),
		Reviews:     review.NewAPI(o.reviews),
		Git:         files,
		Releases:    release.NewAPI(f.Releases),
		OnCommits:   commitcomment.NewAPI(o.onCommits, o.objects),
		Statuses:    status.NewAPI(o.statuses, o.objects),
		Checks:      checkrun.NewAPI(o.checks, o.objects),
		Deployments: deployment.NewAPI(o.deployments, o.objects),
		Attachments: attachment.NewAPI(f.Attachments),
		Deletions:   deletion.NewAPI(o.deletions, repos),
		Notices:     notification.NewAPI(o.notices),
		Searches:    search.NewAPI(f.Searches),
		People:      user.NewAPI(o.kinds),
		Markups:     markup.NewAPI(o.markups),
		Hooks:       hook.NewAPI(o.hooks),
		Plants:      plant.NewAPI(o.plants),
	}
}

// features returns all features of the API except GraphQL and pages.
func (of *apis) features(s *Server) []feature {
	d, f := s.o.DB, s.forge
	repos := f.Repos
	return []feature{
		account.NewAPI(f.Accounts),
		of.images,
		oauth.NewAPI(f.OAuth, f.Tokens, f.OpenID.IDToken),
		openid.NewAPI(f.OpenID),
		key.NewAPI(f.Keys),
		signkey.NewAPI(f.SigningKeys),
		signature.NewAPI(f.Signatures),
		follow.NewAPI(of.follows),
		app.NewAPI(f.Apps),
		scim.NewAPI(s.identities.Service),
		list.NewAPI(d, repos),
		settings.NewAPI(f.Settings),
		autolink.NewAPI(of.autolinks, repos),
		network.NewAPI(f.Network),
		rule.NewAPI(f.Rules),
		codeowner.NewAPI(of.codeOwners),
		collaborator.NewAPI(of.collaborators),
		team.NewAPI(f.Teams),
		invitation.NewAPI(f.Invitations),
		transport.NewAPI(f.Transport),
		star.NewAPI(of.stars),
		activity.NewAPI(of.activities, repos, f.Issues),
		of.Git,
		of.Statuses,
		of.Checks,
		of.Deployments,
		of.Issues,
		of.Comments,
		of.Timelines,
		subscription.NewAPI(of.subscriptions, repos),
		of.Deletions,
		of.Notices,
		of.Searches,
		of.repositories,
		of.People,
		of.commits,
		of.code,
		tag.NewAPI(of.kinds, repos),
		of.Labels,
		of.Milestones,
		of.Pulls,
		of.Reviews,
		of.Releases,
		of.Attachments,
		lfs.NewAPI(f.LFS),
		mirror.NewAPI(f.Mirrors),
		job.NewAPI(s.imports),
		of.OnCommits,
		detect.NewAPI(f.Detect),
		statistic.NewAPI(f.Statistics),
		lacking.NewAPI(d, repos),
		&license.API{},
		&avatar.API{},
		of.Markups,
		of.Hooks,
		of.Plants,
	}
}

// newSender returns the sender of webhooks, and makes transactions render their payloads.
func (of *apis) newSender(s *Server) *hook.Sender {
	told := TellHooks(s.o.DB, s.forge, of.objects)
	return hook.NewSender(hook.SenderOptions{DB: s.o.DB, Log: s.o.Log, Render: told,
		Networks: s.o.HookNetworks,
		BaseURL:  s.o.BaseURL})
}

// TellHooks attaches a renderer of webhook payloads to the transactions of d. git reads what is rendered
// when a payload is sent; it may be nil if nothing is sent.
func TellHooks(d *db.DB, f *forge.Forge, git *gitdata.Service) *payloads.Renderer {
	r := payloads.New(d, payloads.Sources{Repos: f.Repos, Issues: f.Issues, Pulls: f.Pulls,
		Releases: f.Releases, Checks: checkrun.New(d, f.Repos, f.Apps), Git: git})
	hook.Attach(d, r)
	return r
}
