// Package checks is the pages of what builds and Apps say of commits.
//
//   - /{owner}/{repo}/runs/{check_run_id}: run.go, one check run with its annotations
//   - /{owner}/{repo}/commit/{sha}/checks: commit.go, all check runs and statuses of a commit
package checks

import (
	"context"
	"embed"
	"time"

	"arbor/internal/checkrun"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Handlers answer what REST has no address for.
type Handlers struct {
	// Extras returns what the API accepts for a check run and does not return: its images, and what the App
	// offers.
	Extras func(ctx context.Context, a *repo.Access, id int64) (*checkrun.Extras, error)

	Annotations web.Handler // GET .../check-runs/{id}/annotations: their beginnings, or all of one
}

// Pages answers the pages of this room.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
	do  Handlers
}

// New returns the pages.
func New(kit *page.Kit, do Handlers) *Pages { return &Pages{kit, roomTemplates, do} }

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	return []route.Route{
		p.kit.OnRepo("GET /{owner}/{repo}/runs/{check_run_id}", p.Run),
		p.kit.OnRepo("GET /{owner}/{repo}/commit/{sha}/checks", p.Commit),
	}
}

// run is what pages read of a check run.
type run struct {
	ID         int64
	Name       string
	SHA        string `json:"head_sha"`
	State      string `json:"status"`
	Conclusion string
	HTMLURL    string    `json:"html_url"`
	DetailsURL string    `json:"details_url"`
	Started    time.Time `json:"started_at"`
	Completed  time.Time `json:"completed_at"`
	Output     struct {
		Title, Summary, Text string
		Annotations          int64 `json:"annotations_count"`
	}
	App *struct {
		Name    string
		HTMLURL string `json:"html_url"`
	}
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

// Path is the address of the run's page.
func (r *run) Path() string { return page.Local(r.HTMLURL) }

// Details is the App's page with details, if it is a page that a browser may safely follow.
func (r *run) Details() string {
	if r.DetailsURL == r.HTMLURL {
		return ""
	}
	return page.WebAddress(r.DetailsURL)
}

// Took is how long the run took; empty: it goes on.
func (r *run) Took() string {
	if r.Started.IsZero() || r.Completed.IsZero() || r.Completed.Before(r.Started) {
		return ""
	}
	return r.Completed.Sub(r.Started).Round(time.Second).String()
}

// ByApp is the name of the App; empty: unknown.
func (r *run) ByApp() string {
	if r.App == nil {
		return ""
	}
	return r.App.Name
}
