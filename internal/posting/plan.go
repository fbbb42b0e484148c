package posting

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// Prepare simplifies a query, and looks up the names in it where the repositories
// are named: executors of prepared queries need not.
func Prepare(tx *db.Tx, q *Query) error {
	q.Where = simplify(q.Where, func(e Expr) Expr { return e })
	if q.Order.Sort == Score && !slices.ContainsFunc(conjuncts(q.Where), isText) {
		q.Order.Sort = Created
	}
	if q.Many != nil {
		return nil
	}
	var err error
	q.Where = simplify(q.Where, func(e Expr) Expr {
		named, ok := e.(Named)
		if !ok || err != nil {
			return e
		}
		found := ids{named.Kind, nil}
		found.byRepo, err = idsOf(tx, named, q.Repos)
		return found
	})
	return err
}

// deep is how far into a list more ranges than maxTogether are merged: what they
// give up to there is held in memory.
const deep = 2000

// Find reads a page of what a prepared query finds, by SQL.
func Find(tx *db.Tx, q Query, offset, size int64) (Found, error) {
	if IsFalse(q.Where) || q.Many == nil && len(q.Repos) == 0 {
		return Found{}, nil
	}
	if !walks(&q) {
		return scan(tx, &q, offset, size)
	}
	asked := map[Property][]repo.ID{}
	trees := treesOf(&q, asked)
	counts, err := countsOf(tx, asked)
	if err != nil {
		return Found{}, err
	}
	list := rangesOf(&q, trees, counts)
	if len(list) == 0 {
		return Found{}, nil
	}
	if len(list) > maxTogether && offset+size > deep || len(list) > 2*maxScopes && hasSelect(q.Where) {
		return scan(tx, &q, offset, size)
	}
	f := &ranges{tx: tx, order: q.Order, list: list}
	return f.find(offset, size)
}

// walks reports a query that ranges of the postings can answer: not one for words, nor one of repositories
// without names.
func walks(q *Query) bool {
	return q.Many == nil && !slices.ContainsFunc(conjuncts(q.Where), isText)
}

// hasSelect reports a tree with a condition whose issues a SELECT of its own finds:
// once in one statement, and once for each of many ranges.
func hasSelect(e Expr) bool {
	switch e := e.(type) {
	case And:
		return slices.ContainsFunc(e, hasSelect)
	case Or:
		return isSet(e) || slices.ContainsFunc(e, hasSelect)
	case Not:
		return hasSelect(e.Expr)
	case CommentedBy, Text:
		return true
	}
	return false
}

func isText(e Expr) bool {
	_, ok := e.(Text)
	return ok
}

// span is a range of the postings, the issues of one repository and state that
// have a property, and what else each of them must be.
type span struct {
	by    Property
	repo  repo.ID
	state issuekit.State
	since int64 // updated at or after; 0: any time
	rest  And
	n     int64 // how many postings it has
	less  *span // the issues that rest takes out, if that is all that rest says; nil: it says more
}

// treesOf returns the conditions for each of a query's repositories, nil if no issue can match, and adds to
// asked the properties whose counters give the number of issues.
func treesOf(q *Query, asked map[Property][]repo.ID) [][]Expr {
	trees := make([][]Expr, len(q.Repos))
	for at, r := range q.Repos {
		e := InRepo(q.Where, r)
		if IsFalse(e) {
			continue
		}
		trees[at] = append(conjuncts(e), Has{ByAll, []int64{0}})
		for _, e := range trees[at] {
			if not, ok := e.(Not); ok {
				e = not.Expr
			}
			for _, p := range walkable(e) {
				asked[p] = append(asked[p], r.ID)
			}
		}
	}
	return trees
}

// rangesOf chooses the ranges that a query walks: of each repository and state those of the condition that
// the fewest issues meet.
func rangesOf(q *Query, trees [][]Expr, counts map[countKey]int64) (list []span) {
	for at, r := range q.Repos {
		if trees[at] != nil {
			list = appendSpans(list, r.ID, trees[at], counts)
		}
	}
	return list
}

// walkable are the properties whose ranges hold all issues that meet the
// condition, each of them once. There are none if it is not made of ranges.
func walkable(e Expr) (list []Property) {
	has, ok := e.(Has)
	if !ok || len(has.Values) > 1 && has.Kind != ByAuthor && has.Kind != ByMilestone {
		return nil // an issue with two of the values would be there twice
	}
	for _, v := range db.Unique(has.Values) {
		list = append(list, has.Kind.Of(v))
	}
	return list
}

// appendSpans chooses the ranges of one repository.
func appendSpans(list []span, repoID repo.ID, tree []Expr, counts map[countKey]int64) []span {
	states, since, tree := outer(tree)
	for _, state := range states {
		size := func(e Expr) (n int64) {
			for _, p := range walkable(e) {
				n += counts[countKey{repoID, p, state}]
			}
			return n
		}
		best := len(tree) - 1 // all issues
		for at, e := range tree {
			if walkable(e) != nil && size(e) < size(tree[best]) {
				best = at
			}
		}
		var rest And
		for at, e := range tree[:len(tree)-1] {
			not, ok := e.(Not)
			if none := ok && walkable(not.Expr) != nil && size(not.Expr) == 0; at != best && !none {
				rest = append(rest, e)
			}
		}
		for _, p := range walkable(tree[best]) {
			if n := counts[countKey{repoID, p, state}]; n > 0 {
				s := span{by: p, repo: repoID, state: state, since: since, rest: rest, n: n}
				s.less = s.excluded(counts)
				list = append(list, s)
			}
		}
	}
	return list
}

// excluded returns the issues of the range that have the one property which all others must not have. It
// returns nil if there is another condition, or if fewer issues have the range's property than that one.
func (s *span) excluded(counts map[countKey]int64) *span {
	if len(s.rest) != 1 || s.since != 0 {
		return nil
	}
	not, ok := s.rest[0].(Not)
	if !ok {
		return nil
	}
	of := walkable(not.Expr)
	if len(of) != 1 {
		return nil
	}
	less := &span{by: of[0], repo: s.repo, state: s.state, n: counts[countKey{s.repo, of[0], s.state}]}
	if s.by.Kind != ByAll {
		less.rest = And{HasOne(s.by)}
	}
	if less.n > s.n {
		return nil
	}
	return less
}

// outer takes out of conditions what bounds a range itself: the states, and since
// when an issue must have been updated.
func outer(tree []Expr) (states []issuekit.State, since int64, rest []Expr) {
	states = []issuekit.State{issuekit.Open, issuekit.Closed}
	for _, e := range tree {
		state, ok := stateOf(e)
		if ok {
			states = slices.DeleteFunc(states, func(s issuekit.State) bool { return s != state })
			continue
		}
		if b, ok := e.(Between); ok && b.Field == UpdatedAt && b.From > 0 && b.To == noBound {
			since = max(since, b.From)
			continue
		}
		rest = append(rest, e)
	}
	return states, since, rest
}

// stateOf reports whether a condition selects one of the two states, and which.
func stateOf(e Expr) (issuekit.State, bool) {
	switch e := e.(type) {
	case InState:
		return issuekit.State(e), true
	case Not:
		if s, ok := e.Expr.(InState); ok {
			return issuekit.Open + issuekit.Closed - issuekit.State(s), true
		}
	}
	return 0, false
}
