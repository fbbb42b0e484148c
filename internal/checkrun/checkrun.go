// Package checkrun implements check runs and check suites. An App reports the result of a check on a commit
// as a run; the runs of one App for one commit form a suite.
//
//	checkrun.go   runs, suites, annotations, and their limits
//	state.go      statuses, conclusions, and the totals of runs
//	write.go      creating and updating runs
//	suite.go      creating suites, also for pushes, and rerequesting them
//	read.go       request bodies
//	store.go      the SQL of runs and annotations
//	storesuite.go the SQL of suites and of totals
//	api.go        the handlers of runs, apisuite.go of suites
//	payload.go    their JSON
//	view.go       a run with its App, brief.go lists of runs, notes.go annotations: for pages
//	loadmany.go   those of many commits and suites
//	hook.go       events and payloads of webhooks
//
// Tables: check_suites, check_runs, check_annotations, check_preferences; check_totals limits the size of a
// repository's checks.
//
// An App writes with an installation token that has the permission "checks". It can only change its own
// runs and suites. A suite is created by the App's first run for the commit, by a push or by a request.
// Among the runs of a suite with the same name only the latest counts for the suite's state. Each suite row
// stores the totals of its latest runs, so the state of a commit is read from one row per App. Package pull
// uses [Combined] for pull request heads.
package checkrun

import (
	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Resource names in validation errors (decision 15).
const (
	Resource      = "CheckRun"
	SuiteResource = "CheckSuite"
)

// Limits. Lengths are in code points. Those of summaries, texts, annotations and actions are GitHub's.
const (
	maxName        = 255
	maxExternalID  = 255
	maxURL         = 2048
	maxTitle       = 255
	maxText        = 65535
	maxPath        = 4096
	maxLine        = 1 << 31
	maxActions     = 3
	maxLabel       = 20 // of an action's label and identifier
	maxExplanation = 40 // of an action's description
	maxImages      = 50
	maxPart        = 50 // annotations in one request

	maxBody = 8 << 20 // bytes of a request, enough for fifty of the largest annotations

	maxAnnotations = 10_000    // per run
	maxNames       = 1000      // distinct run names in a suite
	maxOfName      = 1000      // runs of one name in a suite; the oldest are deleted
	maxSuiteBytes  = 64 << 20  // per suite
	maxRepoBytes   = 256 << 20 // per repository; the oldest suites are deleted
	rowBytes       = 1 << 10   // size of a run or suite without its texts
	noteBytes      = 100       // size of an annotation without its texts
	maxPulls       = 10        // pull requests shown with a run or suite
	maxBranches    = 100       // in one push; a push of more branches creates no suites
)

// Run is a row of table check_runs: one check of a commit.
type Run struct {
	ID          int64
	SuiteID     int64
	RepoID      repo.ID
	AppID       account.AppID
	SHA         git.SHA
	Name        string
	Latest      bool // the newest run of this name in its suite
	Status      Status
	Conclusion  Conclusion
	ExternalID  string
	DetailsURL  *string // nil means the App's homepage
	StartedAt   db.Time
	CompletedAt db.Time // zero until the run is completed
	Title       *string
	Summary     *string
	Text        *string
	Images      *string // JSON
	Actions     *string // JSON
	Annotations int64   // number of annotations
	Bytes       int64
	CreatedAt   db.Time
	UpdatedAt   db.Time
}

// size returns the size of the run in bytes, without its annotations.
func (r *Run) size() int64 {
	n := rowBytes + len(r.Name) + len(r.ExternalID)
	for _, s := range []*string{r.DetailsURL, r.Title, r.Summary, r.Text, r.Images, r.Actions} {
		if s != nil {
			n += len(*s)
		}
	}
	return int64(n)
}

// Annotation is a comment of a run on some lines of a file.
type Annotation struct {
	Path        string
	StartLine   int64
	EndLine     int64
	StartColumn *int64
	EndColumn   *int64
	Level       Level
	Title       *string
	Message     string
	RawDetails  *string
}

// size returns the size of the annotation in bytes.
func (a *Annotation) size() int64 {
	n := noteBytes + len(a.Path) + len(a.Message)
	for _, s := range []*string{a.Title, a.RawDetails} {
		if s != nil {
			n += len(*s)
		}
	}
	return int64(n)
}

// Suite is a row of table check_suites: the runs of one App for one commit.
type Suite struct {
	ID         int64
	RepoID     repo.ID
	AppID      account.AppID
	SHA        git.SHA
	Branch     *string // without refs/heads/
	Before     *string // old commit of the push that created the suite
	Status     Status
	Conclusion Conclusion
	Runs       int64 // number of latest runs
	Bytes      int64
	CreatedAt  db.Time
	UpdatedAt  db.Time

	counted int64 // the part of Bytes that check_totals includes
}

// Service implements the operations on checks.
type Service struct {
	db    *db.DB
	repos *repo.Service
	apps  *app.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, apps *app.Service) *Service { return &Service{d, repos, apps} }

// mayWrite returns 403 if the caller is not an App.
func mayWrite(a *repo.Access) error {
	if a.Caller == nil || a.Caller.App == 0 {
		return errs.New(errs.Forbidden, "You must authenticate via a GitHub App.")
	}
	return nil
}

// mayChange returns 403 if the caller is not the App that owns the run or suite.
func mayChange(a *repo.Access, appID account.AppID) error {
	if err := mayWrite(a); err != nil || a.Caller.App == appID {
		return err
	}
	return errs.New(errs.Forbidden, "Invalid app_id `"+appID.String()+
		"` - check run can only be modified by the GitHub App that created it.")
}
