// Package foreign reads a repository or an organization from another server, whichever kind of server that is: Gitea
// and Forgejo by their API (package gitea), all others by GitHub's (package github).
package foreign

import (
	"context"
	"io"

	"arbor/internal/migration"
	"arbor/internal/migration/gitea"
	"arbor/internal/migration/github"
	"arbor/internal/migration/remote"
)

// Source is a repository on another server. Call Close after use.
type Source interface {
	migration.Source
	io.Closer
	// Get decodes the answer to a GET of a path of the server's API, as of [remote.Client].
	Get(ctx context.Context, path string, into ...any) error
}

// Server is a server of a kind that is known.
type Server struct {
	gitea bool
	o     remote.Options
}

// Find finds out of which kind the server of an address is.
func Find(ctx context.Context, address string, o remote.Options) *Server {
	return &Server{gitea: gitea.Is(ctx, address, o), o: o}
}

// Open reads all records of the repository whose page is at an address. Errors: those of the server, with its words.
func (s *Server) Open(
	ctx context.Context, address string, progress func(part string, done, all int64),
) (Source, error) {
	o := s.o
	o.Progress = progress
	if s.gitea {
		return asSource(gitea.Open(ctx, address, o))
	}
	return asSource(github.Open(ctx, address, o))
}

// asSource returns a nil interface with an error, not one that holds a nil pointer.
func asSource[S Source](s S, err error) (Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Organization reads the organization whose page is at an address, without its repositories' records.
func (s *Server) Organization(
	ctx context.Context, address string, progress func(part string, done, all int64),
) (*migration.Organization, error) {
	o := s.o
	o.Progress = progress
	if s.gitea {
		return gitea.ReadOrganization(ctx, address, o)
	}
	return github.ReadOrganization(ctx, address, o)
}
