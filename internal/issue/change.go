package issue

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issue/revision"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// Change is the creation or update of an issue in a transaction. Its methods alter Issue and collect
// events. The row, postings, counters and events are written together at the end.
type Change struct {
	Tx    *db.Tx
	Repo  *repo.Repo
	Actor *account.Caller // never nil
	Issue *Issue          // the new state

	Before *Issue // the old state; nil for a new issue

	events       []Event
	touched      bool
	participants []account.ID
	settled      map[account.ID]bool // whether the actor is settled, see InvolveNow; nil if unknown
	mentions     []account.ID
	teams        []team.ID // that new texts mention
	also, less   []posting.Property
	references   []reference
	hookEvents   []hook.Event   // added by AddHookEvent
	changes      map[string]any // values before an edit, for webhooks
	comments     []int64        // ids of comments with new texts
}

// Change runs fn on an issue of the repository and writes all effects in one transaction. fn may run more
// than once. Errors: those of fn, 404.
func (s *Service) Change(
	ctx context.Context, a *repo.Access, number int64, fn func(c *Change) error,
) (*Issue, error) {
	var changed *Issue
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		changed, err = s.ChangeIn(tx, a.Repo, a.Caller, number, func(c *Change) error {
			// The repository's row is locked, so the transaction need not wait for anything else.
			if err := tx.Check(); err != nil {
				return err
			}
			return fn(c)
		})
		return err
	})
	return changed, err
}

// Edit is like Change, but also allows fn to reopen a closed pull request: state is the requested state or
// empty. Errors: those of Change and of ReopenPull.
func (s *Service) Edit(
	ctx context.Context, a *repo.Access, i *Issue, state string, fn func(c *Change) error,
) (*Issue, error) {
	if !i.Pull || i.State == Open || state != Open.String() {
		return s.Change(ctx, a, i.Number, fn)
	}
	reopen, err := s.forge.ReopenPull(ctx, a, i)
	if err != nil {
		return nil, err
	}
	return s.Change(ctx, a, i.Number, func(c *Change) error {
		if err := reopen(c); err != nil {
			return err
		}
		return fn(c)
	})
}

// ChangeIn is like Change, within the caller's transaction. It locks the repository's row.
func (s *Service) ChangeIn(
	tx *db.Tx, r *repo.Repo, actor *account.Caller, number int64, fn func(c *Change) error,
) (*Issue, error) {
	if err := issuekit.Lock(tx, r.ID); err != nil {
		return nil, err
	}
	i, err := ByNumber(tx, r.ID, number)
	if err != nil {
		return nil, err
	}
	before := *i
	c := &Change{Tx: tx, Repo: r, Actor: actor, Issue: i, Before: &before}
	if err := fn(c); err != nil {
		return nil, err
	}
	return i, s.forge.WriteIssue(c)
}

// Write writes the changes: the row, the repository's counter, postings, events, subscriptions, and
// references to other issues. Only Forge.WriteIssue calls it.
func (c *Change) Write() error {
	i := c.Issue
	if i.Pull {
		i.PinnedAt, i.PinnedBy = 0, 0
	}
	if c.touched {
		i.UpdatedAt = max(i.UpdatedAt, c.Tx.Now)
	}
	more, err := c.involve()
	if err != nil {
		return err
	}
	if c.Before == nil {
		err = insertIssue(c.Tx, i)
	} else if err = c.update(); err == nil && i.State != c.Before.State {
		by := int64(1)
		if i.State == Closed {
			by = -1
		}
		err = addOpenIssues(c.Tx, i.RepoID, by)
	}
	if err != nil {
		return err
	}
	if err := post(c.Tx, c.Before, i, append(more, c.also...), c.less); err != nil {
		return err
	}
	for n := range c.events {
		c.events[n].IssueID = i.ID
	}
	if err := InsertEvents(c.Tx, c.events); err != nil {
		return err
	}
	return c.refer()
}

// update writes the row of an existing issue. Its title and text may belong to another author.
func (c *Change) update() error {
	write := func() error { return updateIssue(c.Tx, c.Issue) }
	if now, was := c.Issue, c.Before; now.Title == was.Title && equalText(now.Body, was.Body) {
		return write()
	}
	return account.WrittenBy(c.Tx, c.Actor.ID, c.Issue.AuthorID, write)
}

// CommentChanged records that a comment is new or has a new text.
func (c *Change) CommentChanged(id int64) { c.comments = append(c.comments, id) }

// ChangedTexts returns the ids of the comments with new texts, and 0 for the issue itself.
func (c *Change) ChangedTexts() []int64 {
	if was, now := c.Before, c.Issue; was == nil || was.Title != now.Title || !equalText(was.Body, now.Body) {
		return append(c.comments, 0)
	}
	return c.comments
}

func equalText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// Event adds an event, by the actor unless e names another one.
func (c *Change) Event(k EventKind, e Event) {
	e.RepoID, e.Kind = c.Repo.ID, k
	if e.ActorID == 0 {
		e.ActorID = c.Actor.ID
	}
	c.events = append(c.events, e)
}

// Touch sets updated_at when the change is written (decision 31).
func (c *Change) Touch() { c.touched = true }

// CheckTitle returns 409 if before is not the Guard of the current title. An empty before is not checked.
func (c *Change) CheckTitle(before string) error {
	if before != "" && before != Guard(&c.Issue.Title) {
		return errs.New(errs.Conflict, "The title has changed.")
	}
	return nil
}

// SetTitle changes the title.
func (c *Change) SetTitle(title string) {
	if c.Issue.Title == title {
		return
	}
	c.Event(EventRenamed, Event{Detail: Detail{Rename: &Rename{From: c.Issue.Title, To: title}}})
	c.Issue.Title = title
	c.Touch()
}

// SetBody changes the body. Error: that of Text.Check.
func (c *Change) SetBody(t Text) error {
	if err := t.Check(c.Issue.Body); err != nil {
		return err
	}
	if old := c.Issue.Body; old == t.Body || old != nil && t.Body != nil && *old == *t.Body {
		return nil
	}
	if c.Before != nil {
		of := revision.Text{Kind: revision.OfIssue, ID: int64(c.Issue.ID)}
		if err := c.NoteEdit(of, textOf(c.Issue.Body)); err != nil {
			return err
		}
	}
	c.Issue.Body = t.Body
	c.Touch()
	return c.ReadText(t, 0)
}

// NoteEdit keeps the text before an edit of the issue's text or of another text in its conversation.
func (c *Change) NoteEdit(of revision.Text, was string) error {
	return revision.Note(c.Tx, c.Repo, int64(c.Issue.ID), of, c.Actor.ID, was)
}

// SetState opens or closes the issue (decision 33). why replaces the default reason for closing, even if
// the issue is closed already, unless it is NoReason.
func (c *Change) SetState(s State, why Reason) {
	i := c.Issue
	given := s == Closed && why != NoReason && why != Reopened
	if i.State == s {
		if given && !i.Pull && why != i.StateReason {
			i.StateReason = why
			c.Touch()
		}
		return
	}
	switch {
	case s == Open:
		why = Reopened
	case !given:
		why = Completed
	}
	i.State, i.StateReason = s, why
	if i.Pull {
		i.StateReason = NoReason
	}
	if s == Closed {
		i.ClosedAt, i.ClosedBy = c.Tx.Now, c.Actor.ID
		c.Event(EventClosed, Event{Detail: Detail{StateReason: i.StateReason.String()}})
	} else {
		i.ClosedAt, i.ClosedBy = 0, 0
		c.Event(EventReopened, Event{Detail: Detail{StateReason: i.StateReason.String()}})
	}
	c.Touch()
}

// CloseBy closes an open issue because of a keyword in a commit message.
func (c *Change) CloseBy(commit string) {
	if c.Issue.State == Open {
		c.SetState(Closed, NoReason)
		c.events[len(c.events)-1].Commit = commit
	}
}

// SetDraft converts a pull request to a draft, or back.
func (c *Change) SetDraft(draft bool) {
	if c.Issue.Draft == draft {
		return
	}
	kind := EventReady
	if draft {
		kind = EventDrafted
	}
	c.Issue.Draft = draft
	c.Event(kind, Event{})
	c.Touch()
}

// SetLabels replaces the labels.
func (c *Change) SetLabels(labels []*label.Label) error {
	ids := make([]int64, len(labels))
	names := map[int64]*label.Label{}
	for n, l := range labels {
		ids[n], names[l.ID] = l.ID, l
	}
	if slices.Equal(ids, c.Issue.Labels) {
		return nil
	}
	gone := difference(c.Issue.Labels, ids)
	old, err := label.ByIDs(c.Tx, c.Repo.ID, gone)
	if err != nil {
		return err
	}
	for _, id := range difference(ids, c.Issue.Labels) {
		c.Event(EventLabeled, Event{Detail: Detail{Label: &EventLabel{names[id].Name, names[id].Color}}})
	}
	for _, id := range gone {
		if l := old[id]; l != nil {
			c.Event(EventUnlabeled, Event{Detail: Detail{Label: &EventLabel{l.Name, l.Color}}})
		}
	}
	c.Issue.Labels = ids
	c.Touch()
	return nil
}

// SetAssignees replaces the assignees; new ones are subscribed.
func (c *Change) SetAssignees(ids []account.ID) {
	if slices.Equal(ids, c.Issue.Assignees) {
		return
	}
	for _, id := range difference(ids, c.Issue.Assignees) {
		c.Event(EventAssigned, Event{UserID: id})
		c.Involve(id)
	}
	for _, id := range difference(c.Issue.Assignees, ids) {
		c.Event(EventUnassigned, Event{UserID: id})
	}
	c.Issue.Assignees = ids
	c.Touch()
}

// SetMilestone sets the milestone; nil removes it.
func (c *Change) SetMilestone(m *milestone.Milestone) error {
	var id int64
	if m != nil {
		id = m.ID
	}
	if id == c.Issue.MilestoneID {
		return nil
	}
	if c.Issue.MilestoneID != 0 {
		old, err := milestone.ByIDs(c.Tx, []int64{c.Issue.MilestoneID})
		if err != nil {
			return err
		}
		if was := old[c.Issue.MilestoneID]; was != nil {
			c.Event(EventDemilestoned, Event{milestone: was.Number, Detail: Detail{Milestone: was.Title}})
		}
	}
	if m != nil {
		c.Event(EventMilestoned, Event{milestone: m.Number, Detail: Detail{Milestone: m.Title}})
	}
	c.Issue.MilestoneID = id
	c.Touch()
	return nil
}

// SetLock locks or unlocks the conversation. reason may be nil.
func (c *Change) SetLock(locked bool, reason *string) {
	i := c.Issue
	if i.Locked == locked && (i.LockReason == reason || i.LockReason != nil && reason != nil &&
		*i.LockReason == *reason) {
		return
	}
	k := EventUnlocked
	var e Event
	if locked {
		k = EventLocked
		if reason != nil {
			e.Detail.LockReason = *reason
		}
	}
	i.Locked, i.LockReason = locked, reason
	c.Event(k, e)
	c.Touch()
}

// difference returns the ids in list that are not in others.
func difference[ID ~int64](list, others []ID) []ID {
	var rest []ID
	for _, id := range list {
		if !slices.Contains(others, id) {
			rest = append(rest, id)
		}
	}
	return rest
}
