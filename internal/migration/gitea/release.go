package gitea

import (
	"context"
	"strconv"

	"arbor/internal/file"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

type releaseAnswer struct {
	remote.Release
	Files []fileAnswer `json:"assets"`
}

// releases reads releases, and what is said about their files.
func (s *Source) releases(ctx context.Context) error {
	list := func(path string, fn func(*releaseAnswer) error) error { return each(ctx, s.Client, path, fn) }
	about := func(r *releaseAnswer) *remote.Release { return &r.Release }
	return remote.Releases(ctx, s.Source, s.path, list, about, s.files)
}

// files writes what is said about the files of a release.
func (s *Source) files(r *releaseAnswer, out *migration.Release) error {
	for _, f := range r.Files {
		content, ok := f.file()
		if !ok {
			s.Leave("the file %.100q of the release %.100q, whose content has no address", f.Name, r.Tag)
			continue
		}
		err := s.Out.Add(migration.Assets, &migration.Asset{ID: strconv.FormatInt(f.ID, 10), Release: out.ID, Name: f.Name,
			ContentType: file.AnyBytes, Uploader: out.Author, Downloads: f.Downloads, CreatedAt: f.CreatedAt,
			UpdatedAt: f.CreatedAt, File: content})
		if err != nil {
			return err
		}
	}
	return nil
}
