// Package github reads a repository with its whole history from a server that speaks GitHub's REST API: GitHub, GitHub
// Enterprise Server, or another Arbor. It is a [migration.Source].
//
//	github.go    [Source]: what is read first, and what on demand
//	organization.go   an organization, with its members, teams and the names of its repositories
//	client.go    one request after another, with the server's rate limits, bounds and redirects
//	people.go    whom the records name
//	issue.go     issues, pull requests, their timelines, reviews and reactions
//	talk.go      comments
//	graph.go     what only GraphQL tells: resolved conversations and pins
//	release.go   releases, and the contents of their files
//	rule.go      rulesets and protections, webhooks
//	lfs.go       objects of Git LFS
//
// Records are read into a temporary folder in the format of an export, whose reader is a Source already: so an import
// does not depend on how long the server takes, and its order is not that of the requests. Git is mirrored beside it.
// Contents of files are read when the import wants them.
//
// What the server does not have or does not show to the owner of the token is missing, and Left tells so.
package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"arbor/internal/git"
	"arbor/internal/lfs"
	"arbor/internal/migration"
	"arbor/internal/repo"
)

// Options say how to read.
type Options struct {
	Token    string // of somebody who administers the repository; empty: what everybody sees
	Git      *git.Git
	Dir      string       // for what is read, which may be large
	Room     func() error // whether the disk has room for more; nil: it is not asked
	Progress func(part string, done, all int64)
}

// Source is a repository on another server.
type Source struct {
	*migration.Folder
	c      *client
	o      Options
	spool  string
	mirror *git.Mirror
	left   []string

	path   string // repos/OWNER/NAME
	about  repository
	people people
	out    *migration.Spool
	issues int64                  // how many there are, about
	pins   map[int64]string       // who pinned an issue, by its number
	files  map[string]lfs.Pointer // LFS objects, by path
}

// repository is GitHub's full repository, as far as it is read.
type repository struct {
	FullName      string    `json:"full_name"`
	CloneURL      string    `json:"clone_url"`
	Description   string    `json:"description"`
	Homepage      string    `json:"homepage"`
	Private       bool      `json:"private"`
	DefaultBranch string    `json:"default_branch"`
	Topics        []string  `json:"topics"`
	HasIssues     bool      `json:"has_issues"`
	IsTemplate    bool      `json:"is_template"`
	Archived      bool      `json:"archived"`
	Owner         *user     `json:"owner"`
	CreatedAt     time.Time `json:"created_at"`
	PushedAt      time.Time `json:"pushed_at"`
	MergeCommit   *bool     `json:"allow_merge_commit"` // nil: the token does not show how pull requests merge
}

// Name is the name in the address of a repository, OWNER/NAME, or of an organization.
func Name(address string) string {
	_, names, _ := server(address)
	return strings.Join(names, "/")
}

// Open reads all records of the repository whose page is at an address, such as https://github.com/OWNER/NAME. Call
// Close after use. Errors: those of the server, with its words.
func Open(ctx context.Context, address string, o Options) (_ *Source, err error) {
	c, names, err := newClient(address, o)
	if err != nil {
		return nil, err
	}
	if len(names) != 2 {
		return nil, fmt.Errorf("%q does not name a repository: OWNER/NAME", address)
	}
	path := "repos/" + url.PathEscape(names[0]) + "/" + url.PathEscape(names[1])
	s := &Source{c: c, o: o, path: path, people: people{}, pins: map[int64]string{},
		files: map[string]lfs.Pointer{}}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	// What a killed import leaves goes as mirrors do.
	if s.spool, err = os.MkdirTemp(o.Dir, "mirror-records-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	dir := filepath.Join(s.spool, "records")
	if s.out, err = migration.NewSpool(dir); err != nil {
		return nil, err
	}
	about, err := s.read(ctx)
	if err != nil {
		return nil, errors.Join(err, s.out.Discard())
	}
	if err := s.out.Close(about); err != nil {
		return nil, err
	}
	s.Folder, err = migration.OpenFolder(dir)
	return s, err
}

// Close removes what was read.
func (s *Source) Close() (err error) {
	if s.Folder != nil {
		err = s.Folder.Close()
	}
	if s.mirror != nil {
		err = errors.Join(err, s.mirror.Remove())
	}
	return errors.Join(err, os.RemoveAll(s.spool))
}

// Left says what could not be read, and why.
func (s *Source) Left() []string { return s.left }

func (s *Source) leave(format string, args ...any) {
	s.left = append(s.left, fmt.Sprintf(format, args...))
}

// read writes all records to the spool.
func (s *Source) read(ctx context.Context) (*migration.Repository, error) {
	about, err := s.repository(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.clone(ctx); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		read func(ctx context.Context) error
	}{
		{"labels", s.labels}, {"milestones", s.milestones}, {"conversations", s.graph}, {"issues", s.talk},
		{"comments", s.comments}, {"review comments", s.reviewComments}, {"commit comments", s.commitComments},
		{"releases", s.releases}, {"rules", s.rules}, {"webhooks", s.hooks}, {"LFS objects", s.lfsObjects},
		{"people", s.profiles},
	} {
		s.o.Progress("read "+part.name, 0, 0)
		if err := part.read(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return about, nil
}

// repository reads what is said about the repository itself.
func (s *Source) repository(ctx context.Context) (*migration.Repository, error) {
	r := &s.about
	var merging repo.MergingPayload
	if err := s.c.get(ctx, s.path, r, &merging); err != nil {
		return nil, err
	}
	s.path = "repos/" + r.FullName // it may have been renamed
	// Whatever the server says, what it gives comes from there: nothing else may be taken for an earlier import's source.
	source := s.c.base.JoinPath(r.FullName).String()
	out := &migration.Repository{Format: migration.Format, Source: source, ExportedAt: time.Now().UTC(),
		Name: r.FullName, Description: r.Description, Homepage: r.Homepage, Private: r.Private,
		DefaultBranch: r.DefaultBranch, Topics: r.Topics, NoIssues: !r.HasIssues, Template: r.IsTemplate,
		Archived: r.Archived, CreatedAt: r.CreatedAt, PushedAt: r.PushedAt}
	if r.MergeCommit != nil {
		out.Merging = &merging
	}
	s.people.login(r.Owner)
	return out, nil
}

// clone mirrors Git. A repository may be empty; then there is no mirror.
func (s *Source) clone(ctx context.Context) error {
	from, err := url.Parse(s.about.CloneURL)
	if err != nil || from.Host != s.c.base.Host || from.Scheme != s.c.base.Scheme {
		return fmt.Errorf("the server says that the repository is at %q, which is not on %s", s.about.CloneURL,
			s.c.base.Host)
	}
	source := git.Source{Address: s.about.CloneURL, Authorization: s.c.basic()}
	s.mirror, err = s.o.Git.Mirror(ctx, source, s.o.Dir, s.o.Progress)
	return err
}

// Git returns the path of the mirror.
func (s *Source) Git(context.Context) (string, error) {
	if len(s.mirror.Refs().List) == 0 {
		return "", nil
	}
	return s.mirror.Dir(), nil
}

// Open reads the content of a file from the server.
func (s *Source) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if p, ok := s.files[path]; ok {
		return s.openLFS(ctx, p)
	}
	if id, ok := strings.CutPrefix(path, assetPath); ok {
		return s.openAsset(ctx, id)
	}
	return nil, fmt.Errorf("%q is no file of the source", path)
}
