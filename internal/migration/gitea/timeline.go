package gitea

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/issue"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// timeline reads the events of an issue, and the facts about it that only events have.
type timeline struct {
	s       *Source
	number  int64
	reviews map[int64]string // states of the reviews of a pull request, before dismissals, by id
	hidden  int64            // comments on lines, which leave gaps in the pages

	closer     string // who closed or merged it last
	lockReason string
	pinnedAt   time.Time
	pinner     string
}

// eventAnswer is an entry of Gitea's timeline.
type eventAnswer struct {
	ID           int64         `json:"id"`
	Type         string        `json:"type"`
	User         *remote.User  `json:"user"`
	Body         string        `json:"body"`
	CreatedAt    time.Time     `json:"created_at"`
	OldMilestone *titled       `json:"old_milestone"`
	Milestone    *titled       `json:"milestone"`
	OldTitle     string        `json:"old_title"`
	NewTitle     string        `json:"new_title"`
	Commit       string        `json:"ref_commit_sha"`
	Review       int64         `json:"review_id"`
	Label        *remote.Label `json:"label"`
	Assignee     *remote.User  `json:"assignee"`
	Removed      bool          `json:"removed_assignee"`
	RefComment   *struct {
		ID int64 `json:"id"`
	} `json:"ref_comment"`
	RefIssue *struct {
		Number     int64 `json:"number"`
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
	} `json:"ref_issue"`
}

type titled struct {
	Title string `json:"title"`
}

// read reads the timeline. Here X-Total-Count is the length of the page, so only an empty page ends the list.
// Pages leave out comments on lines, so some may be empty before the end: as many as such comments could
// fill.
func (t *timeline) read(ctx context.Context, at string) error {
	gaps := int(min(t.hidden, 10_000) / 20)
	return walk(ctx, t.s.Client, at+"/timeline", gaps, false, maxTimeline, func(e *eventAnswer) error {
		for _, out := range t.events(e) {
			if err := t.s.Out.Add(migration.Events, out); err != nil {
				return err
			}
		}
		return nil
	})
}

// events converts an entry to events. It returns none for entries that become other records, such as
// comments, and for types that Arbor does not have, such as deadlines.
func (t *timeline) events(e *eventAnswer) []*migration.Event {
	out := &migration.Event{ID: strconv.FormatInt(e.ID, 10), Issue: t.number, Actor: t.s.People.Login(e.User),
		CreatedAt: e.CreatedAt}
	as := func(kind issue.EventKind) []*migration.Event {
		out.Event = kind.String()
		return []*migration.Event{out}
	}
	either := func(is bool, yes, no issue.EventKind) []*migration.Event {
		if is {
			return as(yes)
		}
		return as(no)
	}
	switch e.Type {
	case "close":
		t.closer = out.Actor
		return as(issue.EventClosed)
	case "reopen":
		return as(issue.EventReopened)
	case "merge_pull": // GitHub tells both
		t.closer, out.Commit = out.Actor, e.Commit
		closed := *out
		closed.ID, closed.Event = out.ID+"-closed", issue.EventClosed.String()
		return append(as(issue.EventMerged), &closed)
	case "label":
		if e.Label == nil { // it is gone
			return nil
		}
		out.Label = remote.Names(map[string]string{"name": e.Label.Name, "color": e.Label.Color})
		return either(e.Body == "1", issue.EventLabeled, issue.EventUnlabeled)
	case "milestone":
		return t.milestoned(e, out)
	case "assignees":
		if out.Person = t.s.People.Login(e.Assignee); out.Person == "" {
			return nil
		}
		return either(e.Removed, issue.EventUnassigned, issue.EventAssigned)
	case "review_request":
		if out.Person = t.s.People.Login(e.Assignee); out.Person == "" { // a team
			return nil
		}
		return either(e.Removed, issue.EventRequestRemoved, issue.EventReviewRequested)
	case "change_title":
		out.Rename = remote.Names(map[string]string{"from": e.OldTitle, "to": e.NewTitle})
		return as(issue.EventRenamed)
	case "lock":
		t.lockReason = lockReason(e.Body)
		out.LockReason = t.lockReason
		return as(issue.EventLocked)
	case "unlock":
		return as(issue.EventUnlocked)
	case "pin":
		t.pinnedAt, t.pinner = e.CreatedAt, out.Actor
		return as(issue.EventPinned)
	case "unpin":
		return as(issue.EventUnpinned)
	case "change_target_branch":
		return as(issue.EventBaseChanged)
	case "commit_ref":
		if out.Commit = e.Commit; out.Commit == "" {
			return nil
		}
		return as(issue.EventReferenced)
	case "issue_ref", "comment_ref", "pull_ref":
		return t.referenced(e, out)
	case "review", "dismiss_review":
		if t.reviews[e.Review] == "" { // a draft, or deleted
			return nil
		}
		out.Review, out.ReviewState = strconv.FormatInt(e.Review, 10), t.reviews[e.Review]
		if e.Type == "review" {
			return as(issue.EventReviewed)
		}
		out.Message = e.Body
		return as(issue.EventReviewDismissed)
	}
	return nil
}

// milestoned returns that a milestone was taken away, that one was set, or both.
func (t *timeline) milestoned(e *eventAnswer, out *migration.Event) (list []*migration.Event) {
	if e.OldMilestone != nil {
		old := *out
		old.ID, old.Event, old.Milestone = out.ID+"-before", issue.EventDemilestoned.String(), e.OldMilestone.Title
		list = append(list, &old)
	}
	if e.Milestone != nil {
		out.Event, out.Milestone = issue.EventMilestoned.String(), e.Milestone.Title
		list = append(list, out)
	}
	return list
}

// referenced returns that another issue of the repository refers to this one.
func (t *timeline) referenced(e *eventAnswer, out *migration.Event) []*migration.Event {
	if e.RefIssue == nil || !strings.EqualFold(e.RefIssue.Repository.FullName, t.s.about.FullName) {
		return nil
	}
	out.Event, out.Source = issue.EventCrossReferenced.String(), e.RefIssue.Number
	if e.RefComment != nil && e.Type == "comment_ref" {
		out.SourceComment = strconv.FormatInt(e.RefComment.ID, 10)
	}
	return []*migration.Event{out}
}

// lockReason returns the reason by GitHub's name; empty for one that it does not have.
func lockReason(text string) string {
	text = strings.ToLower(text)
	if slices.Contains([]string{"off-topic", "too heated", "resolved", "spam"}, text) {
		return text
	}
	return ""
}
