package gitdata

import (
	"context"
	"net/http"
	"sort"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// refJSON is GitHub's git-ref.
type refJSON struct {
	Ref    string        `json:"ref"`
	NodeID string        `json:"node_id"`
	URL    string        `json:"url"`
	Object refObjectJSON `json:"object"`
}

type refObjectJSON struct {
	SHA  string `json:"sha"`
	Type string `json:"type"`
	URL  string `json:"url"`
}

// object returns a link to an object of a known type.
func (p *addresses) object(sha git.SHA, t git.Type) refObjectJSON {
	return refObjectJSON{SHA: string(sha), Type: string(t),
		URL: p.api + "/git/" + string(t) + "s/" + string(sha)}
}

func (p *addresses) ref(t repo.RefTarget) refJSON {
	return refJSON{Ref: t.Name, NodeID: p.nodeID("Ref", t.Name), URL: p.api + "/git/" + escapePath(t.Name),
		Object: p.object(t.SHA, t.Type)}
}

// refParam returns the full ref name in the address, or "".
func refParam(r *http.Request) string {
	name := strings.TrimPrefix(web.Param(r, "ref"), "refs/")
	if name == "" {
		return ""
	}
	return "refs/" + name
}

// GET /repos/{owner}/{repo}/git/ref/{ref...}
//
// GetRef returns the ref with exactly this name: heads/BRANCH or tags/TAG.
func (api *API) GetRef(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.cached(w, r, a, basis{refs: true}, func(ctx context.Context) (any, error) {
		return api.s.exactRef(ctx, a, refParam(r))
	})
}

// exactRef renders the ref with a name. Errors: 404, 409 for a repository without refs.
func (s *Service) exactRef(ctx context.Context, a *repo.Access, name string) (any, error) {
	refs, err := s.matching(ctx, a, name)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 || refs[0].Name != name {
		return nil, errs.Absent()
	}
	return s.renderOne(ctx, a, refs[0])
}

func (s *Service) renderOne(ctx context.Context, a *repo.Access, ref git.Ref) (any, error) {
	list, err := s.renderRefs(ctx, a, []git.Ref{ref})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// GET /repos/{owner}/{repo}/git/refs
// GET /repos/{owner}/{repo}/git/matching-refs/{ref...}
//
// MatchingRefs lists the refs whose names start with the given prefix, or all.
func (api *API) MatchingRefs(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.cached(w, r, a, basis{refs: true}, func(ctx context.Context) (any, error) {
		refs, err := api.s.matching(ctx, a, refParam(r))
		if err != nil {
			return nil, err
		}
		return api.refPage(ctx, w, r, a, refs)
	})
}

// GET /repos/{owner}/{repo}/git/refs/{ref...}
//
// GetRefs returns the ref with this name or, as GitHub did formerly, the refs whose names start with it;
// 404 if there are none.
func (api *API) GetRefs(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.cached(w, r, a, basis{refs: true}, func(ctx context.Context) (any, error) {
		name := refParam(r)
		refs, err := api.s.matching(ctx, a, name)
		switch {
		case err != nil:
			return nil, err
		case len(refs) == 0:
			return nil, errs.Absent()
		case refs[0].Name == name:
			return api.s.renderOne(ctx, a, refs[0])
		}
		return api.refPage(ctx, w, r, a, refs)
	})
}

// matching returns the refs whose names start with prefix, in order, so an exact match is first. Error: 409
// for a repository without refs.
func (s *Service) matching(ctx context.Context, a *repo.Access, prefix string) ([]git.Ref, error) {
	refs, err := s.repos.Refs(ctx, a)
	if err != nil {
		return nil, err
	}
	if len(refs.List) == 0 {
		return nil, errs.New(errs.Conflict, "Git Repository is empty.")
	}
	list := refs.List
	from := sort.Search(len(list), func(i int) bool { return list[i].Name >= prefix })
	n := sort.Search(len(list)-from, func(i int) bool {
		return !strings.HasPrefix(list[from+i].Name, prefix)
	})
	return list[from : from+n], nil
}

// refPage renders a page of refs.
func (api *API) refPage(
	ctx context.Context, w http.ResponseWriter, r *http.Request, a *repo.Access, refs []git.Ref,
) (any, error) {
	page := web.ReadPage(r)
	web.Link(w, r, page, int64(len(refs)))
	from := min(page.Offset(), int64(len(refs)))
	to := min(from+page.Size, int64(len(refs)))
	return api.s.renderRefs(ctx, a, refs[from:to])
}

// renderRefs determines the types of the refs' objects: a branch is a commit, a peeled ref is a tag. Other
// types are read in one request to git.
func (s *Service) renderRefs(ctx context.Context, a *repo.Access, refs []git.Ref) ([]refJSON, error) {
	types := make([]git.Type, len(refs))
	var ask []git.SHA
	var places []int
	for i, ref := range refs {
		switch {
		case strings.HasPrefix(ref.Name, "refs/heads/"):
			types[i] = git.TypeCommit
		case ref.Peeled != "":
			types[i] = git.TypeTag
		default:
			ask, places = append(ask, ref.SHA), append(places, i)
		}
	}
	if len(ask) > 0 {
		objects, release, err := s.repos.Git(ctx, a)
		if err != nil {
			return nil, err
		}
		defer release()
		infos, err := objects.Infos(ctx, ask)
		if err != nil {
			return nil, err
		}
		for k, o := range infos {
			types[places[k]] = o.Type
		}
	}
	p := newPlace(ctx, a)
	list := make([]refJSON, len(refs))
	for i, ref := range refs {
		list[i] = p.ref(repo.RefTarget{Name: ref.Name, SHA: ref.SHA, Type: types[i]})
	}
	return list, nil
}

// POST /repos/{owner}/{repo}/git/refs
//
// CreateRef creates a ref to an object of this repository.
func (api *API) CreateRef(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.refuseEmpty(r.Context(), a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, RefResource)
	if err != nil {
		return err
	}
	body.Require("ref")
	name := body.String("ref", 0).Value
	sha := readSHA(body, "sha", true)
	if err := body.Err(); err != nil {
		return err
	}
	made, err := api.s.MakeRef(r.Context(), a, name, sha)
	if err != nil {
		return err
	}
	payload := newPlace(r.Context(), a).ref(made)
	return web.Created(w, r, payload.URL, payload)
}

// MakeRef creates a ref by its full name for an object of the repository. Errors: 409 for a repository without
// refs; 422.
func (s *Service) MakeRef(ctx context.Context, a *repo.Access, name string, sha git.SHA) (repo.RefTarget, error) {
	if err := s.refuseEmpty(ctx, a); err != nil {
		return repo.RefTarget{}, err
	}
	if err := s.repos.CheckTarget(ctx, a, sha); err != nil {
		return repo.RefTarget{}, err
	}
	return s.repos.CreateRef(ctx, a, name, sha)
}

// PATCH /repos/{owner}/{repo}/git/refs/{ref...}
//
// UpdateRef updates a ref: by fast-forward, or to any object with force.
func (api *API) UpdateRef(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.refuseEmpty(r.Context(), a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, RefResource)
	if err != nil {
		return err
	}
	sha := readSHA(body, "sha", true)
	force := body.Bool("force").Or(false)
	if err := body.Err(); err != nil {
		return err
	}
	moved, err := api.s.MoveRef(r.Context(), a, refParam(r), sha, force)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPlace(r.Context(), a).ref(moved))
}

// MoveRef updates the ref of a full name: by fast-forward, or to any object with force. Errors: 409 for a
// repository without refs; 422.
func (s *Service) MoveRef(
	ctx context.Context, a *repo.Access, name string, sha git.SHA, force bool,
) (repo.RefTarget, error) {
	if err := s.refuseEmpty(ctx, a); err != nil {
		return repo.RefTarget{}, err
	}
	if err := s.repos.CheckTarget(ctx, a, sha); err != nil {
		return repo.RefTarget{}, err
	}
	return s.repos.UpdateRef(ctx, a, name, sha, force)
}

// DELETE /repos/{owner}/{repo}/git/refs/{ref...}
//
// DeleteRef deletes a ref other than the default branch.
func (api *API) DeleteRef(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.RemoveRef(r.Context(), a, refParam(r)); err != nil {
		return err
	}
	return web.NoContent(w)
}

// RemoveRef removes the ref of a full name, but for the default branch. Errors: 409 for a repository
// without any ref; 422.
func (s *Service) RemoveRef(ctx context.Context, a *repo.Access, name string) error {
	if err := s.refuseEmpty(ctx, a); err != nil {
		return err
	}
	return s.repos.DeleteRef(ctx, a, name)
}
