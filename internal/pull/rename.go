package pull

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
)

// FollowRename updates the open pull requests whose base or head is a renamed branch. Closed ones keep the name that
// their branch had.
func (s *Service) FollowRename(tx *db.Tx, repoID repo.ID, n *repo.BranchRename) error {
	if err := mergequeue.FollowRename(tx, repoID, n.From, n.To); err != nil {
		return err
	}
	names := []string{n.From}
	list, err := openByBase(tx, repoID, names)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := s.renameBase(tx, p, n); err != nil {
			return err
		}
	}
	if list, err = openByHead(tx, repoID, names); err != nil {
		return err
	}
	hold, err := holds(tx, list...)
	if err != nil {
		return err
	}
	for _, p := range list {
		if hold[p.IssueID] {
			err = s.renameHead(tx, p, n)
		} else {
			err = s.detach(tx, p, n.By)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) renameBase(tx *db.Tx, p *Pull, n *repo.BranchRename) error {
	return s.change(tx, p, n.By, func(c *issue.Change) error {
		if err := reindex(c, p, 0, n.From, n.To); err != nil {
			return err
		}
		c.Event(issue.EventBaseChanged, issue.Event{})
		c.Changed("base", map[string]any{"ref": hook.From(n.From), "sha": hook.From(p.BaseSHA)})
		c.Touch()
		return renameBaseRef(tx, p.IssueID, n.To)
	})
}

// renameHead updates a pull request whose base's repository may be another one, which is locked from here on.
func (s *Service) renameHead(tx *db.Tx, p *Pull, n *repo.BranchRename) error {
	return s.change(tx, p, n.By, func(c *issue.Change) error {
		now, err := byID(tx, p.IssueID)
		if err != nil || !now.follows(p) {
			return err
		}
		if err := reindex(c, p, p.HeadOwnerID, n.From, n.To); err != nil {
			return err
		}
		c.Touch()
		return renameHeadRef(tx, p.IssueID, n.To)
	})
}

// reindex replaces a branch in the index of issues. owner is that of a head, or 0 for a base.
func reindex(c *issue.Change, p *Pull, owner account.ID, old, name string) error {
	from, err := branchProperty(c.Tx, p.RepoID, owner, old)
	if err != nil {
		return err
	}
	to, err := branchProperty(c.Tx, p.RepoID, owner, name)
	if err != nil {
		return err
	}
	c.Without(from)
	c.Also(to)
	return nil
}
