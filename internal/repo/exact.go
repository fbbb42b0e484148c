package repo

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// Ref is what the ref of exactly this full name names now, where Resolve would
// also take a branch that is called so. Error: 404.
func (s *Service) Ref(ctx context.Context, a *Access, name string) (git.SHA, error) {
	sha, err := s.refNow(ctx, a.ID, name)
	if err == nil && sha == "" {
		err = errs.Absent()
	}
	return sha, err
}
