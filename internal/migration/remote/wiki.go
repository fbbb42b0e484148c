package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"arbor/internal/git"
	"arbor/internal/migration"
)

// Wiki is the wiki of a repository: a Git repository of its own beside it.
type Wiki struct {
	*Source
}

// NewWiki describes the wiki of a repository, OWNER/NAME, as a repository with a name. Its address is on the server.
type NewWiki struct {
	Address             string // for git
	Page                string // by which a later import knows it again
	Name                string // OWNER/NAME here by default
	Of                  string // the repository's name at the server
	Private             bool
	CreatedAt, PushedAt time.Time
}

// HasWiki asks git's address of a wiki whether it is there: servers say that a repository may have one, and make it with
// its first page.
func (s *Source) HasWiki(ctx context.Context, address string) (bool, error) {
	header := http.Header{}
	if basic := s.Basic(); basic != "" {
		header.Set("Authorization", basic)
	}
	a, err := s.Do(ctx, http.MethodGet, address+"/info/refs?service=git-upload-pack", nil, header)
	if err == nil {
		a.Body.Close()
		return a.StatusCode == http.StatusOK, nil
	}
	if refused := (*Refusal)(nil); errors.As(err, &refused) && refused.Status < 500 {
		return false, nil
	}
	return false, err
}

// OpenWiki reads a wiki: Git alone. Call Close after use.
func (s *Source) OpenWiki(ctx context.Context, n NewWiki, progress func(part string, done, all int64)) (*Wiki, error) {
	o := s.o
	o.Progress = progress
	c := NewClient(s.Base, s.API, o)
	c.Kind, c.Header, c.Scheme, c.Accept, c.Sleep = s.Kind, s.Client.Header, s.Scheme, s.Accept, s.Sleep
	w := &Wiki{NewSource(c)}
	err := w.Read(ctx, func(ctx context.Context) (*migration.Repository, error) {
		if err := w.Clone(ctx, n.Address); err != nil {
			return nil, err
		}
		if err := w.LFSObjects(ctx); err != nil {
			return nil, err
		}
		return &migration.Repository{Format: migration.Format, Source: n.Page, ExportedAt: time.Now().UTC(), Name: n.Name,
			Description: "The wiki of " + n.Of, Private: n.Private, NoIssues: true,
			DefaultBranch: strings.TrimPrefix(w.Mirror.Refs().Head, git.Heads), CreatedAt: n.CreatedAt,
			PushedAt: n.PushedAt}, nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Open reads the content of an object of Git LFS from the server.
func (w *Wiki) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if p, ok := w.LFSObject(path); ok {
		return w.OpenLFS(ctx, p)
	}
	return nil, fmt.Errorf("file %q not found in the source", path)
}
