package page

import (
	"html/template"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// What pages read of the API's payloads. A body_html is what package markdown has sanitized, and the only
// HTML that templates take as it is; everything else is text, which they escape.

// User is a person, an organization or a bot.
type User struct {
	ID      int64
	Login   string
	Avatar  string `json:"avatar_url"`
	HTMLURL string `json:"html_url"`
	Type    string
}

// Label is a label of a repository.
type Label struct {
	Name        string
	Color       string // six hexadecimal digits
	Description string
}

// Milestone is a milestone of a repository.
type Milestone struct {
	Number       int64
	Title        string
	Description  string
	State        string
	Creator      *User
	OpenIssues   int64     `json:"open_issues"`
	ClosedIssues int64     `json:"closed_issues"`
	DueOn        time.Time `json:"due_on"`
	CreatedAt    time.Time `json:"created_at"`
	ClosedAt     time.Time `json:"closed_at"`
}

// Percent is how much of it is closed.
func (m *Milestone) Percent() int64 {
	if all := m.OpenIssues + m.ClosedIssues; all > 0 {
		return m.ClosedIssues * 100 / all
	}
	return 0
}

// Reactions counts the reactions to something.
type Reactions struct {
	PlusOne  int64 `json:"+1"`
	MinusOne int64 `json:"-1"`
	Laugh    int64
	Confused int64
	Heart    int64
	Hooray   int64
	Rocket   int64
	Eyes     int64
}

// Issue is an issue or, in lists of issues, a pull request.
type Issue struct {
	ID          int64
	Number      int64
	Title       string
	State       string
	StateReason string `json:"state_reason"`
	Draft       bool
	Locked      bool
	Comments    int64
	User        *User
	Labels      []Label
	Assignees   []User
	Milestone   *Milestone
	Text        string        `json:"body"`
	Body        template.HTML `json:"body_html"`
	HTMLURL     string        `json:"html_url"`
	RepoURL     string        `json:"repository_url"`
	Association string        `json:"author_association"`
	Reactions   Reactions
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	ClosedAt    time.Time `json:"closed_at"`
	MergedAt    time.Time `json:"merged_at"` // of a pull request by its own address
	Pull        *struct {
		MergedAt time.Time `json:"merged_at"`
	} `json:"pull_request"`
}

// IsPull reports a pull request.
func (i *Issue) IsPull() bool { return i.Pull != nil }

// Status is the state in one word: open, closed, not planned, draft, merged.
func (i *Issue) Status() string {
	switch {
	case !i.MergedAt.IsZero(), i.Pull != nil && !i.Pull.MergedAt.IsZero():
		return "merged"
	case i.Draft && i.State == "open":
		return "draft"
	case i.State == "closed" && i.StateReason == "not_planned":
		return "not planned"
	}
	return i.State
}

// FullName is OWNER/NAME of the issue's repository.
func (i *Issue) FullName() string {
	_, name, _ := strings.Cut(i.RepoURL, "/repos/")
	return name
}

// Path is the address of the issue's page on this site.
func (i *Issue) Path() string {
	if _, path, ok := strings.Cut(i.HTMLURL, "://"); ok {
		if at := strings.IndexByte(path, '/'); at >= 0 {
			return path[at:]
		}
	}
	return i.HTMLURL
}

// Comment is one on an issue, or on lines of a pull request, which has a path.
type Comment struct {
	ID          int64
	User        *User
	Text        string        `json:"body"`
	Body        template.HTML `json:"body_html"`
	Association string        `json:"author_association"`
	HTMLURL     string        `json:"html_url"`
	Reactions   Reactions
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Repository is a repository in lists.
type Repository struct {
	ID            int64
	Name          string
	FullName      string `json:"full_name"`
	Owner         User
	Private       bool
	Archived      bool
	Fork          bool
	Description   string
	Homepage      string
	Language      string
	Stars         int64 `json:"stargazers_count"`
	Forks         int64 `json:"forks_count"`
	OpenIssues    int64 `json:"open_issues_count"`
	Topics        []string
	DefaultBranch string    `json:"default_branch"`
	PushedAt      time.Time `json:"pushed_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	License       *struct{ Name string }
}

// Signature is the author or committer of a commit, with the time.
type Signature struct {
	Name  string
	Email string
	Date  time.Time
}

// Commit is a commit as the API lists it.
type Commit struct {
	SHA     string
	Author  *User
	HTMLURL string `json:"html_url"`
	Commit  struct {
		Message   string
		Author    Signature
		Committer Signature
		Comments  int64 `json:"comment_count"`
		Tree      struct{ SHA string }

		Verification struct{ Reason string } // unsigned, or why a signature is not verified
	}
	Parents []struct{ SHA string }
	Stats   struct{ Additions, Deletions, Total int64 }
	Files   []ChangedFile
}

const maxSubject = 250 // bytes

// Subject is the message's first line.
func (c *Commit) Subject() string {
	first, _, _ := strings.Cut(strings.TrimSpace(c.Commit.Message), "\n")
	if first == "" {
		return Short(c.SHA)
	}
	return Clip(first, maxSubject).Text
}

// Rest is the message without its first line.
func (c *Commit) Rest() string {
	_, rest, _ := strings.Cut(strings.TrimSpace(c.Commit.Message), "\n")
	return strings.TrimSpace(rest)
}

// ChangedFile is what a commit, a comparison or a pull request does to a file.
type ChangedFile struct {
	SHA       string
	Filename  string
	Previous  string `json:"previous_filename"`
	Status    string
	Additions int64
	Deletions int64
	Changes   int64
	BlobURL   string `json:"blob_url"`
	RawURL    string `json:"raw_url"`
	Patch     *string
	Brief     *FileBrief
}

// FileBrief is what the API does not say of a changed file.
type FileBrief struct {
	OldMode string `json:"old_mode"` // six octal digits, as 100644
	Mode    string
	Binary  bool
	Unread  bool // too much to be compared
}

// Attachment is a file of a text.
type Attachment struct {
	Key, Name, Path string
	Markdown        string
	Picture         bool
	Size            int64
	Uploader        string
	CreatedAt       time.Time `json:"created_at"`
}

// Attachments are a page of files, with how many there are in all, and their bytes.
type Attachments struct {
	Files, Bytes int64
	Items        []Attachment
}

// Key is a public SSH key, of an account or of a repository.
type Key struct {
	ID        int64
	Key       string
	Title     string
	ReadOnly  bool      `json:"read_only"`
	AddedBy   string    `json:"added_by"`
	CreatedAt time.Time `json:"created_at"`
	LastUsed  time.Time `json:"last_used"`
}

// Fingerprint is how people recognize the key: "SHA256:...".
func (k *Key) Fingerprint() string {
	parsed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(k.Key))
	if err != nil {
		return ""
	}
	return ssh.FingerprintSHA256(parsed)
}
