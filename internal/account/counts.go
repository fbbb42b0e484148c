package account

import (
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/web"
)

// maxCounts bounds how many numbers of rows are kept.
const maxCounts = 4096

// Total returns the number of rows of a list after one page was read, which returned
// rows found. A page that is not full determines it; else it is counted, and the number
// is kept for as long as no account and no membership changes: so walking the pages
// of a list counts once. key
// names the list: its memberFilter or orgFilter.
func (s *Service) Total(tx *db.Tx, key any, p web.Page, got int, count func() (int64, error)) (int64, error) {
	if n := int64(got); n < p.Size && (n > 0 || p.Number == 1) {
		return p.Offset() + n, nil
	}
	generation, err := tx.Generation(Topic)
	if err != nil {
		return 0, err
	}
	return s.counts.Read(cache.Generations(generation), key, count)
}
