package repo

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/git"
)

// NewTag is the update that makes a tag of an object, for MoveRefsIn. Errors: 422, as CreateRef.
func (s *Service) NewTag(ctx context.Context, a *Access, name string, sha git.SHA) (RefUpdate, error) {
	u := RefUpdate{Name: tags + name, Old: git.ZeroSHA, New: sha, By: a.Caller.ID}
	if err := checkNewRef(u.Name); err != nil {
		return u, err
	}
	_, err := s.checkTip(ctx, a, &u)
	return u, err
}

// TagNow gives the object of a tag; empty: the repository has no such tag now.
func TagNow(tx *db.Tx, id ID, name string) (git.SHA, error) {
	found, err := refsNamed(tx, id, []string{tags + name})
	return found[tags+name], err
}
