// Package checkrun has the checks that Apps make of commits: runs, and the suite of runs that an App has for
// a commit.
//
//	checkrun.go   runs, suites, annotations, their bounds
//	state.go      statuses and conclusions, and what runs come to
//	write.go      runs are made and changed
//	suite.go      suites are made, asked for again, and made by pushes
//	read.go       what bodies of requests say
//	store.go      the SQL of runs and annotations
//	storesuite.go the SQL of suites, and what they come to
//	api.go        the handlers of runs, apisuite.go of suites
//	payload.go    their JSON
//	view.go       a run with its App, brief.go lists of runs, notes.go annotations: for pages
//	loadmany.go   those of many commits and suites
//	hook.go       events and payloads of webhooks
//
// Tables: check_suites, check_runs, check_annotations, check_preferences; check_totals bounds what a
// repository has.
//
// An App writes with an installation token that has the permission "checks", and changes nothing of other
// Apps. A run belongs to the suite of its App and commit, which its first run makes, a push, or a request. Of
// the runs of a suite with one name the newest is the latest, and the latest ones alone decide what the suite
// comes to. A suite counts them, so what all checks of a commit come to is a row for each App. Package pull
// asks [Combined] for heads.
package checkrun

import (
	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Names in validation errors (decision 15).
const (
	Resource      = "CheckRun"
	SuiteResource = "CheckSuite"
)

// Bounds. Lengths are in code points; those of summaries, texts, annotations and actions are GitHub's.
const (
	maxName        = 255
	maxExternalID  = 255
	maxURL         = 2048
	maxTitle       = 255
	maxText        = 65535
	maxPath        = 4096
	maxLine        = 1 << 31
	maxActions     = 3
	maxLabel       = 20 // of an action, and its identifier
	maxExplanation = 40 // of an action
	maxImages      = 50
	maxPart        = 50 // annotations of one request

	maxBody = 8 << 20 // bytes of a request: fifty of the largest annotations

	maxAnnotations = 10_000    // of a run
	maxNames       = 1000      // of runs in a suite
	maxOfName      = 1000      // runs of one name in a suite; the oldest go
	maxSuiteBytes  = 64 << 20  // of a suite
	maxRepoBytes   = 256 << 20 // of a repository; its oldest suites go
	rowBytes       = 1 << 10   // what a run or a suite counts beside its texts
	noteBytes      = 100       // what an annotation counts beside its texts
	maxPulls       = 10        // pull requests that a run or a suite shows
	maxBranches    = 100       // of one push; of more at once none gets suites
)

// Run is a row of the table check_runs: one check of a commit.
type Run struct {
	ID          int64
	SuiteID     int64
	RepoID      repo.ID
	AppID       account.AppID
	SHA         git.SHA
	Name        string
	Latest      bool // of the runs of its suite with this name
	Status      Status
	Conclusion  Conclusion
	ExternalID  string
	DetailsURL  *string // nil: the App's homepage
	StartedAt   db.Time
	CompletedAt db.Time // zero: it is not
	Title       *string
	Summary     *string
	Text        *string
	Images      *string // JSON
	Actions     *string // JSON
	Annotations int64   // how many
	Bytes       int64
	CreatedAt   db.Time
	UpdatedAt   db.Time
}

// size is what the run counts in bytes without its annotations.
func (r *Run) size() int64 {
	n := rowBytes + len(r.Name) + len(r.ExternalID)
	for _, s := range []*string{r.DetailsURL, r.Title, r.Summary, r.Text, r.Images, r.Actions} {
		if s != nil {
			n += len(*s)
		}
	}
	return int64(n)
}

// Annotation is what a run says of some lines.
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

// size is what the annotation counts in bytes.
func (a *Annotation) size() int64 {
	n := noteBytes + len(a.Path) + len(a.Message)
	for _, s := range []*string{a.Title, a.RawDetails} {
		if s != nil {
			n += len(*s)
		}
	}
	return int64(n)
}

// Suite is a row of the table check_suites: the runs of an App for a commit.
type Suite struct {
	ID         int64
	RepoID     repo.ID
	AppID      account.AppID
	SHA        git.SHA
	Branch     *string // without refs/heads/
	Before     *string // of the push that made it
	Status     Status
	Conclusion Conclusion
	Runs       int64 // the latest of each name
	Bytes      int64
	CreatedAt  db.Time
	UpdatedAt  db.Time

	counted int64 // of Bytes, in check_totals
}

// Service holds what the operations on checks share.
type Service struct {
	db    *db.DB
	repos *repo.Service
	apps  *app.Service
}

// New makes the service.
func New(d *db.DB, repos *repo.Service, apps *app.Service) *Service { return &Service{d, repos, apps} }

// mayWrite returns the 403 for who is no App.
func mayWrite(a *repo.Access) error {
	if a.Caller == nil || a.Caller.App == 0 {
		return errs.New(errs.Forbidden, "You must authenticate via a GitHub App.")
	}
	return nil
}

// mayChange returns the 403 for who is not the App whose run or suite it is.
func mayChange(a *repo.Access, appID account.AppID) error {
	if err := mayWrite(a); err != nil || a.Caller.App == appID {
		return err
	}
	return errs.New(errs.Forbidden, "Invalid app_id `"+appID.String()+
		"` - check run can only be modified by the GitHub App that created it.")
}
