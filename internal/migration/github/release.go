package github

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// assetPath begins the paths of files of releases.
const assetPath = "releases/assets/"

type releaseAnswer struct {
	ID          int64         `json:"id"`
	Tag         string        `json:"tag_name"`
	Target      string        `json:"target_commitish"`
	Name        *string       `json:"name"`
	Body        *string       `json:"body"`
	Draft       bool          `json:"draft"`
	Prerelease  bool          `json:"prerelease"`
	Author      *remote.User  `json:"author"`
	CreatedAt   time.Time     `json:"created_at"`
	PublishedAt time.Time     `json:"published_at"`
	UpdatedAt   time.Time     `json:"updated_at"`
	Assets      []assetAnswer `json:"assets"`
	Reactions   reactions     `json:"reactions"`
}

type assetAnswer struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Label       *string      `json:"label"`
	ContentType string       `json:"content_type"`
	Size        int64        `json:"size"`
	Digest      string       `json:"digest"` // sha256:..., or empty
	State       string       `json:"state"`
	Uploader    *remote.User `json:"uploader"`
	Downloads   int64        `json:"download_count"`
	CreatedAt   time.Time    `json:"created_at"`
	UpdatedAt   time.Time    `json:"updated_at"`
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
		author := s.People.Login(r.Author)
		out := &migration.Release{ID: strconv.FormatInt(r.ID, 10), Tag: r.Tag, Target: r.Target, Name: r.Name, Body: r.Body,
			Draft: r.Draft, Prerelease: r.Prerelease, Latest: r.ID == latest.ID, Author: author,
			CreatedAt: r.CreatedAt, PublishedAt: r.PublishedAt, UpdatedAt: r.UpdatedAt}
		if out.UpdatedAt.IsZero() {
			out.UpdatedAt = r.CreatedAt
		}
		if !r.Draft {
			out.Publisher = author
		}
		if err := s.Out.Add(migration.Releases, out); err != nil {
			return err
		}
		for _, a := range r.Assets {
			if err := s.asset(out.ID, &a); err != nil {
				return err
			}
		}
		if err := s.reactions(ctx, s.path+"/releases/"+out.ID, r.Reactions, migration.Releases, out.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) asset(release string, a *assetAnswer) error {
	if a.State != "" && a.State != "uploaded" {
		return nil // its upload did not end
	}
	id := strconv.FormatInt(a.ID, 10)
	sum, _ := strings.CutPrefix(a.Digest, "sha256:")
	return s.Out.Add(migration.Assets, &migration.Asset{ID: id, Release: release, Name: a.Name, Label: a.Label,
		ContentType: a.ContentType, Uploader: s.People.Login(a.Uploader), Downloads: a.Downloads, CreatedAt: a.CreatedAt,
		UpdatedAt: a.UpdatedAt, File: migration.File{Path: assetPath + id, Size: a.Size, SHA256: sum}})
}

// openAsset reads the content of a file of a release.
func (s *Source) openAsset(ctx context.Context, id string) (io.ReadCloser, error) {
	header := http.Header{"Accept": {"application/octet-stream"}}
	return s.Content(ctx, s.At(s.path+"/"+assetPath+id), header)
}
