// Package fsck looks for inconsistencies in a store, with a server running
// on it or not, and repairs what can be derived from other data.
//
//	fsck.go       what was found, and the order of the parts
//	engine.go     the database's own integrity checks
//	counters.go   numbers and copies in SQL against what they count and copy
//	postings.go   the index of issues against the issues
//	refs.go       refs and pull requests against the objects of their repositories
//	folders.go    folders that no repository has, and the space that is left
//	files.go      files other than objects, against their rows
//	factors.go    second factors of accounts
//	mails.go      mails that wait, and links in them
//	signup.go     how accounts begin, and what waits for it
//	mirrors.go    mirrors against repositories and the key of their passwords
//	queues.go     merge queues against pull requests and the branches of merge groups
//
// Each statement reads one moment of the database. Folders change in parallel: a finding
// there is looked at again, and reported only if the database still contradicts the folder.
//
// Repair covers what follows from other rows (counters, copies of a column, the index), and what
// a repository's folder holds besides objects. Objects are never touched, of refs only branches of merge
// groups that no group has, and no folder is removed.
package fsck

import (
	"context"
	"fmt"
	"log/slog"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/mirror"
	"arbor/internal/packs"
	"arbor/internal/repo"
	"arbor/internal/repo/maintenance"
)

// Options say what to look through.
type Options struct {
	DB     *db.DB
	Git    *git.Git
	Folder string       // of the store: it holds the folder repositories
	Log    *slog.Logger // of what else goes wrong
	Full   bool         // read every object whole and compare it with its name (git fsck)
	Repair bool         // repair what can be derived
	Part   string       // only this part, such as Files; empty: all
	// Progress is called when a part begins, and within it with the amount done. It may be nil.
	Progress func(part string, done, all int64)
}

// Files is the part of files that are no Git objects.
const Files = "files"

// Finding is one thing that does not hold.
type Finding struct {
	// database, counters, issues, queues, factors, mails, mirrors, sign-up, repositories, folders, files or space
	Part       string `json:"part"`
	Repository string `json:"repository,omitempty"` // OWNER/NAME, where it is of one
	Problem    string `json:"problem"`
	Repairable bool   `json:"repairable"` // --repair mends it
	Repaired   bool   `json:"repaired"`
	Warning    bool   `json:"warning"` // nothing is wrong yet
}

// Report is what a check found.
type Report struct {
	Findings     []Finding `json:"findings"`
	Repositories int64     `json:"repositories"` // that were looked at
	Refs         int64     `json:"refs"`
	Issues       int64     `json:"issues"` // pull requests among them
	Files        int64     `json:"files"`  // other than Git objects
	Packs        int64     `json:"packs"`  // of repositories that do not lie in the data folder
	Left         int64     `json:"left"`   // findings beyond those that are listed
}

// Sound reports whether everything holds, or does again.
func (r *Report) Sound() bool {
	if r.Left > 0 {
		return false
	}
	for _, f := range r.Findings {
		if !f.Repaired && !f.Warning {
			return false
		}
	}
	return true
}

// maxFindings bounds what a report lists: a broken disk says the same thing often.
const maxFindings = 10_000

// checker does one check.
type checker struct {
	Options
	repos       *repo.Service
	stored      *file.Store
	packs       *packs.Service
	maintenance *maintenance.Service
	mirrors     *mirror.Service
	report      Report
}

// Run looks through the store. An error means that it could not look, not that
// something is wrong.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	f := forge.New(o.DB, o.Git, o.Log, o.Folder)
	c := &checker{Options: o, repos: f.Repos, stored: f.Files, packs: f.Packs, maintenance: f.Maintenance,
		mirrors: f.Mirrors, report: Report{Findings: []Finding{}}}
	parts := []struct {
		name string
		look func(context.Context) error
	}{
		{"database", c.database},
		{"counters", c.counters},
		{"issues", c.postings},
		{"queues", c.queues},
		{"factors", c.factors},
		{"mails", c.mails},
		{"mirrors", c.lookAtMirrors},
		{"sign-up", c.signup},
		{"provisioning", c.provisioning},
		{"repositories", c.repositories},
		{"folders", c.folders},
		{Files, c.files},
		{Files, c.lookAtPacks},
		{"space", c.space},
	}
	for _, p := range parts {
		if o.Part != "" && p.name != o.Part {
			continue
		}
		o.Progress(p.name, 0, 0)
		if err := p.look(ctx); err != nil {
			return nil, fmt.Errorf("check the %s: %w", p.name, err)
		}
	}
	return &c.report, nil
}

func (c *checker) find(f Finding) {
	if len(c.report.Findings) >= maxFindings {
		if !f.Repaired && !f.Warning {
			c.report.Left++
		}
		return
	}
	c.report.Findings = append(c.report.Findings, f)
}

// names returns the OWNER/NAME of repositories by id, for findings.
func (c *checker) names(ctx context.Context, ids []repo.ID) (map[repo.ID]string, error) {
	names := make(map[repo.ID]string, len(ids))
	for len(ids) > 0 {
		part := ids[:min(len(ids), 500)]
		ids = ids[len(part):]
		err := c.DB.Read(ctx, func(tx *db.Tx) error {
			args := make([]any, len(part))
			for i, id := range part {
				args[i] = id
			}
			return db.QueryEach(tx, func(row db.Scanner) error {
				var id repo.ID
				var owner, name string
				if err := row.Scan(&id, &owner, &name); err != nil {
					return err
				}
				names[id] = owner + "/" + name
				return nil
			}, `SELECT r.id, a.login, r.name FROM repos r JOIN accounts a ON a.id = r.owner_id
				WHERE r.id IN `+db.Values(1, len(part)), args...)
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
