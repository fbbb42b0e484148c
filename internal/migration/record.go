package migration

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"arbor/internal/repo"
)

// Format is the version of the format that Export writes and Import reads.
const Format = 1

// Kind is a kind of records.
type Kind string

// The kinds of records. A record refers only to records of kinds before its own, and to earlier ones of its own.
const (
	People         Kind = "people"
	Labels         Kind = "labels"
	Milestones     Kind = "milestones"
	Issues         Kind = "issues" // with pull requests
	Comments       Kind = "comments"
	Reviews        Kind = "reviews"
	ReviewComments Kind = "review_comments"
	CommitComments Kind = "commit_comments"
	Threads        Kind = "threads"
	Events         Kind = "events"
	Releases       Kind = "releases"
	Assets         Kind = "assets"
	Reactions      Kind = "reactions"
	LFSObjects     Kind = "lfs_objects"
	Attachments    Kind = "attachments"
	Rulesets       Kind = "rulesets"
	Hooks          Kind = "hooks"
)

// Kinds lists the kinds in the order in which they are exported and imported.
var Kinds = []Kind{People, Labels, Milestones, LFSObjects, Attachments, Issues, Comments, Reviews, ReviewComments,
	CommitComments, Threads, Events, Releases, Assets, Reactions, Rulesets, Hooks}

// Record is a record of a kind.
type Record interface {
	// Key names the record among those of its kind, and stays the same in later exports of the same repository.
	Key() string
}

// newRecord returns an empty record of a kind; nil if there is no such kind.
func newRecord(k Kind) Record {
	switch k {
	case People:
		return &Person{}
	case Labels:
		return &Label{}
	case Milestones:
		return &Milestone{}
	case Issues:
		return &Issue{}
	case Comments:
		return &Comment{}
	case Reviews:
		return &Review{}
	case ReviewComments:
		return &ReviewComment{}
	case CommitComments:
		return &CommitComment{}
	case Threads:
		return &Thread{}
	case Reactions:
		return &Reaction{}
	case Events:
		return &Event{}
	case Releases:
		return &Release{}
	case Assets:
		return &Asset{}
	case LFSObjects:
		return &LFSObject{}
	case Attachments:
		return &Attachment{}
	case Rulesets:
		return &Ruleset{}
	case Hooks:
		return &Hook{}
	}
	return nil
}

// Repository is the one record of repository.json, which is written last: a folder without it is not whole.
type Repository struct {
	Format     int       `json:"format"`
	Source     string    `json:"source"` // the address of the repository's page
	ExportedAt time.Time `json:"exported_at"`

	Name          string               `json:"name"` // OWNER/NAME
	Description   string               `json:"description,omitempty"`
	Homepage      string               `json:"homepage,omitempty"`
	Private       bool                 `json:"private"`
	DefaultBranch string               `json:"default_branch"`
	Topics        []string             `json:"topics,omitempty"`
	NoIssues      bool                 `json:"no_issues,omitempty"`
	Merging       *repo.MergingPayload `json:"merging,omitempty"` // by GitHub's names; nil: as of a new repository
	Template      bool                 `json:"template,omitempty"`
	Archived      bool                 `json:"archived,omitempty"`
	CreatedAt     time.Time            `json:"created_at"`
	PushedAt      time.Time            `json:"pushed_at,omitzero"`
	NextNumber    int64                `json:"next_number,omitempty"` // of the next issue; 0: the one after the last

	Records map[Kind]int64 `json:"records,omitempty"` // how many there are; nil: unknown
}

// Person is somebody whom records name by Login. Records name nobody ("") where the account is gone.
type Person struct {
	Login  string   `json:"login"`
	Name   string   `json:"name,omitempty"`
	Type   string   `json:"type,omitempty"`   // User, Organization, Bot or Mannequin; empty: User
	Host   string   `json:"host,omitempty"`   // of a Mannequin: the server from which it comes
	Emails []string `json:"emails,omitempty"` // that the source has verified
}

// Key is the login.
func (p *Person) Key() string { return p.Login }

// Label is a label.
type Label struct {
	Name        string  `json:"name"`
	Color       string  `json:"color"` // six hexadecimal digits
	Description *string `json:"description,omitempty"`
	Default     bool    `json:"default,omitempty"`
}

// Key is the name.
func (l *Label) Key() string { return l.Name }

// Milestone is a milestone.
type Milestone struct {
	Number      int64     `json:"number"`
	Title       string    `json:"title"`
	Description *string   `json:"description,omitempty"`
	State       string    `json:"state"` // open or closed
	Creator     string    `json:"creator,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	DueOn       time.Time `json:"due_on,omitzero"`
	ClosedAt    time.Time `json:"closed_at,omitzero"`
}

// Key is the number.
func (m *Milestone) Key() string { return strconv.FormatInt(m.Number, 10) }

// Issue is an issue or a pull request. Records are in the order of their numbers.
type Issue struct {
	Number      int64     `json:"number"`
	Former      string    `json:"former,omitempty"` // what it is called at the source; empty: it is the number
	Title       string    `json:"title"`
	Body        *string   `json:"body,omitempty"`
	Author      string    `json:"author,omitempty"`
	State       string    `json:"state"`                  // open or closed
	StateReason string    `json:"state_reason,omitempty"` // completed, not_planned, reopened or duplicate
	Locked      bool      `json:"locked,omitempty"`
	LockReason  *string   `json:"lock_reason,omitempty"`
	Milestone   int64     `json:"milestone,omitempty"` // its number
	Labels      []string  `json:"labels,omitempty"`    // their names
	Assignees   []string  `json:"assignees,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	ClosedAt    time.Time `json:"closed_at,omitzero"`
	ClosedBy    string    `json:"closed_by,omitempty"`
	PinnedAt    time.Time `json:"pinned_at,omitzero"`
	PinnedBy    string    `json:"pinned_by,omitempty"`
	Private     bool      `json:"private,omitempty"` // not for all who see the repository there
	Pull        *Pull     `json:"pull,omitempty"`    // nil: it is an issue
}

// Key is what it is called at the source.
func (i *Issue) Key() string { return cmp.Or(i.Former, strconv.FormatInt(i.Number, 10)) }

// Pull is what a pull request has besides.
type Pull struct {
	Base       string    `json:"base"` // a branch
	BaseSHA    string    `json:"base_sha"`
	Head       string    `json:"head"` // a branch
	HeadSHA    string    `json:"head_sha"`
	HeadOwner  string    `json:"head_owner,omitempty"`
	HeadRepo   string    `json:"head_repo,omitempty"` // OWNER/NAME; empty: it is gone
	Draft      bool      `json:"draft,omitempty"`
	Modifiable bool      `json:"maintainer_can_modify,omitempty"`
	MergedAt   time.Time `json:"merged_at,omitzero"`
	MergedBy   string    `json:"merged_by,omitempty"`
	MergeSHA   string    `json:"merge_commit_sha,omitempty"` // of a merged one
	Additions  int64     `json:"additions,omitempty"`
	Deletions  int64     `json:"deletions,omitempty"`
	Files      int64     `json:"changed_files,omitempty"`
	Commits    int64     `json:"commits,omitempty"`
	Reviewers  []string  `json:"requested_reviewers,omitempty"`
}

// Comment is a comment on an issue or a pull request.
type Comment struct {
	ID        string    `json:"id"`
	Issue     int64     `json:"issue"` // its number
	Author    string    `json:"author,omitempty"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	PinnedAt  time.Time `json:"pinned_at,omitzero"`
	PinnedBy  string    `json:"pinned_by,omitempty"`
	Hidden    string    `json:"hidden,omitempty"` // why: abuse, duplicate, off-topic, outdated, resolved or spam
	ByMail    bool      `json:"by_mail,omitempty"`
}

// Key is the id.
func (c *Comment) Key() string { return c.ID }

// Review is a submitted review of a pull request.
type Review struct {
	ID          string    `json:"id"`
	Pull        int64     `json:"pull"` // its number
	Author      string    `json:"author,omitempty"`
	State       string    `json:"state"` // commented, approved, changes_requested or dismissed
	Body        string    `json:"body"`
	Commit      string    `json:"commit"`
	SubmittedAt time.Time `json:"submitted_at"`
	Hidden      string    `json:"hidden,omitempty"`
}

// Key is the id.
func (r *Review) Key() string { return r.ID }

// ReviewComment is a comment on a line or a file of a pull request's changes.
type ReviewComment struct {
	ID        string    `json:"id"`
	Pull      int64     `json:"pull"`
	Review    string    `json:"review"`
	ReplyTo   string    `json:"reply_to,omitempty"` // the first comment of the thread
	Author    string    `json:"author,omitempty"`
	Body      string    `json:"body"`
	Path      string    `json:"path"`
	File      bool      `json:"file,omitempty"` // on the whole file
	Side      string    `json:"side"`           // LEFT or RIGHT
	StartSide string    `json:"start_side,omitempty"`
	DiffHunk  string    `json:"diff_hunk"`
	Original  Place     `json:"original"`         // as the author commented
	Current   Place     `json:"current,omitzero"` // in a later commit
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Hidden    string    `json:"hidden,omitempty"`
}

// Place is a place in the changes up to a commit.
type Place struct {
	Commit   string `json:"commit"`
	Position int64  `json:"position,omitempty"` // a line of the file's patch; 0: outdated
	Line     int64  `json:"line,omitempty"`
	Start    int64  `json:"start_line,omitempty"` // 0: one line
}

// Key is the id.
func (c *ReviewComment) Key() string { return c.ID }

// CommitComment is a comment on a commit.
type CommitComment struct {
	ID        string    `json:"id"`
	Commit    string    `json:"commit"`
	Author    string    `json:"author,omitempty"`
	Body      string    `json:"body"`
	Path      *string   `json:"path,omitempty"`
	Position  int64     `json:"position,omitempty"`
	Line      int64     `json:"line,omitempty"`
	Hidden    string    `json:"hidden,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Key is the id.
func (c *CommitComment) Key() string { return c.ID }

// Thread is a conversation on lines that somebody resolved.
type Thread struct {
	Comment    string    `json:"comment"` // the id of its first review comment
	Pull       int64     `json:"pull"`
	ResolvedBy string    `json:"resolved_by,omitempty"`
	ResolvedAt time.Time `json:"resolved_at"`
}

// Key is the id of the first comment.
func (t *Thread) Key() string { return t.Comment }

// Reaction is a reaction.
type Reaction struct {
	Kind      Kind      `json:"of"` // issues, comments, review_comments, commit_comments or releases
	To        string    `json:"to"` // the number of the issue, or the id of the comment or release
	Person    string    `json:"person,omitempty"`
	Content   string    `json:"content"` // +1, -1, laugh, hooray, confused, heart, rocket or eyes; to releases six of them
	CreatedAt time.Time `json:"created_at"`
}

// Key says who reacted to what.
func (r *Reaction) Key() string {
	return string(r.Kind) + " " + r.To + " " + r.Content + " " + r.Person
}

// Event is an event in the timeline of an issue.
type Event struct {
	ID        string    `json:"id"`
	Issue     int64     `json:"issue"`
	Event     string    `json:"event"` // as GitHub names it
	Actor     string    `json:"actor,omitempty"`
	CreatedAt time.Time `json:"created_at"`

	Person        string          `json:"person,omitempty"` // who was assigned, mentioned, asked for a review
	Team          string          `json:"team,omitempty"`   // whose review was requested
	Commit        string          `json:"commit,omitempty"`
	Source        int64           `json:"source,omitempty"`         // the number of the issue that refers to this one
	SourceComment string          `json:"source_comment,omitempty"` // the comment there that does
	Label         json.RawMessage `json:"label,omitempty"`          // name and color
	Milestone     string          `json:"milestone,omitempty"`      // its title
	Rename        json.RawMessage `json:"rename,omitempty"`         // from and to
	LockReason    string          `json:"lock_reason,omitempty"`
	StateReason   string          `json:"state_reason,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Review        string          `json:"review,omitempty"`       // the id of the review
	ReviewState   string          `json:"review_state,omitempty"` // at the time of the event
	Message       string          `json:"message,omitempty"`      // the reason for a dismissal
}

// Key is the id.
func (e *Event) Key() string { return e.ID }
