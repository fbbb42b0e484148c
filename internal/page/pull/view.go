package pull

import (
	"html/template"
	"time"

	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/review"
	"arbor/internal/team"
)

// request is a pull request as its pages show it.
type request struct {
	ID             int64
	Number         int64
	Title          string
	State          string
	Draft          bool
	Locked         bool
	Merged         bool
	Mergeable      *bool
	User           *page.User
	MergedBy       *page.User
	MergeCommit    string
	Head, Base     side
	Reviewers      []page.User
	Teams          []*team.Team     // that are asked for a review
	OwningTeams    map[team.ID]bool // those of them that are asked as code owners
	Commits        int64
	Additions      int64
	Deletions      int64
	ChangedFiles   int64
	Comments       int64
	ReviewComments int64
	Modifiable     bool
	CreatedAt      time.Time
	MergedAt       time.Time
	ClosedAt       time.Time
}

func newRequest(v *pull.View) *request {
	i := v.Issue
	return &request{ID: int64(i.ID), Number: i.Number, Title: i.Title, State: i.State.String(), Draft: i.Draft,
		Locked: i.Locked, Merged: v.Merged(), Mergeable: v.Mergeable(), User: page.NewUser(i.Author),
		MergedBy: page.NewUser(v.MergedBy), MergeCommit: string(v.MergeCommit()), Head: newSide(v.Head),
		Base: newSide(v.Base), Reviewers: page.NewUsers(v.Reviewers), Teams: v.Teams,
		OwningTeams: v.OwningTeams, Commits: v.Commits,
		Additions: v.Additions,
		Deletions: v.Deletions, ChangedFiles: v.Files, Comments: i.Comments, ReviewComments: v.ReviewComments,
		Modifiable: v.Modifiable, CreatedAt: page.Moment(i.CreatedAt), MergedAt: page.Moment(i.MergedAt),
		ClosedAt: page.Moment(i.ClosedAt)}
}

// side is one of the two branches.
type side struct {
	Label string
	Ref   string
	SHA   string
	User  *page.User
	Repo  string // OWNER/NAME; empty: it is gone, or the viewer does not see it
}

func newSide(s pull.Side) side {
	v := side{Label: ":" + s.Ref, Ref: s.Ref, SHA: string(s.SHA), User: page.NewUser(s.Owner)}
	if s.Owner != nil {
		v.Label = s.Owner.Login + v.Label
	}
	if s.Repo != nil {
		v.Repo = s.Repo.FullName()
	}
	return v
}

// Path is the address of the repository; empty if it is gone.
func (s *side) Path() string {
	if s.Repo == "" {
		return ""
	}
	return "/" + s.Repo
}

// IsPull says what part "state" shows.
func (p *request) IsPull() bool { return true }

// Status is the state in one word.
func (p *request) Status() string {
	switch {
	case p.Merged:
		return "merged"
	case p.State == "open" && p.Draft:
		return "draft"
	}
	return p.State
}

// Fork reports that the head is a branch of another repository, or of one that is gone.
func (p *request) Fork() bool { return p.Head.Repo == "" || p.Head.Repo != p.Base.Repo }

// HeadName is the head as shown next to the base.
func (p *request) HeadName() string {
	if p.Fork() {
		return p.Head.Label
	}
	return p.Head.Ref
}

// lineComment is a comment on lines of what a pull request changes.
type lineComment struct {
	page.Comment
	Review        int64
	ReplyTo       int64
	Path          string
	Hunk          string
	Side          string
	Line          int64
	Start         int64
	OriginalLine  int64
	OriginalStart int64
	Outdated      bool   // the line is no longer in what the pull request changes
	Whole         bool   // it is about the file
	Commit        string // at which it stands
	Made          string // of which it was made
	Pending       bool
}

func newLineComments(list []*review.CommentView) []*lineComment {
	comments := make([]*lineComment, len(list))
	for n, v := range list {
		comments[n] = newLineComment(v)
	}
	return comments
}

func newLineComment(v *review.CommentView) *lineComment {
	return &lineComment{Comment: page.Comment{ID: v.ID, User: page.NewUser(v.Author), Text: v.Body,
		Body: template.HTML(v.HTML), Association: v.Association, Reactions: page.NewReactions(v.Reactions),
		CreatedAt: page.Moment(v.CreatedAt), UpdatedAt: page.Moment(v.UpdatedAt), Hidden: v.Hidden.String()},
		Review: v.ReviewID, ReplyTo: v.ReplyTo, Path: v.Path, Hunk: v.Hunk, Side: v.Side.String(), Line: v.Now.Line,
		Start: v.Now.Start, OriginalLine: v.Spot.Line, OriginalStart: v.Spot.Start, Outdated: v.Outdated(),
		Whole: v.Whole, Commit: string(v.ShownCommit()),
		Made: string(v.Commit), Pending: v.Pending}
}

// userOf is the author of a review in short.
func userOf(v review.Verdict) page.User { return page.User{ID: int64(v.AuthorID), Login: v.Login} }

// check is a check run or the latest status of a context, in one form.
type check struct {
	Name string
	Text string
	Mark string // success, failure, pending, neutral
	Href string // empty: none
	App  string
}
