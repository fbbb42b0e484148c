package gitdata

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// refuseEmpty returns 409 for a repository without refs (decision 16).
func (s *Service) refuseEmpty(ctx context.Context, a *repo.Access) error {
	has, err := s.repos.HasRefs(ctx, a.ID)
	if err == nil && !has {
		err = errs.New(errs.Conflict, "Git Repository is empty.")
	}
	return err
}

// ParseSHA parses the full SHA that a field of a resource must have. Error: 422.
func ParseSHA(resource, field, value string) (git.SHA, error) {
	f := web.Faults{Resource: resource}
	if value == "" {
		f.Wrong(field, errs.MissingField, "")
		return "", f.Err()
	}
	return parseSHA(&f, field, value), f.Err()
}

func parseSHA(o *web.Faults, field, value string) git.SHA {
	sha, err := git.ParseSHA(value)
	if err != nil || sha.IsZero() {
		o.Wrong(field, errs.InvalidField, field+" must be a full SHA of 40 hexadecimal digits")
		return ""
	}
	return sha
}

// CreateBlob stores a blob.
func (s *Service) CreateBlob(ctx context.Context, a *repo.Access, contents []byte) (git.SHA, error) {
	blob := git.NewObject{Type: git.TypeBlob, Data: contents}
	return blob.SHA(), s.repos.WriteUnnamed(ctx, a, blob.SHA(), []git.NewObject{blob})
}
