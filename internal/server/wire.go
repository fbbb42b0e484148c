package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/admission"
	"arbor/internal/closing"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/plant"
	"arbor/internal/pull"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/search"
	"arbor/internal/star"
	"arbor/internal/status"
	"arbor/internal/web"
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
	RequireToken   bool               // nobody without a token sees anything
	AdminHost      string             // by which the admin address may be named beside its own; empty: none
	Now            func() time.Time
	Watch          Watch // of tests: sees each request and its answer; nil: nobody does
}

// Watch is shown a request before it is served, and returns where its answer is
// to be written to and what is to be called when it has been.
type Watch func(w http.ResponseWriter, r *http.Request, info *web.Info) (http.ResponseWriter, func())

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
	made := NewServices(o.DB, o.Git, o.Log, o.DataDir)
	accounts := account.New(o.DB, o.Log, made.Pulls.FollowOrg)
	repos, issues, pulls := made.Repos, made.Issues, made.Pulls
	s := &Server{
		o: o, log: o.Log, accounts: accounts, made: made,
		runners: []runner{accounts, repos, issues, made.Closing, pulls, made.Searches, activity.NewPruner(o.DB, o.Log), repo.NewForgetter(repos)},
		limiter: newLimiter(o.RateLimit, o.Now), idPrefix: newIDPrefix(),
		control: o.Admission,
	}
	s.metrics = newMetrics(s, func() float64 { return float64(o.Git.Started()) })
	objects := gitdata.NewAPI(o.DB, repos, o.MaxTreeEntries)
	from := page.Sources{Issues: issue.NewAPI(issues), Milestones: milestone.NewAPI(milestone.New(o.DB)), Pulls: pull.NewAPI(pulls, objects),
		Reviews: review.NewAPI(review.New(o.DB, repos, issues, pulls)), Git: objects}
	s.pages = page.New(o.DB, repos, from)
	s.routes = s.interfaceTable(features{
		accounts:   account.NewAPI(accounts),
		repos:      repo.NewAPI(repos),
		service:    repos,
		issues:     from.Issues,
		labels:     label.NewAPI(label.New(o.DB)),
		milestones: from.Milestones,
		git:        objects,
		statuses:   status.NewAPI(status.New(o.DB, repos), objects),
		pulls:      from.Pulls,
		reviews:    from.Reviews,
		searches:   search.NewAPI(made.Searches),
		feeds:      activity.NewAPI(o.DB, issues),
		toIssues:   reaction.NewAPI(o.DB, from.Issues.Subject),
		toComments: reaction.NewAPI(o.DB, from.Issues.CommentSubject),
		toReviews:  reaction.NewAPI(o.DB, from.Reviews.Subject),
		stars:      star.NewAPI(star.New(o.DB, repos)),
		plants:     plant.NewAPI(o.DB),
		pages:      s.pages,
	})
	s.table = newTable(s.routes, s.metrics)
	s.reserved = map[string]bool{}
	for _, login := range account.ReservedLogins() {
		s.reserved[login] = true
	}
	s.docs = newDocs()
	return s
}

// Services are the features that change together: repositories, with all that
// follows their changes.
type Services struct {
	Repos   *repo.Service
	Issues  *issue.Service
	Closing *closing.Service
	Pulls   *pull.Service

	Searches *search.Service
}

// NewServices makes them: for the server, and for the commands that work beside
// it. Repositories know nothing of pull requests, which know repositories: so
// they are told of each other here.
func NewServices(d *db.DB, g *git.Git, log *slog.Logger, dataDir string) *Services {
	s := &Services{}
	s.Repos = repo.New(d, g, log, RepositoriesDir(dataDir), repo.Observers{
		Created: []repo.Created{label.AddDefaults, activity.NoteCreated},
		Turning: []repo.Told{func(tx *db.Tx, r *repo.Repo, by int64) error {
			return s.Pulls.FollowTurning(tx, r, by)
		}},
		Turned: []repo.Told{star.Turned, activity.NoteTurned},
		Joined: []repo.Joined{activity.NoteJoined},
		Lost: []repo.Told{func(tx *db.Tx, r *repo.Repo, by int64) error {
			return s.Pulls.FollowLost(tx, r, by)
		}},
		Gone: []repo.Told{func(tx *db.Tx, r *repo.Repo, by int64) error {
			return s.Pulls.FollowGone(tx, r, by)
		}},
		Prepare: []repo.Preparer{func(ctx context.Context, repos *repo.Service, id int64, moved []repo.RefUpdate) error {
			return s.Pulls.Prepare(ctx, repos, id, moved)
		}},
		Moved: []repo.Observer{closing.Note, activity.NoteRefs, func(tx *db.Tx, id int64, moved []repo.RefUpdate) error {
			return s.Pulls.FollowRefs(tx, id, moved)
		}},
		Lent: func(tx *db.Tx, a *repo.Access, hold bool) (map[string]bool, error) { return s.Pulls.Lent(tx, a, hold) },
	})
	s.Issues = issue.New(d, s.Repos, log, issue.Hooks{
		Changed: []issue.Observer{pull.FollowIssue, func(c *issue.Change, _ *issue.Issue) error {
			c.Tx.OnCommit(s.Searches.Changed)
			return nil
		}},
		Reopen: func(ctx context.Context, a *repo.Access, i *issue.Issue) (func(*issue.Change) error, error) {
			return s.Pulls.Reopen(ctx, a, i)
		},
		Reviews: review.Texts,
	})
	s.Closing = closing.New(d, s.Repos, s.Issues, log)
	s.Pulls = pull.New(d, s.Repos, s.Issues, log)
	s.Searches = search.New(d, s.Issues, log)
	return s
}

// RepositoriesDir is where the repositories' directories are in a data folder.
func RepositoriesDir(dataDir string) string { return filepath.Join(dataDir, "repositories") }

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
// it reads pushed commits, makes test merges and indexes texts. Nothing else may
// happen meanwhile.
func (s *Server) Settle(ctx context.Context) error {
	if err := s.made.Closing.Settle(ctx); err != nil {
		return err
	}
	if err := s.made.Pulls.Settle(ctx); err != nil {
		return err
	}
	return s.made.Searches.Index(ctx)
}

// Services are the features that change together, for code of this process that
// works beside the requests.
func (s *Server) Services() *Services { return s.made }

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

// Routes is the table, for tests and documentation.
func (s *Server) Routes() []Route { return s.routes }
