package lfs

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxBatch is how many objects one request may name; git lfs names a hundred.
const maxBatch = 1000

// BatchRequest asks about several objects.
type BatchRequest struct {
	Operation string    `json:"operation"` // upload or download
	Transfers []string  `json:"transfers"`
	HashAlgo  string    `json:"hash_algo"`
	Objects   []Pointer `json:"objects"`
}

// BatchAnswer is the answer to a BatchRequest.
type BatchAnswer struct {
	Transfer string        `json:"transfer"`
	Objects  []BatchObject `json:"objects"`
	HashAlgo string        `json:"hash_algo"`
}

// BatchObject says what to do with one object.
type BatchObject struct {
	Pointer
	Authenticated bool              `json:"authenticated,omitempty"`
	Actions       map[string]Action `json:"actions,omitempty"` // download; or upload and verify
	Error         *BatchError       `json:"error,omitempty"`
}

// Action is a request that a client makes for an object.
type Action struct {
	Href      string            `json:"href"`
	Header    map[string]string `json:"header,omitempty"`
	ExpiresIn int64             `json:"expires_in,omitempty"` // seconds
}

// BatchError says why there is nothing to do with an object.
type BatchError struct {
	Code    int    `json:"code"` // as of HTTP
	Message string `json:"message"`
}

// POST /{owner}/{repo}/info/lfs/objects/batch
//
// Batch answers where objects can be downloaded, or which ones have to be uploaded. An object that the repository has
// needs no upload. Errors: 409 for another hash than SHA-256; 413 for too many objects; 422; 403 to upload without
// push access.
func (api *API) Batch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var q BatchRequest
	if err := decode(r, &q); err != nil {
		return err
	}
	if err := q.check(); err != nil {
		return err
	}
	b := &batch{s: api.s, access: a, upload: q.Operation == "upload", base: web.From(r.Context()).Page(base(a.Repo))}
	if b.upload {
		if t := transferOf(a); t != nil && !t.Upload {
			return errs.New(errs.Forbidden, "The token is for downloads.")
		}
		if a.Caller == nil {
			return errs.New(errs.Unauthenticated, "Authentication required: use a token as password.")
		}
		if err := api.s.transport.Check(r.Context(), a, account.Push); err != nil {
			return err
		}
	}
	out, err := b.run(r.Context(), q.Objects)
	if err != nil {
		return err
	}
	return answer(w, r, http.StatusOK, BatchAnswer{Transfer: "basic", Objects: out, HashAlgo: "sha256"})
}

func (q *BatchRequest) check() error {
	basic := len(q.Transfers) == 0
	for _, t := range q.Transfers {
		basic = basic || t == "basic"
	}
	switch {
	case q.HashAlgo != "" && q.HashAlgo != "sha256":
		return errs.New(errs.Conflict, "hash_algo must be sha256")
	case q.Operation != "upload" && q.Operation != "download":
		return errs.New(errs.Invalid, "operation must be upload or download")
	case !basic:
		return errs.New(errs.Invalid, "transfers must include basic")
	case len(q.Objects) > maxBatch:
		return errs.Newf(errs.TooLarge, "a batch may have at most %d objects", maxBatch)
	}
	return nil
}

// batch is one request about several objects.
type batch struct {
	s      *Service
	access *repo.Access
	upload bool
	base   string // the address below which objects are
	inline bool   // objects are transferred in the conversation, and have no addresses
	header map[string]string
	have   map[string]*Object
}

func (b *batch) run(ctx context.Context, list []Pointer) ([]BatchObject, error) {
	var err error
	if !b.inline {
		b.header = b.s.header(b.access.Caller, b.access.ID, b.upload)
	}
	if b.have, err = b.s.find(ctx, b.access.ID, oidsOf(list)); err != nil {
		return nil, err
	}
	var full error
	if b.upload {
		if full, err = b.announce(ctx, list); err != nil {
			return nil, err
		}
	}
	out := make([]BatchObject, len(list))
	for n, o := range list {
		out[n] = b.object(o, full)
		if err := b.direct(ctx, &out[n]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// direct lets a client download an object from the storage of files, if that has an address for it.
func (b *batch) direct(ctx context.Context, out *BatchObject) error {
	have := b.have[out.OID]
	if b.upload || b.inline || have == nil || out.Actions == nil {
		return nil
	}
	address, valid, err := b.s.files.Direct(ctx, &have.File, "attachment")
	if err == nil && address != "" {
		out.Authenticated = true // by the address
		out.Actions["download"] = Action{Href: address, ExpiresIn: int64(valid / time.Second)}
	}
	return err
}

// oidsOf returns the names that objects can have, each once.
func oidsOf(list []Pointer) (oids []string) {
	seen := map[string]bool{}
	for _, o := range list {
		if isOID(o.OID) && !seen[o.OID] {
			seen[o.OID] = true
			oids = append(oids, o.OID)
		}
	}
	return oids
}

// announce takes over what the network has, and returns the error of the quota if it has no room for the rest.
func (b *batch) announce(ctx context.Context, list []Pointer) (full, err error) {
	var missing []string
	kb := map[string]int64{}
	for _, o := range list {
		if isOID(o.OID) && b.have[o.OID] == nil && o.Size > 0 && o.Size <= b.s.MaxObject {
			missing = append(missing, o.OID)
			kb[o.OID] = file.KB(o.Size)
		}
	}
	if len(kb) == 0 {
		return nil, nil
	}
	payer, err := b.s.payer(b.access)
	if err != nil {
		return nil, err
	}
	taken, err := b.s.adopt(ctx, b.access, b.access, payer, missing)
	if errs.Is(err, errs.Forbidden) {
		return err, nil
	} else if err != nil {
		return nil, err
	}
	for oid, o := range taken {
		b.have[oid] = o
		delete(kb, oid)
	}
	sum := int64(0)
	for _, n := range kb {
		sum += n
	}
	if sum > 0 {
		full = b.s.repos.MayAddFile(ctx, b.access.ID, payer, sum)
	}
	if full != nil && !errs.Is(full, errs.Forbidden) {
		return nil, full
	}
	return full, nil
}

// payer returns the account for which uploads of the caller count; 0: the repository's owner.
func (s *Service) payer(a *repo.Access) (account.ID, error) {
	if a.Role >= account.Push {
		return 0, nil
	}
	return a.Caller.ID, nil
}

// object says what to do with one object. full is the error of a quota without room.
func (b *batch) object(o Pointer, full error) BatchObject {
	out := BatchObject{Pointer: o}
	have := b.have[o.OID]
	fail := func(code int, message string) BatchObject {
		out.Error = &BatchError{code, message}
		return out
	}
	switch {
	case !isOID(o.OID):
		return fail(http.StatusUnprocessableEntity, "oid must be the SHA-256 of the object")
	case o.Size < 0 || have != nil && have.Size != o.Size:
		return fail(http.StatusUnprocessableEntity, "size is not the size of the object")
	case !b.upload && have == nil:
		return fail(http.StatusNotFound, "Object does not exist")
	case b.upload && have == nil && o.Size == 0:
		return fail(http.StatusUnprocessableEntity, "an object has at least one byte")
	case b.upload && have == nil && o.Size > b.s.MaxObject:
		return fail(http.StatusUnprocessableEntity, b.s.tooLarge().Error())
	case b.upload && have == nil && full != nil:
		return fail(http.StatusInsufficientStorage, messageOf(full))
	case b.upload && have != nil:
		return out
	}
	out.Authenticated = b.header != nil
	to := Action{Href: b.base + "/objects/" + o.OID, Header: b.header}
	if to.Header != nil {
		to.ExpiresIn = int64(tokenLife / time.Second)
	}
	if !b.upload {
		out.Actions = map[string]Action{"download": to}
		return out
	}
	verify := to
	verify.Href = b.base + "/objects/verify"
	to.Href += "/" + strconv.FormatInt(o.Size, 10)
	out.Actions = map[string]Action{"upload": to, "verify": verify}
	return out
}

// find reads those of the named objects that a repository has.
func (s *Service) find(ctx context.Context, id repo.ID, oids []string) (have map[string]*Object, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[string]*Object, error) { return byOIDs(tx, id, oids) })
}
