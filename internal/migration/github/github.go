// Package github reads a repository with its whole history from a server that speaks GitHub's REST API: GitHub, GitHub
// Enterprise Server, or another Arbor. It is a [migration.Source].
//
//	github.go    [Source]: what is read first, and what on demand
//	organization.go   an organization, with its members, teams and the names of its repositories
//	page.go      lists
//	people.go    names and addresses of those whom the records name
//	issue.go     issues, pull requests, their timelines, reviews and reactions
//	talk.go      comments
//	graph.go     what only GraphQL tells: resolved conversations and pins
//	release.go   releases, and the contents of their files
//	rule.go      rulesets and protections, webhooks
//
// What the server does not have or does not show to the owner of the token is missing, and Left tells so.
package github

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
	"arbor/internal/repo"
)

// Source is a repository on another server.
type Source struct {
	*remote.Source

	path   string // repos/OWNER/NAME
	about  repository
	issues int64            // how many there are, about
	pins   map[int64]string // who pinned an issue, by its number
}

// repository is GitHub's full repository, as far as it is read.
type repository struct {
	FullName      string       `json:"full_name"`
	CloneURL      string       `json:"clone_url"`
	Description   string       `json:"description"`
	Homepage      string       `json:"homepage"`
	Private       bool         `json:"private"`
	DefaultBranch string       `json:"default_branch"`
	Topics        []string     `json:"topics"`
	HasIssues     bool         `json:"has_issues"`
	HasWiki       bool         `json:"has_wiki"`
	IsTemplate    bool         `json:"is_template"`
	Archived      bool         `json:"archived"`
	Owner         *remote.User `json:"owner"`
	CreatedAt     time.Time    `json:"created_at"`
	PushedAt      time.Time    `json:"pushed_at"`
	MergeCommit   *bool        `json:"allow_merge_commit"` // nil: the token does not show how pull requests merge
}

// newClient returns a client for the server of an address, and the names behind it.
func newClient(address string, o remote.Options) (*remote.Client, []string, error) {
	base, names, err := remote.Server(address)
	if err != nil {
		return nil, nil, err
	}
	api := base.JoinPath("api/v3/")
	if strings.EqualFold(base.Host, "github.com") {
		api = &url.URL{Scheme: "https", Host: "api.github.com", Path: "/"}
	}
	c := remote.NewClient(base, api, o)
	c.Kind, c.Accept = "GitHub", "application/vnd.github+json"
	return c, names, nil
}

// Open reads all records of the repository whose page is at an address, such as https://github.com/OWNER/NAME. Call
// Close after use. Errors: those of the server, with its words.
func Open(ctx context.Context, address string, o remote.Options) (*Source, error) {
	c, names, err := newClient(address, o)
	if err != nil {
		return nil, err
	}
	path, err := remote.Path(address, names)
	if err != nil {
		return nil, err
	}
	s := &Source{Source: remote.NewSource(c), path: path, pins: map[int64]string{}}
	if err := s.Read(ctx, s.read); err != nil {
		return nil, err
	}
	return s, nil
}

// read writes all records.
func (s *Source) read(ctx context.Context) (*migration.Repository, error) {
	about, err := s.repository(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Clone(ctx, s.about.CloneURL); err != nil {
		return nil, err
	}
	return about, s.ReadParts(ctx, remote.Parts{
		{"labels", s.labels}, {"milestones", s.milestones}, {"conversations", s.graph}, {"issues", s.talk},
		{"comments", s.comments}, {"review comments", s.reviewComments}, {"commit comments", s.commitComments},
		{"releases", s.releases}, {"rules", s.rules}, {"webhooks", s.hooks}, {"LFS objects", s.LFSObjects},
		{"people", s.profiles},
	})
}

// repository reads what is said about the repository itself.
func (s *Source) repository(ctx context.Context) (*migration.Repository, error) {
	r := &s.about
	var merging repo.MergingPayload
	if err := s.Get(ctx, s.path, r, &merging); err != nil {
		return nil, err
	}
	s.path = "repos/" + r.FullName // it may have been renamed
	// Whatever the server says, what it gives comes from there: nothing else may be taken for an earlier import's source.
	source := s.Base.JoinPath(r.FullName).String()
	out := &migration.Repository{Format: migration.Format, Source: source, ExportedAt: time.Now().UTC(),
		Name: r.FullName, Description: r.Description, Homepage: r.Homepage, Private: r.Private,
		DefaultBranch: r.DefaultBranch, Topics: r.Topics, NoIssues: !r.HasIssues, Template: r.IsTemplate,
		Archived: r.Archived, CreatedAt: r.CreatedAt, PushedAt: r.PushedAt}
	if r.MergeCommit != nil {
		out.Merging = &merging
	}
	s.People.Login(r.Owner)
	return out, nil
}

// Open reads the content of a file from the server.
func (s *Source) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if p, ok := s.LFSObject(path); ok {
		return s.OpenLFS(ctx, p)
	}
	if id, ok := strings.CutPrefix(path, assetPath); ok {
		return s.openAsset(ctx, id)
	}
	return nil, fmt.Errorf("file %q not found in the source", path)
}
