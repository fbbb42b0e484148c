package pull

import (
	"context"
	"sync"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/tracker"
)

// landing is a base branch that moved: what came with it may be the head of a
// pull request, which is merged then, as at GitHub.
type landing struct {
	repo     int64
	branch   string
	from, to git.SHA
	by       int64
}

// landings are those that nobody has looked at. They are hints: what is lost
// with the process is found by whoever reads the pull request next.
type landings struct {
	mu   sync.Mutex
	list []landing
}

// Bounds of the hints, and of the commits that one of them is searched for.
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

// land looks which open pull requests came into their base with a push.
func (s *Service) land(ctx context.Context, l landing) error {
	var open []*Pull
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		open, err = openByBase(tx, l.repo, []string{l.branch})
		return err
	})
	if err != nil || len(open) == 0 {
		return err
	}
	list, err := s.repos.Git(l.repo).NewCommits(ctx, []git.SHA{l.to}, []git.SHA{l.from}, maxLanded)
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

// markMerged closes a pull request whose head is in its base's history as
// merged, by who pushed it there; by its author where that is not known. Nothing
// happens when it has changed meanwhile.
func (s *Service) markMerged(ctx context.Context, p *Pull, sha git.SHA, by int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tracker.Lock(tx, p.RepoID); err != nil {
			return err
		}
		now, err := byID(tx, p.IssueID)
		if err != nil || !now.Open || now.Merged() || now.HeadSHA != p.HeadSHA || now.BaseRef != p.BaseRef {
			return err
		}
		i, err := issue.ByNumber(tx, p.RepoID, p.Number)
		if err != nil {
			return err
		}
		if by == 0 {
			by = i.AuthorID
		}
		list, err := repo.Accesses(tx, &account.Caller{ID: by}, []int64{p.RepoID})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return errs.Absent()
		}
		return s.conclude(tx, list[0], p, i, sha)
	})
}
