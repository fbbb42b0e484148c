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

// TagPayload is GitHub's git-tag.
type TagPayload struct {
	NodeID       string        `json:"node_id"`
	SHA          string        `json:"sha"`
	URL          string        `json:"url"`
	Tagger       *identityJSON `json:"tagger"`
	Object       refObjectJSON `json:"object"`
	Tag          string        `json:"tag"`
	Message      string        `json:"message"`
	Verification signatureJSON `json:"verification"`
}

func (p *addresses) tag(t *git.Tag, verified signature.Verification) TagPayload {
	sha := string(t.SHA)
	j := TagPayload{NodeID: p.nodeID("Tag", sha), SHA: sha, URL: p.api + "/git/tags/" + sha,
		Object: p.object(t.Object, t.Type),
		Tag:    t.Name, Message: strings.TrimRight(t.Message, "\n"), Verification: signatureOf(t.Signed, t.Payload, verified)}
	if t.Tagger != nil {
		who := newIdentity(*t.Tagger)
		j.Tagger = &who
	}
	return j
}

// GET /repos/{owner}/{repo}/git/tags/{sha}
//
// GetTag returns an annotated tag by the SHA of its object.
func (api *API) GetTag(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := fullSHA(r)
	if err != nil {
		return api.orEmpty(r.Context(), a, err)
	}
	return api.cached(w, r, a, signed(sha), func(ctx context.Context) (any, error) {
		var t *git.Tag
		err := api.repos.CheckNamed(ctx, a, sha)
		if err == nil {
			t, err = api.tag(ctx, a, sha)
		}
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
			return nil, api.orEmpty(ctx, a, errs.Absent())
		}
		if err != nil {
			return nil, err
		}
		verified, err := api.signatures.Verify(ctx, []signature.Signed{signature.OfTag(t)})
		if err != nil {
			return nil, err
		}
		if t.Tagger != nil {
			dated(w, *t.Tagger)
		}
		return large{newPlace(ctx, a).tag(t, verified[0]), len(t.Message) + len(t.Payload) + len(t.Signed)}, nil
	})
}

// tag reads an annotated tag.
func (api *API) tag(ctx context.Context, a *repo.Access, sha git.SHA) (*git.Tag, error) {
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	return objects.Tag(ctx, sha)
}

// POST /repos/{owner}/{repo}/git/tags
//
// CreateTag creates the object of an annotated tag. POST git/refs must then create refs/tags/NAME for it.
func (api *API) CreateTag(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	if err := api.refuseEmpty(ctx, a); err != nil {
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
	named, err := api.repos.Known(ctx, a, []git.SHA{t.Object})
	if err != nil {
		return err
	}
	if named[0].Type != t.Type {
		return errs.Validation(errs.Field{Resource: "Tag", Field: "object", Code: errs.InvalidField,
			Message: string(t.Object) + " is not a " + string(t.Type) + " of this repository"})
	}
	object, err := t.Encode()
	if err != nil {
		return errs.Validation(errs.Field{Resource: "Tag", Field: "message", Code: errs.InvalidField,
			Message: err.Error()})
	}
	t.SHA = object.SHA()
	if err := api.repos.WriteUnnamed(ctx, a, t.SHA, []git.NewObject{object}); err != nil {
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
