package page

import (
	"html/template"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// What templates show. HTML is what package markdown has sanitized, and all that templates take as it is; they escape
// everything else.

// User is a person, an organization or a bot.
type User struct {
	ID      int64
	Login   string
	Avatar  string
	HTMLURL string
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
	OpenIssues   int64
	ClosedIssues int64
	DueOn        time.Time
	CreatedAt    time.Time
	ClosedAt     time.Time
}

// Percent is how much of it is closed.
func (m *Milestone) Percent() int64 {
	if all := m.OpenIssues + m.ClosedIssues; all > 0 {
		return m.ClosedIssues * 100 / all
	}
	return 0
}

// Overdue reports that it is open after its day, in UTC.
func (m *Milestone) Overdue() bool {
	return m.State == "open" && !m.DueOn.IsZero() && time.Since(m.DueOn.UTC().Truncate(24*time.Hour)) >= 24*time.Hour
}

// Reactions counts the reactions to something.
type Reactions struct {
	PlusOne  int64
	MinusOne int64
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
	StateReason string
	Draft       bool
	Locked      bool
	Comments    int64
	User        *User
	Labels      []Label
	Assignees   []User
	Milestone   *Milestone
	Text        string
	Body        template.HTML
	HTMLURL     string
	RepoURL     string
	Association string
	Reactions   Reactions
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ClosedAt    time.Time
	MergedAt    time.Time // of a pull request by its own address
	Pull        *struct {
		MergedAt time.Time
	}
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
	Text        string
	Body        template.HTML
	Association string
	HTMLURL     string
	Reactions   Reactions
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Hidden      string // why it is hidden; empty: it is shown
}

// Repository is a repository in lists.
type Repository struct {
	ID            int64
	Name          string
	FullName      string
	Owner         User
	Private       bool
	Archived      bool
	MirrorURL     string // empty: it is no mirror
	Importing     bool   // an import fills it, so it is read-only
	Fork          bool
	Description   string
	Homepage      string
	Language      string
	Stars         int64
	Forks         int64
	OpenIssues    int64
	Topics        []string
	DefaultBranch string
	PushedAt      time.Time
	UpdatedAt     time.Time
	License       *struct{ Name string }
}

// Signature is the author or committer of a commit, with the time.
type Signature struct {
	Name  string
	Email string
	Date  time.Time
}

// Commit is a commit in lists.
type Commit struct {
	SHA      string
	Author   *User
	HTMLURL  string
	Verified *Verified // nil: not signed
	Commit   struct {
		Message           string
		Author, Committer Signature
	}
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

// Brief is the beginning of the first line, for menus.
func (c *Commit) Brief() string { return Clip(c.Subject(), 72).Text }

// Rest is the message without its first line.
func (c *Commit) Rest() string {
	_, rest, _ := strings.Cut(strings.TrimSpace(c.Commit.Message), "\n")
	return strings.TrimSpace(rest)
}

// ChangedFile is what a commit, a comparison or a pull request does to a file.
type ChangedFile struct {
	SHA       string
	Filename  string
	Previous  string
	Status    string
	Additions int64
	Deletions int64
	Changes   int64
	BlobURL   string
	Old, New  string // addresses of both versions' bytes; empty: there is none
	Patch     *string
	Brief     *FileBrief
}

// FileBrief is what the API does not say of a changed file.
type FileBrief struct {
	OldMode string // six octal digits, as 100644
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
	CreatedAt       time.Time
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
	ReadOnly  bool
	AddedBy   string
	CreatedAt time.Time
	LastUsed  time.Time
}

// Fingerprint is how people recognize the key: "SHA256:...".
func (k *Key) Fingerprint() string {
	parsed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(k.Key))
	if err != nil {
		return ""
	}
	return ssh.FingerprintSHA256(parsed)
}
