package issue

import (
	"arbor/internal/db"
	"arbor/internal/finder"
)

// FindEach reads the first issues, size at most, of what each of some queries finds, with few statements for
// all of them: for queries of which each finds few issues (see [finder.FindEach]).
func (s *Service) FindEach(
	tx *db.Tx, queries []finder.Query, size int64,
) ([][]*Issue, []finder.Found, error) {
	found := make([]finder.Found, len(queries))
	var rest []finder.Query
	var places []int
	for n := range queries {
		if err := finder.Prepare(tx, &queries[n]); err != nil {
			return nil, nil, err
		}
		kept, ok, err := s.indexes.Find(tx, &queries[n], 0, size)
		switch {
		case err != nil:
			return nil, nil, err
		case ok:
			found[n] = finder.Found{IDs: kept.IDs, Total: kept.Total}
		default:
			rest, places = append(rest, queries[n]), append(places, n)
		}
	}
	read, err := finder.FindEach(tx, rest, size)
	if err != nil {
		return nil, nil, err
	}
	for n := range read {
		found[places[n]] = read[n]
	}
	issues, err := rowsOf(tx, found)
	return issues, found, err
}

// rowsOf reads the issues that were found, each once.
func rowsOf(tx *db.Tx, found []finder.Found) ([][]*Issue, error) {
	var all []ID
	for _, f := range found {
		all = append(all, idsFound(f.IDs)...)
	}
	list, err := ByIDs(tx, db.Unique(all))
	if err != nil {
		return nil, err
	}
	by := make(map[int64]*Issue, len(list))
	for _, i := range list {
		by[int64(i.ID)] = i
	}
	issues := make([][]*Issue, len(found))
	for n, f := range found {
		for _, id := range f.IDs {
			if i := by[id]; i != nil {
				issues[n] = append(issues[n], i)
			}
		}
	}
	return issues, nil
}
