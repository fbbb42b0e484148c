package site

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/doctor"
	"arbor/internal/git"
)

// queue is one kind of jobs.
type queue struct {
	Name, What string
	db.Backlog
	Most bool          // there are more than are counted
	Due  time.Duration // for how long the oldest has been due
}

// Late says for how long the oldest job has been due.
func (q *queue) Late() string { return q.Due.Round(time.Second).String() }

// queues tell what the kinds of jobs do.
var queues = map[string]string{
	"test_merge":     "Finding out whether pull requests can be merged",
	"pushed_commits": "Reading what messages of pushed commits close",
	"packing":        "Packing repositories",
	"detection":      "Finding languages and licenses",
	"statistics":     "Counting commits",
	"hook_delivery":  "Deliveries to webhooks",
	"notification":   "Telling people what happened",
}

type jobsView struct {
	view
	Queues []queue
}

// GET /site/jobs
//
// ShowJobs shows how many jobs are left, and for how long.
func (p *Pages) ShowJobs(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "jobs", "Jobs")
	if err != nil {
		return err
	}
	found, now, err := p.Jobs(r.Context())
	if err != nil {
		return err
	}
	v := &jobsView{view: f}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		q := queue{Name: name, What: queues[name], Backlog: found[name],
			Most: found[name].Pending >= db.MostCounted}
		if q.Oldest != 0 {
			q.Due = max(0, now.Time().Sub(q.Oldest.Time()))
		}
		v.Queues = append(v.Queues, q)
	}
	return p.t.Page(w, r, "jobs.html", v)
}

type healthView struct {
	view
	Report *doctor.Report
	Nodes  []db.NodeInfo
}

// GET /site/health
//
// Health shows what the operator's doctor finds, and the nodes that serve the database.
func (p *Pages) Health(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "health", "Health")
	if err != nil {
		return err
	}
	v := &healthView{view: f}
	v.Report = doctor.Run(r.Context(), doctor.Options{Version: p.Version, Folder: p.DataDir,
		Memory: admission.MachineMemory(),
		Open: func(context.Context) (*db.DB, *git.Git, func() error, error) {
			return p.DB, p.Git, func() error { return nil }, nil
		},
		Cause: func(check string, err error) {
			p.Log.WarnContext(r.Context(), "a check of the server's health failed", "check", check,
				"error", err)
		}})
	err = p.DB.Read(r.Context(), func(tx *db.Tx) error {
		v.Nodes, err = db.Nodes(tx)
		return err
	})
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "health.html", v)
}
