package posting

import (
	"slices"

	"arbor/internal/db"
)

// scanned is a query that one statement answers: of the postings of one property
// that all results have, those that meet all conditions.
type scanned struct {
	b     *builder
	order Order
	words *Text  // matched first; nil: no words
	kind  string // of the property
	of    string // its values: behind IN
	named bool   // these are of many repositories
	rest  []Expr
}

// maxScopes is the maximum number of repositories in a query of the word index. For more, its results are
// filtered.
const maxScopes = 8

// scan reads a page and the total by one statement, or by two without words.
func scan(tx *db.Tx, q *Query, offset, size int64) (Found, error) {
	s := newScan(tx, q)
	if s.words != nil {
		return s.findOnce(offset, size)
	}
	return s.find(offset, size)
}

func newScan(tx *db.Tx, q *Query) *scanned {
	s := &scanned{b: &builder{tx: tx}, order: q.Order, rest: slices.Clone(conjuncts(q.Where))}
	if q.Many != nil {
		s.b.args, s.b.scope = slices.Clone(q.Many.Args), "("+q.Many.SQL+")"
	} else {
		s.b.scope = values(s.b, repoIDs(q.Repos))
		if len(q.Repos) <= maxScopes {
			s.b.repos = repoIDs(q.Repos)
		}
	}
	s.takeWords()
	s.takeBase()
	return s
}

// takeWords takes the words out of the conditions that are looked for first.
func (s *scanned) takeWords() {
	at := slices.IndexFunc(s.rest, isText)
	if at < 0 {
		return
	}
	words := s.rest[at].(Text)
	s.words, s.rest = &words, slices.Delete(s.rest, at, at+1)
}

// preferred are the kinds of properties whose postings are walked, the most
// telling first.
var preferred = [...]Kind{ByBranch, ByTeam, ByAuthor, ByAssignee, ByMention,
	BySubscriber, ByMilestone, ByLabel, ByPull}

// takeBase removes and returns the condition whose postings are scanned. An issue has at most one value of
// its kind.
func (s *scanned) takeBase() {
	at, best := -1, len(preferred)
	for n, e := range s.rest {
		kind, ok := baseKind(e)
		if _, named := e.(Has); !ok || s.words != nil && !named {
			continue // with words, the values from a SELECT are looked up
		}
		if rank := slices.Index(preferred[:], kind); rank >= 0 && rank < best {
			at, best = n, rank
		}
	}
	if at < 0 {
		s.kind, s.of = s.b.property(Has{ByAll, []int64{0}})
		return
	}
	_, has := s.rest[at].(Has)
	s.named = !has
	s.kind, s.of = s.b.property(s.rest[at])
	s.rest = slices.Delete(s.rest, at, at+1)
}

// baseKind returns the kind of a condition whose postings hold each issue once.
func baseKind(e Expr) (Kind, bool) {
	switch e := e.(type) {
	case Has:
		return e.Kind, walkable(e) != nil
	case Named: // each repository has one label of a name
		return e.Kind, e.Kind == ByMilestone || len(e.Names) == 1
	case ids:
		several := false
		for _, list := range e.byRepo {
			several = several || len(list) > 1
		}
		return e.kind, e.kind == ByMilestone || !several
	}
	return 0, false
}
