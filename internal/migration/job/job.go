// Package job runs imports of repositories that users ask for by the API or on a page: with issues, pull requests and
// all else that package migration brings from another server.
//
//	job.go    imports and their limits
//	edit.go   asking for an import, and cancelling it
//	run.go    the worker
//	work.go   one run: reading the source, and importing what it gave
//	store.go  the SQL
//	api.go, routes.go  the handlers: GitHub's source imports
//
// Table: import_jobs. A row is a job with a lease by the database's clock, so only one node works on it. When the
// job has ended, the row keeps the report. While it is active, the repository is read-only for everybody, so that
// nobody takes the numbers of issues still to be imported. If a run is killed, another worker takes the job over,
// reads the source again, and imports what is missing.
//
// An import runs with the permissions of the user who started it, and fails once this user loses admin access to the
// repository. Each transaction that writes checks this, also those that store the progress of reading. Imported texts count toward the quota of the repository's owner. A user must not attribute texts to
// other users: all people of the source become mannequins of its host, except the owner of the token, whose records
// become those of the person who asked. Only a site administrator may give a map of people; without a map, a site
// administrator is not matched to anybody at the source.
//
// The token is encrypted with the key of mirrors (package mirror), and removed when the import ends. Connections go to
// addresses that outgoing.Networks allows, as those of mirrors do.
//
// What becomes of imports:
//
//	turned private or public      they go on
//	renamed, transferred          they go on while the one who asked is an administrator of the repository
//	membership lost, suspended    they end; what has come stays
//	account deleted               the same
//	archived                      they go on
//	deleted                       they end
//	quota or disk full            they end; asked for again, they go on
//	asked for by a former site administrator: they end if they have a map of people
//	restored without the key      they end, and need the token again
package job

import (
	"log/slog"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/migration"
	"arbor/internal/repo"
)

// Resource is the name of imports in validation errors.
const Resource = "Import"

// Limits.
const (
	maxURL     = 1000
	maxToken   = 1000
	maxPeople  = 10_000         // of a map
	maxMap     = 1 << 20        // bytes of it
	maxWaiting = 10             // imports that one person asks for at one time
	maxProblem = 500            // bytes
	mostPeople = 20_000         // whom one import makes mannequins
	maxAnswer  = 32 << 20       // bytes of an answer of the source
	maxAnswers = 2 << 30        // of all of them
	maxRefs    = 100_000        // as of a push
	maxLines   = 300            // of each list of a report that is kept
	maxTries   = 10             // of a run that is killed
	maxTime    = 24 * time.Hour // of a run
	leased     = time.Minute    // at one time
	pollTime   = 5 * time.Second
	tellEvery  = 2 * time.Second // between two notes of how far it is
)

// Limits of imports that run at the same time on a node; each person runs one at a time. An import that has run for
// longer than fresh, for example because its source is slow or limits requests, does not count toward slots.
const (
	slots    = 2
	mostRuns = 8
	fresh    = time.Hour
)

// Topic is the bell that rings when an import is due.
const Topic = "import_jobs"

// Job is a row of the table import_jobs.
type Job struct {
	RepoID  repo.ID
	URL     string     // of the source
	AskedBy account.ID // 0: a deleted account
	By      string     // the login; empty: a deleted account
	AskedAt db.Time
	Active  bool // it waits or runs
	Running bool
	Part    string // what it is doing, such as issues
	Done    int64
	All     int64   // 0: unknown
	EndedAt db.Time // zero: it is active
	Problem string  // why it ended early; empty: it did not
	Report  *migration.Report

	secret, people string
	version, tries int64
}

// Percent is how much has come; 0: unknown.
func (j *Job) Percent() int64 {
	switch {
	case !j.Active && j.Problem == "":
		return 100
	case j.All == 0:
		return 0
	}
	return min(100*j.Done/j.All, 99)
}

// Service implements the operations on imports, and runs them.
type Service struct {
	db         *db.DB
	git        *git.Git
	forge      *forge.Forge
	migrations *migration.Service
	log        *slog.Logger
	turns      turns
}

// New returns a Service.
func New(d *db.DB, g *git.Git, f *forge.Forge, log *slog.Logger) *Service {
	return &Service{db: d, git: g, forge: f, migrations: migration.New(d, f, log), log: log,
		turns: turns{running: map[repo.ID]turn{}}}
}

// Off reports that the server has neither imports nor mirrors.
func (s *Service) Off() bool { return s.forge.Mirrors.Off }
