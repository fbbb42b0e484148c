// Package gitlab reads a project with its whole history from a server that speaks GitLab's REST API, below
// /api/v4. It is a [migration.Source].
//
//	place.go       what an address is on a GitLab server
//	gitlab.go      [Source]: what is read first, and what on demand
//	page.go        lists
//	number.go      lists of issues and merge requests, and their numbers here
//	issue.go       labels, milestones, issues, reactions
//	merge.go       merge requests
//	discussion.go  comments, reviews with comments on lines, approvals
//	event.go       timelines: resource events
//	note.go        timelines: what system notes say
//	text.go        references and addresses in texts
//	upload.go      files of texts, files of releases
//	release.go     releases
//	rule.go        protections of branches, webhooks
//	wiki.go        the wiki, a repository of its own
//	group.go       a group, with its members and projects
//
// GitLab counts issues and merge requests apart. Here issues keep their numbers, merge requests get those
// behind the highest issue, and the import remembers them: a record's Former is "!12". An issue that is
// newer than an import may find its number taken by a merge request; then it gets a free one.
//
// What only members see (internal visibility, features for members, confidential issues) does not become
// part of a public repository, and internal comments do not come at all. URLs in answers are used only for
// files of releases.
package gitlab

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
)

// Source is a project on a GitLab server.
type Source struct {
	*remote.Source
	place *Place
	known *migration.Numbers // of earlier imports
	open  *remote.Client     // sends no token
	token bool               // the other client sends one

	path  string // projects/ID
	pages int    // of the wiki
	about project
	texts *texts

	issues, merges *remote.Turned
	numbers        map[string]int64 // here, by Key: 7 or !12

	milestones map[int64]bool    // those written
	projects   map[int64]project // where merge requests come from
	uploads    map[string]*upload
	files      map[string]string // addresses of files of releases, by path

	confidential int64 // the highest number of an issue that is left out
	internal     int   // comments that are for members only
	silent       bool  // the server shows discussions, timelines and reactions to nobody without a token
}

// project is GitLab's project, as far as it is read.
type project struct {
	ID            int64     `json:"id"`
	Path          string    `json:"path_with_namespace"`
	Description   string    `json:"description"`
	Visibility    string    `json:"visibility"`
	DefaultBranch string    `json:"default_branch"`
	Topics        []string  `json:"topics"`
	OldTopics     []string  `json:"tag_list"` // in place of them, of older servers
	Archived      bool      `json:"archived"`
	Format        string    `json:"repository_object_format"`
	CreatedAt     time.Time `json:"created_at"`
	ActiveAt      time.Time `json:"last_activity_at"`

	Code     string `json:"repository_access_level"`
	Issues   string `json:"issues_access_level"`
	Merges   string `json:"merge_requests_access_level"`
	Releases string `json:"releases_access_level"`
	Wiki     string `json:"wiki_access_level"`

	MergeMethod string `json:"merge_method"`
	Squash      string `json:"squash_option"`
	DeletesHead bool   `json:"remove_source_branch_after_merge"`
	Pipeline    bool   `json:"only_allow_merge_if_pipeline_succeeds"`
	Resolved    bool   `json:"only_allow_merge_if_all_discussions_are_resolved"`

	Namespace struct {
		Kind string `json:"kind"`
		Path string `json:"full_path"`
	} `json:"namespace"`
}

// hidden reports whether the project, or a part of it that is imported, is for members or signed-in users
// only.
func (p *project) hidden() bool {
	return p.Visibility != "public" ||
		slices.Contains([]string{p.Code, p.Issues, p.Merges, p.Releases}, "private")
}

// Open reads all records of the project at a place. known are the numbers that earlier imports into the same
// repository gave. Call Close after use.
func (p *Place) Open(ctx context.Context, o remote.Options, known *migration.Numbers) (*Source, error) {
	s := newSource(p, o, known)
	if err := s.Read(ctx, s.read); err != nil {
		return nil, err
	}
	return s, nil
}

func newSource(p *Place, o remote.Options, known *migration.Numbers) *Source {
	c := p.client(o)
	return &Source{Source: remote.NewSource(c), place: p, known: known, open: c.WithoutToken(), token: o.Token != "",
		path: "projects/" + url.PathEscape(p.Path), numbers: map[string]int64{},
		milestones: map[int64]bool{}, projects: map[int64]project{}, uploads: map[string]*upload{},
		files: map[string]string{}}
}

// read writes all records.
func (s *Source) read(ctx context.Context) (about *migration.Repository, err error) {
	if about, err = s.repository(ctx); err != nil {
		return nil, err
	}
	if s.issues, err = s.NewTurned(); err != nil {
		return nil, err
	}
	defer s.issues.Close()
	if s.merges, err = s.NewTurned(); err != nil {
		return nil, err
	}
	defer s.merges.Close()
	// Lists come before Git, so that the commits of all merge requests are there.
	if err := s.ReadParts(ctx, remote.Parts{{"lists", s.list}}); err != nil {
		return nil, err
	}
	if err := s.Clone(ctx, s.Base.JoinPath(s.about.Path+".git").String()); err != nil {
		return nil, err
	}
	return about, s.ReadParts(ctx, remote.Parts{{"labels", s.readLabels}, {"milestones", s.readMilestones},
		{"issues", s.readIssues}, {"releases", s.releases}, {"rules", s.rules}, {"webhooks", s.hooks}, {"wiki", s.wiki},
		{"LFS objects", s.LFSObjects}, {"people", s.addPeople}})
}

// repository reads what is said about the project itself.
func (s *Source) repository(ctx context.Context) (*migration.Repository, error) {
	p := &s.about
	if err := s.Get(ctx, s.path, p); err != nil {
		return nil, err
	}
	if !s.token { // GitLab does not tell strangers the visibility of what they see
		p.Visibility = "public"
	}
	if p.Format != "" && p.Format != "sha1" {
		return nil, fmt.Errorf("%s uses object format %q, want sha1", p.Path, p.Format)
	}
	group, name, ok := strings.Cut(p.Path, "/")
	if !ok || group == "" || name == "" || p.ID < 1 || path.Clean("/"+p.Path) != "/"+p.Path {
		return nil, fmt.Errorf("the server answered with an invalid project %q", p.Path)
	}
	s.path = "projects/" + strconv.FormatInt(p.ID, 10) // its path may be a former one
	about := &migration.Repository{Format: migration.Format, Source: s.Base.JoinPath(p.Path).String(),
		ExportedAt: time.Now().UTC(), Name: nameOf(p.Path), Private: p.hidden(),
		DefaultBranch: p.DefaultBranch, Topics: s.topics(), NoIssues: p.Issues == "disabled", Merging: p.merging(),
		Archived: p.Archived, CreatedAt: p.CreatedAt, PushedAt: p.ActiveAt}
	if text := []rune(oneLine(p.Description)); len(text) <= maxDescription {
		about.Description = string(text)
	} else {
		about.Description = string(text[:maxDescription-3]) + "..."
		s.Leave("the description was cut after %d characters", maxDescription-3)
	}
	if p.Visibility == "public" && about.Private {
		s.Leave("the project is public with parts for its members only: the repository is private")
	}
	s.texts = newTexts(s, about)
	return about, nil
}

// topics converts topics to the form that they have here. Left lists those that have none.
func (s *Source) topics() (list []string) {
	given := s.about.Topics
	if given == nil {
		given = s.about.OldTopics
	}
	for _, name := range given {
		topic := strings.Trim(notTopic.ReplaceAllString(strings.ToLower(name), "-"), "-")
		switch {
		case !settings.IsTopic(topic) || len(list) == maxTopics:
			s.Leave("the topic %.100q", name)
		case !slices.Contains(list, topic):
			list = append(list, topic)
		}
	}
	return list
}

// Bounds of what is said about a repository.
const (
	maxTopics      = 20
	maxDescription = 350 // characters
)

var notTopic = regexp.MustCompile(`[^0-9a-z]+`)

// merging returns how pull requests merge. GitLab has one method, with or without a squash before it.
func (p *project) merging() *repo.MergingPayload {
	out := repo.Merging(0).Payload()
	if p.MergeMethod != "" {
		out.MergeCommit, out.Rebase = p.MergeMethod != "ff", p.MergeMethod == "ff"
		if out.Squash = p.Squash != "never"; p.Squash == "always" {
			out.MergeCommit, out.Rebase = false, false
		}
	}
	out.DeletesHead = p.DeletesHead
	return out
}

// oneLine joins the lines of a description, which is one line here.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

// addPeople writes the people, and how many internal comments were left out.
func (s *Source) addPeople(ctx context.Context) error {
	if s.internal > 0 {
		s.Leave("%d internal comments, which only members see there", s.internal)
	}
	return s.AddPeople(ctx)
}

// Open reads the content of a file from the server.
func (s *Source) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if p, ok := s.LFSObject(path); ok {
		return s.OpenLFS(ctx, p)
	}
	var a *http.Response
	var err error
	if u := s.uploads[strings.TrimPrefix(path, uploadPath)]; u != nil && strings.HasPrefix(path, uploadPath) {
		a, err = s.fetchUpload(ctx, u)
	} else if address := s.files[path]; address != "" {
		a, err = s.fetchFile(ctx, address)
	} else {
		return nil, fmt.Errorf("file %q not found in the source", path)
	}
	if err != nil {
		return nil, err
	}
	return a.Body, nil
}

// person is somebody in GitLab's answers.
type person struct {
	Username string `json:"username"`
	Name     string `json:"name"`
}

// login notes that a record names somebody.
func (s *Source) login(p *person) string {
	if p == nil {
		return ""
	}
	return s.People.Login(&remote.User{Login: p.Username, FullName: p.Name})
}

// logins is login for a list.
func (s *Source) logins(list []*person) (logins []string) {
	for _, p := range list {
		if login := s.login(p); login != "" && !slices.Contains(logins, login) {
			logins = append(logins, login)
		}
	}
	slices.Sort(logins)
	return logins
}
