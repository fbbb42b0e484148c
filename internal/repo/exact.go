package repo

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// Ref is what the ref of exactly this full name names now, where Resolve would
// also take a branch that is called so. Error: 404.
func (s *Service) Ref(ctx context.Context, a *Access, name string) (git.SHA, error) {
	var sha git.SHA
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := refsNamedIf(tx, a.ID, []string{name}, asStranger(a))
		if sha = found[name]; err == nil && sha == "" {
			err = errs.Absent()
		}
		return err
	})
	return sha, err
}
