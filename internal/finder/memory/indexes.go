package memory

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/finder"
	"arbor/internal/repo"
)

// Indexes are those of the repositories whose issues were listed lately.
type Indexes struct {
	db     *db.DB
	log    *slog.Logger
	limit  int          // bytes of all indexes
	hits   atomic.Int64 // queries that were answered here
	misses atomic.Int64 // those that were left to SQL
	wanted chan repo.ID // ids of repositories whose indexes are to be filled

	mu     sync.Mutex
	byRepo map[repo.ID]*indexed
	bytes  int
	clock  int64
}

// indexed is the index of one repository. The fields used and bytes belong to the
// lock of Indexes.
type indexed struct {
	repo  repo.ID
	used  int64 // by the clock of all; the least recently used one goes first
	bytes int

	mu         sync.RWMutex
	generation int64  // the issues_generation that it stands for
	index      *index // nil: there is none, because it would be too large, or counts no longer
}

// standsFor reports whether the index is that of a generation. The first one after it
// was filled is not: some issues may have changed meanwhile, and be ahead.
func (x *indexed) standsFor(generation int64) bool {
	return x.index != nil && x.generation == generation && x.index.newest <= generation
}

const (
	maxBytes   = 192 << 20 // of all indexes: some two million issues
	maxCatchUp = 2000      // issues that a reader reads; when more changed, the index is filled anew
	maxRepos   = 500       // repositories of one query
)

// New makes indexes. Start Run beside them.
func New(d *db.DB, log *slog.Logger) *Indexes {
	return &Indexes{db: d, log: log, limit: maxBytes, wanted: make(chan repo.ID, 100),
		byRepo: map[repo.ID]*indexed{}}
}

// Found is a page of what a query finds.
type Found struct {
	IDs     []int64
	Changed []int64 // of each id: the issues_generation with which its row was last written
	Total   int64
}

// target is an index that a query needs, and for what.
type target struct {
	*indexed
	to   int64 // the generation that it must have
	tree finder.Expr
}

// Find reads a page of what a prepared query finds. ok is false where SQL must be
// asked: an index is missing, or does not hold what the query asks for. Without a
// transaction all generations of the query are known, and indexes that stand for
// others are no use.
func (n *Indexes) Find(tx *db.Tx, q *finder.Query, offset, size int64) (found Found, ok bool, err error) {
	targets, ok := n.targets(q)
	for at := 0; ok && at < len(targets); at++ {
		ok, err = n.reach(tx, &targets[at])
	}
	if !ok || err != nil {
		n.misses.Add(1)
		return found, false, err
	}
	var chosen []*selection
	for _, t := range targets { // by repository: a reader that holds a lock waits only for later ones
		t.mu.RLock()
		defer t.mu.RUnlock()
		if !t.standsFor(t.to) {
			n.misses.Add(1)
			return found, false, nil
		}
		chosen = append(chosen, t.index.choose(t.tree))
	}
	n.hits.Add(1)
	return page(chosen, q.Order, int(min(offset, 1<<40)), int(size)), true, nil
}

// targets finds the indexes that a query needs, by repository. Those that are
// missing are asked for.
func (n *Indexes) targets(q *finder.Query) (list []target, ok bool) {
	if q.Many != nil || len(q.Repos) > maxRepos {
		return nil, false
	}
	ok = true
	for _, r := range q.Repos {
		tree := finder.InRepo(q.Where, r)
		if finder.IsFalse(tree) {
			continue
		}
		if !knows(tree) {
			return nil, false
		}
		x := n.get(r.ID)
		list, ok = append(list, target{x, r.Generation, tree}), ok && x != nil
	}
	if ok {
		slices.SortFunc(list, func(a, b target) int { return cmp.Compare(a.repo, b.repo) })
	}
	return list, ok
}

// get finds the index of a repository; nil asks for it.
func (n *Indexes) get(repoID repo.ID) *indexed {
	n.mu.Lock()
	defer n.mu.Unlock()
	x := n.byRepo[repoID]
	if x == nil {
		select {
		case n.wanted <- repoID:
		default: // there is enough to do; a later list will ask again
		}
		return nil
	}
	n.clock++
	x.used = n.clock
	return x
}

// reach brings an index to the generation of the transaction's snapshot. It
// reports false where it cannot be: it is beyond, or counts no longer.
func (n *Indexes) reach(tx *db.Tx, t *target) (ok bool, err error) {
	if t.to == finder.Unread {
		if tx == nil {
			return false, nil
		}
		if t.to, err = generationOf(tx, t.repo); err != nil {
			return false, err
		}
	}
	return n.catchUp(tx, t.indexed, t.to)
}

// catchUp reads what changed in the repository up to the transaction's snapshot,
// of which to is the generation; without a transaction, nothing. It reports false
// where the index does not stand for that then.
func (n *Indexes) catchUp(tx *db.Tx, x *indexed, to int64) (ok bool, err error) {
	x.mu.RLock()
	from, behind, ok := x.generation, x.index != nil && x.generation < to, x.standsFor(to)
	x.mu.RUnlock()
	if !behind || tx == nil {
		return ok, nil
	}
	entries, err := changedSince(tx, x.repo, from)
	if err != nil {
		return false, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index == nil || x.generation != from {
		return x.standsFor(to), nil // somebody else was faster
	}
	if len(entries) > maxCatchUp || !x.index.put(entries) {
		x.index = nil
		n.drop(x)
		return false, nil
	}
	x.generation = to
	n.keep(x, x.index.bytes())
	return x.standsFor(to), nil
}

// drop forgets an index.
func (n *Indexes) drop(x *indexed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(x)
}

func (n *Indexes) forget(x *indexed) {
	if n.byRepo[x.repo] == x {
		delete(n.byRepo, x.repo)
		n.bytes -= x.bytes
	}
}

// keep notes how much memory an index takes, new or changed. Where there is no
// room, those go that were not used for the longest time.
func (n *Indexes) keep(x *indexed, bytes int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byRepo[x.repo] == x {
		n.bytes -= x.bytes
	} else if old := n.byRepo[x.repo]; old != nil {
		n.forget(old)
	}
	if bytes > n.limit { // it has outgrown the room
		x, bytes = &indexed{repo: x.repo}, 0
	}
	n.clock++
	n.byRepo[x.repo], x.used, x.bytes = x, n.clock, bytes
	n.bytes += bytes
	for n.bytes > n.limit {
		var oldest *indexed
		for _, y := range n.byRepo {
			if y.bytes > 0 && (oldest == nil || y.used < oldest.used) {
				oldest = y
			}
		}
		n.forget(oldest)
	}
}

// has reports whether there is an index of the repository.
func (n *Indexes) has(repoID repo.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byRepo[repoID] != nil
}

// Run fills the indexes that queries miss, until ctx is done.
func (n *Indexes) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case repoID := <-n.wanted:
			if n.has(repoID) {
				continue
			}
			if err := n.Fill(ctx, repoID); err != nil && ctx.Err() == nil && !errs.Is(err, errs.NotFound) {
				n.log.WarnContext(ctx, "the issues of a repository are found by SQL alone", "repo", repoID,
					"error", err)
			}
		}
	}
}

// Stats tells of the indexes, under a name: how many there are, and their bytes.
func (n *Indexes) Stats(name string) cache.Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return cache.Stats{Name: name, Entries: int64(len(n.byRepo)), Held: int64(n.bytes), Most: int64(n.limit),
		Hits: n.hits.Load(), Misses: n.misses.Load()}
}

// Waiting is how many repositories wait until their index is filled.
func (n *Indexes) Waiting() int { return len(n.wanted) }
