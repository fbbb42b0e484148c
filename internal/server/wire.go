package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/admission"
	"arbor/internal/app"
	"arbor/internal/attachment"
	"arbor/internal/audit"
	"arbor/internal/checkrun"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/detect"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/gitignore"
	"arbor/internal/hook"
	"arbor/internal/hook/outgoing"
	"arbor/internal/hook/payloads"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/deletion"
	"arbor/internal/issue/subscription"
	"arbor/internal/issue/text"
	"arbor/internal/issue/timeline"
	"arbor/internal/label"
	"arbor/internal/license"
	"arbor/internal/markup"
	"arbor/internal/milestone"
	"arbor/internal/notification"
	"arbor/internal/page"
	"arbor/internal/page/attach"
	checkpages "arbor/internal/page/checks"
	codepage "arbor/internal/page/code"
	"arbor/internal/page/explore"
	"arbor/internal/page/front"
	"arbor/internal/page/inbox"
	"arbor/internal/page/people"
	"arbor/internal/page/project"
	"arbor/internal/page/releases"
	"arbor/internal/page/reposettings"
	settingpages "arbor/internal/page/settings"
	"arbor/internal/page/shelf"
	"arbor/internal/page/site"
	"arbor/internal/page/talk"
	"arbor/internal/page/thread"
	"arbor/internal/plant"
	"arbor/internal/pull"
	"arbor/internal/ratelimit"
	"arbor/internal/release"
	"arbor/internal/repo/collaborator"
	"arbor/internal/repo/list"
	"arbor/internal/repo/maintenance"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/repo/transport"
	"arbor/internal/review"
	"arbor/internal/route"
	"arbor/internal/search"
	"arbor/internal/search/code"
	"arbor/internal/search/commit"
	"arbor/internal/search/repository"
	"arbor/internal/search/user"
	"arbor/internal/space"
	"arbor/internal/star"
	"arbor/internal/status"
)

// Options are what a server is made of.
type Options struct {
	DB             *db.DB
	Git            *git.Git
	Log            *slog.Logger
	DataDir        string             // holds the repositories' directories
	BaseURL        string             // scheme and host of all addresses; empty: as each request says
	Graduated      bool               // all previews are on for everyone (decision 3)
	MaxTreeEntries int                // 0: gitdata.DefaultMaxTreeEntries
	RateLimit      int64              // requests an hour for each token and address; 0: none
	Admission      *admission.Control // nil: one of admission.DefaultMemory
	Node           *db.Node           // this process among those that serve the database; nil: the only one
	AuditDays      int                // how long the audit log is kept; 0: for ever
	RequireToken   bool               // nobody without a token sees anything
	Version        string             // of the program, for clients that ask; empty: unknown
	Quota          account.Quota      // of owners who have none of their own
	MinFree        int64              // room on the disks in bytes, below which nothing is written; space.Auto; 0: any
	SSH            SSHOptions
	HookNetworks   outgoing.Networks // inner ones to which hooks may lead
	AdminHost      string            // by which the admin address may be named beside its own; empty: none
	Now            func() time.Time
}

// runner is a part of the server that works beside the requests.
type runner interface {
	Run(ctx context.Context) error
}

// New wires the features by hand. The caller keeps the database and git, and
// closes them after the server has stopped.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Admission == nil {
		o.Admission = admission.New(admission.DefaultMemory, nil)
	}
	f := forge.New(o.DB, o.Git, o.Log, o.DataDir)
	disks := []string{o.DataDir, forge.RepositoriesDir(o.DataDir)}
	if file := o.DB.File(); file != "" {
		disks = append(disks, filepath.Dir(file))
	}
	f.Repos.Quota = o.Quota
	f.Repos.Room = space.NewGuard(o.MinFree, o.Log, disks...)
	accounts, repos, issues, pulls := f.Accounts, f.Repos, f.Issues, f.Pulls
	s := &Server{
		o: o, log: o.Log, accounts: accounts, forge: f,
		runners: []runner{accounts, f.Maintenance, issues, f.Closing, pulls, f.Searches, f.Detect, f.Notifier,
			notification.NewPruner(o.DB, o.Log),
			activity.NewPruner(o.DB, o.Log), audit.NewPruner(o.DB, o.Log, o.AuditDays),
			maintenance.NewForgetter(o.DB, o.Log)},
		idPrefix: newIDPrefix(), setup: rand.Text()[:12],
		control: o.Admission, room: f.Repos.Room, disks: disks,
	}
	s.database, s.folder = s.databaseProbe(), s.folderProbe()
	limits := ratelimit.Options{Limit: o.RateLimit, Now: o.Now, DB: o.DB, Log: o.Log}
	if o.Node != nil {
		limits.Others = o.Node.Others
		s.runners = append(s.runners, o.Node)
	}
	s.limiter = ratelimit.New(limits)
	s.runners = append(s.runners, s.limiter)
	objects := gitdata.NewAPI(o.DB, repos, o.MaxTreeEntries)
	onCommits := commitcomment.NewAPI(commitcomment.New(o.DB, repos, issues), objects)
	checks := checkrun.NewAPI(checkrun.New(o.DB, repos, f.Apps), objects)
	deletions := deletion.New(o.DB, o.Log)
	statuses, labels := status.NewAPI(status.New(o.DB, repos), objects), label.NewAPI(label.New(o.DB), repos)
	s.runners = append(s.runners, deletions)
	shown := sources{Issues: issue.NewAPI(issues), Comments: comment.NewAPI(comment.New(o.DB, issues), repos),
		Timelines:  timeline.NewAPI(o.DB, repos, issues, f),
		Milestones: milestone.NewAPI(milestone.New(o.DB), repos), Pulls: pull.NewAPI(pulls, objects),
		Reviews: review.NewAPI(review.New(o.DB, repos, issues, pulls)), Git: objects,
		Releases: release.NewAPI(f.Releases), OnCommits: onCommits, Checks: checks}
	attached := attachment.NewAPI(f.Attachments)
	notices := notification.NewAPI(notification.New(o.DB, repos, subscription.New(o.DB, issues)))
	markups := markup.NewAPI(markup.New(repos, text.New(o.DB, repos)))
	found := search.NewAPI(f.Searches)
	kit := page.NewKit(page.Options{Render: markups.Render, Repos: repos, Ask: s.ask,
		OpenPulls: issues.OpenPulls, Unread: notices.Unread,
		IssuesEach:   found.IssuesEach,
		OwnReactions: repos.With(account.Pull, shown.Comments.ListOwnReactions),
		TimelineEnds: repos.With(account.Pull, shown.Timelines.Ends)})
	door := front.New(kit, accounts, s.setup)
	s.home, s.pageErrors = door.Home, kit.Errors
	plants := plant.NewAPI(o.DB)
	statusesOf, runsOf := repos.With(account.Pull, statuses.CombineMany), repos.With(account.Pull, checks.ListMany)
	codes := codepage.New(kit, codepage.Handlers{
		Locate:      repos.With(account.Pull, objects.Locate),
		LastChanges: repos.With(account.Pull, objects.ListLastChanges),
		Blame:       repos.With(account.Pull, objects.Blame), Paths: repos.With(account.Pull, objects.ListPaths),
		Commits: repos.With(account.Pull, objects.ListChosenCommits), Statuses: statusesOf, Checks: runsOf,
		Divergences: repos.With(account.Pull, objects.ListDivergences),
		CommitFiles: repos.With(account.Push, objects.CommitFiles),
		BranchFrom:  repos.With(account.Push, shown.Pulls.BranchFrom),
		CommitText:  objects.CommitText, CompareText: objects.CompareText})
	kinds := search.NewKinds(f.Searches)
	hooksOf := hook.New(o.DB, repos, o.HookNetworks)
	hooked := hook.NewAPI(hooksOf)
	f.Apps.CheckHookURL = hooksOf.CheckURL
	features := []feature{
		account.NewAPI(accounts),
		app.NewAPI(f.Apps),
		list.NewAPI(o.DB, repos),
		settings.NewAPI(f.Settings),
		network.NewAPI(f.Network),
		collaborator.NewAPI(o.DB, repos),
		transport.NewAPI(f.Transport),
		star.NewAPI(star.New(o.DB, repos)),
		activity.NewAPI(o.DB, repos, issues),
		shown.Git,
		statuses,
		checks,
		shown.Issues,
		shown.Comments,
		shown.Timelines,
		subscription.NewAPI(subscription.New(o.DB, issues), repos),
		deletion.NewAPI(deletions, repos),
		notices,
		found,
		repository.NewAPI(kinds),
		user.NewAPI(kinds),
		commit.NewAPI(kinds, repos, objects),
		code.NewAPI(kinds, repos),
		labels,
		shown.Milestones,
		shown.Pulls,
		shown.Reviews,
		shown.Releases,
		attached,
		onCommits,
		detect.NewAPI(f.Detect),
		&license.API{},
		&gitignore.API{},
		markups,
		hooked,
		plants,
		kit,
		codes,
		door,
		people.New(kit),
		project.New(kit),
		explore.New(kit),
		inbox.New(kit),
		releases.New(kit, repos.With(account.Pull, shown.Releases.GetByAddress)),
		checkpages.New(kit, checkpages.Handlers{Extras: checks.Extras,
			Annotations: repos.With(account.Pull, checks.ListAnnotationsForPage)}),
		shelf.New(kit, plants.ListNumbered),
		thread.New(kit, thread.Handlers{Pinned: repos.With(account.Pull, shown.Issues.ListPinned),
			Numbers: repos.With(account.Pull, shown.Issues.ListPinnedNumbers)}),
		shown.pullPages(kit, repos),
		talk.New(kit, talk.Handlers{Pin: repos.With(account.Push, shown.Issues.PinIssue),
			Delete:   repos.With(account.Admin, shown.Issues.DeleteIssue),
			Transfer: repos.With(account.Push, shown.Issues.TransferIssue),
			Edit:     repos.With(account.Pull, shown.Issues.EditUnchanged), EditComment: repos.With(account.Pull, shown.Comments.EditUnchanged)}),
		reposettings.New(kit, repos.With(account.Admin, attached.List)),
		attach.New(kit, attach.Handlers{Upload: repos.With(account.Pull, attached.Upload),
			List: repos.With(account.Pull, attached.ListOwn), Remove: repos.With(account.Pull, attached.Remove)}),
		settingpages.New(kit, accounts, repos, f.Apps, hooked.OfOwnApp()),
	}
	features = append(features, s.newGraphQL(shown, statuses))
	told := payloads.New(o.DB, payloads.Sources{Repos: repos, Issues: shown.Issues, Comments: shown.Comments,
		Labels: labels, Milestones: shown.Milestones, Pulls: shown.Pulls, Reviews: shown.Reviews,
		Releases: shown.Releases,
		Statuses: statuses, Git: objects, OnCommits: onCommits, Checks: checks})
	hooks := hook.NewSender(hook.SenderOptions{DB: o.DB, Log: o.Log, Render: told, Networks: o.HookNetworks,
		BaseURL: o.BaseURL})
	s.runners = append(s.runners, hooks, hook.NewPruner(o.DB, o.Log))
	p := &parts{s: s, caches: []cached{accounts, repos, issues, o.Git},
		workers: map[string]worker{"test_merge": pulls, "pushed_commits": f.Closing, "packing": f.Maintenance,
			"detection": f.Detect, "hook_delivery": hooks, "notification": f.Notifier}}
	features = append(features, site.New(kit,
		site.Options{Accounts: accounts, Repos: repos, Networks: f.Network, DB: o.DB, Git: o.Git,
			Log: o.Log, DataDir: o.DataDir, Version: o.Version, Jobs: p.backlogs}))
	s.routes = s.join(features...)
	for _, part := range features {
		if has, ok := part.(cached); ok {
			p.caches = append(p.caches, has)
		}
	}
	s.metrics = newMetrics(s, p)
	s.table = newTable(append(slices.Clone(s.routes), lacking(s.routes, repos)...), s.metrics)
	s.reserved = map[string]bool{}
	for _, login := range account.ReservedLogins() {
		s.reserved[login] = true
	}
	s.docs = newDocs()
	return s
}

// Run does what goes on beside the requests, until ctx is done: it stores last
// uses of tokens, packs repositories and removes what no feed tells of.
func (s *Server) Run(ctx context.Context) error {
	var g errgroup.Group
	for _, r := range s.runners {
		g.Go(func() error { return r.Run(ctx) })
	}
	return g.Wait()
}

// Settle does at once what Run would do in time because of what happened before:
// it reads pushed commits, makes test merges, looks at code, tells people and indexes texts. Nothing else may
// happen meanwhile.
func (s *Server) Settle(ctx context.Context) error {
	if err := s.forge.Closing.Settle(ctx); err != nil {
		return err
	}
	if err := s.forge.Pulls.Settle(ctx); err != nil {
		return err
	}
	if err := s.forge.Detect.Settle(ctx); err != nil {
		return err
	}
	if err := s.forge.Notifier.Settle(ctx); err != nil {
		return err
	}
	return s.forge.Searches.Index(ctx)
}

// Forge is the features that change together, for code of this process that works
// beside the requests.
func (s *Server) Forge() *forge.Forge { return s.forge }

// Admin serves what operators read, beside the interface: /metrics. What it says
// of a reset holds for a server that keeps what it has; others answer it before.
func (s *Server) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.handler())
	mux.HandleFunc("POST /admin/reset", func(w http.ResponseWriter, _ *http.Request) {
		AdminError(w, http.StatusForbidden, "This server keeps what it has: only one that was started with --ephemeral can be reset.")
	})
	return GuardAdmin(mux, s.o.AdminHost)
}

// AdminError answers a request on the admin address with a JSON error.
func AdminError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

// Routes is the whole interface, for tests and documentation.
func (s *Server) Routes() []route.Route { return s.routes }
