package issue

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/tracker"
)

// Change is an issue while a transaction makes or changes it. The methods alter
// Issue and note the events; the row, postings, counters and events are written
// together when the change is complete.
type Change struct {
	Tx    *db.Tx
	Repo  *repo.Repo
	Actor *account.Caller // who does it; never nil
	Issue *Issue          // as it will be

	Before *Issue // as it was; nil: it is new

	events       []Event
	touched      bool
	participants []account.ID
	settled      map[account.ID]bool // of the actor, see InvolveNow; nil: it was not asked
	mentions     []account.ID
	also, less   []posting.Property
	references   []reference
	hookEvents   []hook.Event   // AddHookEvent gave
	changes      map[string]any // values before an edit, for hooks
	comments     []int64        // whose texts are new
}

// Change runs fn on an issue of the repository, in one transaction with all
// that follows from it. fn may run more than once. Errors: fn's own, 404.
func (s *Service) Change(
	ctx context.Context, a *repo.Access, number int64, fn func(c *Change) error,
) (*Issue, error) {
	var changed *Issue
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		changed, err = s.ChangeIn(tx, a.Repo, a.Caller, number, func(c *Change) error {
			// The repository's row is locked: there is nothing else to wait for.
			if err := tx.Check(); err != nil {
				return err
			}
			return fn(c)
		})
		return err
	})
	return changed, err
}

// Edit is Change for what may open a closed pull request again: state is the one
// that is asked for, perhaps empty. Errors: those of Change and of ReopenPull.
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

// ChangeIn is Change within a transaction of the caller's. It locks the
// repository's row.
func (s *Service) ChangeIn(
	tx *db.Tx, r *repo.Repo, actor *account.Caller, number int64, fn func(c *Change) error,
) (*Issue, error) {
	if err := tracker.Lock(tx, r.ID); err != nil {
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

// Write writes what follows from the difference: the row, the repository's counter,
// what the issue is found by, events, subscriptions, and references to other issues.
// Forge.WriteIssue alone calls it.
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

// update writes the row of an issue that was there. Its text may be another person's.
func (c *Change) update() error {
	write := func() error { return updateIssue(c.Tx, c.Issue) }
	if now, was := c.Issue, c.Before; now.Title == was.Title && equalText(now.Body, was.Body) {
		return write()
	}
	return account.WrittenBy(c.Tx, c.Actor.ID, c.Issue.AuthorID, write)
}

// CommentChanged notes that a comment has another text, or is new.
func (c *Change) CommentChanged(id int64) { c.comments = append(c.comments, id) }

// ChangedTexts are the ids of the comments whose texts the change altered, and 0 for the issue's own.
func (c *Change) ChangedTexts() []int64 {
	if was, now := c.Before, c.Issue; was == nil || was.Title != now.Title || !equalText(was.Body, now.Body) {
		return append(c.comments, 0)
	}
	return c.comments
}

func equalText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// Event notes that something happened, by the actor unless e names another.
func (c *Change) Event(k EventKind, e Event) {
	e.RepoID, e.Kind = c.Repo.ID, k
	if e.ActorID == 0 {
		e.ActorID = c.Actor.ID
	}
	c.events = append(c.events, e)
}

// Touch says that the change moves updated_at (decision 31).
func (c *Change) Touch() { c.touched = true }

// CheckTitle returns the 409 of a title that was written to replace another one than now; before is what
// Guard gave of that one, or empty for any.
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
	c.Issue.Body = t.Body
	c.Touch()
	return c.ReadText(t, 0)
}

// SetState opens or closes the issue (decision 33). A reason for closing, other
// than NoReason, replaces the usual one, also that of a closed issue.
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

// CloseBy closes an open issue because a commit says that it fixes it.
func (c *Change) CloseBy(commit string) {
	if c.Issue.State == Open {
		c.SetState(Closed, NoReason)
		c.events[len(c.events)-1].Commit = commit
	}
}

// SetDraft makes a pull request a draft, or one that is ready.
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

// SetMilestone puts the issue into a milestone, or with nil into none.
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

// SetLock locks or unlocks the conversation; the reason may be nil.
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

// difference gives the ids of list that are not among others.
func difference[ID ~int64](list, others []ID) []ID {
	var rest []ID
	for _, id := range list {
		if !slices.Contains(others, id) {
			rest = append(rest, id)
		}
	}
	return rest
}
