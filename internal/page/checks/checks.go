// Package checks is the pages of what builds and Apps say of commits.
//
//   - /{owner}/{repo}/runs/{check_run_id}: run.go, one check run with its annotations
//   - /{owner}/{repo}/deployments: deployment.go, the environments and what was deployed to them
//   - /{owner}/{repo}/commit/{sha}/checks: commit.go, all check runs and statuses of a commit
package checks

import (
	"embed"
	"strconv"
	"time"

	"arbor/internal/checkrun"
	"arbor/internal/deployment"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/status"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Services are the features whose operations the pages call.
type Services struct {
	Git      *gitdata.Service
	Checks   *checkrun.Service
	Statuses *status.Service

	Deployments *deployment.Service
}

// Pages answers the pages of this room.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
	of  Services
}

// New returns the pages.
func New(kit *page.Kit, of Services) *Pages { return &Pages{kit, roomTemplates, of} }

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	return []route.Route{
		p.kit.OnRepo("GET /{owner}/{repo}/runs/{check_run_id}", p.Run),
		p.kit.OnRepo("GET /{owner}/{repo}/commit/{sha}/checks", p.Commit),
		p.kit.OnRepo("GET /{owner}/{repo}/deployments", p.Deployments),
	}
}

// run is what pages show of a check run.
type run struct {
	ID         int64
	Name       string
	SHA        string
	State      string
	Conclusion string
	Path       string // of its page
	Details    string // the App's page with details, if a browser may safely follow it
	ByApp      string // the name of the App; empty: unknown
	Started    time.Time
	Completed  time.Time
	Output     output
}

type output struct {
	Title       string
	Annotations int64
}

func newRun(v *checkrun.View, a *repo.Access) run {
	r := run{ID: v.ID, Name: v.Name, SHA: string(v.SHA), State: v.Status.String(), Conclusion: v.Conclusion.String(),
		Path: pathOf(a, v.ID), Started: page.Moment(v.StartedAt), Completed: page.Moment(v.CompletedAt),
		Output: output{page.TextOf(v.Title), v.Annotations}}
	if v.App != nil {
		r.ByApp, r.Details = v.App.Name, page.WebAddress(v.App.ExternalURL)
	}
	if page.TextOf(v.DetailsURL) != "" {
		r.Details = page.WebAddress(*v.DetailsURL)
	}
	return r
}

func newRuns(list []*checkrun.Brief, a *repo.Access) []run {
	runs := make([]run, len(list))
	for n, b := range list {
		runs[n] = run{ID: b.ID, Name: b.Name, State: b.Status.String(), Conclusion: b.Conclusion.String(),
			Path: pathOf(a, b.ID), ByApp: b.App, Started: page.Moment(b.StartedAt),
			Completed: page.Moment(b.CompletedAt), Output: output{page.TextOf(b.Title), b.Annotations}}
	}
	return runs
}

func pathOf(a *repo.Access, id int64) string {
	return web.Path(a.Owner.Login, a.Name, "runs", strconv.FormatInt(id, 10))
}

// Status is the conclusion, or how far the run is, in words.
func (r *run) Status() string {
	switch {
	case r.Conclusion != "":
		return words(r.Conclusion)
	default:
		return words(r.State)
	}
}

// Mark is what kind of picture stands for it: good, bad, wait or none.
func (r *run) Mark() string {
	if r.Conclusion == "" {
		return "wait"
	}
	return markOf(r.Conclusion)
}

func markOf(state string) string {
	switch state {
	case "success":
		return "good"
	case "failure", "error", "timed_out", "startup_failure", "action_required":
		return "bad"
	case "pending":
		return "wait"
	}
	return "none"
}

func words(state string) string {
	b := []byte(state)
	for n, c := range b {
		if c == '_' {
			b[n] = ' '
		}
	}
	return string(b)
}

// Took is how long the run took; empty: it goes on.
func (r *run) Took() string {
	if r.Started.IsZero() || r.Completed.IsZero() || r.Completed.Before(r.Started) {
		return ""
	}
	return r.Completed.Sub(r.Started).Round(time.Second).String()
}
