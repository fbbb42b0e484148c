package issue

import (
	"arbor/internal/db"
	"arbor/internal/posting"
)

// Find reads a page of the issues that a query finds.
func (s *Service) Find(tx *db.Tx, q posting.Query, offset, size int64) ([]*Issue, posting.Found, error) {
	if err := posting.Prepare(tx, &q); err != nil {
		return nil, posting.Found{}, err
	}
	f, err := posting.Find(tx, q, offset, size)
	if err != nil {
		return nil, posting.Found{}, err
	}
	list, err := ByIDs(tx, idsFound(f.IDs))
	return list, f, err
}

// FindEach returns the first size issues that each query finds. It needs few statements for all queries
// together and suits queries that find few issues (see [posting.FindEach]).
func (s *Service) FindEach(
	tx *db.Tx, queries []posting.Query, size int64,
) ([][]*Issue, []posting.Found, error) {
	for n := range queries {
		if err := posting.Prepare(tx, &queries[n]); err != nil {
			return nil, nil, err
		}
	}
	found, err := posting.FindEach(tx, queries, size)
	if err != nil {
		return nil, nil, err
	}
	issues, err := rowsOf(tx, found)
	return issues, found, err
}

// rowsOf reads the issues that were found. An issue found by several queries is read once.
func rowsOf(tx *db.Tx, found []posting.Found) ([][]*Issue, error) {
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

// idsFound converts the ids of package posting, which does not import this package.
func idsFound(list []int64) []ID {
	ids := make([]ID, len(list))
	for n, id := range list {
		ids[n] = ID(id)
	}
	return ids
}
