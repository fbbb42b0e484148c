package issue

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue/index"
	"arbor/internal/posting"
)

// indexes are those of repositories whose issues were listed lately, in memory.
// A list whose repositories are all there is found in them, else by SQL, which
// always can; what is missing is then filled beside the requests.
//
// Nothing is told of writes: each index knows the issues_generation that it
// stands for, and a reader whose snapshot has a later one reads the issues that
// changed in between. So it does not matter who wrote, in which process.
type indexes struct {
	wanted chan int64 // ids of repositories to be filled

	mu     sync.Mutex
	byRepo map[int64]*indexed
	bytes  int
	clock  int64
	people *people
}

// indexed is the index of one repository.
type indexed struct {
	repo int64
	used atomic.Int64 // by the clock of all; the least recently used one goes first

	bytes int

	mu         sync.RWMutex
	generation generation
	index      *index.Index // nil: it counts no longer
	kept       kept
}

// generation is what a snapshot says of how often a repository's issues changed.
type generation struct {
	issues int64 // issues_generation
	legend int64 // legend_generation
}

const (
	maxIndexBytes = 192 << 20 // of all indexes: some two million issues
	maxCatchUp    = 2000      // issues that a reader reads; when more changed, all are
	maxParts      = 500       // repositories of a list that is found in memory
)

func newIndexes() *indexes {
	return &indexes{wanted: make(chan int64, 100), byRepo: map[int64]*indexed{}}
}

// get finds the index of a repository; nil asks for it.
func (n *indexes) get(repo int64) *indexed {
	n.mu.Lock()
	defer n.mu.Unlock()
	x := n.byRepo[repo]
	if x == nil {
		select {
		case n.wanted <- repo:
		default: // there is enough to do; a later list will ask again
		}
		return nil
	}
	n.clock++
	x.used.Store(n.clock)
	return x
}

// found is what find finds.
type found struct {
	ids    []int64
	total  int64
	rows   map[int64]*Issue // of the ids, as far as they are kept
	needed []needed
}

// find is Find in memory. ok is false where SQL must be asked.
func (n *indexes) find(tx *db.Tx, q *posting.Query, offset, size int64) (f found, ok bool, err error) {
	if len(q.Parts) > maxParts {
		return f, false, nil
	}
	f.needed, ok = n.all(q.Parts)
	for at := 0; ok && at < len(f.needed); at++ {
		ok, err = n.reach(tx, &f.needed[at])
	}
	if !ok || err != nil {
		return f, false, err
	}
	chosen := make([]*index.Selection, 0, len(f.needed))
	f.rows = map[int64]*Issue{}
	for _, r := range f.needed {
		r.mu.RLock()
		defer r.mu.RUnlock()
		if r.index == nil || r.indexed.generation.issues != r.to {
			return f, false, nil
		}
		s := r.index.Select(partInIndex(q, r.part))
		f.total += int64(s.Total())
		chosen = append(chosen, s)
	}
	f.ids = index.Page(chosen, index.Order(q.Order), int(min(offset, f.total)), int(size))
	for at, s := range chosen {
		if s.Total() == 0 {
			continue
		}
		for _, id := range f.ids {
			if i := f.needed[at].kept.rows[id]; i != nil {
				f.rows[id] = i
			}
		}
	}
	return f, true, nil
}

// issues gives the issues that were found: those that are not kept are read, and
// kept.
func (n *indexes) issues(tx *db.Tx, f *found) ([]*Issue, error) {
	var missing []int64
	for _, id := range f.ids {
		if f.rows[id] == nil {
			missing = append(missing, id)
		}
	}
	read, err := ByIDs(tx, missing)
	if err != nil {
		return nil, err
	}
	byRepo := map[int64][]*Issue{}
	for _, i := range read {
		f.rows[i.ID] = i
		byRepo[i.RepoID] = append(byRepo[i.RepoID], i)
	}
	for _, r := range f.needed {
		if rows := byRepo[r.repo]; rows != nil {
			r.keep(r.to, rows, nil)
			n.trim(r.indexed)
		}
	}
	list := make([]*Issue, 0, len(f.ids))
	for _, id := range f.ids {
		if i := f.rows[id]; i != nil {
			list = append(list, i)
		}
	}
	return list, nil
}

// needed is an index that a part of a query needs, and the generation that it
// must have reached.
type needed struct {
	*indexed
	part *posting.Part
	to   int64
}

// all finds the index of each part; ok is false where one is missing. They are
// in the order of their repositories: who holds one waits only for later ones.
func (n *indexes) all(parts []posting.Part) (list []needed, ok bool) {
	ok = true
	list = make([]needed, len(parts))
	for at := range parts {
		x := n.get(parts[at].RepoID)
		list[at] = needed{x, &parts[at], parts[at].Generation}
		ok = ok && x != nil
	}
	if ok {
		slices.SortFunc(list, func(a, b needed) int { return cmp.Compare(a.repo, b.repo) })
	}
	return list, ok
}

// partInIndex is a query for one of its parts.
func partInIndex(q *posting.Query, p *posting.Part) index.Query {
	in := index.Query{Since: int64(q.Since), Open: slices.Contains(q.States, Open), Closed: slices.Contains(q.States, Closed)}
	for _, has := range p.Has {
		if has.Kind != posting.ByAll || len(p.Has) == 1 {
			in.Has = append(in.Has, inIndex(has))
		}
	}
	for _, lacks := range p.Lacks {
		in.Lacks = append(in.Lacks, inIndex(lacks))
	}
	return in
}

func inIndex(p posting.Property) index.Property {
	return index.Property{Kind: index.Kind(p.Kind), Value: p.Value}
}

// reach brings an index to the generation of the transaction's snapshot. It
// reports false where it cannot be: it is beyond, or counts no longer.
func (n *indexes) reach(tx *db.Tx, r *needed) (ok bool, err error) {
	if r.to != 0 {
		r.mu.RLock()
		at, counts := r.indexed.generation.issues, r.index != nil
		r.mu.RUnlock()
		if !counts || at >= r.to {
			return counts && at == r.to, nil
		}
	}
	r.to, err = n.catchUp(tx, r.indexed)
	return err == nil && r.to != 0, err
}

// catchUp reads what changed in the repository up to the transaction's
// snapshot, and returns the generation that the index has then; 0 where it is
// beyond, or counts no longer. Errors: 404.
func (n *indexes) catchUp(tx *db.Tx, x *indexed) (int64, error) {
	now, err := generationOf(tx, x.repo)
	if err != nil {
		return 0, err
	}
	x.mu.RLock()
	from, counts := x.generation, x.index != nil
	x.mu.RUnlock()
	switch {
	case !counts || from.issues > now.issues:
		return 0, nil
	case from == now:
		return now.issues, nil
	}
	entries, err := changedSince(tx, x.repo, from.issues)
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index == nil || x.generation != from {
		if x.generation == now && x.index != nil { // somebody else was faster
			return now.issues, nil
		}
		return 0, nil
	}
	if len(entries) > maxCatchUp || !x.index.Put(entries...) {
		x.index = nil
		n.drop(x)
		return 0, nil
	}
	x.generation = now
	x.kept.forget(entries)
	return now.issues, nil
}

// drop forgets an index.
func (n *indexes) drop(x *indexed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(x)
}

func (n *indexes) forget(x *indexed) {
	if n.byRepo[x.repo] == x {
		delete(n.byRepo, x.repo)
		n.bytes -= x.bytes
	}
}

// keep takes a new index, and forgets those that were not used for the longest
// time where there is no room.
func (n *indexes) keep(x *indexed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock++
	x.used.Store(n.clock)
	n.byRepo[x.repo] = x
	n.bytes += x.bytes
	for n.bytes > maxIndexBytes {
		n.forget(slices.MinFunc(slices.Collect(maps.Values(n.byRepo)), func(a, b *indexed) int {
			return cmp.Compare(a.used.Load(), b.used.Load())
		}))
	}
}

// has reports whether there is an index of the repository.
func (n *indexes) has(repo int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byRepo[repo] != nil
}

// fillIndexes fills the indexes that lists miss, until ctx is done.
func (s *Service) fillIndexes(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case repo := <-s.indexes.wanted:
			if s.indexes.has(repo) {
				continue
			}
			if err := s.fillIndex(ctx, repo); err != nil && ctx.Err() == nil && !errs.Is(err, errs.NotFound) {
				s.log.Warn("the issues of a repository are listed by SQL alone", "repo", repo, "error", err)
			}
		}
	}
}

// fillIndex reads all that an index of a repository holds, some at a time: what
// changes meanwhile is read again by whoever uses it first. Error: 404.
func (s *Service) fillIndex(ctx context.Context, repo int64) error {
	started := time.Now()
	f := &indexFiller{ctx: ctx, db: s.db, repo: repo}
	if err := f.begin(); err != nil {
		return err
	}
	if f.sizes[posting.ByAll.Of(0)]*bytesPerIssue > maxIndexBytes {
		return nil // each list asks again, so this must be found out before anything is read
	}
	if err := f.readIssues(); err != nil {
		return err
	}
	x, err := f.fill()
	if err != nil {
		return err
	}
	s.indexes.keep(&indexed{repo: repo, generation: f.generation, index: x, bytes: x.Bytes()})
	if took := time.Since(started); took > time.Second/4 {
		s.log.Info("the issues of a repository can be listed from memory", "repo", repo, "issues", x.Len(),
			"bytes", x.Bytes(), "took", took.Round(time.Millisecond))
	}
	return nil
}

// bytesPerIssue is about what an issue takes in an index.
const bytesPerIssue = 90
