// Package purge removes objects permanently, with or without running servers:
//
//	purge.go   what is asked for, the lease, what else may hold the objects
//	plan.go    what a repository's refs and pull requests lead to, and what goes
//	folder.go  the new folder, the transaction that makes it the repository's, and
//	           the end of the old one
//	store.go   what the database holds of objects
//
// A purge does not delete objects in place. It copies the remaining ones to a new directory, and one
// transaction switches the repository to it. So a purge is atomic, and running readers continue in the old
// directory. Concurrent writers are rejected and retry: each transaction that refers to objects compares
// Repo.Purges, and so does the end of each unsafe request on the repository. Caches of objects become
// invalid, because their keys include the directory's path or Repo.Purges.
//
// The old folder goes when the processes that may run long there have ended (git.
// RemoveUnused), and no backup runs. If a purge is killed, run it again: its row in
// purges records that it is incomplete.
package purge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Service purges repositories.
type Service struct {
	db    *db.DB
	git   *git.Git
	repos *repo.Service
}

// New returns the service.
func New(d *db.DB, g *git.Git, repos *repo.Service) *Service { return &Service{d, g, repos} }

// Options is what an operator wants removed.
type Options struct {
	// the SHA of an object of any type, or the beginning of one; empty: all that no ref leads to
	Object  string
	Network bool // in all repositories of the network
	DryRun  bool // say what would go
	// Tell is called with a line that says what the purge waits for. It may be nil.
	Tell func(line string)
	// Progress is called when a part begins, and within it with the amount done. It may be nil.
	Progress func(part string, done, all int64)
	// Finish is called when all is gone that this package removes, for what the database's
	// files still hold. Until it has succeeded, the purge is not done. nil: nothing is.
	Finish func(context.Context) error
}

// Report is what a purge did.
type Report struct {
	Repos   []Purged
	Forks   []string // repositories of the network, not purged, that hold some of what went
	Deleted bool     // there are deleted repositories that can be restored; they have left their networks
	Backups []Backup
}

// Purged is what went from one repository.
type Purged struct {
	Name     string     // OWNER/NAME
	Object   git.Object // that was named; zero: none, or it was not there
	Objects  int64
	Bytes    int64    // that its packs take less; below 0: they take more
	Hunks    int64    // of comments on lines, which were made empty
	Statuses int64    // of commits that went
	Merges   int64    // test merges, which are recreated on demand
	Left     []string // folders that are still in use
}

// Backup is a backup that was made.
type Backup struct {
	At    db.Time // the moment that it holds
	Place string  // its folder; empty: it was a stream
}

// Refused says what leads to an object that is to be purged.
type Refused struct{ Reasons []string }

func (e *Refused) Error() string { return "refused: " + strings.Join(e.Reasons, "; ") }

// leaseTime is the time after which another purge takes over that of a dead process.
const leaseTime = time.Minute

// jobs are the purges that are running or were interrupted.
var jobs = db.Jobs{Table: "purges", Key: "repo_id"}

// Purge removes objects of the repository for good. Errors: *PurgeRefused; NotFound for an
// object that is not there; Invalid for an abbreviation of several; Conflict while a backup
// runs. After another error, run it again.
func (s *Service) Purge(ctx context.Context, a *repo.Access, o Options) (*Report, error) {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	family, err := s.family(ctx, a)
	if err != nil {
		return nil, err
	}
	targets := family
	if !o.Network {
		targets = []*repo.Repo{a.Repo}
	}
	p := &purge{s: s, Options: o, targets: targets}
	if o.DryRun {
		err := p.plan(ctx)
		return p.report, err
	}
	lease, again, err := s.leasePurges(ctx, targets, o.Tell)
	if err != nil {
		return nil, err
	}
	p.again, p.folder = again, int64(lease.Until)
	lease, err = s.db.Hold(ctx, jobs, lease, leaseTime, p.run)
	var refused *Refused
	ended := err == nil && p.left() == 0
	if errors.As(err, &refused) || errs.Is(err, errs.NotFound) {
		ended = !again && len(p.gone) == 0 // else something is left to clear
	}
	endErr := s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if ended {
			return jobs.Remove(tx, lease)
		}
		return jobs.PutOff(tx, lease, 0)
	})
	if errors.Is(endErr, db.ErrLeaseLost) {
		endErr = nil // a repository has been deleted
	}
	if err = errors.Join(err, endErr); err != nil {
		return nil, err
	}
	return p.report, s.tellHolders(ctx, p, family)
}

// purge is one purge on its way.
type purge struct {
	Options
	s       *Service
	targets []*repo.Repo
	again   bool  // an earlier one did not come to its end
	folder  int64 // Repo.Purges to be: no other purge has this number
	plans   []*repoPlan
	report  *Report
	gone    []git.ID // some of what went, to look for elsewhere
}

// left counts the folders that are still in use.
func (p *purge) left() (n int) {
	for _, r := range p.report.Repos {
		n += len(r.Left)
	}
	return n
}

// family lists the repositories of the network, the given one first.
func (s *Service) family(ctx context.Context, a *repo.Access) ([]*repo.Repo, error) {
	list := []*repo.Repo{a.Repo}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		all, err := repo.Query(tx, a.Caller, `WHERE (r.id = $2 OR r.root_id = $2) AND r.id <> $3
			ORDER BY r.id`, a.NetworkID, a.ID)
		list = list[:1]
		for _, other := range all {
			list = append(list, other.Repo)
		}
		return err
	})
	return list, err
}

// leasePurges takes the purges of repositories, all or none. again says that an earlier one
// was not finished. It waits for one that runs, or that was killed.
func (s *Service) leasePurges(
	ctx context.Context, repos []*repo.Repo, tell func(string),
) (l *db.Lease, again bool, err error) {
	ids := make([]repo.ID, len(repos))
	for i, r := range repos {
		ids[i] = r.ID
	}
	for told := false; ; told = true {
		err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
			l, again, err = takePurges(tx, ids)
			return err
		})
		if err != nil || l != nil {
			return l, again, err
		}
		if !told {
			tell("another purge of the repository runs, or was killed within the last minute: waiting for its end")
		}
		if err := git.Sleep(ctx, time.Second); err != nil {
			return nil, false, err
		}
	}
}

// run does all of it while the lease is held.
func (p *purge) run(ctx context.Context) error {
	if err := p.s.noBackup(ctx); err != nil {
		return err
	}
	if err := p.plan(ctx); err != nil {
		return err
	}
	for i, plan := range p.plans {
		p.Progress("purge", int64(i), int64(len(p.plans)))
		if err := p.apply(ctx, plan, &p.report.Repos[i]); err != nil {
			return fmt.Errorf("%s: %w", plan.repo.FullName(), err)
		}
	}
	if p.Finish == nil {
		return nil
	}
	p.Progress("database", 0, 0)
	return p.Finish(ctx)
}

// errBackup refuses a purge whose objects a backup is copying.
var errBackup = errs.New(errs.Conflict, "a backup runs: wait until it has ended")

func (s *Service) noBackup(ctx context.Context) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		runs, err := repo.BackupRuns(tx)
		if err == nil && runs {
			err = errBackup
		}
		return err
	})
}

// plan finds out what goes from each repository, and refuses what something leads to.
func (p *purge) plan(ctx context.Context) error {
	p.report = &Report{}
	var reasons []string
	found := p.again || p.Object == ""
	for i, r := range p.targets {
		p.Progress("plan", int64(i), int64(len(p.targets)))
		plan, err := p.planOf(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.FullName(), err)
		}
		found = found || plan.object.Type != "" || len(plan.leftovers) > 0 || plan.hasLeft
		reasons = append(reasons, plan.reasons...)
		p.plans = append(p.plans, plan)
		p.report.Repos = append(p.report.Repos, Purged{Name: r.FullName(), Object: plan.object,
			Objects: int64(len(plan.gone))})
	}
	switch {
	case len(reasons) > 0:
		return &Refused{reasons}
	case !found:
		return errs.Newf(errs.NotFound, "object %s not found", p.Object)
	}
	return nil
}

// maxLooked is how many of the objects that went are looked for in forks.
const maxLooked = 1000

// tellHolders fills in what else may hold what went.
func (s *Service) tellHolders(ctx context.Context, p *purge, family []*repo.Repo) error {
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if p.report.Backups, err = pastBackups(tx); err == nil {
			err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM kept_repos)`).Scan(&p.report.Deleted)
		}
		return err
	})
	if err != nil || len(p.gone) == 0 {
		return err
	}
	looked := make([]git.SHA, 0, maxLooked)
	for _, id := range p.gone[:min(len(p.gone), maxLooked)] {
		looked = append(looked, id.SHA())
	}
	for _, r := range family {
		if slices.ContainsFunc(p.targets, func(t *repo.Repo) bool { return t.ID == r.ID }) {
			continue
		}
		holds, err := s.holdsAny(ctx, r.ID, looked)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
		if holds {
			p.report.Forks = append(p.report.Forks, r.FullName())
		}
	}
	return nil
}

func (s *Service) holdsAny(ctx context.Context, repoID repo.ID, shas []git.SHA) (bool, error) {
	objects, release, err := s.repos.GitOf(ctx, repoID)
	if err != nil {
		return false, err
	}
	defer release()
	if !objects.Exists() {
		return false, nil
	}
	known, err := objects.Known(ctx, shas)
	return slices.ContainsFunc(known, func(o git.Object) bool { return o.Type != "" }), err
}

// leftovers lists the folders of a repository, present or set aside, that earlier purges
// and a deletion left: not the one that it has, and none of a later purge than before.
func (s *Service) leftovers(ctx context.Context, id repo.ID, before int64) (names []string, err error) {
	entries, err := os.ReadDir(s.repos.Shard(int64(id) & (repo.Shards - 1)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now, err := s.repos.Purges(ctx, id) // asked when the folders are known
	for _, e := range entries {
		owner, of, kind := repo.FolderOf(e.Name())
		if owner == id && of != now && (kind == repo.FolderGone || kind == repo.FolderKept && of < before) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
