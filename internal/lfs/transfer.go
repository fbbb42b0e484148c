package lfs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// PUT /{owner}/{repo}/info/lfs/objects/{oid}/{size}
//
// Upload takes the bytes of an object while they come. Errors: 422 if they are not those that were announced, by
// number or by hash, or if there are too many; 403 for the quota; 507; those of the body. Then nothing is left of
// it.
func (api *API) Upload(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	err := api.upload(r, a)
	if err != nil {
		web.Drain(w, r)
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (api *API) upload(r *http.Request, a *repo.Access) error {
	oid := web.Param(r, "oid")
	size, err := strconv.ParseInt(web.Param(r, "size"), 10, 64)
	switch {
	case !isOID(oid) || err != nil || size < 0:
		return errs.Absent()
	case r.ContentLength >= 0 && r.ContentLength != size:
		return errWrongSize()
	}
	err = api.s.Upload(r.Context(), a, Pointer{oid, size}, r.Body)
	if errors.Is(err, errHave) {
		io.Copy(io.Discard, io.LimitReader(r.Body, maxIgnored))
		return nil
	}
	return err
}

// maxIgnored is how many bytes of an object that is there already are read to their end.
const maxIgnored = 64 << 20

func errWrongSize() error {
	return errs.New(errs.Invalid, "The object has not the size that was announced.")
}

func (s *Service) tooLarge() error {
	return errs.Newf(errs.Invalid, "An object may have at most %d bytes.", s.MaxObject)
}

// errHave says that the repository has the object.
var errHave = errors.New("lfs: the object is there")

// Upload adds an object to a repository. Errors: errHave; 422 for another size or hash than announced, or too many
// bytes; 403 for the right and the quota; 507; those of the body.
func (s *Service) Upload(ctx context.Context, a *repo.Access, p Pointer, from io.Reader) error {
	payer, err := s.payer(a)
	if err != nil {
		return err
	}
	return s.take(ctx, a.ID, p, file.Incoming{From: from, Payer: payer, As: a},
		func(tx *db.Tx, hold bool) error { return s.mayAdd(tx, a, hold) })
}

// Bring adds an object that the server itself got for a repository; it counts for the repository's owner. may is
// asked in the transactions before and after the bytes have come. Errors: those of Upload, but for an object that is
// there; those of may.
func (s *Service) Bring(ctx context.Context, id repo.ID, p Pointer, from io.Reader, may func(*db.Tx) error) error {
	err := s.take(ctx, id, p, file.Incoming{From: from, As: db.Server},
		func(tx *db.Tx, _ bool) error { return may(tx) })
	if errors.Is(err, errHave) {
		err = nil
	}
	return err
}

// take receives an object and adds its row. may is asked before, and after with hold.
func (s *Service) take(
	ctx context.Context, id repo.ID, p Pointer, in file.Incoming, may func(tx *db.Tx, hold bool) error,
) error {
	if p.Size > s.MaxObject {
		return s.tooLarge()
	}
	in.Size, in.Most = p.Size, p.Size
	err := s.files.Upload(ctx, id, in,
		func(tx *db.Tx) error {
			have, err := byOIDs(tx, id, []string{p.OID})
			if err == nil && len(have) > 0 {
				return errHave
			}
			if err != nil {
				return err
			}
			return may(tx, false)
		},
		func(tx *db.Tx, f *file.File) error {
			if err := may(tx, true); err != nil {
				return err
			}
			switch {
			case f.Size != p.Size:
				return errWrongSize()
			case f.SHA256 != p.OID:
				return errs.Newf(errs.Invalid, "The object has the SHA-256 %s, not the one that was announced.", f.SHA256)
			}
			return insert(tx, &Object{OID: p.OID, Size: p.Size, File: *f})
		})
	switch {
	case errors.Is(err, file.ErrEmpty):
		return errs.New(errs.Invalid, "An object has at least one byte.")
	case errors.Is(err, file.ErrSize):
		return errWrongSize()
	}
	return err
}

// mayAdd checks in a transaction that the caller may still push; with hold, that stays so until it ends. Errors: 401,
// 403, 404.
func (s *Service) mayAdd(tx *db.Tx, a *repo.Access, hold bool) error {
	now, err := a.Now(tx)
	if err != nil {
		return err
	}
	if now.Role >= account.Push {
		return nil
	}
	may, err := s.transport.MayPushSome(tx, now, hold)
	if err == nil && !may {
		err = now.Require(account.Push)
	}
	return err
}

// GET /{owner}/{repo}/info/lfs/objects/{oid}
//
// Download answers the bytes of an object, or a range of them. Error: 404.
func (api *API) Download(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	oid := web.Param(r, "oid")
	have, err := api.s.find(r.Context(), a.ID, oidsOf([]Pointer{{OID: oid}}))
	if err != nil {
		return err
	}
	o := have[oid]
	if o == nil {
		return errs.Absent()
	}
	w.Header().Set("ETag", `"`+oid+`"`)
	return api.s.files.SendDownload(w, r, &o.File, "attachment", o.CreatedAt.Time())
}

// POST /{owner}/{repo}/info/lfs/objects/verify
//
// Verify answers whether an upload has arrived. Errors: 404; 422 for another size.
func (api *API) Verify(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	var q Pointer
	if err := decode(r, &q); err != nil {
		return err
	}
	have, err := api.s.find(r.Context(), a.ID, oidsOf([]Pointer{q}))
	switch o := have[q.OID]; {
	case err != nil:
		return err
	case o == nil:
		return errs.Absent()
	case o.Size != q.Size:
		return errWrongSize()
	}
	return answer(w, r, http.StatusOK, q)
}
