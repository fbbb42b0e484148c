package gitdata

import (
	"context"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/signature"
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

// Tag reads an annotated tag by the full SHA of its object, which a client gave. Errors: 404; 409 for a repository
// without refs.
func (s *Service) Tag(ctx context.Context, a *repo.Access, sha git.SHA) (t *git.Tag, err error) {
	if err = s.repos.CheckNamed(ctx, a, sha); err == nil {
		t, err = s.tag(ctx, a, sha)
	}
	return t, s.absent(ctx, a, err)
}

// tag reads an annotated tag.
func (s *Service) tag(ctx context.Context, a *repo.Access, sha git.SHA) (*git.Tag, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	return objects.Tag(ctx, sha)
}

// CreateTag stores the object of an annotated tag, and sets its SHA. Error: 422 for an object that is not
// there, or of another type.
func (s *Service) CreateTag(ctx context.Context, a *repo.Access, t *git.Tag) error {
	named, err := s.repos.Known(ctx, a, []git.SHA{t.Object})
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
	return s.repos.WriteUnnamed(ctx, a, t.SHA, []git.NewObject{object})
}
