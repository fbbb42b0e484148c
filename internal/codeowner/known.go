package codeowner

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// Known says which of the owners that files name count: users who may push, and teams.
type Known struct {
	users map[named]account.ID
	teams map[named]*owningTeam
}

// named is an owner in a repository, with a folded name.
type named struct {
	in   repo.ID
	name string
}

// Resolve looks up owners as files name them, in repositories, with a fixed number of statements for every few
// hundred names. accounts are those about whom Is is asked.
func Resolve(tx *db.Tx, in []repo.ID, owners []string, accounts []account.ID) (*Known, error) {
	k := &Known{users: map[named]account.ID{}}
	var logins, teams, emails []string
	seen := map[string]bool{}
	for _, o := range owners {
		if seen[o] {
			continue
		}
		seen[o] = true
		switch ownerKind(o) {
		case user:
			logins = append(logins, account.Fold(o[1:]))
		case group:
			teams = append(teams, account.Fold(o))
		case email:
			emails = append(emails, o)
		}
	}
	err := pushersNamed(tx, in, logins, func(of repo.ID, id account.ID, login string) {
		k.users[named{of, "@" + login}] = id
	})
	if err != nil {
		return nil, err
	}
	if err := k.addEmails(tx, in, emails); err != nil {
		return nil, err
	}
	k.teams, err = teamsNamed(tx, in, teams, accounts)
	return k, err
}

// addEmails adds the accounts that have verified the addresses.
func (k *Known) addEmails(tx *db.Tx, in []repo.ID, emails []string) error {
	if len(emails) == 0 {
		return nil
	}
	of, err := account.ByEmails(tx, emails)
	if err != nil {
		return err
	}
	addresses := map[account.ID][]string{}
	var ids []account.ID
	for address, a := range of {
		addresses[a.ID] = append(addresses[a.ID], address)
		ids = append(ids, a.ID)
	}
	return pushersByID(tx, in, db.Unique(ids), func(of repo.ID, id account.ID, _ string) {
		for _, address := range addresses[id] {
			k.users[named{of, address}] = id
		}
	})
}

// User returns the account of an owner, or 0 if it is a team or nobody who counts in the repository.
func (k *Known) User(in repo.ID, owner string) account.ID {
	return k.users[named{in, account.Fold(owner)}]
}

// Has reports whether an owner counts in a repository.
func (k *Known) Has(in repo.ID, owner string) bool {
	return k.Team(in, owner) != 0 || k.User(in, owner) != 0
}

// Team returns the team that is an owner, or 0.
func (k *Known) Team(in repo.ID, owner string) team.ID {
	if t := k.teams[named{in, account.Fold(owner)}]; t != nil {
		return t.id
	}
	return 0
}

// Is reports whether one of some accounts is an owner, or a member of the team that is.
func (k *Known) Is(in repo.ID, owner string, accounts []account.ID) bool {
	if id := k.User(in, owner); id != 0 {
		return slices.Contains(accounts, id)
	}
	t := k.teams[named{in, account.Fold(owner)}]
	return t != nil && slices.ContainsFunc(t.members, func(id account.ID) bool {
		return slices.Contains(accounts, id)
	})
}

// Missing returns what none of its owners has approved, with those of them who count. Where none counts, nobody is
// needed, as at GitHub.
func (k *Known) Missing(in repo.ID, list []repo.Owned, approvers []account.ID) (missing []repo.Owned) {
	for _, o := range list {
		var owners []string
		approved := false
		for _, name := range o.Owners {
			if k.Has(in, name) {
				owners = append(owners, name)
				approved = approved || k.Is(in, name, approvers)
			}
		}
		if len(owners) > 0 && !approved {
			o.Owners = owners
			missing = append(missing, o)
		}
	}
	return missing
}
