package gitdata

import (
	"cmp"
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxContributors is the maximum length of the list, as at GitHub.
const maxContributors = 500

// maxAuthors is the number of addresses that are looked up, those with most commits.
const maxAuthors = 4 * maxContributors

// contributor is an account, or an author without one, with the number of commits.
type contributor struct {
	account *account.Account // nil for an author without one
	history.AuthorCount
}

// authors counts the commits of a history by author. One process walks all of it, once for each tip.
func (s *Service) authors(ctx context.Context, a *repo.Access, tip git.SHA) ([]history.AuthorCount, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	key := "authors " + a.ID.String() + " " + string(tip)
	found, err := s.walks.ReadAlone(ctx, objectsOf(a), key, func() (o outcome, err error) {
		o.authors, err = history.Authors(ctx, objects, tip, maxAuthors)
		return o, err
	})
	return found.authors, err
}

// Contributor is an account, or an author without one.
type Contributor struct {
	Account *account.Account // nil for an author without one
	Name    string           // in commits
	Commits int64
}

// Contributors returns a page of the authors of the default branch's commits, most commits first, at most 500.
func (s *Service) Contributors(ctx context.Context, a *repo.Access, at web.Page) (*web.List[Contributor], error) {
	tip, err := s.revision(ctx, a, "", false)
	if errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
		return &web.List[Contributor]{}, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := s.contributors(ctx, a, tip, true)
	if err != nil {
		return nil, err
	}
	list := make([]Contributor, len(found))
	for n, c := range found {
		list[n] = Contributor{c.account, c.Name, c.Commits}
	}
	return web.CutAt(at, list), nil
}

// contributors returns the authors of a history, most commits first, at most 500. An account may have several
// addresses.
func (s *Service) contributors(
	ctx context.Context, a *repo.Access, tip git.SHA, anon bool,
) (list []*contributor, err error) {
	authors, err := s.authors(ctx, a, tip)
	if err != nil {
		return nil, err
	}
	emails := make([]string, len(authors))
	for n, who := range authors {
		emails[n] = who.Email
	}
	found, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[string]*account.Account, error) {
		return account.ByEmails(tx, emails)
	})
	if err != nil {
		return nil, err
	}
	of := map[any]*contributor{} // by id or address
	for _, who := range authors {
		known := found[account.Fold(who.Email)]
		if known == nil && !anon {
			continue
		}
		key := any(account.Fold(who.Email))
		if known != nil {
			key = known.ID
		}
		if c := of[key]; c != nil {
			c.Commits += who.Commits
			continue
		}
		of[key] = &contributor{known, who}
		list = append(list, of[key])
	}
	slices.SortStableFunc(list, func(a, b *contributor) int { return cmp.Compare(b.Commits, a.Commits) })
	return list[:min(len(list), maxContributors)], nil
}
