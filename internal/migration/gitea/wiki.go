package gitea

import (
	"context"

	"arbor/internal/migration/remote"
)

// Wiki returns the wiki of the repository; nil: it has no pages.
func (s *Source) Wiki(ctx context.Context) (*remote.NewWiki, error) {
	path := s.about.FullName + ".wiki"
	address := s.Base.JoinPath(path + ".git").String()
	if !s.about.HasWiki {
		return nil, nil
	}
	if is, err := s.HasWiki(ctx, address); err != nil || !is {
		return nil, err
	}
	return &remote.NewWiki{Address: address, Page: s.Base.JoinPath(path).String(), Name: path, Of: s.about.FullName,
		Private: s.about.hidden(), CreatedAt: s.about.CreatedAt, PushedAt: s.about.UpdatedAt}, nil
}
