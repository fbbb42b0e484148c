package old

import (
	"encoding/base64"
	"html/template"
	"strings"
	"time"
	"unicode/utf8"
)

// What pages read of the API's payloads. A body_html is what package markdown
// has sanitized, and the only HTML that templates take as it is; everything
// else is text, which they escape.

type userJSON struct {
	Login   string
	HTMLURL string `json:"html_url"`
}

type labelJSON struct {
	Name        string
	Description string
}

type milestoneJSON struct {
	Number       int64
	Title        string
	Description  string
	State        string
	Creator      *userJSON
	HTMLURL      string    `json:"html_url"`
	OpenIssues   int64     `json:"open_issues"`
	ClosedIssues int64     `json:"closed_issues"`
	DueOn        time.Time `json:"due_on"`
	CreatedAt    time.Time `json:"created_at"`
}

// issue is an issue or, in lists of issues, a pull request.
type issueJSON struct {
	Number    int64
	Title     string
	State     string
	Draft     bool
	Locked    bool
	Comments  int64
	User      *userJSON
	Labels    []labelJSON
	Assignees []userJSON
	Milestone *milestoneJSON
	Body      template.HTML `json:"body_html"`
	HTMLURL   string        `json:"html_url"`
	CreatedAt time.Time     `json:"created_at"`
	MergedAt  time.Time     `json:"merged_at"`
	Pull      *struct{}     `json:"pull_request"`
}

// Status is the state in one word.
func (i *issueJSON) Status() string {
	switch {
	case !i.MergedAt.IsZero():
		return "merged"
	case i.Draft && i.State == "open":
		return "draft"
	}
	return i.State
}

// pull is a pull request.
type pullJSON struct {
	issueJSON
	Merged       bool
	Mergeable    *bool
	MergedBy     *userJSON `json:"merged_by"`
	Commits      int64
	Additions    int64
	Deletions    int64
	ChangedFiles int64  `json:"changed_files"`
	DiffURL      string `json:"diff_url"`
	PatchURL     string `json:"patch_url"`
	Head, Base   struct{ Label string }
}

// Merges says whether it can be merged.
func (p *pullJSON) Merges() string {
	switch {
	case p.Merged:
		return "It is merged."
	case p.State != "open":
		return "It is closed and was not merged."
	case p.Mergeable == nil:
		return "Whether it merges is not known yet."
	case *p.Mergeable:
		return "It merges without a conflict."
	}
	return "It has conflicts with its base."
}

// comment is one on an issue, or on lines of a pull request, which has a path.
type commentJSON struct {
	ID        int64
	User      *userJSON
	Body      template.HTML `json:"body_html"`
	CreatedAt time.Time     `json:"created_at"`
	Path      string
	Line      int64
	Hunk      string `json:"diff_hunk"`
}

// ShownHunk is the end of the hunk, where the line is that is spoken of.
func (c *commentJSON) ShownHunk() string {
	const most = 12
	lines := strings.SplitAfter(c.Hunk, "\n")
	return clip(strings.Join(lines[max(0, len(lines)-most):], ""), maxHunk).Text
}

const maxHunk = 8 << 10 // bytes

type reviewJSON struct {
	ID          int64
	User        *userJSON
	Body        template.HTML `json:"body_html"`
	State       string
	SubmittedAt time.Time `json:"submitted_at"`
}

// Verdict is the state as people say it.
func (r *reviewJSON) Verdict() string {
	switch r.State {
	case "APPROVED":
		return "approved"
	case "CHANGES_REQUESTED":
		return "asked for changes"
	case "DISMISSED":
		return "gave a review that was dismissed"
	case "PENDING":
		return "has not submitted this review"
	}
	return "gave a review"
}

type commitJSON struct {
	SHA     string
	HTMLURL string `json:"html_url"`
	Author  *userJSON
	Commit  struct {
		Message   string
		Author    signatureJSON
		Committer signatureJSON
	}
	Parents []struct {
		SHA     string
		HTMLURL string `json:"html_url"`
	}
	Stats struct{ Additions, Deletions int64 }
	Files []changedFileJSON
}

// comparisonJSON is what one commit has that another lacks.
type comparisonJSON struct {
	Status   string
	Ahead    int64 `json:"ahead_by"`
	Behind   int64 `json:"behind_by"`
	Commits  []commitJSON
	Files    []changedFileJSON
	DiffURL  string `json:"diff_url"`
	PatchURL string `json:"patch_url"`
}

type signatureJSON struct {
	Name string
	Date time.Time
}

// Short is the beginning of the SHA, as people read it.
func (c *commitJSON) Short() string { return shorten(c.SHA) }

// Subject is the message's first line.
func (c *commitJSON) Subject() string {
	first, _, _ := strings.Cut(strings.TrimSpace(c.Commit.Message), "\n")
	if first == "" {
		return c.Short()
	}
	return clip(first, maxSubject).Text
}

const maxSubject = 250 // bytes

type changedFileJSON struct {
	Filename  string
	Previous  string `json:"previous_filename"`
	Status    string
	Additions int64
	Deletions int64
	BlobURL   string `json:"blob_url"`
	Patch     *string
}

// entry is what is in a directory.
type entryJSON struct {
	Name        string
	Path        string
	Type        string
	Size        int64
	HTMLURL     *string `json:"html_url"`
	DownloadURL *string `json:"download_url"`
	Target      *string
	Submodule   *string `json:"submodule_git_url"`
	Content     *string
	Encoding    string
}

// text is the content of a file, where it is text that people can read.
func (e *entryJSON) text() (content string, ok bool) {
	if e.Content == nil || e.Encoding != "base64" {
		return "", false
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(*e.Content, "\n", ""))
	if err != nil || !utf8.Valid(data) || strings.IndexByte(string(data), 0) >= 0 {
		return "", false
	}
	return string(data), true
}

// clipped is the beginning of a text that may be too long to show.
type clipped struct {
	Text string
	Cut  bool
}

// clip cuts a text to at most size bytes, between characters.
func clip(text string, size int) clipped {
	if len(text) <= size {
		return clipped{Text: text}
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return clipped{text[:size], true}
}

// shorten is the beginning of a SHA that people read.
func shorten(sha string) string { return sha[:min(len(sha), 10)] }
