package issue

import (
	"sync"
	"sync/atomic"

	"arbor/internal/account"
	"arbor/internal/issue/index"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/posting"
)

// kept is what payloads of one repository's issues are made from, in memory
// beside the index: rows that lists showed, as far as they did not change since,
// and the legend. It belongs to the index's lock; what is in it never changes.
type kept struct {
	rows   map[int64]*Issue
	bytes  atomic.Int64 // of the rows, about
	legend *legend      // nil: it was not read since it changed
}

const (
	maxKeptRows = 48 << 20 // bytes of the rows of one repository
	maxAllRows  = 64 << 20 // and of all
	maxLegend   = 2000     // labels, or milestones, of a repository whose lists are made in memory
)

func (i *Issue) bytes() int64 {
	n := 400 + len(i.Title)
	if i.Body != nil {
		n += len(*i.Body)
	}
	return int64(n)
}

// forget drops the rows of issues that changed.
func (k *kept) forget(changed []index.Entry) {
	for _, e := range changed {
		if i := k.rows[e.ID]; i != nil {
			k.bytes.Add(-i.bytes())
			delete(k.rows, e.ID)
		}
	}
}

// keep takes rows. Where there is no room for more, some go.
func (k *kept) keep(rows []*Issue) {
	if k.rows == nil {
		k.rows = map[int64]*Issue{}
	}
	for _, i := range rows {
		if k.rows[i.ID] == nil {
			k.rows[i.ID] = i
			k.bytes.Add(i.bytes())
		}
	}
	for id, i := range k.rows {
		if k.bytes.Load() <= maxKeptRows {
			break
		}
		k.bytes.Add(-i.bytes())
		delete(k.rows, id)
	}
}

// keep keeps what was read at a generation: rows, and a legend unless it is nil.
func (x *indexed) keep(at int64, rows []*Issue, l *legend) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.generation.issues != at {
		return
	}
	x.kept.keep(rows)
	if l != nil && l.generation == x.generation.legend {
		x.kept.legend = l
	}
}

// trim drops the rows of repositories that were not used for the longest time,
// while there are too many of all but x's.
func (n *indexes) trim(x *indexed) {
	for {
		victim := n.mostIdle(x)
		if victim == nil {
			return
		}
		victim.mu.Lock()
		victim.kept.rows = nil
		victim.kept.bytes.Store(0)
		victim.mu.Unlock()
	}
}

// mostIdle is the repository whose rows go; nil where all may stay.
func (n *indexes) mostIdle(x *indexed) (victim *indexed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	total := int64(0)
	for _, y := range n.byRepo {
		b := y.kept.bytes.Load()
		total += b
		if b > 0 && y != x && (victim == nil || y.used.Load() < victim.used.Load()) {
			victim = y
		}
	}
	if total <= maxAllRows {
		return nil
	}
	return victim
}

// legend is the labels and milestones of a repository, and how people stand to
// it, at one legend_generation.
type legend struct {
	generation int64
	tooMuch    bool // for the memory: the rest is empty
	labels     map[int64]*label.Label
	named      map[string]*label.Label        // by label.Fold
	milestones map[int64]*milestone.Milestone // without what is counted in them
	numbered   map[int64]*milestone.Milestone

	mu       sync.RWMutex
	counted  int64               // the issues_generation that counts belong to
	counts   map[int64][2]int64  // of the milestones' issues, open and closed
	accounts int64               // the generation of the accounts that roles belong to
	roles    [2]map[int64]string // of those looked up so far; the second for insiders
	pieces   pieces
	digests  remembered[digestKey, digest]
}

func newLegend(generation int64, labels []*label.Label, milestones []*milestone.Milestone) *legend {
	l := &legend{generation: generation, labels: map[int64]*label.Label{}, named: map[string]*label.Label{},
		milestones: map[int64]*milestone.Milestone{}, numbered: map[int64]*milestone.Milestone{}}
	for _, one := range labels {
		l.labels[one.ID], l.named[label.Fold(one.Name)] = one, one
	}
	for _, m := range milestones {
		l.milestones[m.ID], l.numbered[m.Number] = m, m
	}
	return l
}

// count counts the issues of a milestone, once for each generation.
func (l *legend) count(x *indexed, milestone int64) (open, closed int64) {
	l.mu.RLock()
	c, ok := l.counts[milestone]
	ok = ok && l.counted == x.generation.issues
	l.mu.RUnlock()
	if ok {
		return c[0], c[1]
	}
	a, b := x.index.Counts(inIndex(posting.ByMilestone.Of(milestone)))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil || l.counted != x.generation.issues {
		l.counted, l.counts = x.generation.issues, map[int64][2]int64{}
	}
	l.counts[milestone] = [2]int64{int64(a), int64(b)}
	return int64(a), int64(b)
}

// rolesAt gives what is known of how people stand to the repository, at a
// generation of the accounts.
func (l *legend) rolesAt(accounts int64, inside bool, repo int64, users []int64) (roles map[roleKey]string, missing []int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	roles = make(map[roleKey]string, len(users))
	known := l.roles[bit(inside)]
	if l.accounts != accounts {
		known = nil
	}
	for _, id := range users {
		if role, ok := known[id]; ok {
			roles[roleKey{repo, id}] = role
		} else {
			missing = append(missing, id)
		}
	}
	return roles, missing
}

func (l *legend) addRoles(accounts int64, inside bool, roles map[int64]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.accounts > accounts {
		return
	}
	if l.accounts < accounts {
		l.accounts, l.roles = accounts, [2]map[int64]string{}
	}
	known := &l.roles[bit(inside)]
	if *known == nil || len(*known) > maxPeople {
		*known = map[int64]string{}
	}
	for id, role := range roles {
		(*known)[id] = role
	}
}

// people are accounts at one generation of the accounts.
type people struct {
	generation int64
	pieces     pieces

	mu      sync.RWMutex
	byID    map[int64]*account.Account
	byLogin map[string]*account.Account // folded
}

// maxPeople bounds what is kept of people, and of other things, to some megabytes.
const maxPeople = 50_000

// peopleAt gives the people of a generation; nil for one that is over.
func (n *indexes) peopleAt(generation int64) *people {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.people == nil || n.people.generation < generation {
		n.people = &people{generation: generation, byID: map[int64]*account.Account{}, byLogin: map[string]*account.Account{}}
	}
	if n.people.generation > generation {
		return nil
	}
	return n.people
}

func (y *people) add(list map[int64]*account.Account) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.byID) > maxPeople {
		clear(y.byID)
		clear(y.byLogin)
	}
	for id, a := range list {
		y.byID[id], y.byLogin[account.Fold(a.Login)] = a, a
	}
}

// find gives those of the ids that are known, and the others.
func (y *people) find(ids []int64) (known map[int64]*account.Account, missing []int64) {
	y.mu.RLock()
	defer y.mu.RUnlock()
	known = make(map[int64]*account.Account, len(ids))
	for _, id := range ids {
		if a := y.byID[id]; a != nil {
			known[id] = a
		} else {
			missing = append(missing, id)
		}
	}
	return known, missing
}

func (y *people) named(login string) *account.Account {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.byLogin[account.Fold(login)]
}

// remembered is what was made of something before: for each base, which names what
// all of it depends on, by key.
type remembered[K comparable, V any] struct {
	mu     sync.RWMutex
	byBase map[string]map[K]V
}

// pieces are parts of payloads that many of them hold, rendered.
type pieces = remembered[pieceKey, []byte]

// pieceKey names a piece.
type pieceKey struct {
	kind         byte
	id           int64
	open, closed int64 // of a milestone
}

// maxBases is for how many bases something is remembered: dialects, addresses that
// the server is called by. Each has room for as much as maxPeople says.
const maxBases = 8

// get gives what is remembered, or else what make makes.
func (p *remembered[K, V]) get(base string, key K, make func() V) V {
	p.mu.RLock()
	v, ok := p.byBase[base][key]
	p.mu.RUnlock()
	if ok {
		return v
	}
	v = make()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byBase == nil || len(p.byBase) >= maxBases && p.byBase[base] == nil {
		p.byBase = map[string]map[K]V{}
	}
	if m := p.byBase[base]; m == nil || len(m) > maxPeople {
		p.byBase[base] = map[K]V{}
	}
	p.byBase[base][key] = v
	return v
}

// piece is pieces.get; nil people keep nothing.
func (y *people) piece(base string, key pieceKey, render func() []byte) []byte {
	if y == nil {
		return render()
	}
	return y.pieces.get(base, key, render)
}

// piece is pieces.get; a nil legend keeps nothing.
func (l *legend) piece(base string, key pieceKey, render func() []byte) []byte {
	if l == nil {
		return render()
	}
	return l.pieces.get(base, key, render)
}
