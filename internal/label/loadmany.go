package label

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Named returns labels of the repository by name, ignoring case. It omits names without a label.
func (api *API) Named(ctx context.Context, a *repo.Access, names []string) (map[string]*Payload, error) {
	var found map[string]*Label
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		found, err = Named(tx, a.ID, names)
		return err
	})
	at, out := issuekit.NewAddresses(web.From(ctx), a.Repo), map[string]*Payload{}
	for _, name := range names {
		if l := found[Fold(name)]; l != nil {
			out[name] = NewPayload(l, at)
		}
	}
	return out, err
}
