package github

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"arbor/internal/issue"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// labels reads labels.
func (s *Source) labels(ctx context.Context) error {
	return each(ctx, s.Client, s.path+"/labels", func(l *migration.Label) error { // GitHub's members have the same names
		return s.Out.Add(migration.Labels, l)
	})
}

// milestones reads milestones.
func (s *Source) milestones(ctx context.Context) error {
	type milestone struct {
		migration.Milestone
		Creator *remote.User `json:"creator"`
	}
	var list []*migration.Milestone
	err := walk(ctx, s.Client, s.path+"/milestones?state=all", remote.MaxKept, func(m *milestone) error {
		m.Milestone.Creator = s.People.Login(m.Creator)
		list = append(list, &m.Milestone)
		return nil
	})
	if err != nil {
		return err
	}
	return s.AddMilestones(list)
}

// reactions says how many reactions there are to something.
type reactions struct {
	Count int64 `json:"total_count"`
}

// issueAnswer is GitHub's issue.
type issueAnswer struct {
	Number      int64          `json:"number"`
	Title       string         `json:"title"`
	Body        *string        `json:"body"`
	User        *remote.User   `json:"user"`
	State       string         `json:"state"`
	StateReason string         `json:"state_reason"`
	Locked      bool           `json:"locked"`
	LockReason  *string        `json:"active_lock_reason"`
	Labels      []named        `json:"labels"`
	Assignees   []*remote.User `json:"assignees"`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
	ClosedAt    time.Time      `json:"closed_at"`
	ClosedBy    *remote.User   `json:"closed_by"`
	Milestone   struct {
		Number int64 `json:"number"`
	} `json:"milestone"`
	Pull      *struct{} `json:"pull_request"`
	Reactions reactions `json:"reactions"`
}

type named struct {
	Name string `json:"name"`
}

// talk reads issues and pull requests, with what has an address below each of them.
func (s *Source) talk(ctx context.Context) error {
	var done int64
	return each(ctx, s.Client, s.path+"/issues?state=all&sort=created&direction=asc", func(i *issueAnswer) error {
		done++
		s.Progress("read issues", done, max(s.issues, done))
		if err := s.issue(ctx, i); err != nil {
			return fmt.Errorf("%d: %w", i.Number, err)
		}
		return nil
	})
}

func (s *Source) issue(ctx context.Context, i *issueAnswer) error {
	out := &migration.Issue{Number: i.Number, Title: i.Title, Body: i.Body, Author: s.People.Login(i.User), State: i.State,
		StateReason: i.StateReason, Locked: i.Locked, LockReason: i.LockReason, Milestone: i.Milestone.Number,
		Assignees: s.People.Logins(i.Assignees), CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ClosedAt,
		ClosedBy: s.People.Login(i.ClosedBy)}
	for _, l := range i.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	if by, ok := s.pins[i.Number]; ok {
		out.PinnedAt, out.PinnedBy = i.UpdatedAt, by
	}
	at := s.path + "/issues/" + strconv.FormatInt(i.Number, 10)
	if i.Pull != nil {
		if err := s.pull(ctx, out); err != nil {
			return err
		}
	}
	closer, err := s.timeline(ctx, at, i.Number)
	if err != nil {
		return err
	}
	if out.ClosedBy == "" && i.State == "closed" {
		out.ClosedBy = closer
	}
	if err := s.reactions(ctx, at, i.Reactions, migration.Issues, strconv.FormatInt(i.Number, 10)); err != nil {
		return err
	}
	return s.Out.Add(migration.Issues, out)
}

// pullAnswer is GitHub's pull request, as far as it is no issue.
type pullAnswer struct {
	Base       side           `json:"base"`
	Head       side           `json:"head"`
	Draft      bool           `json:"draft"`
	Modifiable bool           `json:"maintainer_can_modify"`
	MergedAt   time.Time      `json:"merged_at"`
	MergedBy   *remote.User   `json:"merged_by"`
	MergeSHA   string         `json:"merge_commit_sha"`
	Additions  int64          `json:"additions"`
	Deletions  int64          `json:"deletions"`
	Files      int64          `json:"changed_files"`
	Commits    int64          `json:"commits"`
	Reviewers  []*remote.User `json:"requested_reviewers"`
}

type side struct {
	Ref  string       `json:"ref"`
	SHA  string       `json:"sha"`
	User *remote.User `json:"user"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

// pull reads what a pull request has besides, and its reviews.
func (s *Source) pull(ctx context.Context, out *migration.Issue) error {
	at := s.path + "/pulls/" + strconv.FormatInt(out.Number, 10)
	var p pullAnswer
	if err := s.Get(ctx, at, &p); err != nil {
		return err
	}
	out.Pull = &migration.Pull{Base: p.Base.Ref, BaseSHA: p.Base.SHA, Head: p.Head.Ref, HeadSHA: p.Head.SHA,
		HeadOwner: s.People.Login(p.Head.User), Draft: p.Draft, Modifiable: p.Modifiable, MergedAt: p.MergedAt,
		MergedBy: s.People.Login(p.MergedBy), Additions: p.Additions, Deletions: p.Deletions, Files: p.Files,
		Commits: p.Commits, Reviewers: s.People.Logins(p.Reviewers)}
	if p.Head.Repo != nil {
		out.Pull.HeadRepo = p.Head.Repo.FullName
	}
	if !p.MergedAt.IsZero() {
		out.Pull.MergeSHA = p.MergeSHA
	}
	return each(ctx, s.Client, at+"/reviews", func(r *remote.Review) error {
		if r.State == "PENDING" {
			return nil
		}
		_, err := s.AddReview(r, out, strings.ToLower(r.State))
		return err
	})
}

// eventAnswer is an entry of GitHub's timeline.
type eventAnswer struct {
	ID          int64           `json:"id"`
	Event       string          `json:"event"`
	Actor       *remote.User    `json:"actor"`
	User        *remote.User    `json:"user"` // in place of the actor, of a review
	CreatedAt   time.Time       `json:"created_at"`
	SubmittedAt time.Time       `json:"submitted_at"`
	Commit      string          `json:"commit_id"`
	CommitURL   string          `json:"commit_url"`
	State       string          `json:"state"`
	StateReason string          `json:"state_reason"`
	LockReason  string          `json:"lock_reason"`
	Label       json.RawMessage `json:"label"`
	Rename      json.RawMessage `json:"rename"`
	Assignee    *remote.User    `json:"assignee"`
	Reviewer    *remote.User    `json:"requested_reviewer"`
	Team        *struct {
		Slug string `json:"slug"`
	} `json:"requested_team"`
	Milestone struct {
		Title string `json:"title"`
	} `json:"milestone"`
	Dismissed struct {
		ID      int64  `json:"review_id"`
		State   string `json:"state"`
		Message string `json:"dismissal_message"`
	} `json:"dismissed_review"`
	Source struct {
		Issue struct {
			Number     int64 `json:"number"`
			Repository struct {
				FullName string `json:"full_name"`
			} `json:"repository"`
		} `json:"issue"`
	} `json:"source"`
}

// timeline reads the events of an issue, but for those that are records of another kind (comments, commits) or that no
// timeline here has. It returns who closed the issue last.
func (s *Source) timeline(ctx context.Context, at string, number int64) (closer string, err error) {
	seen := 0
	err = each(ctx, s.Client, at+"/timeline", func(e *eventAnswer) error {
		seen++
		kind, known := issue.ParseEvent(e.Event)
		from := e.Source.Issue.Repository.FullName
		switch {
		case !known, kind == issue.EventCrossReferenced && !strings.EqualFold(from, s.about.FullName),
			kind == issue.EventReferenced && e.Commit == "":
			return nil
		}
		out := &migration.Event{ID: strconv.FormatInt(e.ID, 10), Issue: number, Event: e.Event,
			Actor: s.People.Login(e.Actor), CreatedAt: e.CreatedAt, Commit: e.Commit, Source: e.Source.Issue.Number,
			Milestone: e.Milestone.Title, LockReason: e.LockReason, StateReason: e.StateReason}
		if e.ID == 0 {
			out.ID = fmt.Sprintf("%d-%d", number, seen)
		}
		switch kind {
		case issue.EventClosed:
			closer = out.Actor
		case issue.EventLabeled, issue.EventUnlabeled:
			out.Label = e.Label
		case issue.EventRenamed:
			out.Rename = e.Rename
		case issue.EventAssigned, issue.EventUnassigned:
			out.Person = s.People.Login(e.Assignee)
		case issue.EventMentioned, issue.EventSubscribed, issue.EventUnsubscribed:
			out.Person = out.Actor
		case issue.EventReviewRequested, issue.EventRequestRemoved:
			out.Person = s.People.Login(e.Reviewer)
			if e.Team != nil {
				out.Team = e.Team.Slug
			}
		case issue.EventReviewed:
			out.ID, out.Review = "review-"+out.ID, out.ID
			out.Actor, out.CreatedAt, out.ReviewState = s.People.Login(e.User), e.SubmittedAt, strings.ToLower(e.State)
		case issue.EventReviewDismissed:
			out.Review, out.ReviewState = strconv.FormatInt(e.Dismissed.ID, 10), e.Dismissed.State
			out.Message = e.Dismissed.Message
		}
		return s.Out.Add(migration.Events, out)
	})
	return closer, err
}

// reactions reads the reactions to something, if there are any.
func (s *Source) reactions(ctx context.Context, at string, r reactions, of migration.Kind, to string) error {
	if r.Count == 0 {
		return nil
	}
	return each(ctx, s.Client, at+"/reactions", s.AddReactions(of, to))
}
