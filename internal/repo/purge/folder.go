package purge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Rounds in which a purge takes over what was written to a repository since the last one. In the
// last ones no ref moves.
const (
	maxRounds  = 6
	freeRounds = 3
)

// longestUse is how long the end of those is waited for who use the old folder: longer
// than a transfer or maintenance may take.
const longestUse = 3 * time.Hour

// apply does what was planned for one repository.
func (p *purge) apply(ctx context.Context, plan *repoPlan, done *Purged) error {
	plan.folder = max(p.folder, plan.world.purges+1)
	purges := plan.world.purges
	if len(plan.gone) > 0 {
		if err := p.move(ctx, plan, done); err != nil {
			return err
		}
		purges = plan.folder
		if plan.object.Type != "" { // first of all that is looked for in forks
			p.gone = append(p.gone, plan.object.SHA.ID())
		}
		p.gone = append(p.gone, plan.gone[:min(len(plan.gone), maxLooked)]...)
	}
	objects, release, err := p.s.repos.Open(ctx, plan.repo.ID, purges)
	if err != nil {
		return err
	}
	defer release()
	if err := p.s.forgetObjects(ctx, plan.repo.ID, objects, done); err != nil {
		return err
	}
	return p.clear(ctx, plan, done)
}

// move creates the new folder, and runs the transaction that makes it the repository's. What is
// written to the old one during a round is taken over in the next.
func (p *purge) move(ctx context.Context, plan *repoPlan, done *Purged) error {
	from, release, err := p.s.repos.Open(ctx, plan.repo.ID, plan.world.purges)
	if err != nil {
		return err
	}
	defer release()
	into := repo.Folder{ID: plan.repo.ID, Purges: plan.folder}
	kept := int64(0)
	if from.IsKept() {
		kept = 1
	}
	to, releaseNew, err := p.s.repos.OpenNew(ctx, into, kept)
	if err != nil {
		return err
	}
	defer releaseNew()
	drop := func() error { return p.dropNew(ctx, into, kept > 0) }
	var have []git.SHA
	taken := map[git.ID]bool{}
	for round := range maxRounds {
		if round >= freeRounds {
			if err := p.pause(ctx, plan, pauseTime); err != nil {
				return err
			}
			defer p.pause(context.WithoutCancel(ctx), plan, 0)
			if err := p.planAgain(ctx, plan, from); err != nil {
				return errors.Join(err, drop())
			}
		}
		lost := slices.ContainsFunc(have, func(tip git.SHA) bool {
			_, stays := slices.BinarySearch(plan.tips, tip)
			return !stays
		})
		if have == nil || lost {
			// The first round, or a ref let go of something that the folder now has.
			if err := drop(); err != nil {
				return err
			}
			have, taken = []git.SHA{}, map[git.ID]bool{}
		}
		list := slices.DeleteFunc(slices.Clone(plan.stay), func(id git.ID) bool { return taken[id] })
		if err := to.TakeOver(ctx, from, plan.tips, have, list); err != nil {
			return err
		}
		have = plan.tips
		for _, id := range list {
			taken[id] = true
		}
		moved, err := p.swap(ctx, plan)
		if err != nil {
			return err
		}
		if moved {
			done.Objects, done.Bytes = int64(len(plan.gone)), from.PackedBytes()-to.PackedBytes()
			done.Merges = int64(len(plan.stale))
			p.s.repos.Wrote(plan.repo.ID)
			return nil
		}
		if err := p.planAgain(ctx, plan, from); err != nil {
			return errors.Join(err, drop())
		}
	}
	return errors.Join(drop(), errs.New(errs.Conflict,
		"the repository is written to all the time: archive it, and try again"))
}

// dropNew removes what a round wrote to the new folder.
func (p *purge) dropNew(ctx context.Context, f repo.Folder, kept bool) error {
	err := os.RemoveAll(p.s.repos.Path(f.ID, f.Purges))
	if err == nil && kept {
		err = p.s.repos.Packs.Forget(ctx, f, true)
	}
	return err
}

func (p *purge) pause(ctx context.Context, plan *repoPlan, length time.Duration) error {
	return p.s.db.Write(ctx, func(tx *db.Tx) error { return pause(tx, plan.repo.ID, length) })
}

// planAgain plans for the present state.
func (p *purge) planAgain(ctx context.Context, plan *repoPlan, from *git.Repository) (err error) {
	if plan.world, err = p.s.purgeWorld(ctx, plan.repo.ID); err != nil {
		return err
	}
	if _, err := from.Refresh(ctx); err != nil {
		return err
	}
	if err := p.divide(ctx, plan, from); err != nil {
		return err
	}
	if len(plan.reasons) > 0 {
		return &Refused{plan.reasons}
	}
	return nil
}

// swap replaces the repository's folder with the new one, unless something has changed since it was
// planned. From then on nobody begins anything in the old one.
func (p *purge) swap(ctx context.Context, plan *repoPlan) (moved bool, err error) {
	err = p.s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if moved, err = swapFolder(tx, plan, p.folder, p.Object != ""); err != nil || !moved {
			return err
		}
		if runs, err := repo.BackupRuns(tx); err != nil || runs {
			return errors.Join(err, errBackup)
		}
		if err := dropTestMerges(tx, plan.repo.ID, plan.stale); err != nil {
			return err
		}
		changes := map[string]any{"objects": "unreachable"}
		if p.Object != "" {
			changes["objects"] = p.Object
		}
		return audit.Record(tx, plan.repo.Audited(audit.RepoPurge, changes))
	})
	return moved && err == nil, err
}

// clear removes all folders of a repository but the one that it has.
func (p *purge) clear(ctx context.Context, plan *repoPlan, done *Purged) error {
	id := plan.repo.ID
	names, err := p.s.leftovers(ctx, id, plan.folder)
	if err != nil || len(names) == 0 && p.s.repos.Packs == nil {
		return err
	}
	// A backup that began just before may have a snapshot that names the old folder.
	for told := false; ; told = true {
		err := p.s.noBackup(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errBackup) {
			return err
		}
		if !told {
			p.Tell("a backup runs that needs the old folder: waiting for its end. It will hold what is purged.")
		}
		if err := git.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	if err := p.s.git.AwaitReads(ctx); err != nil {
		return err
	}
	if p.s.repos.Packs != nil {
		if err := p.s.repos.Packs.Purge(ctx, id); err != nil {
			return err
		}
	}
	for _, name := range names {
		path := filepath.Join(p.s.repos.Shard(int64(id)&(repo.Shards-1)), name)
		removed, err := p.s.git.RemoveUnused(ctx, path, longestUse, func() {
			p.Tell(fmt.Sprintf("%s is in use by fetches or pushes that began before: waiting for their end",
				path))
		})
		if err != nil {
			return err
		}
		if !removed {
			done.Left = append(done.Left, path)
		}
	}
	return nil
}

// forgetObjects takes out of the database what it holds of objects that are not in the
// folder any more.
func (s *Service) forgetObjects(
	ctx context.Context, id repo.ID, objects *git.Repository, done *Purged,
) error {
	var named []git.SHA
	err := s.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
		named, err = namedObjects(tx, id)
		return err
	})
	if err != nil {
		return err
	}
	missing := map[git.SHA]bool{}
	for part := range slices.Chunk(named, 10_000) {
		var known []git.Object
		if objects.Exists() {
			if known, err = objects.Known(ctx, part); err != nil {
				return err
			}
		}
		for i, sha := range part {
			if known == nil || known[i].Type == "" {
				missing[sha] = true
			}
		}
	}
	return db.InParts(slices.Sorted(maps.Keys(missing)), func(part []git.SHA) error {
		var hunks, statuses int64
		err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
			hunks, statuses, err = forgetNamed(tx, id, part)
			return err
		})
		done.Hunks += hunks
		done.Statuses += statuses
		return err
	})
}
