package issue

import (
	"cmp"
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/form"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// NewIssue is an issue to be created. Assignees, Milestone and Labels are ignored if the author has no push
// access (code-hosting.md).
type NewIssue struct {
	Title     string
	Text      Text
	Assignees []string // logins
	Field     string   // the request's name of Assignees: assignee or assignees; empty: assignees
	Milestone int64    // number; 0: none
	Labels    []string
	Pull      bool // the issue of a pull request
	Draft     bool // of a pull request

	// From is the repository's template of the issue, or nil. Its labels and assignees are set for
	// authors without push access, as far as the repository has them: maintainers wrote the template.
	From *form.Template

	// Also is called before the issue is written, if not nil.
	Also func(c *Change) error
}

// check validates the texts (decision 19). Error: 422.
func (n *NewIssue) check() error {
	f := web.Faults{Resource: Resource}
	f.CheckFilled("title", n.Title)
	f.CheckText("title", n.Title, MaxTitle)
	f.CheckText("body", textOf(n.Text.Body), MaxBody)
	return f.Err()
}

// Create creates an issue; the author is the caller of a. Errors: 404 if the repository was deleted, 410, 422
// for an invalid title, text, assignee or milestone.
func (s *Service) Create(ctx context.Context, a *repo.Access, n NewIssue) (*Issue, error) {
	if err := Enabled(a.Repo, nil); err != nil {
		return nil, err
	}
	if err := n.check(); err != nil {
		return nil, err
	}
	var made *Issue
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		made, err = s.create(tx, a, n, tx.Check)
		return err
	})
	return made, err
}

// CreateIn is like Create, within the caller's transaction. It locks the repository's row.
func (s *Service) CreateIn(tx *db.Tx, a *repo.Access, n NewIssue) (*Issue, error) {
	return s.create(tx, a, n, func() error { return nil })
}

// create is CreateIn with a function that is called once the repository's row is locked and the transaction
// need not wait for anything else.
func (s *Service) create(tx *db.Tx, a *repo.Access, n NewIssue, locked func() error) (*Issue, error) {
	i := &Issue{
		RepoID: a.ID, Pull: n.Pull, Draft: n.Draft, Title: n.Title, AuthorID: a.Caller.ID,
		State: Open, CreatedAt: tx.Now, UpdatedAt: tx.Now,
	}
	if err := takeNumber(tx, i); err != nil {
		return nil, err
	}
	if err := locked(); err != nil {
		return nil, err
	}
	c := &Change{Tx: tx, Repo: a.Repo, Actor: a.Caller, Issue: i}
	c.Involve(i.AuthorID)
	if n.Text.Body != nil {
		if err := c.SetBody(n.Text); err != nil {
			return nil, err
		}
	}
	if a.Role >= account.Triage {
		if err := c.setRelations(a, n); err != nil {
			return nil, err
		}
	} else if n.From != nil {
		if err := c.setTemplate(n.From); err != nil {
			return nil, err
		}
	}
	if n.Also != nil {
		if err := n.Also(c); err != nil {
			return nil, err
		}
	}
	return i, s.forge.WriteIssue(c)
}

// setTemplate sets the labels of a template that exist, and its assignees who can be assigned.
func (c *Change) setTemplate(t *form.Template) error {
	named, err := label.Named(c.Tx, c.Repo.ID, t.Labels)
	if err != nil {
		return err
	}
	var labels []*label.Label
	for _, name := range t.Labels {
		if l := named[label.Fold(name)]; l != nil && !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	if err := c.SetLabels(labels); err != nil {
		return err
	}
	logins := t.Assignees[:min(len(t.Assignees), MaxAssignees)]
	ids, err := c.named(logins, true)
	if err == nil {
		c.SetAssignees(db.Unique(ids))
	}
	return err
}

// setRelations sets the labels, assignees and milestone of a new issue whose author has the role Triage.
func (c *Change) setRelations(a *repo.Access, n NewIssue) error {
	if len(n.Labels) > 0 {
		labels, err := labelsFor(c.Tx, a, n.Labels)
		if err != nil {
			return err
		}
		if err := c.SetLabels(labels); err != nil {
			return err
		}
	}
	if len(n.Assignees) > 0 {
		ids, err := assignable(c.Tx, c.Repo, c.Issue.AuthorID, cmp.Or(n.Field, "assignees"), n.Assignees)
		if err != nil {
			return err
		}
		c.SetAssignees(ids)
	}
	if n.Milestone != 0 {
		m, err := milestoneFor(c.Tx, c.Repo.ID, n.Milestone)
		if err != nil {
			return err
		}
		return c.SetMilestone(m)
	}
	return nil
}
