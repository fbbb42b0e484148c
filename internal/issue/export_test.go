package issue

import (
	"context"
	"errors"

	"arbor/internal/db"
)

// FillIndex fills the index of a repository, as its first list would have done.
func (s *Service) FillIndex(ctx context.Context, repo int64) error { return s.fillIndex(ctx, repo) }

var errBySQL = errors.New("not found in memory")

// FindInMemory is Find where all repositories are in memory. Error: where it
// would have asked SQL.
func (s *Service) FindInMemory(tx *db.Tx, q Query, offset, size int64) ([]int64, int64, error) {
	ids, total, ok, err := s.indexes.find(tx, &q, offset, size)
	if err == nil && !ok {
		err = errBySQL
	}
	return ids, total, err
}
