package gitlab

import (
	"context"
	"strings"
	"time"

	"arbor/internal/git"
	"arbor/internal/migration"
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

// HasWiki reports whether the project has a wiki with pages.
func (s *Source) HasWiki() bool { return s.pages > 0 }

// OpenWiki reads the wiki: Git alone, as a repository that is private if others do not see the project or
// its wiki. Call Close after use.
func (s *Source) OpenWiki(ctx context.Context, o remote.Options) (*Source, error) {
	place := &Place{Base: s.Base, Path: s.about.Path + ".wiki"}
	w := newSource(place, o, &migration.Numbers{})
	err := w.Read(ctx, func(ctx context.Context) (*migration.Repository, error) {
		if err := w.Clone(ctx, w.Base.JoinPath(place.Path+".git").String()); err != nil {
			return nil, err
		}
		if err := w.LFSObjects(ctx); err != nil {
			return nil, err
		}
		return &migration.Repository{Format: migration.Format, Source: w.Base.JoinPath(place.Path).String(),
			ExportedAt: time.Now().UTC(), Name: nameOf(place.Path), Description: "The wiki of " + s.about.Path,
			Private: s.about.hidden() || s.about.Wiki == "private", NoIssues: true,
			DefaultBranch: strings.TrimPrefix(w.Mirror.Refs().Head, git.Heads), CreatedAt: s.about.CreatedAt,
			PushedAt: s.about.ActiveAt}, nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}
