package posting

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// FindEach reads the first page of each of several prepared queries. It suits queries that find few issues,
// such as those waiting for a user. Queries that scan few ranges are read together by three statements;
// each of the others by one.
func FindEach(tx *db.Tx, list []Query, size int64) ([]Found, error) {
	found, trees := make([]Found, len(list)), make([][][]Expr, len(list))
	asked := map[Property][]repo.ID{}
	for n := range list {
		if walks(&list[n]) {
			trees[n] = treesOf(&list[n], asked)
		}
	}
	counts, err := countsOf(tx, asked)
	if err != nil {
		return nil, err
	}
	several := severalRanges{tx: tx, size: size}
	for n := range list {
		q := &list[n]
		var spans []span
		if walks(q) {
			spans = rangesOf(q, trees[n], counts)
		}
		switch {
		case IsFalse(q.Where) || walks(q) && len(spans) == 0:
		case walks(q) && isFew(q, spans):
			several.list = append(several.list, &ranges{tx: tx, order: q.Order, list: spans})
			several.of = append(several.of, &found[n])
		default:
			if found[n], err = newScan(tx, q).findOnce(0, size); err != nil {
				return nil, err
			}
		}
	}
	return found, several.find()
}

// isFew reports whether one statement can read the ranges together with those of other queries.
func isFew(q *Query, list []span) bool {
	return len(list) <= maxTogether && (len(list) <= 2*maxScopes || !hasSelect(q.Where)) &&
		!slices.ContainsFunc(list, func(s span) bool { return s.since != 0 })
}

// severalRanges reads the first pages of several queries at once.
type severalRanges struct {
	tx   *db.Tx
	size int64
	list []*ranges
	of   []*Found // of each query
}

// find reads the pages, and counts the queries whose total is given neither by counters nor by a short
// page.
func (s *severalRanges) find() error {
	keys, err := s.read()
	if err != nil {
		return err
	}
	var full []int
	for n, f := range s.list {
		slices.SortFunc(keys[n], f.order.compare)
		s.of[n].IDs, s.of[n].Total = idsIn(keys[n]), int64(len(keys[n]))
		switch {
		case !slices.ContainsFunc(f.list, func(s span) bool { return len(s.rest) > 0 }):
			s.of[n].Total = f.size()
		case int64(len(keys[n])) >= s.size:
			full = append(full, n)
		}
	}
	return s.count(full)
}
