// Package comment implements comments on issues and pull requests.
//
//	comment.go    comments, and writing them
//	store.go      the SQL, of the table issue_comments
//	pin.go        pinned comments
//	api.go        the handlers; routes.go: their routes
//	view.go       a comment and everything that it refers to, for pages
//	render.go     their JSON; also for feeds and timelines
//	reaction.go   comments as subjects of reactions, and the caller's own reactions
//
// Each change of a comment is a change of its issue ([issue.Change]).
package comment

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/issue/revision"
	"arbor/internal/issuekit"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Resource is the name of comments in validation errors (decision 15).
const Resource = "IssueComment"

// Comment is a row of table issue_comments, with the fields of its issue that payloads show.
type Comment struct {
	ID        int64
	RepoID    repo.ID
	IssueID   issue.ID
	AuthorID  account.ID
	Body      string
	Reacted   bool // has or had reactions
	CreatedAt db.Time
	UpdatedAt db.Time
	PinnedAt  db.Time    // zero unless pinned
	PinnedBy  account.ID // 0 unless pinned
	Hidden    issuekit.Hidden
	ByMail    bool // a reply by mail made it

	Number int64 // of the issue
	Pull   bool  // of a pull request
	Locked bool  // the conversation is locked
}

// Service implements the operations on comments.
type Service struct {
	db     *db.DB
	issues *issue.Service
}

// New returns a Service.
func New(d *db.DB, issues *issue.Service) *Service { return &Service{d, issues} }

// mayWrite returns 403 if the conversation is locked and the caller has no push access (decision 34).
func mayWrite(a *repo.Access, locked bool) error {
	if locked && a.Role < account.Push {
		return errs.New(errs.Forbidden, "The conversation is locked: must have push access to Repository.")
	}
	return nil
}

// mayEdit returns 403 unless the caller is the comment's author or has push access.
func mayEdit(a *repo.Access, c *Comment) error {
	if a.Role < account.Push && (a.Caller == nil || a.Caller.ID != c.AuthorID) {
		return errs.New(errs.Forbidden,
			"Must be the author of the comment or have push access to Repository.")
	}
	return mayWrite(a, c.Locked)
}

// Create adds a comment of the caller, and subscribes the caller and the mentioned users to the issue. The
// text must not be empty. Errors: 403 for a locked conversation, 404.
func (s *Service) Create(ctx context.Context, a *repo.Access, number int64, t issue.Text) (*Comment, error) {
	return s.create(ctx, a, number, t, false, func(*db.Tx) error { return nil })
}

// CreateByMail is Create for a reply by mail. It calls also in the same transaction, before it inserts the
// comment. An error of also leaves no comment.
func (s *Service) CreateByMail(
	ctx context.Context, a *repo.Access, number int64, t issue.Text, also func(tx *db.Tx) error,
) (*Comment, error) {
	return s.create(ctx, a, number, t, true, also)
}

func (s *Service) create(
	ctx context.Context, a *repo.Access, number int64, t issue.Text, byMail bool, also func(tx *db.Tx) error,
) (*Comment, error) {
	var made *Comment
	_, err := s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		if err := mayWrite(a, c.Issue.Locked); err != nil {
			return err
		}
		if err := also(c.Tx); err != nil {
			return err
		}
		made = &Comment{
			RepoID: a.ID, IssueID: c.Issue.ID, AuthorID: a.Caller.ID, Body: *t.Body,
			CreatedAt: c.Tx.Now, UpdatedAt: c.Tx.Now, Number: number, Pull: c.Issue.Pull,
			Locked: c.Issue.Locked, ByMail: byMail,
		}
		if err := c.InvolveNow(); err != nil {
			return err
		}
		if err := insertRow(c.Tx, made); err != nil {
			return err
		}
		c.CommentChanged(made.ID)
		c.Issue.Comments++
		c.Touch()
		c.AddHookEvent(hook.Event{Name: "issue_comment", Action: "created", About: hook.About{ID: made.ID}})
		return c.ReadText(t, made.ID)
	})
	return made, err
}

// Edit changes the text of a comment to t, which must not be empty. It also updates the issue's updated_at
// (decision 31). Errors: 403, 404, that of Text.Check.
func (s *Service) Edit(ctx context.Context, a *repo.Access, found *Comment, t issue.Text) (*Comment, error) {
	return s.change(ctx, a, found, func(c *issue.Change, now *Comment) error {
		if err := t.Check(&now.Body); err != nil || now.Body == *t.Body {
			return err
		}
		c.AddHookEvent(hook.Event{Name: "issue_comment", Action: "edited", About: hook.About{ID: now.ID,
			Changes: map[string]any{"body": hook.From(now.Body)}}})
		err := c.NoteEdit(revision.Text{Kind: revision.OfComment, ID: now.ID}, now.Body)
		if err != nil {
			return err
		}
		now.Body, now.UpdatedAt = *t.Body, max(now.UpdatedAt, c.Tx.Now)
		c.Touch()
		err = account.WrittenBy(c.Tx, c.Actor.ID, now.AuthorID, func() error { return updateRow(c.Tx, now) })
		if err != nil {
			return err
		}
		c.CommentChanged(now.ID)
		return c.ReadText(t, now.ID)
	})
}

// Delete deletes a comment with its reactions. Mentions and subscriptions that it caused remain. Errors:
// 403, 404.
func (s *Service) Delete(ctx context.Context, a *repo.Access, found *Comment) error {
	_, err := s.change(ctx, a, found, func(c *issue.Change, now *Comment) error {
		if err := s.recordDeleted(c, a, now); err != nil {
			return err
		}
		if err := deleteRow(c.Tx, now); err != nil {
			return err
		}
		c.Issue.Comments--
		c.Touch()
		c.Event(issue.EventCommentDeleted, issue.Event{})
		return reaction.Drop(c.Tx, reaction.IssueComment, now.ID)
	})
	return err
}

// Hide hides a comment, or shows it again if why is 0. It changes no times and sends no webhooks. Errors: 403, see
// issue.MayHide; 404.
func (s *Service) Hide(ctx context.Context, a *repo.Access, found *Comment, why issuekit.Hidden) (*Comment, error) {
	var changed *Comment
	_, err := s.issues.Change(ctx, a, found.Number, func(c *issue.Change) (err error) {
		if changed, err = byID(c.Tx, a.ID, found.ID); err != nil {
			return err
		}
		if err := issue.MayHide(a, changed.AuthorID, changed.Locked, changed.Hidden); err != nil || changed.Hidden == why {
			return err
		}
		changed.Hidden = why
		c.CommentChanged(changed.ID)
		return hide(c.Tx, changed)
	})
	return changed, err
}

// recordDeleted sends a webhook event for a comment that is being deleted.
func (s *Service) recordDeleted(c *issue.Change, a *repo.Access, now *Comment) error {
	info, err := hook.Listening(c.Tx, a.ID, "issue_comment")
	if err != nil || info == nil {
		return err
	}
	ctx := web.WithInfo(context.Background(), info) // the request's may wait
	payload, err := ForHook(ctx, c.Tx, a, s.issues, now.ID)
	if err != nil {
		return err
	}
	parts, err := hook.Part("comment", payload)
	c.AddHookEvent(hook.Event{Name: "issue_comment", Action: "deleted",
		About: hook.About{ID: now.ID, Parts: parts}})
	return err
}

// ForHook renders a comment for a webhook payload. Error: 404.
func ForHook(
	ctx context.Context, tx *db.Tx, a *repo.Access, issues *issue.Service, id int64,
) (*Payload, error) {
	p := NewPage(ctx, a)
	if err := p.Load(tx, []int64{id}); err != nil {
		return nil, err
	}
	if err := p.Bodies(web.Unsent(ctx), issues); err != nil {
		return nil, err
	}
	payload, err := p.Comment(id)
	if err == nil && payload == nil {
		err = errs.Absent()
	}
	return payload, err
}

// change locks the repository, reads the comment again, checks that the caller may change it, and calls fn.
func (s *Service) change(
	ctx context.Context, a *repo.Access, found *Comment, fn func(*issue.Change, *Comment) error,
) (*Comment, error) {
	var changed *Comment
	_, err := s.issues.Change(ctx, a, found.Number, func(c *issue.Change) (err error) {
		if changed, err = byID(c.Tx, a.ID, found.ID); err != nil {
			return err
		}
		if err := mayEdit(a, changed); err != nil {
			return err
		}
		return fn(c, changed)
	})
	return changed, err
}
