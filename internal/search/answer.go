package search

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Kind is a search whose terms all must hold: of repositories, accounts, commits or code.
type Kind struct {
	Language
	Sorts []string      // the first is the default, which has no direction
	Limit string        // the rate limit that it counts on, as GitHub calls it
	Scans bool          // it reads histories or files
	Time  time.Duration // the longest that it may take: then it is a 503; 0: it sees to that itself
}

// Asked is a parsed search request.
type Asked struct {
	Terms     []*Term // but for sort:
	Sort      string
	Asc       bool
	Page      web.Page
	Caller    *account.Caller
	Fragments bool // what matched is to be shown

	yielded atomic.Bool // its scan ended early for others
}

// Words are the terms that are words, and those of them that must not be there.
func (q *Asked) Words() (yes, no []string) {
	for _, t := range q.Terms {
		switch {
		case t.Name != "":
		case t.Not:
			no = append(no, t.Value)
		default:
			yes = append(yes, t.Value)
		}
	}
	return yes, no
}

// Found is a page of what a search found.
type Found struct {
	Total int64
	Part  bool // there may be more
	Items []any
}

// Hits is Found with items of one type, for operations.
type Hits[T any] struct {
	Total int64
	Part  bool // there may be more
	Items []T
}

// HitsOf returns a search's results, all of which have the type T.
func HitsOf[T any](f *Found) *Hits[T] {
	h := &Hits[T]{Total: f.Total, Part: f.Part, Items: make([]T, len(f.Items))}
	for n, one := range f.Items {
		h.Items[n] = one.(T)
	}
	return h
}

// More reports whether hits that can be read follow the page.
func (h *Hits[T]) More(at web.Page) bool { return at.Offset()+at.Size < min(h.Total, MaxReach) }

// Kinds answers searches of several kinds, and keeps answers.
type Kinds struct {
	s       *Service
	answers *web.Answers
}

// NewKinds shares the index and its worker with the service.
func NewKinds(s *Service) *Kinds {
	return &Kinds{s: s, answers: web.NewAnswers(web.NewKept(cacheBytes))}
}

// Stats returns the statistics of the cache.
func (k *Kinds) Stats(name string) cache.Stats { return k.answers.Stats(name) }

// Serve writes the results of find. It first waits for a slot, which limits concurrent searches. Errors:
// 422 for an invalid query and beyond the first thousand results; 429, 503.
func (k *Kinds) Serve(w http.ResponseWriter, r *http.Request, kind Kind,
	find func(ctx context.Context, out *web.Output, q *Asked) (*Found, error)) error {
	if h := w.Header(); h.Get("X-RateLimit-Resource") != "" {
		h.Set("X-RateLimit-Resource", kind.Limit)
	}
	q, err := kind.read(r)
	if err != nil {
		return err
	}
	render := func(out *web.Output) error {
		found, err := kind.find(out, q, find)
		if err != nil {
			return err
		}
		web.Link(w, r, q.Page, min(found.Total, MaxReach))
		return found.write(out)
	}
	return k.answers.Serve(w, r, k.s.db.State(r.Context()), web.Key(r, account.ViewOf(q.Caller)), render)
}

// Question is what somebody looks for.
type Question struct {
	Text   string
	Sort   string // of the kind's; empty: best-match
	Asc    bool
	Page   web.Page
	Caller *account.Caller // nil: nobody

	Fragments bool // what matches is to be shown
}

// Find finds a page of what a search of a kind finds. Errors: those of Serve.
func (k *Kinds) Find(ctx context.Context, kind Kind, of Question,
	find func(ctx context.Context, out *web.Output, q *Asked) (*Found, error)) (*Found, error) {
	terms, err := kind.Read(of.Text)
	if err != nil {
		return nil, err
	}
	q, err := kind.ask(of, terms)
	if err != nil {
		return nil, err
	}
	return kind.find(web.Unsent(ctx), q, find)
}

// find calls find while it holds a slot, with the time limit of the kind of search.
func (k *Kind) find(out *web.Output, q *Asked,
	find func(ctx context.Context, out *web.Output, q *Asked) (*Found, error)) (*Found, error) {
	ctx := out.Context()
	slot := admission.Search
	if k.Scans {
		slot = admission.Scan
	}
	release, err := admission.Slot(ctx, slot)
	if err != nil {
		return nil, err
	}
	defer release()
	if k.Time == 0 {
		found, err := find(ctx, out, q)
		out.Passing = q.yielded.Load()
		return found, err
	}
	limited, cancel := context.WithTimeout(ctx, k.Time)
	defer cancel()
	found, err := find(limited, out, q)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = errs.Wrap(errs.Unavailable, "the search takes too long: narrow it down, for instance by user:",
			err)
	}
	return found, err
}

// FindNamed finds a page after all acknowledged repositories and accounts are indexed; Part says that some
// are not after some seconds. read adds the results, and may run again.
func (k *Kinds) FindNamed(
	ctx context.Context, read func(tx *db.Tx, found *Found) error,
) (found *Found, err error) {
	whole, err := k.s.indexed(ctx, names())
	if err != nil {
		return nil, err
	}
	err = k.s.db.ReadLong(ctx, func(tx *db.Tx) error {
		found = &Found{Part: !whole}
		return read(tx, found)
	})
	return found, err
}

// Read reads the database.
func (k *Kinds) Read(ctx context.Context, fn func(tx *db.Tx) error) error {
	return k.s.db.ReadLong(ctx, fn)
}

// read reads a request.
func (k *Kind) read(r *http.Request) (*Asked, error) {
	of := Question{Text: web.QueryOf(r).Get("q"), Page: web.ReadPage(r), Caller: account.CallerFrom(r.Context())}
	terms, err := k.Read(of.Text)
	if err != nil {
		return nil, err
	}
	if of.Sort, err = web.QueryEnum(r, resource, "sort", k.Sorts...); err != nil {
		return nil, err
	}
	order, err := web.QueryEnum(r, resource, "order", "desc", "asc")
	if err != nil {
		return nil, err
	}
	of.Asc = order == "asc"
	of.Fragments = web.From(r.Context()).Media.Kind == "text-match"
	return k.ask(of, terms)
}

// ask reads a question, of whose text the terms are. Errors: 422.
func (k *Kind) ask(of Question, terms []*Term) (*Asked, error) {
	q := &Asked{Page: of.Page, Caller: of.Caller, Sort: cmp.Or(of.Sort, k.Sorts[0]), Fragments: of.Fragments}
	q.Asc = of.Asc && q.Sort != k.Sorts[0]
	for _, t := range terms {
		if t.Name != "sort" {
			q.Terms = append(q.Terms, t)
		} else if !k.sort(t, q) {
			return nil, t.Wrong()
		}
	}
	if q.Page.Offset() >= MaxReach {
		return nil, errs.Newf(errs.Invalid, "Only the first %d search results are available", MaxReach)
	}
	q.Page.Size = min(q.Page.Size, MaxReach)
	if len(q.Terms) == 0 {
		return nil, errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.Missing})
	}
	return q, nil
}

// sort reads sort:, which outweighs the parameters.
func (k *Kind) sort(t *Term, q *Asked) bool {
	name, asc := strings.CutSuffix(strings.ToLower(t.Value), "-asc")
	if !asc {
		name = strings.TrimSuffix(name, "-desc")
	}
	for at, sort := range k.Sorts {
		if sort == name && !t.Not {
			q.Sort, q.Asc = name, asc && at > 0
			return true
		}
	}
	return false
}

// MaxRows is how many rows of the page can be read.
func (q *Asked) MaxRows() int64 { return min(q.Page.Size, MaxReach-q.Page.Offset()) }

// write renders what was found.
func (f *Found) write(out *web.Output) error {
	err := out.Open(struct {
		Total int64 `json:"total_count"`
		Part  bool  `json:"incomplete_results"`
	}{f.Total, f.Part})
	if err != nil {
		return err
	}
	out.Member("items")
	if err := out.List(len(f.Items), func(n int) (any, error) { return f.Items[n], nil }); err != nil {
		return err
	}
	out.Close()
	return nil
}

// Score is a number with a fraction in JSON, as at GitHub. Only numbers of one search compare.
type Score int64

// MarshalJSON renders it.
func (s Score) MarshalJSON() ([]byte, error) {
	return append(strconv.AppendInt(nil, int64(s), 10), ".0"...), nil
}

// Extend renders an object with the members of another one behind its own.
func Extend(object, more any) ([]byte, error) {
	b, err := web.Marshal(object)
	if err != nil {
		return nil, err
	}
	rest, err := web.Marshal(more)
	if err != nil {
		return nil, err
	}
	return append(append(b[:len(b)-1], ','), rest[1:]...), nil
}
