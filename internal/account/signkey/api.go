package signkey

import (
	"context"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the routes of signing keys.
type API struct{ s *Service }

// NewAPI returns the handlers.
func NewAPI(s *Service) *API { return &API{s: s} }

// Routes are the endpoints of signing keys.
func (a *API) Routes() []route.Route {
	needs, never := route.Needs, route.Never
	free := needs(scope.None, route.None)
	const permission = "gpg_keys"
	gpg, ssh := needs(scope.ReadGPGKeys, never).ForUsers(permission), needs(scope.ReadSigningKeys, never)
	return []route.Route{
		gpg.SignedIn("GET /user/gpg_keys", a.ListOwnGPGKeys),
		needs(scope.WriteGPGKeys, never).ForUsers(permission).SignedIn("POST /user/gpg_keys", a.AddOwnGPGKey),
		gpg.SignedIn("GET /user/gpg_keys/{gpg_key_id}", a.GetOwnGPGKey),
		needs(scope.AdminGPGKeys, never).ForUsers(permission).SignedIn("DELETE /user/gpg_keys/{gpg_key_id}",
			a.RemoveOwnGPGKey),
		free.Anyone("GET /users/{username}/gpg_keys", a.ListGPGKeys),
		free.Anyone("GET /{username}.gpg", a.ListGPGKeysAsText).InAnyMedia(),

		ssh.SignedIn("GET /user/ssh_signing_keys", a.ListOwnSigningKeys),
		needs(scope.WriteSigningKeys, never).SignedIn("POST /user/ssh_signing_keys", a.AddOwnSigningKey),
		ssh.SignedIn("GET /user/ssh_signing_keys/{ssh_signing_key_id}", a.GetOwnSigningKey),
		needs(scope.AdminSigningKeys, never).SignedIn("DELETE /user/ssh_signing_keys/{ssh_signing_key_id}",
			a.RemoveOwnSigningKey),
		free.Anyone("GET /users/{username}/ssh_signing_keys", a.ListSigningKeys),
	}
}

// gpgKeyJSON is GitHub's gpg-key.
type gpgKeyJSON struct {
	ID             ID           `json:"id"`
	Name           *string      `json:"name"`
	PrimaryKeyID   *ID          `json:"primary_key_id"`
	KeyID          string       `json:"key_id"`
	PublicKey      string       `json:"public_key"`
	Emails         []emailJSON  `json:"emails"`
	Subkeys        []gpgKeyJSON `json:"subkeys"`
	Signs          bool         `json:"can_sign"`
	EncryptsComms  bool         `json:"can_encrypt_comms"`
	EncryptsStored bool         `json:"can_encrypt_storage"`
	Certifies      bool         `json:"can_certify"`
	CreatedAt      db.Time      `json:"created_at"`
	ExpiresAt      *db.Time     `json:"expires_at"`
	Revoked        bool         `json:"revoked"`
	RawKey         *string      `json:"raw_key"`
}

type emailJSON struct {
	Email    string `json:"email"`
	Verified bool   `json:"verified"`
}

func newGPGKey(k *Key, verified map[string]bool) gpgKeyJSON {
	j := gpgKeyJSON{ID: k.ID, Name: web.OrNil(k.Name), KeyID: k.Handle, PublicKey: k.PublicKey,
		Emails: []emailJSON{}, Subkeys: []gpgKeyJSON{}, Signs: k.Can&Sign != 0, EncryptsComms: k.Can&EncryptMessages != 0,
		EncryptsStored: k.Can&EncryptStorage != 0, Certifies: k.Can&Certify != 0, CreatedAt: k.CreatedAt,
		Revoked: k.Revoked, RawKey: web.OrNil(k.Armor)}
	if k.ExpiresAt != 0 {
		j.ExpiresAt = &k.ExpiresAt
	}
	if k.PrimaryID != 0 {
		j.PrimaryKeyID = &k.PrimaryID
		return j
	}
	for _, address := range k.Emails {
		j.Emails = append(j.Emails, emailJSON{address, verified[address]})
	}
	for n := range k.Subkeys {
		j.Subkeys = append(j.Subkeys, newGPGKey(&k.Subkeys[n], nil))
	}
	return j
}

// idOf reads the id of a key in a path. Error: 404.
func idOf(r *http.Request, placeholder string) (ID, error) {
	id, err := strconv.ParseInt(web.Param(r, placeholder), 10, 64)
	if err != nil {
		return 0, errs.Absent()
	}
	return ID(id), nil
}

// GET /user/gpg_keys
//
// ListOwnGPGKeys lists the caller's GPG keys, the first that was added first.
func (a *API) ListOwnGPGKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.s.Own(r.Context(), account.CallerFrom(r.Context()), OpenPGP)
	return list(w, r, keys, err, newGPGKey)
}

// GET /users/{username}/gpg_keys
//
// ListGPGKeys lists the GPG keys of a user, which everybody may know; an organization has none. Errors: 404.
func (a *API) ListGPGKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.s.Public(r.Context(), web.Param(r, "username"), OpenPGP)
	return list(w, r, keys, err, newGPGKey)
}

// list renders a page of keys, or returns the error of reading them.
func list[T any](
	w http.ResponseWriter, r *http.Request, keys *Keys, err error, render func(*Key, map[string]bool) T,
) error {
	if err != nil {
		return err
	}
	out := []T{}
	for _, k := range web.Cut(w, r, keys.List) {
		out = append(out, render(&k, keys.Verified))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /{username}.gpg
//
// ListGPGKeysAsText returns the GPG keys of a user as a file that gpg imports. Errors: 404.
func (a *API) ListGPGKeysAsText(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.s.Public(r.Context(), web.Param(r, "username"), OpenPGP)
	if err != nil {
		return err
	}
	return SendText(w, r, Armored(keys.List))
}

// SendText sends keys as text.
func SendText(w http.ResponseWriter, r *http.Request, text string) error {
	if web.NotModified(w, r, web.Tag([]byte(text))) {
		return nil
	}
	if err := admission.Hold(r.Context(), int64(len(text))); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(http.StatusOK)
	_, err := w.Write([]byte(text))
	return err
}

// POST /user/gpg_keys
//
// AddOwnGPGKey adds a GPG key of the caller's: name, armored_public_key. Other people's signatures on it are dropped.
// Errors: 422 for an invalid or weak key, and for one that the caller has.
func (a *API) AddOwnGPGKey(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.add(r, OpenPGP)
	if err != nil {
		return err
	}
	k := newGPGKey(&keys.List[0], keys.Verified)
	return web.Created(w, r, web.From(r.Context()).API("/user/gpg_keys/"+strconv.FormatInt(int64(k.ID), 10)), k)
}

// add adds the key of a request.
func (a *API) add(r *http.Request, kind Kind) (*Keys, error) {
	o, err := web.ReadObject(r, kind.resource())
	if err != nil {
		return nil, err
	}
	o.Require(kind.field())
	n := NewKey{Kind: kind, Name: o.String(kind.nameField(), account.MaxLine).Or(""),
		Text: o.String(kind.field(), 0).Or("")}
	if err := o.Err(); err != nil {
		return nil, err
	}
	return a.s.Add(r.Context(), account.CallerFrom(r.Context()), n)
}

// GET /user/gpg_keys/{gpg_key_id}
//
// GetOwnGPGKey returns a GPG key of the caller's. Errors: 404.
func (a *API) GetOwnGPGKey(w http.ResponseWriter, r *http.Request) error {
	keys, err := a.own(r, OpenPGP, "gpg_key_id")
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newGPGKey(&keys.List[0], keys.Verified))
}

func (a *API) own(r *http.Request, kind Kind, placeholder string) (*Keys, error) {
	id, err := idOf(r, placeholder)
	if err != nil {
		return nil, err
	}
	return a.s.OwnKey(r.Context(), account.CallerFrom(r.Context()), kind, id)
}

// DELETE /user/gpg_keys/{gpg_key_id}
//
// RemoveOwnGPGKey deletes a GPG key of the caller with its subkeys. Commits and tags that they signed immediately become
// unverified.
// Errors: 404, also for a subkey.
func (a *API) RemoveOwnGPGKey(w http.ResponseWriter, r *http.Request) error {
	return a.remove(r.Context(), w, r, OpenPGP, "gpg_key_id")
}

func (a *API) remove(ctx context.Context, w http.ResponseWriter, r *http.Request, kind Kind, placeholder string) error {
	id, err := idOf(r, placeholder)
	if err == nil {
		err = a.s.Remove(ctx, account.CallerFrom(ctx), kind, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
