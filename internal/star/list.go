package star

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Person is a user who marked a repository.
type Person struct {
	*account.Account
	At db.Time
}

// People lists a page of those who marked the repository, the first one first,
// and returns their number.
func (s *Service) People(
	ctx context.Context, a *repo.Access, k Kind, page web.Page,
) (list []Person, total int64, err error) {
	err = s.db.ReadLong(ctx, func(tx *db.Tx) error {
		list = nil
		if total, err = countPeople(tx, k, a.ID); err != nil || page.Offset() >= total {
			return err
		}
		marks, err := peopleOf(tx, k, a.ID, page)
		if err != nil {
			return err
		}
		people, err := account.ByIDs(tx, ids(marks))
		for _, m := range marks {
			if p := people[m.id]; p != nil {
				list = append(list, Person{p, m.at})
			}
		}
		return err
	})
	return list, total, err
}

// Order is the order of the list of a user's marked repositories.
type Order struct {
	Pushed bool // by the repositories' last push; else by when they were marked
	Desc   bool
}

// Marked is a marked repository.
type Marked struct {
	*repo.Access
	At db.Time
}

// Repos lists a page of the repositories that a user marked and that the caller may
// see, and returns their number. The cost depends on the page: private repositories have an
// index of their own. A page far in the order by push may take seconds where there
// are a million, so that it ends with its client. Error: 404 when there is no
// such user.
func (s *Service) Repos(
	ctx context.Context, caller *account.Caller, login string, k Kind, o Order, page web.Page,
) (list []Marked, total int64, err error) {
	err = s.db.ReadLong(ctx, func(tx *db.Tx) error {
		list = nil
		user, err := account.ByLogin(tx, login)
		if err != nil {
			return err
		}
		chosen, err := choose(tx, k, []account.ID{user.ID}, caller)
		if err != nil {
			return err
		}
		f := chosen[user.ID]
		if total = f.total; page.Offset() >= total {
			return nil
		}
		marks, err := f.page(tx, o, page)
		if err != nil {
			return err
		}
		repos, err := repo.ByIDs(tx, caller, ids(marks))
		for _, m := range marks {
			if a := repos[m.id]; a != nil {
				list = append(list, Marked{a, m.at})
			}
		}
		return err
	})
	return list, total, err
}
