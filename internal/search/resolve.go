package search

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// named are the accounts, repositories and teams that a query names, as the caller may
// see them.
type named struct {
	people map[string]*account.Account // by folded login
	repos  map[string]*repo.Access     // by folded OWNER/NAME
	teams  map[string]team.ID          // by folded ORG/SLUG
	caller *account.Caller
}

// resolve looks up the names in the query, in at most three queries. Errors: GitHub's 422, with the same
// message for missing and invisible things, for unknown people, and if none of the required repositories
// and owners exists; of several only the existing ones count. Excluded ones may be missing.
func resolve(tx *db.Tx, caller *account.Caller, q *Query) (*named, error) {
	n := &named{repos: map[string]*repo.Access{}, caller: caller}
	var logins, repos, teams []string
	q.each(true, func(q *Query, _ bool) {
		for _, c := range append(q.people(), &q.Owners) {
			logins = append(append(logins, n.others(c.Yes)...), n.others(c.No)...)
		}
		repos = append(append(repos, q.Repos.Yes...), q.Repos.No...)
		for _, c := range q.teamNames() {
			teams = append(append(teams, c.Yes...), c.No...)
		}
	})
	var err error
	if n.people, err = account.ByLogins(tx, logins); err != nil {
		return nil, err
	}
	if n.teams, err = team.ByNames(tx, caller, teams); err != nil {
		return nil, err
	}
	accesses, err := repo.VisibleNamed(tx, caller, repos)
	if err != nil {
		return nil, err
	}
	for _, a := range accesses {
		n.repos[account.Fold(a.Owner.Login+"/"+a.Name)] = a
	}
	return n, n.check(q)
}

// people are the choices of logins.
func (q *Query) people() []*Choice {
	return []*Choice{&q.Authors, &q.Assignees, &q.Mentioned, &q.Commenters, &q.Involved, &q.Reviewers,
		&q.Requested, &q.Asked}
}

// teamNames are the choices of teams.
func (q *Query) teamNames() []*Choice { return []*Choice{&q.Teams, &q.TeamsMentioned} }

// check returns the 422 for required names that do not exist.
func (n *named) check(q *Query) error {
	nobody, scoped, found := false, 0, 0
	q.each(true, func(q *Query, wanted bool) {
		if !wanted {
			return
		}
		for _, c := range q.people() {
			nobody = nobody || len(n.ids(c.Yes)) < len(c.Yes)
		}
		for _, c := range q.teamNames() {
			nobody = nobody || len(n.teamIDs(c.Yes)) < len(c.Yes)
		}
		scoped += len(q.Repos.Yes) + len(q.Owners.Yes)
		found += len(n.repoIDs(q.Repos.Yes)) + len(n.ids(q.Owners.Yes))
	})
	switch {
	case nobody:
		return errNobody()
	case scoped > 0 && found == 0:
		return errNoScope()
	}
	return nil
}

// isCaller reports a login, folded, that names the caller.
func (n *named) isCaller(folded string) bool {
	return n.caller != nil && (folded == Me || folded == account.Fold(n.caller.Login))
}

// others are the logins except the caller's, which need not be looked up.
func (n *named) others(logins []string) (list []string) {
	for _, login := range logins {
		if !n.isCaller(account.Fold(login)) {
			list = append(list, login)
		}
	}
	return list
}

// ids returns the ids of the accounts with the logins, as far as they exist.
func (n *named) ids(logins []string) (ids []account.ID) {
	for _, login := range logins {
		folded := account.Fold(login)
		if n.isCaller(folded) {
			ids = append(ids, n.caller.ID)
		} else if a := n.people[folded]; a != nil {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

func (n *named) repoIDs(full []string) (ids []repo.ID) {
	for _, name := range full {
		if a := n.repos[account.Fold(name)]; a != nil {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

func (n *named) teamIDs(names []string) (ids []team.ID) {
	for _, name := range names {
		if id := n.teams[account.Fold(name)]; id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}
