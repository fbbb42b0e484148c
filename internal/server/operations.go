package server

import (
	"arbor/internal/account/savedreply"
	"arbor/internal/activity"
	"arbor/internal/autolink"
	"arbor/internal/checkrun"
	"arbor/internal/codeowner"
	"arbor/internal/commitcomment"
	"arbor/internal/deployment"
	"arbor/internal/follow"
	"arbor/internal/gitdata"
	"arbor/internal/hook"
	"arbor/internal/imageproxy"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/deletion"
	"arbor/internal/issue/revision"
	"arbor/internal/issue/subscription"
	"arbor/internal/issue/timeline"
	"arbor/internal/label"
	"arbor/internal/markup"
	"arbor/internal/milestone"
	"arbor/internal/notification"
	"arbor/internal/page/talk"
	"arbor/internal/pin"
	"arbor/internal/plant"
	"arbor/internal/repo/collaborator"
	"arbor/internal/repo/list"
	"arbor/internal/review"
	"arbor/internal/search"
	"arbor/internal/search/code"
	"arbor/internal/search/repository"
	"arbor/internal/star"
	"arbor/internal/status"
)

// operations are the services that the handlers of the API and of pages call.
type operations struct {
	activities    *activity.Service
	collaborators *collaborator.Service
	autolinks     *autolink.Service
	checks        *checkrun.Service
	codeOwners    *codeowner.Service
	deployments   *deployment.Service
	comments      *comment.Service
	deletions     *deletion.Service
	follows       *follow.Service
	hooks         *hook.Service
	images        *imageproxy.Proxy // nil: switched off
	labels        *label.Service
	markups       *markup.Service
	milestones    *milestone.Service
	notices       *notification.Service
	objects       *gitdata.Service
	onCommits     *commitcomment.Service
	pins          *pin.Service
	plants        *plant.Service
	reviews       *review.Service
	stars         *star.Service
	statuses      *status.Service
	subscriptions *subscription.Service
	timelines     *timeline.Service
	kinds         *search.Kinds
	repositories  *repository.API // searches
	lists         *list.Service
	code          *code.API // searches
	replies       *savedreply.Service
}

func (s *Server) newOperations() *operations {
	d, f := s.o.DB, s.forge
	repos, issues := f.Repos, f.Issues
	o := &operations{activities: activity.New(d), follows: follow.New(d),
		collaborators: collaborator.New(d, repos, f.Invitations),
		checks:        checkrun.New(d, repos, f.Apps), statuses: status.New(d, repos),
		onCommits: commitcomment.New(d, repos, issues, f), plants: plant.New(d),
		comments: comment.New(d, issues), deletions: deletion.New(d, s.o.Log, f),
		hooks: hook.New(d, repos, s.o.HookNetworks), labels: label.New(d),
		markups: markup.New(repos, issues.Texts()), milestones: milestone.New(d),
		reviews: review.New(d, repos, issues, f.Pulls), stars: star.New(d, repos),
		subscriptions: subscription.New(d, issues), timelines: timeline.New(d, issues, f),
		kinds: search.NewKinds(f.Searches), lists: list.New(d),
		replies: savedreply.New(d), pins: pin.New(d),
		objects: gitdata.New(d, repos, f.Signatures, s.o.MaxTreeEntries)}
	o.repositories, o.code = repository.NewAPI(o.kinds), code.NewAPI(o.kinds, repos)
	o.autolinks, o.codeOwners = autolink.New(d), codeowner.New(d, repos)
	if s.o.ImageKey != nil {
		o.images = imageproxy.New(s.o.ImageKey, s.o.ImageNetworks)
	}
	o.objects.LFS = f.LFS
	issues.Texts().Images, o.objects.Images = o.images, o.images
	o.deployments = deployment.New(d, repos, o.statuses)
	o.notices = notification.New(d, repos, o.subscriptions)
	return o
}

// conversations returns the services that conversation pages call.
func (of *apis) conversations(s *Server) talk.Services {
	return talk.Services{DB: s.o.DB, Issues: s.forge.Issues, Comments: of.comments, Timelines: of.timelines,
		Subscriptions: of.subscriptions, Labels: of.labels, Milestones: of.milestones, Reviews: of.reviews,
		Pulls: s.forge.Pulls, Revisions: revision.New(s.o.DB), Live: s.live, Searches: s.forge.Searches,
		People: of.People, Teams: s.forge.Teams}
}
