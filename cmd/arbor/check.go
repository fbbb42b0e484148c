package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"arbor/internal/fsck"
)

type checkCommand struct {
	storeFlags
	Full   bool `help:"Also read every object, as git fsck does. Takes about as long as copying the repositories."`
	Repair bool `help:"Rebuild derived data: counters, copies, indexes. Changes nothing else."`
	JSON   bool `name:"json" help:"Print the report as JSON."`
}

// statusUnsound is the exit status of a check that found something wrong.
const statusUnsound = 3

// Run checks the store, whether a server runs on it or not.
func (c *checkCommand) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		o := fsck.Options{DB: s.db, Git: s.git, Folder: s.dir, Log: log, Full: c.Full, Repair: c.Repair}
		return runCheck(p, o, c.JSON)
	})
}

// runCheck checks a store and prints the report.
func runCheck(p *process, o fsck.Options, asJSON bool) error {
	line := newProgress(p.stderr)
	o.Progress = line.show
	report, err := fsck.Run(p.ctx, o)
	line.end()
	if err != nil {
		return err
	}
	if asJSON {
		out := json.NewEncoder(p.stdout)
		out.SetIndent("", "  ")
		err = out.Encode(report)
	} else {
		err = printReport(p.stdout, report)
	}
	if err == nil && !report.Sound() {
		err = &exitStatus{statusUnsound}
	}
	return err
}

// printReport writes a line for each finding, and what was looked at.
func printReport(w io.Writer, r *fsck.Report) error {
	var problems, repaired, repairable, warnings int64
	for _, f := range r.Findings {
		kind := "PROBLEM"
		switch {
		case f.Warning:
			kind = "warning"
			warnings++
		case f.Repaired:
			kind = "repaired"
			repaired++
		case f.Repairable:
			repairable++
			fallthrough
		default:
			problems++
		}
		where := f.Part
		if f.Repository != "" {
			where += " " + f.Repository
		}
		fmt.Fprintf(w, "%-8s  %s: %s\n", kind, where, f.Problem)
	}
	fmt.Fprintf(w, "looked at %d repositories, %d refs, %d issues and pull requests, %d files\n",
		r.Repositories, r.Refs, r.Issues, r.Files)
	verdict := "everything holds"
	if !r.Sound() {
		verdict = fmt.Sprintf("%d problems; --repair can fix %d", problems+r.Left, repairable)
	}
	if repaired > 0 {
		verdict += fmt.Sprintf(", %d repaired", repaired)
	}
	if warnings > 0 {
		verdict += fmt.Sprintf(", %d warnings", warnings)
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}
