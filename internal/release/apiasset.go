package release

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/releases/{release_id}/assets
//
// ListAssets answers a page of the assets of a release, the oldest first. Error: 404.
func (api *API) ListAssets(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "release_id")
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var of *Release
	var found []*Asset
	var people map[account.ID]*account.Account
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		of, err = visible(a, func(tx *db.Tx) (*Release, error) { return byID(tx, a.ID, id) }, tx)
		if err != nil {
			return err
		}
		var total int64
		if found, total, err = assetPage(tx, id, page); err != nil {
			return err
		}
		web.Link(w, r, page, total)
		people, err = uploaders(tx, found)
		return err
	})
	if err != nil {
		return err
	}
	out := make([]*AssetPayload, len(found))
	for n, x := range found {
		out[n] = newAssetPayload(issuekit.AddressesOf(r, a), of, x, people)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

func uploaders(tx *db.Tx, list []*Asset) (map[account.ID]*account.Account, error) {
	ids := make([]account.ID, len(list))
	for n, x := range list {
		ids[n] = x.UploaderID
	}
	return account.ByIDs(tx, ids)
}

// POST /repos/{owner}/{repo}/releases/{release_id}/assets
//
// Upload adds a file to a release: the request's body, under the name in the query. It is taken in while it
// comes. Errors: 404; 422 for the name, an empty file and one that is too large; 403 for the owner's quota;
// 507.
func (api *API) Upload(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	made, err := api.upload(r, a)
	if err != nil {
		web.Drain(w, r)
		return err
	}
	return api.answerAsset(w, r, a, http.StatusCreated, made)
}

func (api *API) upload(r *http.Request, a *repo.Access) (*Asset, error) {
	id, err := web.Number(r, "release_id")
	if err != nil {
		return nil, err
	}
	q := web.QueryOf(r)
	return api.s.Upload(r.Context(), a, id, NewAsset{Name: q.Get("name"), Label: q.Get("label"),
		ContentType: r.Header.Get("Content-Type"), Size: r.ContentLength, From: r.Body})
}

// answerAsset answers with an asset.
func (api *API) answerAsset(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, x *Asset,
) error {
	var of *Release
	var people map[account.ID]*account.Account
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if of, err = byID(tx, a.ID, x.ReleaseID); err == nil {
			people, err = uploaders(tx, []*Asset{x})
		}
		return err
	})
	if err != nil {
		return err
	}
	p := newAssetPayload(issuekit.AddressesOf(r, a), of, x, people)
	if status == http.StatusCreated {
		w.Header().Set("Location", p.URL)
	}
	return web.JSON(w, r, status, p)
}

// GET /repos/{owner}/{repo}/releases/assets/{asset_id}
//
// GetAsset answers an asset; with the media type application/octet-stream its bytes; ranges may be
// requested. Errors: 404; 415 for other media types.
func (api *API) GetAsset(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "asset_id")
	if err != nil {
		return err
	}
	if err := acceptsBytes(r); err != nil {
		return err
	}
	bytes := wantsBytes(r)
	var x *Asset
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if x, err = assetByID(tx, a.ID, id); err != nil {
			return err
		}
		_, err = visible(a, func(tx *db.Tx) (*Release, error) { return byID(tx, a.ID, x.ReleaseID) }, tx)
		return err
	})
	switch {
	case err != nil:
		return err
	case bytes:
		return api.send(w, r, x)
	}
	return api.answerAsset(w, r, a, http.StatusOK, x)
}

// wantsBytes reports whether a request names the media type of any bytes.
func wantsBytes(r *http.Request) bool {
	for _, v := range r.Header["Accept"] {
		for part := range strings.SplitSeq(v, ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), file.AnyBytes) {
				return true
			}
		}
	}
	return false
}

// acceptsBytes returns the 415 of a request that takes neither bytes nor what clients of the API take.
func acceptsBytes(r *http.Request) error {
	if wantsBytes(r) || web.From(r.Context()).Media.JSON {
		return nil
	}
	return errs.New(errs.UnsupportedMedia,
		"Unsupported 'Accept' header: this resource is produced as "+file.AnyBytes)
}

// PATCH /repos/{owner}/{repo}/releases/assets/{asset_id}
//
// EditAsset changes the name and the label of an asset. Errors: 404, 422.
func (api *API) EditAsset(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "asset_id")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, AssetResource)
	if err != nil {
		return err
	}
	if body.Has("name") {
		body.Require("name")
	}
	e := AssetEdit{Name: body.String("name", 0), Label: body.String("label", MaxLabel)}
	body.Enum("state", "uploaded")
	if name, ok := CleanName(e.Name.Value); ok {
		e.Name.Value = name
	} else if e.Name.Value != "" {
		body.Wrong("name", errs.InvalidField, "name must be the name of a file, without a path")
	}
	if err := body.Err(); err != nil {
		return err
	}
	made, err := api.s.EditAsset(r.Context(), a, id, e)
	if err != nil {
		return err
	}
	return api.answerAsset(w, r, a, http.StatusOK, made)
}

// DELETE /repos/{owner}/{repo}/releases/assets/{asset_id}
//
// DeleteAsset removes an asset and its file. Error: 404.
func (api *API) DeleteAsset(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "asset_id")
	if err == nil {
		err = api.s.DeleteAsset(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
