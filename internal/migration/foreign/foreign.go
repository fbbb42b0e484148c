// Package foreign reads a repository or an organization from another server, whichever kind of server that is: GitLab by
// its API (package gitlab), Gitea and Forgejo by theirs (package gitea), all others by GitHub's (package github).
package foreign

import (
	"context"
	"io"

	"arbor/internal/migration"
	"arbor/internal/migration/gitea"
	"arbor/internal/migration/github"
	"arbor/internal/migration/gitlab"
	"arbor/internal/migration/remote"
)

// Source is a repository on another server. Call Close after use.
type Source interface {
	migration.Source
	io.Closer
	// Get decodes the answer to a GET of a path of the server's API, as of [remote.Client].
	Get(ctx context.Context, path string, into ...any) error
}

// Server is a server of a kind that is known, and an address there.
type Server struct {
	address string
	gitea   bool
	gitlab  *gitlab.Place // nil: it speaks another API
	o       remote.Options
}

// Find finds out of which kind the server of an address is. Errors: those of a server with GitLab's API, if it has no
// project and no group at the address.
func Find(ctx context.Context, address string, o remote.Options) (*Server, error) {
	place, err := gitlab.Find(ctx, address, o)
	if err != nil {
		return nil, err
	}
	s := &Server{address: address, gitlab: place, o: o}
	s.gitea = place == nil && gitea.Is(ctx, address, o)
	return s, nil
}

// IsOrganization reports whether the address is that of an organization or a group.
func (s *Server) IsOrganization() bool {
	if s.gitlab != nil {
		return s.gitlab.Group
	}
	return remote.IsOrganization(s.address)
}

// Name is what the repository, OWNER/NAME, or the organization is called here by default: as it was typed, since the
// server could name any.
func (s *Server) Name() string {
	if s.gitlab != nil {
		return s.gitlab.Name()
	}
	return remote.Name(s.address)
}

// Open reads all records of the repository at the address, or with a name those of a repository of the organization
// there. known are the numbers that imports into the same repository have given so far. Errors: those of the server,
// with its words.
func (s *Server) Open(ctx context.Context, of *migration.Organization, name string, known *migration.Numbers,
	progress func(part string, done, all int64),
) (Source, error) {
	o, address := s.o, s.address
	o.Progress = progress
	if s.gitlab != nil {
		place := gitlab.Place{Base: s.gitlab.Base, Path: s.gitlab.Path}
		if of != nil {
			place.Path += "/" + of.Paths[name]
		}
		return asSource(place.Open(ctx, o, known))
	}
	if of != nil {
		address = remote.Repository(address, name)
	}
	if s.gitea {
		return asSource(gitea.Open(ctx, address, o))
	}
	return asSource(github.Open(ctx, address, o))
}

// Wiki reads the wiki of a repository that Open gave; nil: it has none that comes.
func (s *Server) Wiki(ctx context.Context, from io.Closer, progress func(part string, done, all int64)) (Source, error) {
	source, ok := from.(interface {
		Wiki(context.Context) (*remote.NewWiki, error)
		OpenWiki(context.Context, remote.NewWiki, func(part string, done, all int64)) (*remote.Wiki, error)
	})
	if !ok {
		return nil, nil
	}
	wiki, err := source.Wiki(ctx)
	if err != nil || wiki == nil {
		return nil, err
	}
	return asSource(source.OpenWiki(ctx, *wiki, progress))
}

// asSource returns a nil interface with an error, not one that holds a nil pointer.
func asSource[S Source](s S, err error) (Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Login returns the login of the account whose token reads the source; empty: it does not tell.
func (s *Server) Login(ctx context.Context, from Source) string {
	var self struct {
		Login    string `json:"login"`
		Username string `json:"username"` // GitLab's
	}
	if err := from.Get(ctx, "user", &self); err != nil {
		return ""
	}
	if s.gitlab != nil {
		return self.Username
	}
	return self.Login
}

// Organization reads the organization at the address, without its repositories' records.
func (s *Server) Organization(
	ctx context.Context, progress func(part string, done, all int64),
) (*migration.Organization, error) {
	o := s.o
	o.Progress = progress
	switch {
	case s.gitlab != nil:
		return s.gitlab.ReadOrganization(ctx, o)
	case s.gitea:
		return gitea.ReadOrganization(ctx, s.address, o)
	}
	return github.ReadOrganization(ctx, s.address, o)
}
