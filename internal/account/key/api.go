package key

import (
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

// API answers the routes of keys.
type API struct{ s *Service }

// NewAPI returns the handlers.
func NewAPI(s *Service) *API { return &API{s: s} }

// Routes are the endpoints of keys, but those of deploy keys.
func (a *API) Routes() []route.Route {
	needs, never := route.Needs, route.Never
	const permission = "git_ssh_keys"
	free, readsKeys := needs(scope.None, route.None), needs(scope.ReadKeys, never).ForUsers(permission)
	site := needs(scope.SiteAdmin, never)
	return []route.Route{
		readsKeys.SignedIn("GET /user/keys", a.ListOwnKeys),
		needs(scope.WriteKeys, never).ForUsers(permission).SignedIn("POST /user/keys", a.AddOwnKey),
		readsKeys.SignedIn("GET /user/keys/{key_id}", a.GetOwnKey),
		needs(scope.AdminKeys, never).ForUsers(permission).SignedIn("DELETE /user/keys/{key_id}", a.RemoveOwnKey),
		free.Anyone("GET /users/{username}/keys", a.ListKeys),
		free.Anyone("GET /{username}.keys", a.ListKeysAsText).InAnyMedia(),
		site.SiteAdmin("GET /admin/keys", a.ListAllKeys),
		site.SiteAdmin("DELETE /admin/keys/{key_ids}", a.RemoveKeys),
	}
}

// simpleKey is GitHub's key-simple: the public form of a key.
type simpleKey struct {
	ID        int64    `json:"id"`
	Key       string   `json:"key"`
	CreatedAt db.Time  `json:"created_at"`
	LastUsed  *db.Time `json:"last_used"`
}

// fullKey is GitHub's key.
type fullKey struct {
	simpleKey
	URL      string `json:"url"`
	Title    string `json:"title"`
	Verified bool   `json:"verified"`
	ReadOnly bool   `json:"read_only"`
}

// siteKey is a key as site administrators see it, of GitHub Enterprise Server.
type siteKey struct {
	fullKey
	UserID       *account.ID `json:"user_id"`
	RepositoryID *int64      `json:"repository_id"`
	AddedBy      string      `json:"added_by"`
}

func newSimpleKey(k *Key) simpleKey {
	s := simpleKey{ID: k.ID, Key: k.PublicKey, CreatedAt: k.CreatedAt}
	if !k.LastUsedAt.IsZero() {
		s.LastUsed = &k.LastUsedAt
	}
	return s
}

// newFullKey renders a key; path is its address.
func newFullKey(k *Key, i *web.Info, path string) fullKey {
	return fullKey{simpleKey: newSimpleKey(k), URL: i.API(path), Title: k.Title, Verified: true,
		ReadOnly: k.ReadOnly}
}

// Deploy is GitHub's deploy-key.
type Deploy struct {
	fullKey
	AddedBy string `json:"added_by"`
	Enabled bool   `json:"enabled"`
}

// NewDeploy renders a key of the repository whose address is path.
func NewDeploy(k *Key, i *web.Info, path string) *Deploy {
	full := newFullKey(k, i, path+"/keys/"+strconv.FormatInt(k.ID, 10))
	return &Deploy{fullKey: full, AddedBy: k.AddedLogin, Enabled: true}
}

// ID reads {key_id}. Error: 404.
func ID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(web.Param(r, "key_id"), 10, 64)
	if err != nil {
		return 0, errs.Absent()
	}
	return id, nil
}

func userKey(k *Key, i *web.Info) fullKey {
	return newFullKey(k, i, "/user/keys/"+strconv.FormatInt(k.ID, 10))
}

// GET /user/keys
//
// ListOwnKeys lists the caller's SSH keys, the first that was added first.
func (a *API) ListOwnKeys(w http.ResponseWriter, r *http.Request) error {
	list, err := a.s.PublicKeys(r.Context(), account.CallerFrom(r.Context()).Login)
	if err != nil {
		return err
	}
	out, i := []fullKey{}, web.From(r.Context())
	for _, k := range web.Cut(w, r, list) {
		out = append(out, userKey(&k, i))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /users/{username}/keys
//
// ListKeys lists the SSH keys of a user, which everybody may know; an organization and a suspended account
// have none. Errors: 404.
func (a *API) ListKeys(w http.ResponseWriter, r *http.Request) error {
	list, err := a.s.PublicKeys(r.Context(), web.Param(r, "username"))
	if err != nil {
		return err
	}
	out := []simpleKey{}
	for _, k := range web.Cut(w, r, list) {
		out = append(out, newSimpleKey(&k))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /{username}.keys
//
// ListKeysAsText lists the SSH keys of a user, a line each as authorized_keys has them. Errors: 404.
func (a *API) ListKeysAsText(w http.ResponseWriter, r *http.Request) error {
	list, err := a.s.PublicKeys(r.Context(), web.Param(r, "username"))
	if err != nil {
		return err
	}
	var text []byte
	for _, k := range list {
		text = append(append(text, k.PublicKey...), '\n')
	}
	if web.NotModified(w, r, web.Tag(text)) {
		return nil
	}
	if err := admission.Hold(r.Context(), int64(cap(text))); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(http.StatusOK)
	_, err = w.Write(text)
	return err
}

// POST /user/keys
//
// AddOwnKey adds a key that signs in as the caller: title, key. Errors: 422 for an invalid or weak key,
// and for a key that an account or a repository already has.
func (a *API) AddOwnKey(w http.ResponseWriter, r *http.Request) error {
	o, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	n := Read(o)
	if err := o.Err(); err != nil {
		return err
	}
	k, err := a.s.AddOwnKey(r.Context(), account.CallerFrom(r.Context()), n)
	if err != nil {
		return err
	}
	payload := userKey(k, web.From(r.Context()))
	return web.Created(w, r, payload.URL, payload)
}

// GET /user/keys/{key_id}
//
// GetOwnKey answers a key of the caller's. Errors: 404.
func (a *API) GetOwnKey(w http.ResponseWriter, r *http.Request) error {
	id, err := ID(r)
	if err != nil {
		return err
	}
	k, err := db.Get(r.Context(), a.s.db, func(tx *db.Tx) (*Key, error) {
		return Get(tx, Owner{Account: account.CallerFrom(r.Context()).ID}, id)
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, userKey(k, web.From(r.Context())))
}

// DELETE /user/keys/{key_id}
//
// RemoveOwnKey ends a key of the caller's, at once. Errors: 404.
func (a *API) RemoveOwnKey(w http.ResponseWriter, r *http.Request) error {
	id, err := ID(r)
	if err != nil {
		return err
	}
	if err := a.s.RemoveOwnKey(r.Context(), account.CallerFrom(r.Context()), id); err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /admin/keys
//
// ListAllKeys lists the keys of all users and repositories by id, for site administrators.
func (a *API) ListAllKeys(w http.ResponseWriter, r *http.Request) error {
	p := web.ReadPage(r)
	var list []Key
	var total int64
	err := a.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if list, err = allKeys(tx, p); err != nil {
			return err
		}
		total, err = a.s.accounts.Total(tx, "keys", p, len(list), func() (int64, error) { return countAllKeys(tx) })
		return err
	})
	if err != nil {
		return err
	}
	i := web.From(r.Context())
	out := make([]siteKey, len(list))
	for n := range list {
		out[n] = newSiteKey(&list[n], i)
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, out)
}

func newSiteKey(k *Key, i *web.Info) siteKey {
	s := siteKey{fullKey: newFullKey(k, i, "/admin/keys/"+strconv.FormatInt(k.ID, 10)), AddedBy: k.AddedLogin}
	if k.Owner.Repo != 0 {
		s.RepositoryID = &k.Owner.Repo
	} else {
		s.UserID = &k.Owner.Account
	}
	return s
}

// DELETE /admin/keys/{key_ids}
//
// RemoveKeys ends keys, whosever they are, for site administrators: one, or several between commas. Errors:
// 404 when there is none of them.
func (a *API) RemoveKeys(w http.ResponseWriter, r *http.Request) error {
	ids, err := ParseIDs(web.Param(r, "key_ids"))
	if err != nil {
		return err
	}
	err = a.s.db.WriteAs(r.Context(), account.CallerFrom(r.Context()), func(tx *db.Tx) error {
		return deleteKeys(tx, ids)
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
