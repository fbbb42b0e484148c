package gitdata

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/signature"
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
		return api.s.renderRefs(ctx, a, web.Cut(w, r, refs))
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
		return api.s.renderRefs(ctx, a, web.Cut(w, r, refs))
	})
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

// DELETE /repos/{owner}/{repo}/git/refs/{ref...}
//
// DeleteRef deletes a ref other than the default branch.
func (api *API) DeleteRef(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.RemoveRef(r.Context(), a, refParam(r)); err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/git/tags/{sha}
//
// GetTag returns an annotated tag by the SHA of its object.
func (api *API) GetTag(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := fullSHA(r)
	if err != nil {
		return api.s.orEmpty(r.Context(), a, err)
	}
	return api.cached(w, r, a, signed(sha), func(ctx context.Context) (any, error) {
		t, err := api.s.Tag(ctx, a, sha)
		if err != nil {
			return nil, err
		}
		verified, err := api.s.signatures.Verify(ctx, []signature.Signed{signature.OfTag(t)})
		if err != nil {
			return nil, err
		}
		if t.Tagger != nil {
			dated(w, *t.Tagger)
		}
		return large{newPlace(ctx, a).tag(t, verified[0]), len(t.Message) + len(t.Payload) + len(t.Signed)}, nil
	})
}

// POST /repos/{owner}/{repo}/git/tags
//
// CreateTag creates the object of an annotated tag. POST git/refs must then create refs/tags/NAME for it.
func (api *API) CreateTag(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	if err := api.s.refuseEmpty(ctx, a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, "Tag")
	if err != nil {
		return err
	}
	self, err := api.identity(r)
	if err != nil {
		return err
	}
	t := readTag(body, self)
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.CreateTag(ctx, a, t); err != nil {
		return err
	}
	payload := newPlace(ctx, a).tag(t, signature.Verification{Reason: signature.Unsigned})
	return web.Created(w, r, payload.URL, payload)
}

// readTag reads the body and records errors in it.
func readTag(body *web.Object, self git.Signature) *git.Tag {
	body.Require("tag", "message", "object", "type")
	t := &git.Tag{Name: body.String("tag", 0).Value, Message: body.String("message", 0).Value,
		Object: readSHA(body, "object", false)}
	if err := git.CheckRefName("refs/tags/" + t.Name); t.Name != "" && err != nil {
		body.Wrong("tag", errs.InvalidField, "tag cannot be the name of a ref")
	}
	t.Type = git.Type(body.Enum("type", "commit", "tree", "blob", "tag").Value)
	who := readPerson(body, "tagger", "Tag", self)
	t.Tagger = &who
	return t
}
