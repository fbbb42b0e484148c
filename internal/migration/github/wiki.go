package github

import (
	"context"
	"strings"

	"arbor/internal/migration/remote"
)

// Wiki returns the wiki of the repository; nil: it has no pages.
func (s *Source) Wiki(ctx context.Context) (*remote.NewWiki, error) {
	path := s.about.FullName + ".wiki"
	address := strings.TrimSuffix(s.about.CloneURL, ".git") + ".wiki.git"
	if !s.about.HasWiki {
		return nil, nil
	}
	if is, err := s.HasWiki(ctx, address); err != nil || !is {
		return nil, err
	}
	return &remote.NewWiki{Address: address, Page: s.Base.JoinPath(path).String(), Name: path, Of: s.about.FullName,
		Private: s.about.Private, CreatedAt: s.about.CreatedAt, PushedAt: s.about.PushedAt}, nil
}
