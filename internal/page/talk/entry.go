package talk

import (
	"html/template"
	"slices"
	"time"

	"arbor/internal/issue"
	"arbor/internal/issue/timeline"
	"arbor/internal/page"
	"arbor/internal/team"
)

// Entry is one thing in a timeline: a comment, a review, or an event with what events of its kind tell.
type Entry struct {
	page.Comment // of comments and reviews; its ID and CreatedAt are of all
	Event        string
	Actor        *page.User

	CommitID    string
	CommitPath  string // the address of the commit's page
	StateReason string
	Assignee    *page.User // of assigned and unassigned
	Milestone   string     // of milestoned and demilestoned: its title
	Rename      *issue.Rename
	Reviewer    *page.User // who is asked for a review, or not any more
	Team        *team.Team // the same, in place of a user
	OfTeam      bool       // a team is, which the viewer may not see
	LockReason  string
	Reason      string // why auto-merge was disabled, or a merge queue left
	Dismissed   *issue.Review
	Source      *page.Issue // of cross-referenced: what refers to this
	State       string      // of reviews: approved, changes_requested, commented, dismissed
	SubmittedAt time.Time

	Box            *Box         // of comments and reviews
	Added, Removed []page.Label // of labeled and unlabeled: with those that follow at once
	Extra          any          // of the room that shows it
}

// newEntry returns what pages show of a timeline entry. path is that of the repository.
func newEntry(e *timeline.Entry, path string) *Entry {
	if e.Comment != nil {
		c := page.NewComment(e.Comment)
		return &Entry{Comment: c, Event: "commented", Actor: c.User}
	}
	d, kind := &e.Event.Detail, e.Event.Kind
	out := &Entry{Event: kind.String(), Actor: page.NewUser(e.Actor), StateReason: d.StateReason,
		Milestone: d.Milestone, Rename: d.Rename, LockReason: d.LockReason,
		Reason: d.Reason}
	switch kind {
	case issue.EventCrossReferenced: // it has no address of its own
		out.CreatedAt = page.Moment(e.Event.CreatedAt)
		if e.Source != nil {
			out.Source = page.NewIssue(e.Source)
		}
		return out
	case issue.EventReviewed:
		if e.Review != nil {
			out.review(e)
			return out
		}
	case issue.EventAssigned, issue.EventUnassigned:
		out.Assignee = page.NewUser(e.User)
	case issue.EventReviewRequested, issue.EventRequestRemoved:
		out.Reviewer, out.Team, out.OfTeam = page.NewUser(e.User), e.Team, d.Team != 0
	case issue.EventReviewDismissed:
		out.Dismissed = d.Review
	case issue.EventLabeled:
		out.Added = eventLabels(d.Label)
	case issue.EventUnlabeled:
		out.Removed = eventLabels(d.Label)
	}
	out.ID, out.CreatedAt = e.Event.ID, page.Moment(e.Event.CreatedAt)
	if sha := e.Event.Commit; sha != "" {
		out.CommitID, out.CommitPath = sha, path+"/commit/"+sha
	}
	return out
}

// review takes what a review says.
func (e *Entry) review(of *timeline.Entry) {
	d := of.Event.Detail.Review
	e.ID, e.User, e.Actor, e.State, e.SubmittedAt = d.ID, e.Actor, nil, d.State, page.Moment(of.Event.CreatedAt)
	e.CommitID = d.Commit
	e.Text, e.Body = of.Review.Text, template.HTML(of.Review.HTML) // sanitized by package markdown
	e.Association = of.Review.Association
}

// eventLabels is the label of an event, as it was then.
func eventLabels(l *issue.EventLabel) []page.Label {
	if l == nil {
		return nil
	}
	return []page.Label{{Name: l.Name, Color: l.Color}}
}

// When is the time of the entry.
func (e *Entry) When() time.Time {
	if !e.SubmittedAt.IsZero() {
		return e.SubmittedAt
	}
	return e.CreatedAt
}

// By is who did it.
func (e *Entry) By() *page.User {
	if e.Actor != nil {
		return e.Actor
	}
	return e.User
}

// Self reports that somebody did it to themselves.
func (e *Entry) Self() bool {
	return e.Actor != nil && (e.Assignee != nil && e.Assignee.ID == e.Actor.ID || e.Reviewer != nil &&
		e.Reviewer.ID == e.Actor.ID)
}

// Foreign is OWNER/NAME of the repository that a reference comes from, if that is another than the given one.
func (e *Entry) Foreign(here string) string {
	if e.Source == nil {
		return ""
	}
	if from := e.Source.FullName(); from != here {
		return from
	}
	return ""
}

// together is how long after each other labels are changed to stand in one line.
const together = time.Minute

// gathered leaves out what pages do not show, and joins changes of labels that somebody made at one time. A merge
// is one entry, without those that say that it closes the pull request and that its commit names it.
func gathered(list []*Entry) []*Entry {
	shown := make([]*Entry, 0, len(list))
	merge := slices.IndexFunc(list, func(e *Entry) bool { return e.Event == "merged" })
	for _, e := range list {
		if merge >= 0 && e.follows(list[merge]) {
			continue
		}
		switch e.Event {
		case "mentioned", "subscribed", "unsubscribed":
			continue
		case "labeled", "unlabeled":
			if len(shown) > 0 && shown[len(shown)-1].joins(e) {
				continue
			}
		}
		shown = append(shown, e)
	}
	return shown
}

// follows reports whether the entry says only what the entry of a merge says as well.
func (e *Entry) follows(merge *Entry) bool {
	switch e.Event {
	case "closed":
		return e.CreatedAt.Sub(merge.CreatedAt).Abs() <= together
	case "referenced":
		return e.CommitID == merge.CommitID
	}
	return false
}

// joins takes the labels of an entry that follows at once, if it does.
func (e *Entry) joins(next *Entry) bool {
	if e.Event != "labeled" && e.Event != "unlabeled" || next.CreatedAt.Sub(e.CreatedAt) > together ||
		(e.Actor == nil) != (next.Actor == nil) || e.Actor != nil && e.Actor.ID != next.Actor.ID {
		return false
	}
	e.Added, e.Removed = append(e.Added, next.Added...), append(e.Removed, next.Removed...)
	return true
}

// leftQueue says why pull requests left a merge queue, by GitHub's words.
var leftQueue = map[string]string{"MERGE": "merged", "MERGE_CONFLICT": "it conflicts with the pull requests before it",
	"CI_FAILURE": "required checks failed", "CI_TIMEOUT": "required checks took too long",
	"ALREADY_MERGED": "merged without the queue", "QUEUE_CLEARED": "the branch has no merge queue any more",
	"BRANCH_PROTECTIONS": "rules of the branch are not met any more"}

// LeftQueue says why a pull request left a merge queue, or "" if somebody removed it.
func (e *Entry) LeftQueue() string { return leftQueue[e.Reason] }
