package migration

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Numbers are the numbers here of issues and pull requests, for a source that counts them apart or has other
// ones.
type Numbers struct {
	Of   map[string]int64 // of those that came, by [Issue.Key]
	Next int64            // the first number that nothing in the repository has had
}

// Numbers returns what imports into a repository, OWNER/NAME, have numbered so far. The repository may be
// missing.
func (s *Service) Numbers(ctx context.Context, to string) (*Numbers, error) {
	owner, name, _ := strings.Cut(to, "/")
	found, err := s.Repos.Find(ctx, &account.Caller{SiteAdmin: true}, owner, name)
	if errs.Is(err, errs.NotFound) {
		return &Numbers{Of: map[string]int64{}, Next: 1}, nil
	}
	if err != nil {
		return nil, err
	}
	return s.NumbersOf(ctx, found.Access.ID)
}

// NumbersOf is Numbers for an existing repository, found by its id even after a rename.
func (s *Service) NumbersOf(ctx context.Context, id repo.ID) (*Numbers, error) {
	out := &Numbers{}
	err := s.DB.Read(ctx, func(tx *db.Tx) error {
		err := tx.QueryRow(`SELECT next_number FROM repos WHERE id = $1`, id).Scan(&out.Next)
		if err != nil {
			return err
		}
		out.Of, err = db.QueryMap[string, int64](tx, `SELECT source_id, number FROM imported JOIN issues ON id = local_id
			WHERE imported.repo_id = $1 AND kind = $2`, id, codes[Issues])
		return err
	})
	return out, err
}

// isPrivate reports whether a repository is private, which stays so until the transaction ends if it has its
// lock.
func isPrivate(tx *db.Tx, id repo.ID) (private bool, err error) {
	err = tx.QueryRow(`SELECT private FROM repos WHERE id = $1`, id).Scan(&private)
	return private, err
}
