package pull

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// OfBranch is the newest pull request of a branch within its repository.
type OfBranch struct {
	Number              int64
	Open, Draft, Merged bool
}

// State is how pages call the state.
func (p *OfBranch) State() string {
	switch {
	case p.Merged:
		return "merged"
	case !p.Open:
		return "closed"
	case p.Draft:
		return "draft"
	}
	return "open"
}

// NewestOfBranches returns the newest pull request of each of the branches that has one, by the branch's name.
func (s *Service) NewestOfBranches(
	ctx context.Context, a *repo.Access, branches []string,
) (of map[string]*OfBranch, err error) {
	of = map[string]*OfBranch{}
	if len(branches) == 0 {
		return of, nil
	}
	args := []any{a.ID}
	for _, name := range branches {
		args = append(args, name)
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			var name string
			p := &OfBranch{}
			if err := row.Scan(&name, &p.Number, &p.Open, &p.Draft, &p.Merged); err != nil {
				return err
			}
			of[name] = p
			return nil
		}, `SELECT p.head_ref, p.number, p.open, i.draft, i.merged_at IS NOT NULL
			FROM pulls p JOIN issues i ON i.id = p.issue_id
			WHERE p.issue_id IN (SELECT MAX(issue_id) FROM pulls
				WHERE head_repo_id = $1 AND repo_id = $1 AND head_ref IN `+db.ValuesFrom(2, 1, len(branches))+`
				GROUP BY head_ref)`, args...)
	})
	return of, err
}
