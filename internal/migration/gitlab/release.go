package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"arbor/internal/file"
	"arbor/internal/migration"
)

// Bounds of releases.
const (
	maxReleases = 10_000
	maxFile     = 2 << 30 // bytes of a file of a release
)

// releaseAnswer is GitLab's release. Its files are links.
type releaseAnswer struct {
	Tag         string    `json:"tag_name"`
	Name        *string   `json:"name"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"created_at"`
	ReleasedAt  time.Time `json:"released_at"`
	Author      *person   `json:"author"`
	Commit      struct {
		ID string `json:"id"`
	} `json:"commit"`
	Assets struct {
		Links []linkAnswer `json:"links"`
	} `json:"assets"`
}

type linkAnswer struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	URL  string `json:"url"`
}

// releases reads the releases, the oldest first.
func (s *Source) releases(ctx context.Context) error {
	if s.about.Releases == "disabled" {
		return nil
	}
	var list []*releaseAnswer
	err := each(ctx, s.Client, s.path+"/releases?order_by=released_at&sort=asc", func(r *releaseAnswer) error {
		if len(list) == maxReleases {
			return fmt.Errorf("there are more than %d releases", maxReleases)
		}
		list = append(list, r)
		return nil
	})
	if err != nil {
		return s.LeaveAbsent("releases", err)
	}
	for n, r := range list {
		if err := s.release(ctx, r, n == len(list)-1); err != nil {
			return err
		}
	}
	return nil
}

// release writes a release. A link to a file of the project becomes a file; other links stand below the text.
func (s *Source) release(ctx context.Context, r *releaseAnswer, latest bool) error {
	author := s.login(r.Author)
	out := &migration.Release{ID: r.Tag, Tag: r.Tag, Target: cmp.Or(r.Commit.ID, s.about.DefaultBranch), Name: r.Name,
		Latest: latest, Author: author, Publisher: author, CreatedAt: r.CreatedAt,
		PublishedAt: cmp.Or(r.ReleasedAt, r.CreatedAt), UpdatedAt: cmp.Or(r.ReleasedAt, r.CreatedAt)}
	text, err := s.text(ctx, r.Description, author)
	if err != nil {
		return err
	}
	var assets []*migration.Asset
	links := ""
	for _, l := range r.Assets.Links {
		path, size, err := s.fileOf(ctx, &l)
		if err != nil {
			return err
		}
		if path == "" {
			links += "- [" + escapeName.Replace(l.Name) + "](<" + escapeLink.Replace(l.URL) + ">)\n"
			continue
		}
		assets = append(assets, &migration.Asset{ID: strconv.FormatInt(l.ID, 10), Release: out.ID, Name: l.Name,
			ContentType: file.AnyBytes, Uploader: author, CreatedAt: out.UpdatedAt, UpdatedAt: out.UpdatedAt,
			File: migration.File{Path: path, Size: size}})
	}
	text = strings.TrimRight(text+"\n\n"+links, "\n")
	out.Body = &text
	if err := s.Out.Add(migration.Releases, out); err != nil {
		return err
	}
	for _, a := range assets {
		if err := s.Out.Add(migration.Assets, a); err != nil {
			return err
		}
	}
	return nil
}

// fileOf returns the path and size of the file that a link leads to; an empty path for a link that stays one.
func (s *Source) fileOf(ctx context.Context, l *linkAnswer) (path string, size int64, err error) {
	if m := s.texts.uploads.FindStringSubmatch(l.URL); m != nil && m[0] == l.URL {
		u, err := s.uploadOf(ctx, m[2], m[3])
		if err != nil || u.size < 0 {
			return "", 0, err
		}
		return uploadPath + u.secret, u.size, nil
	}
	if !s.isOwn(l.URL) {
		return "", 0, nil
	}
	a, err := s.fetchFile(ctx, l.URL)
	if err == nil {
		size, err = sizeOf(a, maxFile)
	}
	if ctx.Err() != nil {
		return "", 0, ctx.Err()
	}
	if err != nil {
		s.Leave("the file %.100q of a release stays a link: %v", l.Name, err)
		return "", 0, nil
	}
	path = "releases/" + strconv.FormatInt(l.ID, 10)
	s.files[path] = l.URL
	return path, size, nil
}

var (
	escapeName = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, "\n", " ", "<", `\<`)
	escapeLink = strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "%0A", `\`, "%5C")
)
