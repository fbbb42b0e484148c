package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"arbor/internal/durable"
	"arbor/internal/git/process"
)

// largePack is the size in bytes from which a pack that came in whole is worth
// a commit-graph of its own; smaller ones wait for Pack.
const largePack = 256 << 10

// NeedsGraph reports whether a large pack is newer than the commit-graph: after
// an import or a first push, which leave Pack nothing to combine.
func (r *Repository) NeedsGraph() (bool, error) {
	packs, err := r.packs()
	if err != nil || len(packs) == 0 || packs[len(packs)-1].size < largePack {
		return false, err
	}
	pack, err := os.Stat(r.path("objects", "pack", packs[len(packs)-1].name+".pack"))
	if err != nil {
		return false, nil // it was removed
	}
	graph, err := os.Stat(r.path("objects", "info", "commit-graph"))
	return err != nil || graph.ModTime().Before(pack.ModTime()), nil
}

// graphPause is the time between two writes of one process: each reads the index of every pack.
const graphPause = 10 * time.Minute

// graphIfNeeded is writeCommitGraph, if NeedsGraph or if packs were combined, once in graphPause at most. The caller
// holds packMu.
func (r *Repository) graphIfNeeded(ctx context.Context) error {
	s := r.git.state(r.dir)
	needed, err := r.NeedsGraph()
	if err != nil || !needed && !s.graphOld || time.Since(s.graphAt) < graphPause {
		return err
	}
	s.graphAt = time.Now()
	return r.writeCommitGraph(ctx)
}

// writeCommitGraph allows walks of the history without opening commits, and walks for one path without opening
// the trees of commits that do not touch it. The caller holds packMu. git writes outside the repository, and the
// file is moved in: so a lock that a killed process of git leaves behind stops nobody.
func (r *Repository) writeCommitGraph(ctx context.Context) error {
	q, err := r.newQuarantine(packingPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = q.Discard() }()
	err = r.git.run(ctx, r.git.upkeepCage(), process.Task{
		Command: process.Command{Sub: "commit-graph",
			Flags: []string{"write", "--no-progress", "--changed-paths"}},
		Dir: r.dir, Env: q.env(), Limit: r.git.options.MaintenanceTimeout,
		Nice: true})
	if err != nil {
		return err
	}
	r.git.state(r.dir).graphOld = false
	from, to := filepath.Join(q.dir, "info", "commit-graph"), r.path("objects", "info", "commit-graph")
	if err := durable.Sync(from); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // no commits
		}
		return err
	}
	return errors.Join(os.Rename(from, to), durable.Sync(filepath.Dir(to)))
}
