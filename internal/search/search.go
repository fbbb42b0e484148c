package search

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/web"
)

// Service searches, and keeps the index up to date.
type Service struct {
	db     *db.DB
	issues *issue.Service
	log    *slog.Logger
}

// maxTime is how long a search may take.
const maxTime = 10 * time.Second

// New makes the service. Start Run beside it.
func New(d *db.DB, issues *issue.Service, log *slog.Logger) *Service {
	return &Service{db: d, issues: issues, log: log}
}

// Limits of what is indexed at a time, in texts.
const (
	batch     = 100
	perSearch = 2000 // a search does not wait for more
	backlog   = 300  // so many are left for a search to index
)

// indexEvery is how often Run looks for a backlog.
const indexEvery = 2 * time.Second

// Run keeps what searches find to index small, until ctx is done. It returns
// nil: what fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(indexEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.catchUp(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("texts could not be indexed", "error", err)
		}
	}
}

// catchUp indexes everything if there is a backlog, and leaves most of the
// writer's time to others.
func (s *Service) catchUp(ctx context.Context) error {
	n, err := s.changed(ctx, backlog)
	if err != nil || n < backlog {
		return err
	}
	for done := false; !done && err == nil; {
		start := time.Now()
		done, err = s.Index(ctx, batch)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(4 * time.Since(start)):
		}
	}
	return err
}

func (s *Service) changed(ctx context.Context, most int64) (n int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		n, err = countChanged(tx, most)
		return err
	})
	return n, err
}

// Index makes findable what changed, at most that many texts, and reports
// whether that was all. Whatever was acknowledged before the call counts.
func (s *Service) Index(ctx context.Context, most int) (done bool, err error) {
	for left := most; ; left -= batch {
		n, err := s.changed(ctx, 1)
		if err != nil || n == 0 || left <= 0 {
			return n == 0, err
		}
		if err := s.db.Write(ctx, func(tx *db.Tx) error { return indexChanged(tx, batch) }); err != nil {
			return false, err
		}
	}
}

// Results are a page of what a query finds.
type Results struct {
	Total int64
	Hits  []Hit
	Part  bool // not everything is indexed yet
	page  *issue.Page
}

// Hit is an issue that was found.
type Hit struct {
	Issue *issue.Issue
	Score int64 // from 1; only numbers of one query compare
}

// Search finds what the caller, perhaps nil, may see of what the query asks for
// (decision 13). Errors: 422 for people and repositories that are not there or
// not to be seen, 503 when it takes too long.
func (s *Service) Search(ctx context.Context, caller *account.Caller, q *Query, at web.Page) (*Results, error) {
	done, err := s.Index(ctx, perSearch)
	if err != nil {
		return nil, err
	}
	release, err := admission.SearchSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	var found *Results
	err = s.db.ReadLong(limited, func(tx *db.Tx) error {
		found = &Results{Part: !done, page: issue.NewPage(ctx)}
		return found.read(tx, caller, q, at)
	})
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			err = errs.Wrap(errs.Unavailable, "the search takes too long: narrow it down, for instance by repo:", err)
		}
		return nil, err
	}
	return found, nil
}

// read finds the page and reads what its payloads show.
func (f *Results) read(tx *db.Tx, caller *account.Caller, q *Query, at web.Page) error {
	st, err := plan(tx, caller, q)
	if err != nil || st == nil {
		return err
	}
	ids, scores, total, err := st.run(at)
	if err != nil {
		return err
	}
	list, err := issue.ByIDs(tx, ids)
	if err != nil {
		return err
	}
	f.Total = total
	for n, i := range list {
		f.Hits = append(f.Hits, Hit{i, scores[n]})
	}
	f.page.Add(list...)
	if err := f.page.Enter(tx, caller); err != nil {
		return err
	}
	return f.page.Load(tx)
}
