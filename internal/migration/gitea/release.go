package gitea

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"arbor/internal/file"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

type releaseAnswer struct {
	ID          int64        `json:"id"`
	Tag         string       `json:"tag_name"`
	Target      string       `json:"target_commitish"`
	Name        *string      `json:"name"`
	Body        *string      `json:"body"`
	Draft       bool         `json:"draft"`
	Prerelease  bool         `json:"prerelease"`
	Author      *remote.User `json:"author"`
	CreatedAt   time.Time    `json:"created_at"`
	PublishedAt time.Time    `json:"published_at"`
	Files       []fileAnswer `json:"assets"`
}

// maxReleases is how many releases are read: the list has the newest first, and is turned round.
const maxReleases = 10_000

// releases reads releases, and what is said about their files.
func (s *Source) releases(ctx context.Context) error {
	var list []*releaseAnswer
	err := each(ctx, s.Client, s.path+"/releases", func(r *releaseAnswer) error {
		if len(list) == maxReleases {
			return fmt.Errorf("there are more than %d releases", maxReleases)
		}
		list = append(list, r)
		return nil
	})
	if remote.Absent(err) {
		s.Leave("releases: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	var latest struct {
		ID int64 `json:"id"`
	}
	if err := s.Get(ctx, s.path+"/releases/latest", &latest); err != nil && !remote.Absent(err) {
		return err
	}
	for _, r := range slices.Backward(list) {
		if err := s.release(r, r.ID == latest.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) release(r *releaseAnswer, latest bool) error {
	author := s.People.Login(r.Author)
	out := &migration.Release{ID: strconv.FormatInt(r.ID, 10), Tag: r.Tag, Target: r.Target, Name: r.Name, Body: r.Body,
		Draft: r.Draft, Prerelease: r.Prerelease, Latest: latest, Author: author, CreatedAt: r.CreatedAt,
		UpdatedAt: r.CreatedAt}
	if !r.Draft {
		out.Publisher, out.PublishedAt = author, r.PublishedAt
	}
	if err := s.Out.Add(migration.Releases, out); err != nil {
		return err
	}
	for _, f := range r.Files {
		content, ok := f.file()
		if !ok {
			s.Leave("the file %.100q of the release %.100q, whose content has no address", f.Name, r.Tag)
			continue
		}
		err := s.Out.Add(migration.Assets, &migration.Asset{ID: strconv.FormatInt(f.ID, 10), Release: out.ID, Name: f.Name,
			ContentType: file.AnyBytes, Uploader: author, Downloads: f.Downloads, CreatedAt: f.CreatedAt,
			UpdatedAt: f.CreatedAt, File: content})
		if err != nil {
			return err
		}
	}
	return nil
}
