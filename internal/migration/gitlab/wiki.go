package gitlab

import (
	"context"

	"arbor/internal/migration/remote"
)

// wiki finds out whether there is a wiki with pages.
func (s *Source) wiki(ctx context.Context) error {
	if s.about.Wiki == "disabled" {
		return nil
	}
	var pages []struct{}
	if err := s.Get(ctx, s.path+"/wikis", &pages); err != nil && !remote.Absent(err) {
		return err
	}
	if s.pages = len(pages); s.pages > 0 {
		s.Leave("the wiki, a repository of its own: %s", s.Base.JoinPath(s.about.Path+".wiki.git"))
	}
	return nil
}

// Wiki returns the wiki of the project, private if others do not see the project or its wiki; nil: it has no pages.
func (s *Source) Wiki(context.Context) (*remote.NewWiki, error) {
	if s.pages == 0 {
		return nil, nil
	}
	path := s.about.Path + ".wiki"
	return &remote.NewWiki{Address: s.Base.JoinPath(path + ".git").String(), Page: s.Base.JoinPath(path).String(),
		Name: nameOf(path), Of: s.about.Path, Private: s.about.hidden() || s.about.Wiki == "private",
		CreatedAt: s.about.CreatedAt, PushedAt: s.about.ActiveAt}, nil
}
