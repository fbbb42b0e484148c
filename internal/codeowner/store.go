package codeowner

import (
	"maps"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// pushersNamed calls each for the users with one of the folded logins who may push to the repositories. Suspended
// accounts and site administrators without a role of their own are left out.
func pushersNamed(
	tx *db.Tx, in []repo.ID, logins []string, each func(of repo.ID, id account.ID, login string),
) error {
	return db.InParts(logins, func(part []string) error {
		return pushers(tx, in, `a.login_folded`, len(part), db.Args(part), each)
	})
}

// pushersByID is pushersNamed for ids.
func pushersByID(
	tx *db.Tx, in []repo.ID, ids []account.ID, each func(of repo.ID, id account.ID, login string),
) error {
	return db.InParts(ids, func(part []account.ID) error {
		return pushers(tx, in, `a.id`, len(part), db.Args(part), each)
	})
}

func pushers(
	tx *db.Tx, in []repo.ID, column string, count int, keys []any, each func(of repo.ID, id account.ID, login string),
) error {
	args := append(db.Args(in, account.User, int64(account.Push)), keys...)
	return db.QueryEach(tx, func(row db.Scanner) error {
		var of repo.ID
		var id account.ID
		var login string
		err := row.Scan(&of, &id, &login)
		each(of, id, login)
		return err
	}, `SELECT r.id, a.id, a.login_folded FROM accounts a JOIN repos r ON r.id IN `+db.ValuesFrom(3, 1, len(in))+`
		JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = r.owner_id AND m.user_id = a.id
		WHERE a.kind = $1 AND a.suspended_at IS NULL
			AND `+repo.HasRole("a.id", "$2")+`
			AND `+column+` IN `+db.ValuesFrom(3+len(in), 1, count), args...)
}

// owningTeam is a team that counts as an owner.
type owningTeam struct {
	id      team.ID
	members []account.ID // those of the accounts that were asked about
}

// teamsNamed returns the teams of the folded names @ORG/SLUG that count in the repositories, each with those of the
// accounts who are in it or in a team below it.
func teamsNamed(
	tx *db.Tx, in []repo.ID, names []string, accounts []account.ID,
) (map[named]*owningTeam, error) {
	slugs := make([]string, len(names))
	for n, name := range names {
		_, slugs[n], _ = strings.Cut(name, "/")
	}
	found, of := map[named]*owningTeam{}, map[team.ID][]*owningTeam{}
	err := team.Pushing(tx, in, slugs, func(in repo.ID, id team.ID, name string) {
		t := &owningTeam{id: id}
		found[named{in, "@" + name}], of[id] = t, append(of[id], t)
	})
	if err != nil || len(of) == 0 {
		return found, err
	}
	return found, team.Among(tx, slices.Collect(maps.Keys(of)), accounts, func(id team.ID, who account.ID) {
		for _, t := range of[id] {
			t.members = append(t.members, who)
		}
	})
}
