package notification

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/journal"
	"arbor/internal/repo"
)

// watched is the topic of the bell that rings when watchers are to be notified.
const watched = "notification watchers"

const (
	leaseTime  = 15 * time.Second       // after that, work counts as abandoned
	pollTime   = time.Second            // between looks for work of other processes
	maxTries   = 5                      // before failing acts are dropped
	perWatcher = 500 * time.Microsecond // how long the next acts on a subject wait for each watcher
	maxWait    = 30 * time.Second       // for all of them
)

// Worker notifies accounts of acts. Several may work on one database.
type Worker struct {
	db    *db.DB
	repos *repo.Service
	log   *slog.Logger

	// Only one round of each kind runs at a time, so that Settle waits for what Run has begun.
	toParticipants, toWatchers sync.Mutex
}

// NewWorker returns a worker.
func NewWorker(d *db.DB, repos *repo.Service, log *slog.Logger) *Worker {
	return &Worker{db: d, repos: repos, log: log}
}

// Run notifies until ctx is done. It returns nil: failures are logged and retried. Participants in a
// subject do not wait for the watchers of others.
func (w *Worker) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() {
		db.RunOnBell(ctx, w.db.Bell(Topic), pollTime, func(ctx context.Context) {
			for ctx.Err() == nil && w.round(ctx, false) {
			}
		})
	})
	both.Go(func() {
		db.RunOnBell(ctx, w.db.Bell(watched), pollTime, func(ctx context.Context) {
			for ctx.Err() == nil && w.round(ctx, true) {
			}
		})
	})
	both.Wait()
	return nil
}

// Settle notifies of all acts before the call, without making watchers wait for more. It is for stores
// that are being filled: failures are logged and left to Run.
func (w *Worker) Settle(ctx context.Context) error {
	for _, watchers := range []bool{false, true} {
		for ctx.Err() == nil && w.round(ctx, watchers) {
		}
	}
	return ctx.Err()
}

// Backlog counts the acts that wait.
func (w *Worker) Backlog(tx *db.Tx) (db.Backlog, error) { return backlog(tx) }

// round notifies of acts on one subject: its participants, or watchers. It reports whether there may be
// more.
func (w *Worker) round(ctx context.Context, watchers bool) (more bool) {
	turn := &w.toParticipants
	if watchers {
		turn = &w.toWatchers
	}
	turn.Lock()
	defer turn.Unlock()
	lease, list, err := w.take(ctx, watchers)
	if err != nil || lease == nil {
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "looking for notifications failed", "error", err)
		}
		return false
	}
	ctx = journal.WithJob(ctx, "notifications")
	lease, failed := w.db.Hold(ctx, jobs, lease, leaseTime, func(ctx context.Context) error {
		if watchers {
			return w.tellWatchers(ctx, list)
		}
		return w.tellParticipants(ctx, list)
	})
	if failed != nil && ctx.Err() == nil && !gone(failed) {
		w.log.WarnContext(ctx, "notifications were not sent", "repository", list[0].RepoID, "try",
			list[0].tries, "error", failed)
	}
	err = w.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		switch {
		case failed == nil && !watchers:
			return leaveToWatchers(tx, lease, list[0].RepoID)
		case failed == nil, list[0].tries >= maxTries && ctx.Err() == nil:
			return jobs.Remove(tx, lease)
		case ctx.Err() != nil: // stopping: the next worker continues
			return jobs.PutOff(tx, lease, 0)
		}
		return jobs.PutOff(tx, lease, time.Second<<list[0].tries)
	})
	if err != nil && !gone(err) {
		w.log.WarnContext(ctx, "notifications wait for a later time", "error", err)
		return false
	}
	if !watchers {
		w.db.Ring(watched)
	}
	return true
}

// gone reports whether the subject of the acts was deleted in between, or another worker has taken
// it.
func gone(err error) bool {
	return errors.Is(err, db.ErrLeaseLost) || errors.Is(err, db.ErrNoRows) || errors.Is(err, db.ErrForeignKey)
}

func (w *Worker) take(ctx context.Context, watchers bool) (lease *db.Lease, list []act, err error) {
	err = w.db.WriteDue(ctx, jobs, `watchers = $1`, func(tx *db.Tx) (err error) {
		lease, list, err = takeRound(tx, watchers, leaseTime)
		return err
	}, watchers)
	return lease, list, err
}

// lastBy returns for each actor the time of the last act of another actor, or zero, and the time of the
// last act. Only acts that notify everyone count.
func lastBy(list []act) (others map[account.ID]db.Time, last db.Time) {
	others = map[account.ID]db.Time{}
	for _, a := range list {
		others[a.Actor] = 0
	}
	for _, a := range list {
		if !a.Everyone {
			continue
		}
		last = max(last, a.at)
		for id, at := range others {
			if id != a.Actor {
				others[id] = max(at, a.at)
			}
		}
	}
	return others, last
}

// heard returns the accounts to notify, without duplicates and with the greatest reason, except a sole
// actor.
func heard(list []act, all []hearer) []hearer {
	others, last := lastBy(list)
	found := map[account.ID]hearer{}
	for _, h := range all {
		if h.at == 0 { // else named by an act
			h.at = last
			if at, acted := others[h.id]; acted {
				h.at = at
			}
		}
		if old := found[h.id]; h.at != 0 {
			h.at, h.reason = max(h.at, old.at), stronger(h.reason, old.reason)
			found[h.id] = h
		}
	}
	out := slices.Collect(maps.Values(found))
	slices.SortFunc(out, func(a, b hearer) int { return int(a.id - b.id) })
	return out
}

// named returns the users named in acts of others.
func named(list []act) (out []hearer) {
	for _, a := range list {
		for reason, ids := range a.Named {
			for _, id := range ids {
				if id != a.Actor && !reason.ofTeams() {
					out = append(out, hearer{id, reason, a.at})
				}
			}
		}
	}
	return out
}

// tellParticipants notifies the participants in the subject of the acts, and those mentioned.
func (w *Worker) tellParticipants(ctx context.Context, list []act) error {
	all := named(list)
	if author := w.committer(ctx, list[0].Act); author != 0 {
		all = append(all, hearer{id: author, reason: Author})
	}
	_, last := lastBy(list)
	var after account.ID
	for first := true; first || after != 0; first = false {
		err := w.db.Write(ctx, func(tx *db.Tx) error {
			subject, err := subjectOf(tx, list[0].Act)
			if err != nil {
				return err
			}
			var next account.ID
			found := []hearer{}
			switch a := list[0].Act; {
			case last == 0: // only who is named
			case a.Issue != 0:
				found, next, err = participants(tx, a.Issue, after)
			default:
				found, err = wishers(tx, subject)
				if err == nil && a.Commit != "" {
					var more []hearer
					more, err = commenters(tx, a, subject)
					found = append(found, more...)
				}
			}
			if err != nil {
				return err
			}
			if first {
				found = append(found, all...)
				if err := mailOwn(tx, list, subject); err != nil {
					return err
				}
			}
			tx.OnCommit(func() { after = next })
			for part := range slices.Chunk(heard(list, found), perBatch) {
				if err := tell(tx, list, subject, part); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return w.tellTeams(ctx, list)
}

// tellTeams notifies the members of the teams that acts name, some at a time. A person who is named as well keeps
// that reason.
func (w *Worker) tellTeams(ctx context.Context, list []act) error {
	for _, a := range list {
		for _, reason := range []Reason{TeamMention, TeamRequest} {
			for _, id := range a.Named[reason] {
				if err := w.tellTeam(ctx, list, a, reason, id); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *Worker) tellTeam(ctx context.Context, list []act, a act, reason Reason, id account.ID) error {
	var after account.ID
	return db.RunInSteps(ctx, func(ctx context.Context) (more bool, err error) {
		err = w.db.Write(ctx, func(tx *db.Tx) error {
			subject, err := subjectOf(tx, list[0].Act)
			if err != nil {
				return err
			}
			found, err := teamMembers(tx, a, reason, id, after)
			if err != nil {
				return err
			}
			n := len(found)
			if more = n == perBatch; more {
				next := found[n-1].id
				tx.OnCommit(func() { after = next })
			}
			found = append(found, slices.DeleteFunc(named([]act{a}),
				func(h hearer) bool { return h.reason != Mention })...)
			return tell(tx, list, subject, heard(list, found))
		})
		return more, err
	})
}

// tellWatchers notifies the watchers of the repository, some at a time.
func (w *Worker) tellWatchers(ctx context.Context, list []act) error {
	var from watcherCursor
	return db.RunInSteps(ctx, func(ctx context.Context) (more bool, err error) {
		var next watcherCursor
		err = w.db.Write(ctx, func(tx *db.Tx) error {
			subject, err := subjectOf(tx, list[0].Act)
			if err != nil {
				return err
			}
			var found []hearer
			if found, next, more, err = watchers(tx, list[0].Act, from); err != nil {
				return err
			}
			return tell(tx, list, subject, heard(list, found))
		})
		from = next
		return more, err
	})
}

// committer returns the author of the commit that an act is about; 0: unknown, or not a commit. A commit that
// cannot be read does not prevent other notifications.
func (w *Worker) committer(ctx context.Context, a Act) account.ID {
	if a.Commit == "" {
		return 0
	}
	commit, err := readCommit(ctx, w.repos, a.RepoID, a.Commit)
	if err != nil {
		if ctx.Err() == nil && !errs.Is(err, errs.NotFound) {
			w.log.WarnContext(ctx, "the author of a commit is not told", "repository", a.RepoID, "error", err)
		}
		return 0
	}
	found, err := db.Get(ctx, w.db, func(tx *db.Tx) (map[string]*account.Account, error) {
		return account.ByEmails(tx, []string{commit.Author.Email})
	})
	if err != nil {
		return 0
	}
	for _, who := range found {
		return who.ID
	}
	return 0
}

func readCommit(ctx context.Context, repos *repo.Service, id repo.ID, sha git.SHA) (*git.Commit, error) {
	objects, release, err := repos.GitOf(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	return objects.Commit(ctx, sha)
}
