package activity

import (
	"context"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// maxDeleted is how many deleted branches of a repository are listed.
const maxDeleted = 100

// keepsBranches is how long a deleted branch is listed.
const keepsBranches = 30 * 24 * time.Hour

// DeletedBranch is a branch that was deleted.
type DeletedBranch struct {
	ID   int64  // of its deletion
	Name string // without refs/heads/
	SHA  git.SHA
	By   *account.Account // nil: unknown
	At   db.Time
}

// DeletedBranches lists the last deletion of each branch that was deleted within 30 days, the last deleted first,
// branches included that are there again. It knows as many as the feed of the repository has room for. Whoever
// may push may restore them: their commits stay until somebody purges the repository.
func (s *Service) DeletedBranches(ctx context.Context, a *repo.Access) (list []DeletedBranch, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list = nil // it may run again
		found, err := deletions(tx, a.ID, tx.Now-db.Time(keepsBranches.Microseconds()))
		if err != nil {
			return err
		}
		var people []account.ID
		for _, one := range found {
			people = append(people, one.ActorID)
		}
		who, err := account.ByIDs(tx, db.Unique(people))
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, one := range found {
			name := strings.TrimPrefix(one.Ref, git.Heads)
			if !seen[name] && len(list) < maxDeleted {
				list = append(list, DeletedBranch{one.ID, name, one.Before, who[one.ActorID], one.CreatedAt})
			}
			seen[name] = true
		}
		return nil
	})
	return list, err
}
