// Package gitea reads a repository with its whole history from a server that speaks the API of Gitea, below /api/v1:
// Gitea or Forgejo. It is a [migration.Source].
//
//	gitea.go         [Source]: what is read first, and what on demand
//	page.go          lists
//	organization.go  an organization, with its members, teams and the names of its repositories
//	issue.go         labels, milestones, issues, comments and reactions
//	timeline.go      events
//	pull.go          pull requests
//	review.go        reviews and their comments on lines
//	attachment.go    files of issues and comments
//	release.go       releases and their files
//	rule.go          protections of branches, webhooks
//
// The API differs from GitHub's. X-Total-Count is the length of a list. Reactions are not counted, so they
// are requested for each issue and each comment. Milestones have ids and no numbers. The API's head and base
// of a pull request are its branches as they are now, so the head is read from refs/pull/N/head in the
// mirror, and the base of a closed pull request is merge_base.
//
// The API does not say which email addresses are verified, so only the map matches people to accounts. The
// server's ROOT_URL may be unreachable from this machine, so URLs in answers are not used.
package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"arbor/internal/git"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
	"arbor/internal/repo"
)

// Source is a repository on another server.
type Source struct {
	*remote.Source

	path        string // repos/OWNER/NAME
	about       repository
	attachments map[string]bool // UUIDs of those written
}

// repository is Gitea's repository, as far as it is read.
type repository struct {
	FullName      string    `json:"full_name"`
	Description   string    `json:"description"`
	Website       string    `json:"website"`
	Private       bool      `json:"private"`
	Internal      bool      `json:"internal"`
	DefaultBranch string    `json:"default_branch"`
	ObjectFormat  string    `json:"object_format_name"`
	HasIssues     bool      `json:"has_issues"`
	HasWiki       bool      `json:"has_wiki"`
	HasPulls      bool      `json:"has_pull_requests"`
	HasReleases   *bool     `json:"has_releases"` // nil: the version does not say
	Template      bool      `json:"template"`
	Archived      bool      `json:"archived"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	Merge         bool      `json:"allow_merge_commits"`
	Squash        bool      `json:"allow_squash_merge"`
	Rebase        bool      `json:"allow_rebase"`
	DeletesHead   bool      `json:"default_delete_branch_after_merge"`
	Owner         struct {
		Login      string `json:"login"`
		Visibility string `json:"visibility"`
	} `json:"owner"`
}

// newClient returns a client for the server of an address, and the names behind it.
func newClient(address string, o remote.Options) (*remote.Client, []string, error) {
	base, names, err := remote.Server(address)
	if err != nil {
		return nil, nil, err
	}
	c := remote.NewClient(base, base.JoinPath("api/v1/"), o)
	c.Kind, c.Scheme = "Gitea", "token"
	return c, names, nil
}

// Is reports whether an address is on such a server: its API answers with a version, or with 401 or 403.
func Is(ctx context.Context, address string, o remote.Options) bool {
	c, _, err := newClient(address, o)
	if err != nil || strings.EqualFold(c.Base.Host, "github.com") {
		return false
	}
	var said struct{ Version string }
	err = c.Get(ctx, "version", &said)
	if no := (*remote.Refusal)(nil); errors.As(err, &no) {
		return no.Status == http.StatusUnauthorized || no.Status == http.StatusForbidden
	}
	return err == nil && said.Version != ""
}

// Open reads all records of the repository whose page is at an address, such as https://gitea.example/OWNER/NAME. Call
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
	s := &Source{Source: remote.NewSource(c), path: path, attachments: map[string]bool{}}
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
	if err := s.Clone(ctx, s.Base.JoinPath(s.about.FullName).String()+".git"); err != nil {
		return nil, err
	}
	if s.about.DefaultBranch == "" {
		about.DefaultBranch = strings.TrimPrefix(s.Mirror.Refs().Head, git.Heads)
	}
	parts := remote.Parts{{"labels", s.readLabels}, {"milestones", s.milestones}}
	if s.about.HasIssues || s.about.HasPulls {
		parts = append(parts, remote.Parts{{"issues", s.issues}, {"comments", s.comments}}...)
	}
	if s.about.HasReleases == nil || *s.about.HasReleases {
		parts = append(parts, remote.Parts{{"releases", s.releases}}...)
	}
	parts = append(parts, remote.Parts{{"rules", s.rules}, {"webhooks", s.hooks}, {"LFS objects", s.LFSObjects},
		{"people", s.AddPeople}}...)
	return about, s.ReadParts(ctx, parts)
}

// repository reads what is said about the repository itself.
func (s *Source) repository(ctx context.Context) (*migration.Repository, error) {
	r := &s.about
	if err := s.Get(ctx, s.path, r); err != nil {
		return nil, err
	}
	if r.ObjectFormat != "" && r.ObjectFormat != "sha1" {
		return nil, fmt.Errorf("%s uses object format %q, want sha1", r.FullName, r.ObjectFormat)
	}
	owner, name, _ := strings.Cut(r.FullName, "/")
	path, err := remote.Path(r.FullName, []string{owner, name})
	if err != nil || owner == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("the server answered with an invalid repository name %q", r.FullName)
	}
	s.path = path // it may have been renamed
	var topics struct{ Topics []string }
	if err := s.Get(ctx, s.path+"/topics", &topics); err != nil && !remote.Absent(err) {
		return nil, err
	}
	merging := repo.Merging(0).Payload()
	if r.Merge || r.Squash || r.Rebase {
		merging.MergeCommit, merging.Squash, merging.Rebase = r.Merge, r.Squash, r.Rebase
	}
	merging.DeletesHead = r.DeletesHead
	return &migration.Repository{Format: migration.Format, Source: s.Base.JoinPath(r.FullName).String(),
		ExportedAt: time.Now().UTC(), Name: r.FullName, Description: r.Description, Homepage: r.Website,
		Private: r.hidden(), DefaultBranch: r.DefaultBranch, Topics: topics.Topics, NoIssues: !r.HasIssues, Merging: merging,
		Template: r.Template, Archived: r.Archived, CreatedAt: r.CreatedAt, PushedAt: r.UpdatedAt}, nil
}

// hidden reports whether not everybody sees the repository. An owner who is not shown to everybody hides repositories
// that are not private themselves.
func (r *repository) hidden() bool {
	return r.Private || r.Internal || cmp.Or(r.Owner.Visibility, "public") != "public"
}

// Open reads the content of a file from the server.
func (s *Source) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if p, ok := s.LFSObject(path); ok {
		header := http.Header{}
		if basic := s.Basic(); basic != "" {
			header.Set("Authorization", basic)
		}
		return s.Content(ctx, s.Base.JoinPath(s.about.FullName+".git/info/lfs/objects", p.OID).String(), header)
	}
	if uuid, ok := strings.CutPrefix(path, attachmentPath); ok {
		return s.Content(ctx, s.Base.JoinPath("attachments", uuid).String(), http.Header{})
	}
	return nil, fmt.Errorf("file %q not found in the source", path)
}
