package pull

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Edit is an update of a pull request. Fields that are not set or null keep their values.
type Edit struct {
	Title web.Opt[string]
	Text  *issue.Text // nil keeps the body
	State web.Opt[string]
	Base  web.Opt[string] // a branch of the repository, as in NewPull

	Modifiable web.Opt[bool] // ignored without the right, see letMaintainers
}

// need returns the role that callers other than the author need.
func (e *Edit) need() account.Role {
	if e.Title.Given() || e.Text != nil || e.Base.Given() || e.Modifiable.Given() {
		return account.Push
	}
	return account.Triage
}

// check reports what is wrong with the values (decision 19). Error: 422.
func (e *Edit) check() error {
	f := web.Faults{Resource: Resource}
	if e.Title.Given() {
		f.CheckText("title", e.Title.Value, issue.MaxTitle)
		if strings.TrimSpace(e.Title.Value) == "" {
			f.Wrong("title", errs.MissingField, "title can't be blank")
		}
	}
	if e.Text != nil && e.Text.Body != nil {
		f.CheckText("body", *e.Text.Body, issue.MaxBody)
	}
	if e.State.Given() {
		f.CheckEnum("state", e.State.Value, "open", "closed")
	}
	return f.Err()
}

// Edit changes a pull request, all of it in one transaction, as far as mayEdit allows. Errors: 403, 404, 422
// (decisions 33, 37, 38).
func (s *Service) Edit(ctx context.Context, a *repo.Access, number int64, e Edit) error {
	err := s.repos.Again(ctx, errMoved, func() error { return s.editOnce(ctx, a, number, e) })
	if errors.Is(err, errMoved) {
		return errs.New(errs.Unavailable, "the branches keep moving; try again")
	}
	if err != nil || !e.Base.Given() && e.State.Value != issue.Open.String() {
		return err
	}
	p, _, err := s.Find(ctx, a, number)
	if err == nil && p.untested() {
		err = s.test(ctx, p) // so that the response is about its current head and base
	}
	return err
}

func (s *Service) editOnce(ctx context.Context, a *repo.Access, number int64, e Edit) error {
	p, i, err := s.Find(ctx, a, number)
	if err == nil {
		err = mayEdit(a, i, e.need())
	}
	if err == nil {
		err = e.check()
	}
	if err != nil {
		return err
	}
	var base git.SHA
	e.Base.Value = s.branchNamed(ctx, a, e.Base.Value)
	if e.Base.Given() && e.Base.Value != p.BaseRef {
		if base, err = s.checkBase(ctx, a, p, e.Base.Value); err != nil {
			return err
		}
	}
	_, err = s.issues.Edit(ctx, a, i, e.State.Value, func(c *issue.Change) error {
		if base != "" {
			if err := s.changeBase(c, p, e.Base.Value, base); err != nil {
				return err
			}
		}
		if e.Title.Given() {
			c.SetTitle(e.Title.Value)
		}
		if e.State.Given() {
			to, _ := issuekit.ParseState(e.State.Value)
			c.SetState(to, issue.NoReason)
		}
		if e.Text != nil {
			if err := c.SetBody(*e.Text); err != nil {
				return err
			}
		}
		if e.Modifiable.Given() {
			return letMaintainers(c, e.Modifiable.Value)
		}
		return nil
	})
	return err
}

// SetDraft converts an open pull request to a draft, which cannot be merged, or back. It requires the
// right to edit it. Errors: 403, 404; 422 for a closed one.
func (s *Service) SetDraft(ctx context.Context, a *repo.Access, number int64, draft bool) error {
	p, i, err := s.Find(ctx, a, number)
	if err == nil {
		err = mayEdit(a, i, account.Push)
	}
	var owners []string
	if err == nil && i.Draft && !draft {
		owners, err = s.codeOwners(ctx, p)
	}
	if err != nil {
		return err
	}
	_, err = s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		if !c.Issue.Pull {
			return errs.Absent()
		}
		if c.Issue.State == issue.Closed {
			return errs.New(errs.Invalid, "Only open pull requests become drafts or ready for review.")
		}
		c.SetDraft(draft)
		return askOwners(c, owners)
	})
	return err
}

// checkBase checks that a pull request may get another base branch, as a new one may, and returns its tip.
// Error: 422 (decision 38).
func (s *Service) checkBase(ctx context.Context, a *repo.Access, p *Pull, branch string) (git.SHA, error) {
	if !p.Open {
		return "", custom("base", "Cannot change the base branch of a closed pull request.")
	}
	tip, err := s.repos.Ref(ctx, a, heads+branch)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) || repo.IsQueueRef(heads+branch) {
		return "", wrong("base", errs.InvalidField, branch)
	}
	if err != nil {
		return "", err
	}
	head := p.HeadRef
	if p.HeadRepoID != p.RepoID {
		owner, err := s.account(ctx, p.HeadOwnerID)
		if err != nil {
			return "", err
		}
		head = owner.Login + ":" + head
	}
	to := *p
	to.BaseRef, to.BaseSHA = branch, tip
	return tip, s.checkBetween(ctx, a, &to, head)
}

// changeBase changes the base in the transaction. It checks that the branch still has the tip and that no
// other open pull request has the same branches. As after a push, mergeable is unknown afterwards (decision
// 36). Errors: errMoved, 422.
func (s *Service) changeBase(c *issue.Change, p *Pull, branch string, tip git.SHA) error {
	to, err := byID(c.Tx, p.IssueID)
	if err != nil {
		return err
	}
	now, err := repo.BranchTip(c.Tx, p.RepoID, branch)
	if err != nil {
		return err
	}
	if !to.Open || to.HeadSHA != p.HeadSHA || to.BaseRef != p.BaseRef || now != tip {
		return errMoved
	}
	to.BaseRef = branch
	if other, err := openPair(c.Tx, to); err != nil || other != 0 {
		if err == nil {
			err = alreadyExists(c.Tx, to)
		}
		return err
	}
	if err := reindex(c, p, 0, p.BaseRef, branch); err != nil {
		return err
	}
	c.Event(issue.EventBaseChanged, issue.Event{})
	c.Changed("base", map[string]any{"ref": hook.From(p.BaseRef), "sha": hook.From(p.BaseSHA)})
	c.Touch()
	if err := setBase(c.Tx, p.IssueID, branch, tip); err != nil {
		return err
	}
	if err := endWaiting(c, endedByBase); err != nil {
		return err
	}
	// What was approved for one branch is not approved for another, as if the head had moved.
	return s.OnNewHead(c, to)
}
