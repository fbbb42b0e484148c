package pull

import (
	"time"

	"arbor/internal/page"
)

// pull is a pull request as the API shows one.
type pull struct {
	ID             int64
	Number         int64
	Title          string
	State          string
	Draft          bool
	Locked         bool
	Merged         bool
	Mergeable      *bool
	MergeableState string `json:"mergeable_state"`
	User           *page.User
	MergedBy       *page.User `json:"merged_by"`
	MergeCommit    string     `json:"merge_commit_sha"`
	HTMLURL        string     `json:"html_url"`
	Head, Base     side
	Reviewers      []page.User `json:"requested_reviewers"`
	Commits        int64
	Additions      int64
	Deletions      int64
	ChangedFiles   int64 `json:"changed_files"`
	Comments       int64
	ReviewComments int64     `json:"review_comments"`
	Modifiable     bool      `json:"maintainer_can_modify"`
	CreatedAt      time.Time `json:"created_at"`
	MergedAt       time.Time `json:"merged_at"`
	ClosedAt       time.Time `json:"closed_at"`
}

// side is one of the two branches.
type side struct {
	Label string
	Ref   string
	SHA   string
	User  *page.User
	Repo  *struct {
		FullName string `json:"full_name"`
	}
}

// Path is the address of the branch; empty where its repository is gone.
func (s *side) Path() string {
	if s.Repo == nil {
		return ""
	}
	return "/" + s.Repo.FullName
}

// IsPull says what part "state" shows.
func (p *pull) IsPull() bool { return true }

// Status is the state in one word.
func (p *pull) Status() string {
	switch {
	case p.Merged:
		return "merged"
	case p.State == "open" && p.Draft:
		return "draft"
	}
	return p.State
}

// Fork reports that the head is a branch of another repository, or of one that is gone.
func (p *pull) Fork() bool {
	return p.Head.Repo == nil || p.Base.Repo != nil && p.Head.Repo.FullName != p.Base.Repo.FullName
}

// HeadName is the head as shown next to the base.
func (p *pull) HeadName() string {
	if p.Fork() {
		return p.Head.Label
	}
	return p.Head.Ref
}

// review is review.Verdict.
type review struct {
	ID    int64
	User  *page.User
	State string // COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED
}

// lineComment is a comment on lines of what a pull request changes.
type lineComment struct {
	page.Comment
	Review        int64  `json:"pull_request_review_id"`
	ReplyTo       int64  `json:"in_reply_to_id"`
	Path          string `json:"path"`
	Hunk          string `json:"diff_hunk"`
	Side          string
	StartSide     string `json:"start_side"`
	Line          int64
	Start         int64  `json:"start_line"`
	OriginalLine  int64  `json:"original_line"`
	OriginalStart int64  `json:"original_start_line"`
	Position      *int64 `json:"position"`
	Subject       string `json:"subject_type"`
	Commit        string `json:"commit_id"`

	Pending bool `json:"-"`
}

// Outdated reports that the line is no longer in what the pull request changes.
func (c *lineComment) Outdated() bool { return c.Position == nil }

// outlook is pull.Outlook.
type outlook struct {
	Known     bool
	Conflicts []string
	Behind    int
	CanUpdate bool `json:"can_update"`
	CanDelete bool `json:"can_delete"`
	CanPush   bool `json:"can_push"`
	HeadGone  bool `json:"head_gone"`
	Methods   []struct{ Method, Title, Message string }
}

// progress is review.Progress.
type progress struct {
	Resolved        map[int64]string
	Viewed          map[string]string
	Reviews         []review
	Pending         int64
	PendingComments int64 `json:"pending_comments"`
}

// check is a check run or the latest status of a context, in one form.
type check struct {
	Name string
	Text string
	Mark string // success, failure, pending, neutral
	Href string // empty: none
	App  string
}

type statusJSON struct {
	State       string
	Context     string
	Description string
	Target      string `json:"target_url"`
}

type runJSON struct {
	ID         int64
	Name       string
	Status     string
	Conclusion string
	HTMLURL    string `json:"html_url"`
	App        *struct{ Name string }
	Output     struct{ Title string }
}
