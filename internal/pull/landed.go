package pull

import (
	"context"
	"sync"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// landing is a push to a base branch. Open pull requests whose head it contains become merged, as at
// GitHub.
type landing struct {
	repo     repo.ID
	branch   string
	from, to git.SHA
	by       account.ID
}

// landings are pushes to be processed, added after the commit of their transaction. They are only hints: if
// one is lost with the process, the merge is found when the pull request is next read.
type landings struct {
	mu   sync.Mutex
	list []landing
}

// Limits of hints, and of the commits searched for one.
const (
	maxLandings = 1000
	maxLanded   = 10_000
)

func (l *landings) add(n landing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < maxLandings {
		l.list = append(l.list, n)
	}
}

func (l *landings) take() []landing {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// land finds the open pull requests that a push has merged into their base.
func (s *Service) land(ctx context.Context, l landing) error {
	open, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]*Pull, error) {
		return openByBase(tx, l.repo, []string{l.branch})
	})
	if err != nil || len(open) == 0 {
		return err
	}
	objects, release, err := s.repos.GitOf(ctx, l.repo)
	if err != nil {
		return err
	}
	defer release()
	list, err := objects.NewCommits(ctx, []git.SHA{l.to}, []git.SHA{l.from}, maxLanded)
	if err != nil {
		return err
	}
	came := make(map[git.SHA]bool, len(list))
	for _, sha := range list {
		came[sha] = true
	}
	for _, p := range open {
		if !came[p.HeadSHA] {
			continue
		}
		if err := s.markMerged(ctx, p, l.to, l.by); err != nil {
			return err
		}
	}
	return nil
}

// markMerged closes a pull request as merged after a push of sha to its base brought its head into the
// base's history. It counts as merged by the account that pushed, or by its author if that is unknown.
// Nothing happens if the pull request has changed since p was read, or if the base has moved and sha is no
// longer in its history.
//
// Git checks the current tip of the base. The transaction verifies that it is still the tip, else git
// checks again.
func (s *Service) markMerged(ctx context.Context, p *Pull, sha git.SHA, by account.ID) error {
	objects, release, err := s.repos.GitOf(ctx, p.RepoID)
	if err != nil {
		return err
	}
	defer release()
	return s.repos.Again(ctx, errMoved, func() error {
		tip, err := db.Get(ctx, s.db, func(tx *db.Tx) (git.SHA, error) {
			return repo.BranchTip(tx, p.RepoID, p.BaseRef)
		})
		if err != nil || tip == "" {
			return err
		}
		if there, err := objects.IsAncestor(ctx, sha, tip); err != nil || !there {
			return err
		}
		return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error { return s.markMergedIn(tx, p, tip, sha, by) })
	})
}

// markMergedIn is the transaction of markMerged. tip is the base's tip that git has checked. Error:
// errMoved if the base has another tip.
func (s *Service) markMergedIn(tx *db.Tx, p *Pull, tip, sha git.SHA, by account.ID) error {
	if err := issuekit.Lock(tx, p.RepoID); err != nil {
		return err
	}
	now, err := byID(tx, p.IssueID)
	switch {
	case err != nil || !now.Open || now.Merged() || now.HeadSHA != p.HeadSHA || now.BaseRef != p.BaseRef:
		return err
	case now.BaseTip != tip:
		return errMoved
	}
	i, err := issue.ByNumber(tx, p.RepoID, p.Number)
	if err != nil {
		return err
	}
	if by == 0 {
		by = i.AuthorID
	}
	list, err := repo.Accesses(tx, &account.Caller{ID: by}, []repo.ID{p.RepoID})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errs.Absent()
	}
	return s.conclude(tx, list[0], p, i, sha)
}
