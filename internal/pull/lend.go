package pull

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// authorPushes reports whether the author of a pull request may push to its head
// now: only then can the author let others.
func authorPushes(tx *db.Tx, p *Pull) (bool, error) {
	issues, err := issue.ByIDs(tx, []int64{p.IssueID})
	if err != nil || len(issues) == 0 {
		return false, err
	}
	author, err := account.ByID(tx, issues[0].AuthorID)
	if err != nil {
		return false, err
	}
	return pushes(tx, &account.Caller{ID: author.ID, Login: author.Login, SiteAdmin: author.SiteAdmin}, p.HeadRepoID)
}

// pushes reports whether somebody has push access to a repository.
func pushes(tx *db.Tx, caller *account.Caller, repoID int64) (bool, error) {
	list, err := repo.Accesses(tx, caller, []int64{repoID})
	return len(list) > 0 && list[0].Role >= account.Push, err
}
