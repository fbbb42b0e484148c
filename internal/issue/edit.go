package issue

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Edit is an update of an issue. Fields that are not set keep their values.
type Edit struct {
	Title  web.Opt[string]
	Body   web.Opt[string] // null and an empty text clear it
	State  web.Opt[string] // open or closed
	Reason web.Opt[string] // of the state, as in payloads

	// Ignored below the role Triage:
	Labels         web.Opt[[]string] // names; missing labels are created (decision 32)
	Assignees      web.Opt[[]string] // logins
	AssigneesField string            // the request's name of Assignees; empty: assignees
	Milestone      web.Opt[int64]    // number; null: none

	// The Guards of the title and body to be replaced; empty: not checked.
	TitleBefore, BodyBefore string
}

// ByNumber reads an issue. Errors: those of EnabledByNumber.
func (s *Service) ByNumber(ctx context.Context, a *repo.Access, number int64) (i *Issue, err error) {
	i, err = db.GetOne(ctx, s.db, func(tx *db.Tx) (*Issue, error) { return ByNumber(tx, a.ID, number) })
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

// Update updates an issue read by ByNumber, as far as MayEdit allows. Errors: 403; 404; 409 if a guard does not
// match; 422.
func (s *Service) Update(ctx context.Context, a *repo.Access, i *Issue, e Edit) (*Issue, error) {
	if err := MayEdit(a, i, e.need()); err != nil {
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
		if a.Role >= account.Triage {
			if err := e.relate(c, a); err != nil {
				return err
			}
		}
		if e.State.Given() {
			state, _ := issuekit.ParseState(e.State.Value)
			c.SetState(state, Reason(max(0, slices.Index(reasons[:], e.Reason.Value))))
		}
		return nil
	})
}

// need returns the role that callers other than the author need.
func (e *Edit) need() account.Role {
	if e.Title.Given() || e.Body.Set {
		return account.Push
	}
	return account.Triage
}

// check validates the values (decision 19). Error: 422.
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

// relate sets the labels, assignees and milestone.
func (e *Edit) relate(c *Change, a *repo.Access) error {
	if e.Labels.Given() {
		labels, err := labelsFor(c.Tx, a, e.Labels.Value)
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
