package milestone

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Numbered loads milestones of the repository by their numbers. Those that do not exist are omitted.
func (api *API) Numbered(ctx context.Context, a *repo.Access, numbers []int64) (map[int64]*Payload, error) {
	var list []*Payload
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := byNumbers(tx, a.ID, db.Unique(numbers))
		if err == nil {
			list, err = payloads(tx, found, issuekit.NewAddresses(web.From(ctx), a.Repo))
		}
		return err
	})
	out := map[int64]*Payload{}
	for _, p := range list {
		out[p.Number] = p
	}
	return out, err
}
