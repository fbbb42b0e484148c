package issue

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// Edit is what somebody gives an issue; other fields keep their values.
type Edit struct {
	Title  web.Opt[string]
	Body   web.Opt[string] // null and an empty text take it away
	State  web.Opt[string] // open or closed
	Reason web.Opt[string] // of the state, by the names of payloads

	// Without push access these are ignored.
	Labels         web.Opt[[]string] // names; those that are not there are made (decision 32)
	Assignees      web.Opt[[]string] // logins
	AssigneesField string            // how a request calls them; empty: assignees
	Milestone      web.Opt[int64]    // its number; null: none

	// What Guard gives of the title and of the body that are replaced; empty: of any.
	TitleBefore, BodyBefore string
}

// ByNumber reads an issue, for an operation on it. Errors: those of EnabledByNumber.
func (s *Service) ByNumber(ctx context.Context, a *repo.Access, number int64) (i *Issue, err error) {
	err = s.db.ReadOne(ctx, func(tx *db.Tx) (err error) {
		i, err = ByNumber(tx, a.ID, number)
		return err
	})
	if err == nil {
		return i, Enabled(a.Repo, i)
	}
	if errs.Is(err, errs.NotFound) {
		err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
			i, err = EnabledByNumber(tx, a, number)
			return err
		})
	}
	return i, err
}

// Update changes an issue that ByNumber found, for its author and for people with push access. Errors: 403; 404;
// 409 where a guard names another text; 422.
func (s *Service) Update(ctx context.Context, a *repo.Access, i *Issue, e Edit) (*Issue, error) {
	if err := MayEdit(a, i); err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	text := NewText(e.Body.Value)
	text.Before = e.BodyBefore
	return s.Edit(ctx, a, i, e.State.Value, func(c *Change) error {
		if e.Title.Given() {
			if err := c.CheckTitle(e.TitleBefore); err != nil {
				return err
			}
			c.SetTitle(e.Title.Value)
		}
		if e.Body.Set {
			if err := c.SetBody(text); err != nil {
				return err
			}
		}
		if a.Role >= account.Push {
			if err := e.relate(c); err != nil {
				return err
			}
		}
		if e.State.Given() {
			state, _ := tracker.ParseState(e.State.Value)
			c.SetState(state, Reason(max(0, slices.Index(reasons[:], e.Reason.Value))))
		}
		return nil
	})
}

// check reports what is wrong with the values (decision 19). Error: 422.
func (e *Edit) check() error {
	f := web.Faults{Resource: Resource}
	if e.Title.Given() {
		f.CheckText("title", e.Title.Value, MaxTitle)
		if strings.TrimSpace(e.Title.Value) == "" {
			f.Wrong("title", errs.MissingField, "title can't be blank")
		}
	}
	f.CheckText("body", e.Body.Value, MaxBody)
	if e.State.Given() {
		f.CheckEnum("state", e.State.Value, "open", "closed")
	}
	if e.Reason.Given() {
		f.CheckEnum("state_reason", e.Reason.Value, reasons[1:]...)
	}
	return f.Err()
}

// relate sets the labels, the assignees and the milestone.
func (e *Edit) relate(c *Change) error {
	if e.Labels.Given() {
		labels, err := labelsFor(c.Tx, c.Repo.ID, e.Labels.Value, c.Actor.ID)
		if err != nil {
			return err
		}
		if err := c.SetLabels(labels); err != nil {
			return err
		}
	}
	if e.Assignees.Set {
		ids, err := assignable(c.Tx, c.Repo, c.Issue.AuthorID, cmp.Or(e.AssigneesField, "assignees"),
			e.Assignees.Value)
		if err != nil {
			return err
		}
		c.SetAssignees(ids)
	}
	switch {
	case e.Milestone.Given():
		m, err := milestoneFor(c.Tx, c.Repo.ID, e.Milestone.Value)
		if err != nil {
			return err
		}
		return c.SetMilestone(m)
	case e.Milestone.Set:
		return c.SetMilestone(nil)
	}
	return nil
}
