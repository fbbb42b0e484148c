package issue

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/finder"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// errNotKept says that a page cannot be made without the database.
var errNotKept = errors.New("issue: not in memory")

// Find reads a page of the issues that a query chooses: from memory where the
// repositories are there, else by SQL.
func (s *Service) Find(tx *db.Tx, q finder.Query, offset, size int64) ([]*Issue, finder.Found, error) {
	if err := finder.Prepare(tx, &q); err != nil {
		return nil, finder.Found{}, err
	}
	found, ok, err := s.indexes.Find(tx, &q, offset, size)
	if err != nil {
		return nil, finder.Found{}, err
	}
	if ok {
		ids := idsFound(found.IDs)
		list, missing := s.keptRows(ids, found.Changed)
		if len(missing) > 0 {
			err = s.readRows(tx, list, missing, ids)
		}
		return list, finder.Found{IDs: found.IDs, Total: found.Total}, err
	}
	f, err := finder.Find(tx, q, offset, size)
	if err != nil {
		return nil, finder.Found{}, err
	}
	list, err := ByIDs(tx, idsFound(f.IDs))
	return list, f, err
}

// findKept is Find without a transaction; it reads only the issues that are not in
// memory. Error: errNotKept where the repositories are not, or when one of these
// issues was changed meanwhile.
func (s *Service) findKept(
	ctx context.Context, q finder.Query, offset, size int64,
) ([]*Issue, finder.Found, error) {
	found, ok, err := s.indexes.Find(nil, &q, offset, size)
	if err == nil && !ok {
		err = errNotKept
	}
	if err != nil {
		return nil, finder.Found{}, err
	}
	ids := idsFound(found.IDs)
	list, missing := s.keptRows(ids, found.Changed)
	if len(missing) > 0 {
		err = s.db.Read(ctx, func(tx *db.Tx) error { return s.readRows(tx, list, missing, ids) })
	}
	for _, n := range missing {
		if err == nil && (list[n] == nil || list[n].changed != found.Changed[n]) {
			err = errNotKept
		}
	}
	return list, finder.Found{IDs: found.IDs, Total: found.Total}, err
}

// idsFound are the ids that package finder gives, which knows no issues.
func idsFound(list []int64) []ID {
	ids := make([]ID, len(list))
	for n, id := range list {
		ids[n] = ID(id)
	}
	return ids
}

// keptRows gives the issues of the ids, which changed last with those generations, and
// the places of those that are not in memory.
func (s *Service) keptRows(ids []ID, changed []int64) (list []*Issue, missing []int) {
	list = make([]*Issue, len(ids))
	for n, id := range ids {
		i, ok := s.rows.Get(rowKey{id, changed[n]})
		if list[n] = i; !ok {
			missing = append(missing, n)
		}
	}
	return list, missing
}

// readRows reads the issues that are missing from the list of those with the ids.
func (s *Service) readRows(tx *db.Tx, list []*Issue, missing []int, ids []ID) error {
	at, wanted := make(map[ID]int, len(missing)), make([]ID, len(missing))
	for k, n := range missing {
		at[ids[n]], wanted[k] = n, ids[n]
	}
	read, err := ByIDs(tx, wanted)
	for _, i := range read {
		i = i.compact()
		list[at[i.ID]] = i
		s.rows.Put(rowKey{i.ID, i.changed}, i)
	}
	return err
}

// generations are those that a page of one repository is made under.
type generations struct{ issues, legend, accounts int64 }

// generationsOf reads the generations. Error: 404.
func generationsOf(tx *db.Tx, repoID repo.ID) (g generations, err error) {
	err = tx.QueryRow(`SELECT issues_generation, legend_generation FROM repos WHERE id = $1`, repoID).
		Scan(&g.issues, &g.legend)
	if errors.Is(err, db.ErrNoRows) {
		return g, errs.Absent()
	}
	if err == nil {
		g.accounts, err = tx.Generation(account.Topic)
	}
	return g, err
}

// kept is what a page of one repository's issues takes from the cache.
type kept struct {
	cache *cache.Cache[cacheKey, any]
	g     generations
	repo  *repo.Access
	host  string // the addresses that the server is called by, which payloads show
	place string // and those of the repository
}

func (s *Service) newKept(g generations, a *repo.Access, at *tracker.Place) *kept {
	return &kept{s.shown, g, a, at.Info.Prefix + " " + at.Info.Site, at.API + " " + at.Page}
}

func (k *kept) get(key cacheKey) (any, bool) { return k.cache.Get(k.g.state(key.kind), key) }

func (k *kept) put(key cacheKey, v any) { k.cache.Put(k.g.state(key.kind), key, v) }

// names finds what the parameters of a repository's list name.
type names struct {
	*kept
	tx *db.Tx
}

// idsOf gives the ids of what texts name, as far as it is there: those that are
// kept, and others as read reads them.
func idsOf[ID ~int64](
	n names, as cacheKey, texts []string, read func(texts []string) (map[string]ID, error),
) (map[string]ID, error) {
	found := make(map[string]ID, len(texts))
	var missing []string
	for _, text := range texts {
		as.text = text
		if id, ok := n.get(as); !ok {
			missing = append(missing, text)
		} else if id != ID(0) {
			found[text] = id.(ID)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	if n.tx == nil {
		return nil, errNotKept
	}
	ids, err := read(missing)
	if err != nil {
		return nil, err
	}
	for _, text := range missing {
		as.text = strings.Clone(text) // the cache must not keep the whole address of a request
		n.put(as, ids[text])
		if ids[text] != 0 {
			found[text] = ids[text]
		}
	}
	return found, nil
}

// labels gives the ids of labels by their folded names.
func (n names) labels(folded []string) (map[string]int64, error) {
	as := cacheKey{kind: namedLabel, repo: n.repo.ID}
	return idsOf(n, as, folded, func(folded []string) (map[string]int64, error) {
		found, err := label.Named(n.tx, n.repo.ID, folded)
		ids := map[string]int64{}
		for name, l := range found {
			ids[name] = l.ID
		}
		return ids, err
	})
}

// logins gives the ids of accounts by their folded logins.
func (n names) logins(folded []string) (map[string]account.ID, error) {
	as := cacheKey{kind: namedUser}
	return idsOf(n, as, folded, func(folded []string) (map[string]account.ID, error) {
		found, err := account.ByLogins(n.tx, folded)
		ids := map[string]account.ID{}
		for login, a := range found {
			ids[login] = a.ID
		}
		return ids, err
	})
}

// milestone gives the id of the milestone with the number; 0: there is none.
func (n names) milestone(number int64) (int64, error) {
	text := itoa(number)
	as := cacheKey{kind: numberedMilestone, repo: n.repo.ID}
	found, err := idsOf(n, as, []string{text}, func([]string) (map[string]int64, error) {
		m, err := milestone.ByNumber(n.tx, n.repo.ID, number)
		if errs.Is(err, errs.NotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return map[string]int64{text: m.ID}, nil
	})
	return found[text], err
}

// listPage is a page of one repository's list.
type listPage struct {
	*page
	total int64
}

// listRequest asks for a page of one repository's issues.
type listRequest struct {
	in *repo.Access
	// choose gives the conditions. some is false when a parameter names nobody and nothing.
	choose func(n names) (where finder.And, some bool, err error)
	order  finder.Order
	at     web.Page
}

// listIn reads a page of a repository's issues, and all that it shows: without the
// database where everything is in memory, as the request found the repository.
func (s *Service) listIn(ctx context.Context, r listRequest) (l *listPage, err error) {
	g := generations{r.in.IssuesGeneration, r.in.LegendGeneration, r.in.AccountsGeneration}
	if l, err = s.listUnder(ctx, nil, g, r); !errors.Is(err, errNotKept) {
		return l, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		g, err := generationsOf(tx, r.in.ID)
		if err == nil {
			l, err = s.listUnder(ctx, tx, g, r)
		}
		return err
	})
	return l, err
}

// listUnder is listIn under generations that the transaction has read, or without
// a transaction. Error: errNotKept where it needs one.
func (s *Service) listUnder(ctx context.Context, tx *db.Tx, g generations, r listRequest) (*listPage, error) {
	l := &listPage{page: newPage(ctx, r.in)}
	l.kept = s.newKept(g, r.in, l.places[r.in.ID])
	where, some, err := r.choose(names{l.kept, tx})
	if err != nil || !some {
		return l, err
	}
	q := finder.Query{Repos: []finder.Repo{{ID: r.in.ID, Generation: g.issues}}, Where: where, Order: r.order}
	var found finder.Found
	if tx == nil {
		l.issues, found, err = s.findKept(ctx, q, r.at.Offset(), r.at.Size)
	} else {
		l.issues, found, err = s.Find(tx, q, r.at.Offset(), r.at.Size)
	}
	if err != nil {
		return nil, err
	}
	l.total = found.Total
	return l, l.load(tx)
}
