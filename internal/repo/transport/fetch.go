package transport

import (
	"bufio"
	"context"
	"net/http"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/serve"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
)

// GET /{owner}/{repo}/info/refs
//
// InfoRefs begins a fetch or a push: it advertises the refs, from SQL, or in
// protocol 2 what the server can do.
func (api *API) InfoRefs(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	service := r.URL.Query().Get("service")
	if service != wire.ServiceUploadPack && service != wire.ServiceReceivePack {
		return errs.New(errs.Forbidden,
			"Please use a git client that speaks smart HTTP (git 1.6.6 or newer).")
	}
	protocol := wire.ProtocolVersion(r.Header.Get("Git-Protocol"))
	if service == wire.ServiceReceivePack && protocol == 2 {
		protocol = 0 // pushing has no version 2
	}
	noCache(w.Header())
	w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
	refs, more, err := api.s.advertised(r.Context(), a, protocol)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := wire.WriteAdvertisement(out, service, protocol, refs, more...); err != nil {
		return err
	}
	return out.Flush()
}

// advertised returns the refs of a repository; in protocol 2, where fetches ask for them later, the capabilities that
// not every repository has.
func (s *Service) advertised(
	ctx context.Context, a *repo.Access, protocol int,
) (refs git.Refs, more []string, err error) {
	if protocol != 2 {
		refs, err = s.repos.Refs(ctx, a)
	} else if s.Bundles.OffersBundle(ctx, a) {
		more = []string{wire.BundleURI}
	}
	return refs, more, err
}

// POST /{owner}/{repo}/git-upload-pack
//
// UploadPack serves a fetch: a listing of refs from SQL, objects through a
// process of git. The request was read whole, and unpacked, before.
func (api *API) UploadPack(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if r.Header.Get("Content-Type") != "application/x-git-upload-pack-request" {
		return errs.New(errs.UnsupportedMedia, "this address is for git fetch")
	}
	r = r.WithContext(db.WithReplicaReads(r.Context()))
	admission.As(r.Context(), admission.Stream)
	noCache(w.Header())
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	open := func(ctx context.Context) (*git.Repository, func(), error) { return api.s.repos.GitInUse(ctx, a) }
	return serve.UploadPack(r.Context(), open, serve.Request{
		Protocol: wire.ProtocolVersion(r.Header.Get("Git-Protocol")), In: r.Body, Out: answerTo(w, r),
		Refs:   func(ctx context.Context) (git.Refs, error) { return api.s.repos.Refs(ctx, a) },
		Absent: api.s.repos.AbsentTo(a), Shared: api.s.Shared,
		Bundle: func(ctx context.Context) *wire.Bundle { return api.s.Bundles.OfferedBundle(ctx, a) },
	})
}
