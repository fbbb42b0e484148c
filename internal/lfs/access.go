package lfs

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the requests of git lfs.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// maxRequest is the size in bytes of the largest request about objects or locks.
const maxRequest = 1 << 20

// Routes are the addresses that git lfs asks for.
func (api *API) Routes() []route.Route {
	read, write := route.Needs(scope.PublicRepo, "contents=read"), route.Needs(scope.PublicRepo, "contents=write")
	const at = " /{owner}/{repo}/info/lfs/"
	on := func(n route.Need, right route.Right, address string, h repo.Handler) route.Route {
		need := account.Pull
		if right == route.Push {
			need = account.Push
		}
		return n.Route(right, address, api.with(need, h)).In(route.Git).WithLimit(maxRequest).ForLFS()
	}
	return []route.Route{
		on(read, route.Pull, "POST"+at+"objects/batch", api.Batch).TakesSpace(route.SpaceNever).OnArchived(),
		on(write, route.Push, "POST"+at+"objects/verify", api.Verify).TakesSpace(route.SpaceNever).Announced(),
		on(read, route.Pull, "GET"+at+"objects/{oid}", api.Download).Announced(),
		on(write, route.Push, "PUT"+at+"objects/{oid}/{size}", api.Upload).Streamed().Announced(),
		on(read, route.Pull, "GET"+at+"locks", api.ListLocks),
		on(write, route.Push, "POST"+at+"locks", api.CreateLock),
		on(write, route.Push, "POST"+at+"locks/verify", api.VerifyLocks).TakesSpace(route.SpaceNever),
		on(write, route.Push, "POST"+at+"locks/{id}/unlock", api.Unlock).TakesSpace(route.SpaceNever),
	}
}

// base is the path below which git lfs asks for a repository.
func base(r *repo.Repo) string { return web.Path(r.Owner.Login, r.Name+".git", "info", "lfs") }

// with returns a web.Handler that finds the repository and checks the right, as those of Git's own requests. A token of
// this package opens its repository alone. Errors: as of these.
func (api *API) with(need account.Role, h repo.Handler) web.Handler {
	find := api.s.transport.WithGit(func(*http.Request) account.Role { return need },
		func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
			if t := transferOf(a); t != nil && (t.RepoID != int64(a.ID) || need >= account.Push && !t.Upload) {
				return errs.New(errs.Forbidden, "The token is for another repository, or for downloads.")
			}
			return h(w, r, a)
		})
	return func(w http.ResponseWriter, r *http.Request) error {
		if api.s.MaxObject == 0 {
			return errOff()
		}
		err := find(w, r)
		if errs.Is(err, errs.Unauthenticated) {
			w.Header().Set("LFS-Authenticate", `Basic realm="Arbor", charset="UTF-8"`)
		}
		return err
	}
}

// transferOf returns what the caller's token is limited to; nil: nothing.
func transferOf(a *repo.Access) *account.Transfer {
	if a.Caller == nil {
		return nil
	}
	return a.Caller.Transfer
}

// mediaType is that of all requests and answers.
const mediaType = "application/vnd.git-lfs+json"

// decode reads the body of a request. Errors: 400; 413.
func decode(r *http.Request, to any) error {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return errs.Wrap(errs.Malformed, "The request body could not be read", err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		return errs.New(errs.Malformed, "Problems parsing JSON")
	}
	return nil
}

// answer sends JSON.
func answer(w http.ResponseWriter, r *http.Request, status int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	release, err := admission.Memory(r.Context(), int64(len(data)))
	if err != nil {
		return err
	}
	defer release()
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)
	_, err = w.Write(append(data, '\n'))
	return err
}

// messageOf is what a client may read of an error about one object.
func messageOf(err error) string {
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind != errs.Internal {
		return e.Message
	}
	return "Server Error"
}
