package pull

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// MaintainerBranches returns the branches of a repository to which the caller may push as a maintainer of
// the base of an open pull request whose author allows it (decision 49). If hold is true, it locks the pull
// requests until the transaction ends.
func MaintainerBranches(tx *db.Tx, a *repo.Access, hold bool) (map[string]bool, error) {
	list, err := openModifiable(tx, a.ID)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ids := make([]repo.ID, len(list))
	for n, p := range list {
		ids[n] = p.RepoID
	}
	bases, err := repo.Accesses(tx, a.Caller, db.Unique(ids))
	if err != nil {
		return nil, err
	}
	maintained := map[repo.ID]bool{}
	for _, base := range bases { // ordered by id
		if base.Role < account.Push || base.NetworkID != a.NetworkID {
			continue
		}
		maintained[base.ID] = true
		if hold {
			if err := issuekit.Lock(tx, base.ID); err != nil {
				return nil, err
			}
		}
	}
	if hold && len(maintained) > 0 {
		if list, err = openModifiable(tx, a.ID); err != nil {
			return nil, err
		}
	}
	branches := map[string]bool{}
	for _, p := range list {
		if !maintained[p.RepoID] || branches[p.HeadRef] {
			continue
		}
		if branches[p.HeadRef], err = authorPushes(tx, p); err != nil {
			return nil, err
		}
	}
	return branches, nil
}

// letMaintainers sets whether maintainers of the base may push to the head of a pull request from a fork.
// Only the author and users with push access to the head may change it; for others, and if the author has
// no push access to the head, nothing changes.
func letMaintainers(c *issue.Change, to bool) error {
	p, err := byID(c.Tx, c.Issue.ID)
	if err != nil || p.Modifiable == to || p.HeadRepoID == p.RepoID || p.HeadRepoID == 0 {
		return err
	}
	may := c.Actor.ID == c.Issue.AuthorID
	if !may {
		if may, err = pushes(c.Tx, c.Actor, p.HeadRepoID); err != nil {
			return err
		}
	}
	if may && to {
		if may, err = authorPushes(c.Tx, p); err != nil {
			return err
		}
	}
	if !may {
		return nil
	}
	c.Touch()
	return setModifiable(c.Tx, p.IssueID, to)
}

// authorPushes reports whether the author of a pull request has push access to its head, which is required
// to allow others.
func authorPushes(tx *db.Tx, p *Pull) (bool, error) {
	author, err := account.ByID(tx, p.AuthorID)
	if err != nil {
		return false, err
	}
	return pushes(tx, &account.Caller{ID: author.ID, Login: author.Login, SiteAdmin: author.SiteAdmin},
		p.HeadRepoID)
}

// pushes reports whether the caller has push access to a repository.
func pushes(tx *db.Tx, caller *account.Caller, repoID repo.ID) (bool, error) {
	list, err := repo.Accesses(tx, caller, []repo.ID{repoID})
	return len(list) > 0 && list[0].Role >= account.Push, err
}
