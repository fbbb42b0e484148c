package github

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// assetPath begins the paths of files of releases.
const assetPath = "releases/assets/"

type releaseAnswer struct {
	remote.Release
	Assets    []assetAnswer `json:"assets"`
	Reactions reactions     `json:"reactions"`
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

// releases reads releases, what is said about their files, and the reactions to them.
func (s *Source) releases(ctx context.Context) error {
	list := func(path string, fn func(*releaseAnswer) error) error { return each(ctx, s.Client, path, fn) }
	about := func(r *releaseAnswer) *remote.Release { return &r.Release }
	return remote.Releases(ctx, s.Source, s.path, list, about, func(r *releaseAnswer, out *migration.Release) error {
		for _, a := range r.Assets {
			if err := s.asset(out.ID, &a); err != nil {
				return err
			}
		}
		return s.reactions(ctx, s.path+"/releases/"+out.ID, r.Reactions, migration.Releases, out.ID)
	})
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
