package settings

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/account/key"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// keyOwner is the repository as the owner of its deploy keys.
func keyOwner(id repo.ID) key.Owner { return key.Owner{Repo: int64(id)} }

// GET /repos/{owner}/{repo}/keys
//
// ListKeys lists the deploy keys of the repository, the first that was added first.
func (api *API) ListKeys(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	list, err := api.s.Keys(r.Context(), a.ID)
	if err != nil {
		return err
	}
	out := []*key.Deploy{}
	for _, k := range web.Cut(w, r, list) {
		out = append(out, newDeployKey(a, &k, r))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// Keys lists the deploy keys of a repository, the first that was added first.
func (s *Service) Keys(ctx context.Context, id repo.ID) (list []key.Key, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]key.Key, error) { return key.List(tx, keyOwner(id)) })
}

func newDeployKey(a *repo.Access, k *key.Key, r *http.Request) *key.Deploy {
	return key.NewDeploy(k, web.From(r.Context()), web.Path("repos", a.Owner.Login, a.Name))
}

// GET /repos/{owner}/{repo}/keys/{key_id}
//
// GetKey answers a deploy key of the repository. Errors: 404.
func (api *API) GetKey(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := key.ID(r)
	if err != nil {
		return err
	}
	k, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) (*key.Key, error) {
		return key.Get(tx, keyOwner(a.ID), id)
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newDeployKey(a, k, r))
}

// POST /repos/{owner}/{repo}/keys
//
// AddKey adds a key that may fetch from the repository, and push unless read_only is set: title, key,
// read_only. Its pushes count as the caller's. Errors: 422 for an invalid or weak
// one, and for one that an account or a repository has.
func (api *API) AddKey(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	o, err := web.ReadObject(r, "PublicKey")
	if err != nil {
		return err
	}
	n := key.Read(o)
	n.ReadOnly = o.Bool("read_only").Or(false)
	if err := o.Err(); err != nil {
		return err
	}
	k, err := api.s.AddKey(r.Context(), a, a.Caller.ID, n)
	if err != nil {
		return err
	}
	payload := newDeployKey(a, k, r)
	return web.Created(w, r, payload.URL, payload)
}

// AddKey adds a deploy key to a repository, for an account as which it acts. Errors: 404, 422.
func (s *Service) AddKey(
	ctx context.Context, a *repo.Access, by account.ID, n key.NewKey,
) (k *key.Key, err error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	n.Owner, n.AddedBy = keyOwner(a.ID), by
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		k, err = key.Add(tx, n)
		return err
	})
	return k, err
}

// DELETE /repos/{owner}/{repo}/keys/{key_id}
//
// RemoveKey revokes a deploy key at once, even in an archived repository. Errors: 404.
func (api *API) RemoveKey(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := key.ID(r)
	if err != nil {
		return err
	}
	if err := api.s.RemoveKey(r.Context(), a, id); err != nil {
		return err
	}
	return web.NoContent(w)
}

// RemoveKey ends a deploy key of a repository. Errors: 404.
func (s *Service) RemoveKey(ctx context.Context, a *repo.Access, keyID int64) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		return key.Delete(tx, keyOwner(a.ID), keyID)
	})
}
