package activity

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// Contribution is an activity of a user that counts as a contribution.
type Contribution struct {
	By      account.ID
	Sort    Sort
	RepoID  repo.ID
	OrgID   account.ID // the owner of the repository, if it is an organization
	Number  int64      // of the issue or pull request
	Subject int64      // the review
	At      db.Time
}

// Sort says what a contribution is.
type Sort uint8

// Sorts of contributions. A push counts as one, however many commits it has.
const (
	OtherSort Sort = iota // does not count
	PushSort
	RepositorySort
	IssueSort
	PullSort
	ReviewSort
)

// Contributions lists what each of several users contributed as far as the caller sees it, the newest first: among
// the Newest public and the Newest other activities of each. It takes one statement.
func (s *Service) Contributions(
	ctx context.Context, caller *account.Caller, of []account.ID,
) (map[account.ID][]Contribution, error) {
	found := map[account.ID][]Contribution{}
	err := s.db.ReadLong(ctx, func(tx *db.Tx) error {
		clear(found)
		list, err := contributions(tx, caller, of)
		for _, c := range list {
			if c.Sort != OtherSort {
				found[c.By] = append(found[c.By], c)
			}
		}
		return err
	})
	return found, err
}

// sortOf returns what an activity counts as.
func sortOf(kind Kind, ref string, pull bool) Sort {
	switch {
	case kind == Pushed && strings.HasPrefix(ref, "refs/heads/"):
		return PushSort
	case kind == Created && ref == "":
		return RepositorySort
	case kind == Opened && pull:
		return PullSort
	case kind == Opened:
		return IssueSort
	case kind == Reviewed:
		return ReviewSort
	}
	return OtherSort
}
