package rule

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// GitHub's numbers of the roles that may bypass a ruleset.
const (
	roleMaintain = 2
	roleWrite    = 4
	roleAdmin    = 5
)

// bypassing are the roles of these numbers.
var bypassing = map[int64]account.Role{
	roleMaintain: account.Maintain, roleWrite: account.Push, roleAdmin: account.Admin,
}

// bypassers caches what is known of the accounts that move refs in a transaction.
type bypassers struct {
	apps  map[account.ID]account.AppID
	roles map[account.ID]account.Role
	owner map[account.ID]bool
	teams map[account.ID]map[team.ID]account.ID // that they are in, with their organizations
}

// person returns who moves a ref.
func (j *judgement) person(u *repo.RefUpdate) person {
	return person{id: u.By, app: j.bypass.app(j.tx, u.By),
		teams: func(ids []team.ID) bool { return j.inTeam(u.By, ids) }}
}

// all reports whether something holds for those who move a ref: for all who put pull requests into the merge queue
// that moves it.
func (j *judgement) all(u *repo.RefUpdate, holds func(person) bool) bool {
	if m := j.push.Merge; m != nil && m.ByQueue() {
		return !slices.ContainsFunc(m.Queue, func(q repo.Queued) bool {
			return !holds(j.person(&repo.RefUpdate{By: q.By}))
		})
	}
	return holds(j.person(u))
}

// inTeam reports whether an account is in one of the teams, if that belongs to the owner of the repository. If that
// cannot be read it is not, which refuses more.
func (j *judgement) inTeam(who account.ID, ids []team.ID) bool {
	in, known := j.bypass.teams[who]
	if !known {
		var err error
		if in, err = team.Joined(j.tx, who, j.book.teams()); err != nil {
			return false
		}
		if j.bypass.teams == nil {
			j.bypass.teams = map[account.ID]map[team.ID]account.ID{}
		}
		j.bypass.teams[who] = in
	}
	return belonging(in, j.book.owner)(ids)
}

// app returns the id of the App whose bot an account is, or 0: also if that cannot be read, which refuses more.
func (b *bypassers) app(tx *db.Tx, id account.ID) account.AppID {
	if app, known := b.apps[id]; known {
		return app
	}
	app, err := appOf(tx, id)
	if err != nil {
		return 0
	}
	if b.apps == nil {
		b.apps = map[account.ID]account.AppID{}
	}
	b.apps[id] = app
	return app
}

// mayBypass reports whether the account that moves a ref may bypass a ruleset. Auto-merge waits for all rules, as at
// GitHub.
func (j *judgement) mayBypass(r *Ruleset, u *repo.RefUpdate) (bool, error) {
	if j.push.Merge != nil && j.push.Merge.Auto {
		return false, nil
	}
	for _, a := range r.Bypass {
		if a.Mode == byPullRequest && j.push.Merge == nil || u.New == git.ZeroSHA && a.Mode == byPullRequest {
			continue
		}
		if is, err := j.isActor(a, u); err != nil || is {
			return is, err
		}
	}
	return false, nil
}

// isActor reports whether an actor is the one who moves the ref. A deploy key pushes for the account that added
// it, but has none of its roles.
func (j *judgement) isActor(a Actor, u *repo.RefUpdate) (bool, error) {
	if u.DeployKey || a.Type == ByKey {
		return u.DeployKey && a.Type == ByKey, nil
	}
	b := &j.bypass
	switch a.Type {
	case ByUser:
		return account.ID(a.ID) == u.By, nil
	case ByTeam:
		return j.inTeam(u.By, []team.ID{team.ID(a.ID)}), nil
	case ByApp:
		app := b.app(j.tx, u.By)
		return app != 0 && app == account.AppID(a.ID), nil
	case ByOwner:
		is, known := b.owner[u.By]
		if !known {
			var err error
			if is, err = ownsOrg(j.tx, j.push.RepoID, u.By); err != nil {
				return false, err
			}
			b.owner = map[account.ID]bool{u.By: is}
		}
		return is, nil
	case ByRole:
		role, known := b.roles[u.By]
		if !known {
			access, err := repo.ByID(j.tx, &account.Caller{ID: u.By}, j.push.RepoID)
			if err != nil {
				return false, err
			}
			role = access.Role
			b.roles = map[account.ID]account.Role{u.By: role}
		}
		return role >= bypassing[a.ID], nil
	}
	return false, nil
}
