package server

import (
	"cmp"
	"context"
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
	"arbor/internal/depot"
	"arbor/internal/durable"
	"arbor/internal/external"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/git/serve"
	"arbor/internal/hook"
	"arbor/internal/hook/outgoing"
	"arbor/internal/issue/live"
	"arbor/internal/issue/subscription"
	"arbor/internal/ldap"
	"arbor/internal/mail"
	"arbor/internal/mail/letter"
	"arbor/internal/migration/job"
	"arbor/internal/notification"
	"arbor/internal/oidc"
	"arbor/internal/page/signin"
	"arbor/internal/page/site"
	"arbor/internal/ratelimit"
	"arbor/internal/repo/maintenance"
	"arbor/internal/route"
	"arbor/internal/signinfile"
	"arbor/internal/space"
)

// Options configure a Server.
type Options struct {
	DB             *db.DB
	Git            *git.Git
	Log            *slog.Logger
	DataDir        string             // parent of the repositories' directories
	Objects        string             // address of package depot for new files and repositories; empty: DataDir
	CacheSize      int64              // bytes that repositories of a depot take in DataDir; 0: as many as there are
	ObjectsGrace   time.Duration      // how long packs that nobody has stay in a depot; 0: packs.Grace
	BundleSize     int64              // bytes of packs from which a repository of a depot has a bundle; 0: none has
	BaseURL        string             // scheme and host of all addresses; empty: taken from each request
	Graduated      bool               // previews are on for all requests (decision 3)
	MaxTreeEntries int                // 0: gitdata.DefaultMaxTreeEntries
	RateLimit      int64              // requests per hour for each token and address on this node; 0: no limit
	Admission      *admission.Control // nil: one with admission.DefaultMemory
	Node           *db.Node           // this process among those that use the database; nil: the only one
	AuditDays      int                // retention of the audit log; 0: unlimited
	RequireToken   bool               // anonymous requests get 401
	SignIn         *signinfile.Config // identity providers and directories; nil: none
	Mail           *mail.Config       // the mail server; nil: no mail is sent
	MustInvite     bool               // administrators invite people, and cannot add them at once
	Version        string             // of the program, for clients; empty: unknown
	Quota          account.Quota      // of owners without a quota of their own; nil Text: as KB
	TextRate       int64              // bytes of text that an account may write within an hour; 0: no limit
	KeepDeleted    time.Duration      // how long deleted repositories can be restored; 0: not at all
	// free space on the disks in bytes below which writes fail; space.Auto; 0: no limit
	MinFree      int64
	SSH          SSHOptions
	HookNetworks outgoing.Networks // internal networks that webhooks may reach
	// signs addresses of images of other hosts, which texts show through this server; nil: texts have links to them
	ImageKey      []byte
	LFSMaxObject  int64             // bytes of the largest object of Git LFS; 0: there is no Git LFS
	LFSKey        []byte            // signs tokens of Git LFS, and makes the setup code; nil: a random one
	FetchCache    int64             // bytes on disk of answers that fetches share; 0: each packs by itself
	NoMirrors     bool              // there are no mirrors of other servers' repositories
	MirrorEvery   time.Duration     // shortest interval in which a mirror may check its source; 0: mirror.DefaultMinInterval
	ImageNetworks outgoing.Networks // internal networks from which these images may come, for tests
	AdminHost     string            // additional Host accepted on the admin address; may be empty
	Now           func() time.Time

	// Authenticate finds the caller of a request with the header Authorization. nil: by tokens and JWTs
	Authenticate func(*http.Request) (*account.Caller, error)
}

// runner is a part of the server that works in the background.
type runner interface {
	Run(ctx context.Context) error
}

// provisioning follows the groups of people whom identity providers provisioned.
type provisioning struct{ s *external.Service }

// Run implements runner.
func (p provisioning) Run(ctx context.Context) error { return p.s.RunProvisioning(ctx) }

// New assembles a Server. The caller closes the database and git after the server has stopped.
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
	door := signin.New(kit, signin.Services{Sessions: s.forge.Sessions, Tokens: s.forge.Tokens, OAuth: s.forge.OAuth,
		OpenID:     s.forge.OpenID,
		Identities: s.identities, Directories: s.directories, Mail: s.mails, Signup: s.forge.Signup,
		Issues:       s.forge.Searches,
		Repositories: of.repositories, Lists: of.lists, Activities: of.activities}, s.setup)
	s.home, s.pageErrors, s.lostErrors = door.Home, kit.Errors, kit.Unrouted
	hooks := of.newSender(s)
	s.runners = append(s.runners, hooks, hook.NewPruner(o.DB, o.Log))
	f := s.forge
	p := &parts{s: s, caches: []cached{f.Tokens, f.Accounts, f.Repos, f.Issues, o.Git},
		workers: map[string]worker{"test_merge": f.Pulls, "pushed_commits": f.Closing,
			"packing":   f.Maintenance,
			"detection": f.Detect, "statistics": f.Statistics, "mirror": f.Mirrors, "import": s.imports, "hook_delivery": hooks, "notification": f.Notifier,
			"mail": s.mails}}
	features := slices.Concat(of.features(s), of.pages(s, kit, door), []feature{s.newGraphQL(of),
		site.New(kit, site.Options{Accounts: f.Accounts, Tokens: f.Tokens, Sessions: f.Sessions, Repos: f.Repos, Networks: f.Network,
			Settings: f.Settings, Searches: of.repositories, Signup: f.Signup, Claims: f.Claims,
			Identities: s.identities, Directories: s.directories,
			DB: o.DB, Git: o.Git,
			Log: o.Log, DataDir: o.DataDir, Version: o.Version, Jobs: p.backlogs})})
	if f.Transport.Shared != nil {
		p.caches = append(p.caches, f.Transport.Shared)
	}
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

// newServer returns a server without endpoints, with its services and background work.
func newServer(o Options) *Server {
	f := forge.New(o.DB, o.Git, o.Log, o.DataDir)
	disks := []string{o.DataDir, forge.RepositoriesDir(o.DataDir)}
	if file := o.DB.File(); file != "" {
		disks = append(disks, filepath.Dir(file))
	}
	f.Repos.Quota = o.Quota
	f.Files.Metrics = depot.NewMetrics()
	f.Files.Pin(o.Objects)
	f.Packs.Size, f.Packs.BundleSize = o.CacheSize, o.BundleSize
	f.Packs.Grace = cmp.Or(o.ObjectsGrace, f.Packs.Grace)
	f.LFS.MaxObject, f.LFS.Key = o.LFSMaxObject, o.LFSKey
	if f.LFS.Key == nil {
		f.LFS.Key = durable.NewKey()
	}
	f.Mirrors.Networks, f.Mirrors.Off = o.HookNetworks, o.NoMirrors
	f.Mirrors.MinInterval = cmp.Or(o.MirrorEvery, f.Mirrors.MinInterval)
	f.Invitations.Required = o.MustInvite
	f.Deleted.For, f.Releases.For = o.KeepDeleted, o.KeepDeleted
	f.Accounts.TextLimits = textLimits(o)
	f.Repos.Room = space.NewGuard(o.MinFree, o.Log, disks...)
	f.Repos.Room.Spare(filepath.Dir(o.DB.File()), o.DB.Spare)
	if o.FetchCache > 0 {
		f.Transport.Shared = serve.NewShared(o.DataDir, o.FetchCache, f.Repos.Room.Check)
	}
	s := &Server{
		o: o, log: o.Log, accounts: f.Accounts, forge: f, limiter: ratelimit.New(o.RateLimit, o.Now),
		idPrefix: newIDPrefix(), setup: setupCode(f.LFS.Key),
		control: o.Admission, room: f.Repos.Room, disks: disks, reserved: map[string]bool{},
	}
	file := o.SignIn
	if file == nil {
		file = &signinfile.Config{}
	}
	linked := external.New(external.Options{Sources: file.Sources(), Passwords: file.Passwords, DB: o.DB,
		Accounts: f.Accounts, Teams: f.Teams, Sessions: f.Sessions, Log: o.Log, Now: o.Now})
	s.identities = oidc.New(oidc.Options{Providers: file.Providers, Accounts: linked, DB: o.DB, Sessions: f.Sessions,
		Now: o.Now})
	s.directories = ldap.New(ldap.Options{Directories: file.Directories, Accounts: linked, DB: o.DB,
		Sessions: f.Sessions, Log: o.Log})
	s.mails = mail.NewSender(o.DB, o.Log, o.Mail)
	if o.Mail != nil {
		s.mails.Renderers = letter.Renderers(letter.Services{DB: o.DB, Accounts: f.Accounts, Sessions: f.Sessions,
			Signup: f.Signup, Invites: f.Invitations,
			Notices: notification.New(o.DB, f.Repos, subscription.New(o.DB, f.Issues)), Texts: f.Issues.Texts(),
			Reply: o.Mail.Reply},
			o.Mail.BaseURL)
	}
	s.imports = job.New(o.DB, o.Git, f, o.Log)
	s.live = live.New(o.DB, o.Admission.Streams())
	s.runners = []runner{s.live, s.mails, s.directories, provisioning{linked}, f.Tokens, f.Maintenance, f.Packs, f.Closing, f.Pulls,
		f.Searches, f.Detect, f.Statistics, f.Mirrors, s.imports, f.Notifier, notification.NewPruner(o.DB, o.Log),
		activity.NewPruner(o.DB, o.Log),
		audit.NewPruner(o.DB, o.Log, o.AuditDays), maintenance.NewForgetter(o.DB, o.Log),
		maintenance.NewShrinker(o.DB, o.Log, f.Repos.Room)}
	if o.Node != nil {
		s.runners = append(s.runners, o.Node)
	}
	s.database, s.folder, s.broken, s.depot = s.databaseProbe(), s.folderProbe(), s.brokenProbe(), s.depotProbe()
	for _, login := range account.ReservedLogins() {
		s.reserved[login] = true
	}
	return s
}

// Run does the background work until ctx is done: it stores last uses of tokens, packs repositories,
// deletes expired feed rows, and so on.
func (s *Server) Run(ctx context.Context) error {
	var g errgroup.Group
	for _, r := range s.runners {
		g.Go(func() error { return r.Run(ctx) })
	}
	return g.Wait()
}

// Settle immediately does the background work that earlier requests caused: reading pushed commits, test
// merges, language detection, statistics, notifications, text indexes. No requests may run at the same time.
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
	if err := s.forge.Statistics.Settle(ctx); err != nil {
		return err
	}
	if err := s.forge.Notifier.Settle(ctx); err != nil {
		return err
	}
	if err := s.identities.SettleProvisioning(ctx); err != nil {
		return err
	}
	return s.forge.Searches.Index(ctx)
}

// Forge returns the services that change together, for background work of this process.
func (s *Server) Forge() *forge.Forge { return s.forge }

// Linked returns the service of accounts with identities of other servers.
func (s *Server) Linked() *external.Service { return s.identities.Service }

// Admin returns the handler of the admin address: /metrics. Its /admin/reset always fails; an ephemeral
// server handles that request before.
func (s *Server) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.handler())
	mux.HandleFunc("POST /admin/reset", func(w http.ResponseWriter, _ *http.Request) {
		AdminError(w, http.StatusForbidden,
			"This server keeps what it has: only one that was started with --ephemeral can be reset.")
	})
	return GuardAdmin(mux, s.o.AdminHost)
}

// AdminError writes a JSON error on the admin address.
func AdminError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

// Routes returns all routes, for tests and documentation.
func (s *Server) Routes() []route.Route { return s.routes }
