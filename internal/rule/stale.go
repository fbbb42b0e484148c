package rule

import (
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// DismissesStale reports whether a rule of a branch dismisses approvals of its pull requests when their heads
// move.
func DismissesStale(tx *db.Tx, id repo.ID, branch string) (bool, error) {
	book, err := readRulebook(tx, id)
	if err != nil {
		return false, err
	}
	for _, r := range book.on(git.Heads + branch) {
		if rule := r.Find(PullRequest); rule != nil && r.Enforcement == Active &&
			rule.Parameters.(*PullRequestRule).DismissStale {
			return true, nil
		}
	}
	return false, nil
}
