package timeline

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
)

// Participants returns who took part in each of the issues, in the order of their accounts: authors, assignees, and who
// commented or submitted a review. The caller must have access to the issues.
func (api *API) Participants(ctx context.Context, ids []issue.ID) (found map[issue.ID][]*account.Account, err error) {
	err = api.db.Read(ctx, func(tx *db.Tx) error {
		found = map[issue.ID][]*account.Account{}
		list, err := participantsOf(tx, ids)
		if err != nil {
			return err
		}
		accounts := make([]account.ID, len(list))
		for n, p := range list {
			accounts[n] = p.userID
		}
		people, err := account.ByIDs(tx, db.Unique(accounts))
		for _, p := range list {
			if who := people[p.userID]; who != nil {
				found[p.issueID] = append(found[p.issueID], who)
			}
		}
		return err
	})
	return found, err
}
