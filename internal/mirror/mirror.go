// Package mirror keeps repositories in step with repositories on other servers: a pull mirror is copied from one, a
// push mirror to one.
//
//	mirror.go   mirrors and their limits
//	address.go  which addresses they may have
//	secret.go   passwords, encrypted with a key in the data folder
//	edit.go     setting them up, changing, removing, and asking for a run
//	hook.go     webhooks of a source that ask for a run, signed with a secret
//	stopped.go  mails about a mirror that was stopped
//	run.go      the worker: which mirrors are due, and the outcome of a run
//	pull.go     a run of a pull mirror; push.go: of a push mirror
//	objects.go  objects of Git LFS
//	ssh.go      signing in by SSH; hostkey.go: which key the other server has
//	store.go, storeobjects.go, storessh.go  the SQL
//	api.go, routes.go  the handlers
//
// Tables: mirrors, mirror_secrets, mirror_imports, mirror_objects, mirror_searches, mirror_ssh. A row of mirrors is
// the job as well, leased by the database's time, so one of all nodes works on it.
//
// A run lists the branches, tags and notes of the other server once, with git ls-remote. If they are the same here,
// the run ends. A pull mirror fetches what is missing into a quarantine, with all checks of a push, and moves the
// refs with repo.Service.MoveRefs and everything that follows a push. The person who set the mirror up counts as
// the pusher. Refs that the source no longer has are deleted, unless it has no branches at all. All other updates
// of these refs are refused, in the same places as updates of archived repositories. A push mirror is due after
// each push (NotePush is a step of forge.Push); it deletes refs at the target that the repository no longer has.
// Issues and pull requests are not copied.
//
// Git LFS objects that new commits refer to are noted in mirror_objects and copied before the refs. So clients that
// see a ref can download its objects, and a target that requires the objects accepts the refs. If objects cannot be
// copied for any reason, the refs are copied anyway, Problem says what is missing, and each later run tries again.
// Missing objects never stop a mirror. An import (Once) succeeds without objects only if its source does not have
// them.
//
// git connects to addresses that outgoing.Networks allows, and follows no redirect (git.Remote). By SSH this process
// connects, to such addresses alone, and git talks through it. It signs in with a key pair that it made for the mirror;
// the first host key that it sees is remembered, and any other one stops the mirror until an administrator accepts it.
//
// When a mirror stops, the administrators get a mail, but no entry in the inbox: inbox threads are about issues,
// commits and releases, and everybody who sees the repository may see them.
//
// What becomes of mirrors:
//
//	turned private                a pull mirror goes on. A push mirror stops, since its target may be public: an
//	                              administrator sets it up again
//	turned public                 both go on; everybody reads the address of the source
//	renamed                       both go on
//	transferred                   both go on while the one who set it up is an administrator of the repository
//	membership lost, suspended    the mirrors that the person set up stop, and so for a person who is no longer
//	                              an administrator; another administrator sets them up again
//	account deleted               the same
//	archived                      nothing is copied until it is no longer archived
//	deleted                       nothing is copied; they go on if the repository is restored
//	quota full                    the run fails, and is tried again later; without room for an object of Git LFS alone,
//	                              the refs go on
//	source renamed                it redirects, so the run fails and says so
//	source turns empty            the run fails; nothing is deleted
//	default branch gone at source it stays here, unless the default branch follows that of the source
//	restored without the key      runs fail until the password is entered again, or a mirror by SSH is set up again, and webhooks are refused
//	host key of the other changed  the mirror stops until an administrator accepts the new one
//	set up with another address   the key pair and the known host key are replaced, and the secret of the webhook ends, since it belongs to the former source
package mirror

import (
	"log/slog"
	"path/filepath"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/hook/outgoing"
	"arbor/internal/lfs"
	"arbor/internal/repo"
)

// Resource is the name of mirrors in validation errors.
const Resource = "Mirror"

// Limits.
const (
	DefaultEvery       = time.Hour        // between two looks at a source
	DefaultMinInterval = 10 * time.Minute // default of Service.MinInterval
	maxEvery           = 30 * 24 * time.Hour
	maxPushed          = 10 // push mirrors of a repository
	maxURL             = 1000
	maxUsername        = 200
	maxPassword        = 1000
	maxRefs            = 100_000 // as of a push
	maxProblem         = 500     // bytes
)

// Folder is the folder of the key in the data folder. It is in no backup.
const Folder = "mirrors"

// Mirror is a row of the table mirrors.
type Mirror struct {
	ID         int64
	RepoID     repo.ID
	Push       bool // it is copied to the address; else from it
	URL        string
	Username   string
	Every      time.Duration // 0 for push mirrors
	FollowHead bool          // the default branch is that of the source
	Once       bool          // it ends with its first success: an import
	HasSecret  bool          // a webhook of the source can ask for runs
	Active     bool          // false: it was stopped, for the reason Problem
	CreatedBy  account.ID    // who set it up last; 0: the operator, or a deleted account
	CreatedAt  db.Time
	DueAt      db.Time
	EndedAt    db.Time // of the last run; zero: there was none
	Succeeded  db.Time // the last run that succeeded
	Failures   int64   // since then
	Problem    string  // why the last run failed, for administrators; empty: it did not
	SSH        *SSH    // nil: the address is by HTTPS or HTTP

	secret       string // the encrypted password
	wasPrivate   bool
	byOperator   bool
	version      int64
	wanted       int64
	failingSince db.Time
	searched     bool // all its commits were searched for objects of Git LFS
	lacks        bool // some of these have to be copied
}

// Service implements the operations on mirrors, and runs them.
type Service struct {
	// Set before the service is used:
	Networks    outgoing.Networks // internal networks that mirrors may reach
	Off         bool              // no mirror can be set up, and none runs
	MinInterval time.Duration     // the shortest Every
	AskEvery    time.Duration     // minimum time between the last run and a run that somebody asks for

	db    *db.DB
	git   *git.Git
	repos *repo.Service
	lfs   *lfs.Service
	log   *slog.Logger
	keys  string // the folder of the key
	turns turns
}

// New returns a Service of the store in a data folder.
func New(
	d *db.DB, g *git.Git, repos *repo.Service, objects *lfs.Service, log *slog.Logger, dataDir string,
) *Service {
	return &Service{db: d, git: g, repos: repos, lfs: objects, log: log, keys: filepath.Join(dataDir, Folder),
		MinInterval: DefaultMinInterval, AskEvery: 30 * time.Second,
		turns: turns{running: map[int64]bool{}, owners: map[account.ID]int{}}}
}
