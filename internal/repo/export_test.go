package repo

import "context"

// InsertAs adds a repository as its maker does who reserved an id.
func (s *Service) InsertAs(ctx context.Context, n NewRepo, id ID) (*Repo, error) {
	return s.insert(ctx, nil, n, id, nil, 0)
}
