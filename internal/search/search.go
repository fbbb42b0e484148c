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
	"arbor/internal/posting"
	"arbor/internal/web"
)

// Service searches.
type Service struct {
	Patience time.Duration // how long a search waits for the worker; tests wait longer

	db     *db.DB
	issues *issue.Service
	log    *slog.Logger
	indexer
}

// maxTime is how long a search may take.
const maxTime = 10 * time.Second

// New returns the service. Start Run next to it.
func New(d *db.DB, issues *issue.Service, log *slog.Logger) *Service {
	return &Service{Patience: 5 * time.Second, db: d, issues: issues, log: log, indexer: newIndexer()}
}

// Results are a page of what a query finds.
type Results struct {
	Total int64
	Hits  []Hit
	Part  bool // not everything is indexed yet
	page  *issue.Page
}

// Views are the issues that were found, with what they refer to, and without their texts.
func (f *Results) Views() []*issue.View {
	list := make([]*issue.View, len(f.Hits))
	for n, hit := range f.Hits {
		list[n] = f.page.View(hit.Issue)
	}
	return list
}

// Shown is Views with the texts, in the forms that the request asks for.
func (s *Service) Shown(ctx context.Context, f *Results) (list []*issue.View, err error) {
	if err := f.page.Bodies(web.Unsent(ctx), s.issues); err != nil {
		return nil, err
	}
	list = make([]*issue.View, len(f.Hits))
	for n, hit := range f.Hits {
		if list[n], err = f.page.Shown(hit.Issue); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Hit is an issue that was found.
type Hit struct {
	Issue *issue.Issue
	Score int64 // from 1; only numbers of one query compare
}

// Search finds the issues matching the query that are visible to the caller, which may be nil (decision
// 13). It only reads: before it takes a slot, it waits up to some seconds for the worker to index
// everything acknowledged before. Errors: 422 for missing or invisible people and repositories, and for a
// page beyond the first MaxReach results; 503 if it takes too long.
func (s *Service) Search(
	ctx context.Context, caller *account.Caller, q *Query, at web.Page,
) (*Results, error) {
	if at.Offset() >= MaxReach {
		return nil, errs.Newf(errs.Invalid, "Only the first %d search results are available", MaxReach)
	}
	var found *Results
	err := s.read(ctx, q.asksIndex(), func(tx *db.Tx, whole bool) error {
		found = &Results{Part: !whole, page: issue.NewPage(ctx)}
		return found.read(tx, s.issues, caller, q, at)
	})
	return found, err
}

// read calls fn with a slot and the time limit of searches. whole tells fn that everything acknowledged
// before is indexed; a search that does not need the index does not wait for that.
func (s *Service) read(ctx context.Context, index bool, fn func(tx *db.Tx, whole bool) error) error {
	whole := true
	if index {
		var err error
		if whole, err = s.indexed(ctx, texts()); err != nil {
			return err
		}
	}
	release, err := admission.Slot(ctx, admission.Search)
	if err != nil {
		return err
	}
	defer release()
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	err = s.db.ReadLong(limited, func(tx *db.Tx) error { return fn(tx, whole) })
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = errs.Wrap(errs.Unavailable, "the search takes too long: narrow it down, for instance by repo:",
			err)
	}
	return err
}

// MaxReach is how many results can be read, page by page, as at GitHub.
const MaxReach = 1000

// read finds the page and reads what its payloads show.
func (f *Results) read(
	tx *db.Tx, issues *issue.Service, caller *account.Caller, q *Query, at web.Page,
) error {
	in, err := q.prepare(tx, caller)
	if err != nil || posting.IsFalse(in.Where) {
		return err
	}
	list, found, err := issues.Find(tx, in, at.Offset(), min(at.Size, MaxReach-at.Offset()))
	if err != nil {
		return err
	}
	f.Total = found.Total
	for n, i := range list {
		score := int64(1)
		if found.Scores != nil {
			score = found.Scores[n]
		}
		f.Hits = append(f.Hits, Hit{i, score})
	}
	f.page.Add(list...)
	if err := f.page.Enter(tx, caller); err != nil {
		return err
	}
	return f.page.Load(tx)
}

// prepare builds the query of package posting, in the repositories that the caller may see. Errors: those of
// Search.
func (q *Query) prepare(tx *db.Tx, caller *account.Caller) (posting.Query, error) {
	n, err := resolve(tx, caller, q)
	if err != nil {
		return posting.Query{}, err
	}
	scope, where := posting.Split(q.compile(n))
	in := posting.Query{Where: where, Order: q.order()}
	if posting.IsFalse(where) {
		return in, nil
	}
	err = look(tx, caller, scope, &in)
	return in, err
}
