package pull

import (
	"context"
	"errors"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/journal"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
	"arbor/internal/rule"
)

// autoBatch is how many pull requests are examined together. Their lease may end before all are merged: another worker
// may then do the same, and the transaction of a merge decides.
const autoBatch = 100

// mergeReady examines the pull requests with auto-merge for which something has changed, and merges those that lack
// nothing.
func (s *Service) mergeReady(ctx context.Context) {
	s.merging.Lock()
	defer s.merging.Unlock()
	ctx = journal.WithJob(ctx, "auto-merge")
	for {
		more, err := s.examine(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "auto-merge failed", "error", err)
		}
		if err != nil || !more {
			return
		}
	}
}

// examine takes some jobs and does them. It reports whether more may be pending.
func (s *Service) examine(ctx context.Context) (more bool, err error) {
	var l *db.Lease
	err = s.db.WriteDue(ctx, automerge.Jobs, `wanted`, func(tx *db.Tx) (err error) {
		l, err = automerge.Jobs.Take(tx, leaseTime, autoBatch, `wanted`)
		return err
	})
	if err != nil || l == nil {
		return false, err
	}
	list, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]*waiting, error) { return examined(tx, l) })
	if err == nil {
		err = s.askGitOf(ctx, list)
	}
	if err != nil {
		return false, err
	}
	var wait []int64
	for _, w := range list {
		if w.lacks {
			wait = append(wait, w.ID)
		}
	}
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return automerge.Wait(tx, l, wait) }); err != nil {
		return false, err
	}
	for _, w := range list {
		switch {
		case w.lacks:
		case w.ended:
			err = s.endLost(ctx, w)
		default:
			err = s.mergeWaiting(ctx, w, &db.Lease{IDs: []int64{w.ID}, Until: l.Until})
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// waiting is a pull request with auto-merge.
type waiting struct {
	*automerge.Request
	pull     *Pull
	outlook  *rule.Outlook // nil: no rules apply
	lacks    bool          // something is still missing
	ended    bool          // the account that enabled it seems to have lost the right
	upToDate bool          // a rule asks that the head contains the base
}

// askGitOf finds out which pull requests lack reviews of code owners or signatures, of those that seem to lack
// nothing else.
func (s *Service) askGitOf(ctx context.Context, list []*waiting) error {
	var candidates []rule.Candidate
	outlooks := map[int64]*rule.Outlook{}
	for _, w := range list {
		if !w.lacks && !w.ended && w.outlook != nil {
			candidates = append(candidates, w.pull.candidate())
			outlooks[int64(w.IssueID)] = w.outlook
		}
	}
	err := s.askGit(ctx, candidates, outlooks)
	for _, w := range list {
		w.lacks = w.lacks || outlooks[int64(w.IssueID)] != nil && len(w.outlook.Missing) > 0
	}
	return err
}

// examined looks what the pull requests of a lease lack. The number of its statements depends on how many
// repositories these are in, and not on how many they are. A merge asks everything again.
func examined(tx *db.Tx, l *db.Lease) ([]*waiting, error) {
	requests, err := automerge.Leased(tx, l)
	if err != nil || len(requests) == 0 {
		return nil, err
	}
	var ids []issue.ID
	var in []repo.ID
	for _, m := range requests {
		ids, in = append(ids, m.IssueID), append(in, m.RepoID)
	}
	pulls, err := ByIDs(tx, ids)
	if err != nil {
		return nil, err
	}
	may, err := enablers(tx, db.Unique(in), requests)
	if err != nil {
		return nil, err
	}
	var candidates []rule.Candidate
	for _, p := range pulls {
		candidates = append(candidates, p.candidate())
	}
	outlooks, err := rule.Outlooks(tx, candidates)
	list := make([]*waiting, len(requests))
	for n, m := range requests {
		p := pulls[m.IssueID]
		w := &waiting{Request: m, pull: p, ended: !may[m.ID], outlook: outlooks[int64(m.IssueID)]}
		o := w.outlook
		w.upToDate = o != nil && o.UpToDate
		w.lacks = !w.ended && (!p.Open || p.HeadRepoID == 0 || p.BaseTip == "" ||
			p.Tested() && p.TestSHA == "" || o != nil && len(o.Missing) > 0)
		list[n] = w
	}
	return list, err
}

// enablers returns for which requests the account that made them has push access to a repository that allows
// auto-merge. What Apps may do is not looked at here.
func enablers(tx *db.Tx, in []repo.ID, requests []*automerge.Request) (map[int64]bool, error) {
	repos, err := repo.Accesses(tx, nil, in)
	if err != nil {
		return nil, err
	}
	may := map[int64]bool{}
	for _, a := range repos {
		var by []account.ID
		for _, m := range requests {
			if m.RepoID == a.ID {
				by = append(by, m.By)
			}
		}
		people, err := repo.PeopleByID(tx, a.Repo, by)
		if err != nil {
			return nil, err
		}
		for _, m := range requests {
			if m.RepoID == a.ID && a.Merging.Has(repo.AllowsAutoMerge) {
				may[m.ID] = m.Installation != 0 || people[m.By].Role >= account.Push
			}
		}
	}
	return may, nil
}

// mergeWaiting merges a pull request as the account that enabled auto-merge. If that is refused, it waits for the
// next change.
func (s *Service) mergeWaiting(ctx context.Context, w *waiting, l *db.Lease) error {
	err := s.mergeAs(ctx, w)
	var lost *lostError
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.As(err, &lost):
		return s.endLost(ctx, w)
	case errors.Is(err, errBaseModified) || !refusal(err):
		s.log.WarnContext(ctx, "auto-merge is tried again", "pull", w.IssueID, "error", err)
		pause := time.Second << min(w.Tries, 10)
		err = s.db.Write(ctx, func(tx *db.Tx) error { return automerge.Jobs.PutOff(tx, l, pause) })
	default:
		err = s.db.Write(ctx, func(tx *db.Tx) error { return automerge.Wait(tx, l, l.IDs) })
	}
	if errors.Is(err, db.ErrLeaseLost) {
		err = nil
	}
	return err
}

// refusal reports whether an error says that a pull request may not be merged now.
func refusal(err error) bool {
	return errs.Is(err, errs.MethodNotAllowed) || errs.Is(err, errs.Forbidden) ||
		errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound)
}

func (s *Service) mergeAs(ctx context.Context, w *waiting) error {
	a, err := db.Get(ctx, s.db, func(tx *db.Tx) (*repo.Access, error) { return enabler(tx, w.Request) })
	if err == nil && a.Archived {
		err = repo.ErrArchived()
	}
	if err != nil {
		return err
	}
	if w.upToDate {
		if behind, err := w.pull.isBehind(ctx, s.repos, a); err != nil || behind {
			return orRefused(err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	if w.outlook != nil && w.outlook.Queue != nil {
		return s.enqueueNow(ctx, a, w.pull, QueueOptions{})
	}
	_, err = s.Merge(ctx, a, w.pull.Number, MergeOptions{Title: w.Title, Message: w.Message, Email: w.Email,
		Method: Method(w.Method), auto: &autoRight{w.Request, a}})
	return err
}

// orRefused returns err, or without one that the pull request cannot be merged.
func orRefused(err error) error {
	if err == nil {
		err = errNotMergeable
	}
	return err
}

// lostError means that auto-merge has to end, and why.
type lostError struct{ why string }

func (e *lostError) Error() string { return "pull: auto-merge ended: " + e.why }

// enabler returns the repository as the account sees it that enabled auto-merge. Errors: lostError if that account
// may no longer merge, or if the repository no longer allows auto-merge; 404 for a deleted repository.
func enabler(tx *db.Tx, m *automerge.Request) (*repo.Access, error) {
	a, err := actorOf(tx, m.By, m.Installation, m.RepoID)
	if err == nil && !a.Merging.Has(repo.AllowsAutoMerge) {
		err = &lostError{endedBySwitch}
	}
	return a, err
}

// actorOf returns a repository as an account sees it for which the server merges. Errors: lostError if it may not
// merge; 404 for a deleted repository.
func actorOf(tx *db.Tx, id account.ID, installation account.InstallationID, in repo.ID) (*repo.Access, error) {
	who, err := account.ByID(tx, id)
	if err != nil {
		return nil, err
	}
	caller := &account.Caller{ID: who.ID, Login: who.Login, SiteAdmin: who.SiteAdmin}
	if installation != 0 {
		caller, err = account.CallerByInstallation(tx, installation, "contents", account.Push)
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Forbidden) {
			return nil, &lostError{endedByLoss}
		}
		if err != nil {
			return nil, err
		}
	}
	a, err := repo.ByID(tx, caller, in)
	switch {
	case err != nil:
		return nil, err
	case a.Deleted():
		return nil, errs.Absent()
	case !who.SuspendedAt.IsZero(), a.Role < account.Push:
		return nil, &lostError{endedByLoss}
	}
	return a, nil
}

// autoRight is the right by which an auto-merge writes.
type autoRight struct {
	request *automerge.Request
	access  *repo.Access
}

// Holds returns an error unless auto-merge is still enabled as it was, by an account that may merge. Errors: 405,
// lostError and those of [repo.Access.Holds].
func (r *autoRight) Holds(tx *db.Tx) error {
	now, err := automerge.Of(tx, r.request.IssueID)
	switch {
	case errs.Is(err, errs.NotFound) || err == nil && now.ID != r.request.ID:
		return errNotMergeable
	case err != nil:
		return err
	}
	if _, err := enabler(tx, now); err != nil {
		return err
	}
	return r.access.Holds(tx)
}

// endLost disables auto-merge whose account may no longer merge, unless it may again.
func (s *Service) endLost(ctx context.Context, w *waiting) error {
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		return s.change(tx, w.pull, w.By, func(c *issue.Change) error {
			now, err := automerge.Of(tx, w.IssueID)
			if err != nil || now.ID != w.ID {
				return ignoreAbsent(err)
			}
			var lost *lostError
			if _, err = enabler(tx, now); errors.As(err, &lost) {
				_, err = endAuto(c, lost.why)
			}
			return err
		})
	})
	return ignoreAbsent(err)
}
