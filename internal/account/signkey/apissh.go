package signkey

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// signingKeyJSON is GitHub's ssh-signing-key.
type signingKeyJSON struct {
	Key       string  `json:"key"`
	ID        ID      `json:"id"`
	Title     string  `json:"title"`
	CreatedAt db.Time `json:"created_at"`
}

func newSigningKey(k *Key, _ map[string]bool) signingKeyJSON {
	return signingKeyJSON{Key: k.PublicKey, ID: k.ID, Title: k.Name, CreatedAt: k.CreatedAt}
}

// GET /user/ssh_signing_keys
//
// ListOwnSigningKeys lists the caller's SSH keys that sign, the first that was added first.
func (a *API) ListOwnSigningKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.s.Own(r.Context(), account.CallerFrom(r.Context()), SSH)
	return list(w, r, keys, err, newSigningKey)
}

// GET /users/{username}/ssh_signing_keys
//
// ListSigningKeys lists the SSH keys with which a user signs, which everybody may know; an organization has none.
// Errors: 404.
func (a *API) ListSigningKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.s.Public(r.Context(), web.Param(r, "username"), SSH)
	return list(w, r, keys, err, newSigningKey)
}

// POST /user/ssh_signing_keys
//
// AddOwnSigningKey adds an SSH key with which the caller signs: title, key. It may be the key of an account for Git
// over SSH. Errors: 422 for an invalid or weak key, and for one that the caller has.
func (a *API) AddOwnSigningKey(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.add(r, SSH)
	if err != nil {
		return err
	}
	k := newSigningKey(&keys.List[0], nil)
	return web.Created(w, r, web.From(r.Context()).API("/user/ssh_signing_keys/"+strconv.FormatInt(int64(k.ID), 10)), k)
}

// GET /user/ssh_signing_keys/{ssh_signing_key_id}
//
// GetOwnSigningKey returns an SSH key with which the caller signs. Errors: 404.
func (a *API) GetOwnSigningKey(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.own(r, SSH, "ssh_signing_key_id")
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newSigningKey(&keys.List[0], nil))
}

// DELETE /user/ssh_signing_keys/{ssh_signing_key_id}
//
// RemoveOwnSigningKey deletes an SSH signing key of the caller. Commits and tags that it signed immediately become
// unverified.
// Errors: 404.
func (a *API) RemoveOwnSigningKey(w http.ResponseWriter, r *http.Request) error {
	return a.remove(r.Context(), w, r, SSH, "ssh_signing_key_id")
}
