package page

import (
	"html/template"
	"net/http"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/key"
	"arbor/internal/attachment"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/license"
	"arbor/internal/milestone"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// What templates show of the features' values. HTML is what package markdown has sanitized.

// Moment is a time as pages show it, to the second; zero: none.
func Moment(t db.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Time().Truncate(time.Second)
}

// TextOf returns the text that a pointer leads to; for nil the empty text.
func TextOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// NewUser returns the view of an account, or nil for nil.
func NewUser(a *account.Account) *User {
	if a == nil {
		return nil
	}
	return &User{ID: int64(a.ID), Login: a.Login, Type: a.Kind.String()}
}

// NewUsers returns the views of accounts.
func NewUsers(list []*account.Account) []User {
	users := make([]User, len(list))
	for n, a := range list {
		users[n] = *NewUser(a)
	}
	return users
}

// NewRepository returns the view of a repository.
func NewRepository(a *repo.Access) Repository {
	r := Repository{ID: int64(a.ID), Name: a.Name, FullName: a.FullName(), Owner: *NewUser(&a.Owner), Private: a.Private,
		Archived: a.Archived, MirrorURL: a.MirrorURL, Importing: a.Importing,
		Fork: a.ParentID != 0, Description: TextOf(a.Description), Homepage: TextOf(a.Homepage),
		Language: TextOf(a.Language), Stars: a.Stars, Forks: a.Forks, OpenIssues: a.OpenIssues, Topics: a.Topics.Names(),
		DefaultBranch: a.DefaultBranch, PushedAt: pushedAt(a), UpdatedAt: Moment(a.UpdatedAt)}
	if a.License != nil {
		r.License = &struct{ Name string }{license.NameOf(*a.License)}
	}
	return r
}

// pushedAt is when the repository was last pushed to. The store has the creation for one that never was.
func pushedAt(a *repo.Access) time.Time {
	if a.SizeKB == 0 && a.PushedAt == a.CreatedAt {
		return time.Time{}
	}
	return Moment(a.PushedAt)
}

// NewRepositories returns the views of repositories.
func NewRepositories(list []*repo.Access) []Repository {
	views := make([]Repository, len(list))
	for n, a := range list {
		views[n] = NewRepository(a)
	}
	return views
}

// NewKey returns the view of an SSH key.
func NewKey(k *key.Key) Key {
	return Key{ID: k.ID, Key: k.PublicKey, Title: k.Title, ReadOnly: k.ReadOnly, AddedBy: k.AddedLogin,
		CreatedAt: Moment(k.CreatedAt), LastUsed: Moment(k.LastUsedAt)}
}

// NewLabel returns the view of a label.
func NewLabel(l *label.Label) Label {
	return Label{Name: l.Name, Color: l.Color, Description: TextOf(l.Description)}
}

// NewLabels returns the views of labels.
func NewLabels(list []*label.Label) []Label {
	labels := make([]Label, len(list))
	for n, l := range list {
		labels[n] = NewLabel(l)
	}
	return labels
}

// NewMilestone returns the view of a milestone, or nil for nil. Issues do not show the creator.
func NewMilestone(m *milestone.Milestone, creator *account.Account) *Milestone {
	if m == nil {
		return nil
	}
	return &Milestone{Number: m.Number, Title: m.Title, Description: TextOf(m.Description), State: m.State.String(),
		OpenIssues: m.OpenIssues, ClosedIssues: m.ClosedIssues, DueOn: Moment(m.DueOn),
		CreatedAt: Moment(m.CreatedAt), ClosedAt: Moment(m.ClosedAt), Creator: NewUser(creator)}
}

// NewMilestones returns the views of milestones.
func NewMilestones(list []*milestone.View) []Milestone {
	views := make([]Milestone, len(list))
	for n, m := range list {
		views[n] = *NewMilestone(m.Milestone, m.Creator)
	}
	return views
}

// NewAttachments returns the view of a page of attachments in a repository.
func NewAttachments(l *attachment.Listing, a *repo.Access) Attachments {
	v := Attachments{Files: l.Files, Bytes: l.Bytes}
	for _, x := range l.Items {
		v.Items = append(v.Items, Attachment{Key: x.Key, Name: x.Name, Path: x.Path(a), Markdown: x.Markdown(a),
			Picture: x.IsPicture(), Size: x.File.Size, Uploader: x.Login(), CreatedAt: Moment(x.CreatedAt)})
	}
	return v
}

// NewReactions returns the view of a rollup.
func NewReactions(u reaction.Rollup) Reactions {
	of := func(c reaction.Content) int64 { return u[c-1] }
	return Reactions{PlusOne: of(reaction.PlusOne), MinusOne: of(reaction.MinusOne), Laugh: of(reaction.Laugh),
		Hooray: of(reaction.Hooray), Confused: of(reaction.Confused), Heart: of(reaction.Heart),
		Rocket: of(reaction.Rocket), Eyes: of(reaction.Eyes)}
}

// NewIssue returns the view of an issue or a pull request's issue.
func NewIssue(v *issue.View) *Issue {
	i := &Issue{ID: int64(v.ID), Number: v.Number, Title: v.Title, State: v.State.String(),
		StateReason: v.StateReason.String(), Draft: v.Draft, Locked: v.Locked, Comments: v.Comments,
		User: NewUser(v.Author), Labels: NewLabels(v.Labels), Assignees: NewUsers(v.Assignees),
		Milestone: NewMilestone(v.Milestone, nil), Text: TextOf(v.Body), Body: template.HTML(v.HTML),
		HTMLURL: IssuePath(v.Issue, v.Access.Owner.Login, v.Access.Name), RepoURL: "/repos/" + v.Access.FullName(),
		Association: v.Association, Reactions: NewReactions(v.Reactions), CreatedAt: Moment(v.CreatedAt),
		UpdatedAt: Moment(v.UpdatedAt), ClosedAt: Moment(v.ClosedAt)}
	if v.Pull {
		i.MergedAt = Moment(v.MergedAt)
		i.Pull = &struct {
			MergedAt time.Time
		}{i.MergedAt}
	}
	return i
}

// IssuePath is the address of an issue's page.
func IssuePath(i *issue.Issue, owner, name string) string {
	return web.Path(owner, name) + issuekit.PageSegment(i.Pull) + strconv.FormatInt(i.Number, 10)
}

// NewComment returns the view of a comment.
func NewComment(v *comment.View) Comment {
	return Comment{ID: v.ID, User: NewUser(v.Author), Text: v.Body, Body: template.HTML(v.HTML),
		Association: v.Association, Reactions: NewReactions(v.Reactions), CreatedAt: Moment(v.CreatedAt),
		UpdatedAt: Moment(v.UpdatedAt), Hidden: v.Hidden.String()}
}

// Markdown renders a text of a repository as sanitized HTML as in a conversation, for all who can see the
// repository. Errors: those of POST /markdown.
func (k *Kit) Markdown(r *http.Request, a *repo.Access, text string) (template.HTML, error) {
	if text == "" {
		return "", nil
	}
	html, err := k.Markups.HTML(r.Context(), a.Caller, text, a.FullName(), true)
	return template.HTML(html), err
}
