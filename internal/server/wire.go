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
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/hook/outgoing"
	"arbor/internal/notification"
	"arbor/internal/page/signin"
	"arbor/internal/page/site"
	"arbor/internal/ratelimit"
	"arbor/internal/repo/maintenance"
	"arbor/internal/route"
	"arbor/internal/space"
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
	Quota          account.Quota      // of owners who have none of their own; Text nil: as KB
	TextRate       int64              // bytes of text that an account may write within an hour; 0: any number
	// room on the disks in bytes, below which nothing is written; space.Auto; 0: any
	MinFree      int64
	SSH          SSHOptions
	HookNetworks outgoing.Networks // inner ones to which hooks may lead
	AdminHost    string            // by which the admin address may be named beside its own; empty: none
	Now          func() time.Time
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
	s := newServer(o)
	of := s.newAPIs()
	kit := of.newKit(s)
	door := signin.New(kit, signin.Services{Accounts: s.accounts, Issues: s.forge.Searches,
		Repositories: of.repositories, Lists: of.lists, Activities: of.activities}, s.setup)
	s.home, s.pageErrors, s.lostErrors = door.Home, kit.Errors, kit.Unrouted
	hooks := of.newSender(s)
	s.runners = append(s.runners, hooks, hook.NewPruner(o.DB, o.Log))
	f := s.forge
	p := &parts{s: s, caches: []cached{f.Accounts, f.Repos, f.Issues, o.Git},
		workers: map[string]worker{"test_merge": f.Pulls, "pushed_commits": f.Closing,
			"packing":   f.Maintenance,
			"detection": f.Detect, "hook_delivery": hooks, "notification": f.Notifier}}
	features := slices.Concat(of.features(s), of.pages(s, kit, door), []feature{s.newGraphQL(of),
		site.New(kit, site.Options{Accounts: f.Accounts, Repos: f.Repos, Networks: f.Network,
			Settings: f.Settings, Searches: of.repositories,
			DB: o.DB, Git: o.Git,
			Log: o.Log, DataDir: o.DataDir, Version: o.Version, Jobs: p.backlogs})})
	for _, part := range features {
		if has, ok := part.(cached); ok {
			p.caches = append(p.caches, has)
		}
	}
	s.routes = s.join(features...)
	s.metrics = newMetrics(s, p)
	s.table = newTable(slices.Concat(s.routes, notImplemented(s.routes, f.Repos)), s.metrics)
	s.docs = newDocs(s.Rights())
	return s
}

// newServer makes a server without endpoints: the features beneath them, and what works beside requests.
func newServer(o Options) *Server {
	f := forge.New(o.DB, o.Git, o.Log, o.DataDir)
	disks := []string{o.DataDir, forge.RepositoriesDir(o.DataDir)}
	if file := o.DB.File(); file != "" {
		disks = append(disks, filepath.Dir(file))
	}
	f.Repos.Quota = o.Quota
	f.Accounts.TextLimits = textLimits(o)
	f.Repos.Room = space.NewGuard(o.MinFree, o.Log, disks...)
	f.Repos.Room.Spare(filepath.Dir(o.DB.File()), o.DB.Spare)
	limits := ratelimit.Options{Limit: o.RateLimit, Now: o.Now, DB: o.DB, Log: o.Log}
	if o.Node != nil {
		limits.Others = o.Node.Others
	}
	s := &Server{
		o: o, log: o.Log, accounts: f.Accounts, forge: f, limiter: ratelimit.New(limits),
		idPrefix: newIDPrefix(), setup: rand.Text()[:12],
		control: o.Admission, room: f.Repos.Room, disks: disks, reserved: map[string]bool{},
	}
	s.runners = []runner{f.Accounts, f.Maintenance, f.Closing, f.Pulls, f.Searches,
		f.Detect, f.Notifier, s.limiter, notification.NewPruner(o.DB, o.Log), activity.NewPruner(o.DB, o.Log),
		audit.NewPruner(o.DB, o.Log, o.AuditDays), maintenance.NewForgetter(o.DB, o.Log),
		maintenance.NewShrinker(o.DB, o.Log, f.Repos.Room)}
	if o.Node != nil {
		s.runners = append(s.runners, o.Node)
	}
	s.database, s.folder, s.broken = s.databaseProbe(), s.folderProbe(), s.brokenProbe()
	for _, login := range account.ReservedLogins() {
		s.reserved[login] = true
	}
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
		AdminError(w, http.StatusForbidden,
			"This server keeps what it has: only one that was started with --ephemeral can be reset.")
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
