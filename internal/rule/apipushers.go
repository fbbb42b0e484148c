package rule

import (
	"net/http"
	"slices"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// pusherKind is one of the three lists of those who may push.
type pusherKind struct {
	field string
	names func(list []string) ActorNames
	show  func(all actorsJSON) any
	// change changes the list of now by that of given.
	change func(c actorChange, now *Actors, given *Actors)
}

var (
	pushingUsers = pusherKind{"users", func(list []string) ActorNames { return ActorNames{Users: list} },
		func(all actorsJSON) any { return all.Users },
		func(c actorChange, now, given *Actors) { now.Users = changed(c, now.Users, given.Users) }}
	pushingTeams = pusherKind{"teams", func(list []string) ActorNames { return ActorNames{Teams: list} },
		func(all actorsJSON) any { return all.Teams },
		func(c actorChange, now, given *Actors) { now.Teams = changed(c, now.Teams, given.Teams) }}
	pushingApps = pusherKind{"apps", func(list []string) ActorNames { return ActorNames{Apps: list} },
		func(all actorsJSON) any { return all.Apps },
		func(c actorChange, now, given *Actors) { now.Apps = changed(c, now.Apps, given.Apps) }}
)

// actorChange is what a request does with a list.
type actorChange int

const (
	addActors actorChange = iota
	setActors
	removeActors
)

func changed[ID ~int64](c actorChange, now, given []ID) []ID {
	switch c {
	case addActors:
		return db.Unique(slices.Concat(now, given))
	case setActors:
		return given
	}
	return slices.DeleteFunc(slices.Clone(now), func(id ID) bool { return slices.Contains(given, id) })
}

func (api *API) listPushers(w http.ResponseWriter, r *http.Request, a *repo.Access, k pusherKind) error {
	p, err := api.restricted(r, a)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return k.show(v.actors(&v.Pushers)) })
}

func (api *API) changePushers(
	w http.ResponseWriter, r *http.Request, a *repo.Access, k pusherKind, c actorChange,
) error {
	names, err := readNames(r, k.field)
	if err != nil {
		return err
	}
	p, err := api.edit(r, a, func(tx *db.Tx, p *Protection) error {
		if !p.Restricted {
			return errOff("Push restrictions")
		}
		given, err := k.names(names).resolve(tx, a, k.field)
		if err == nil {
			k.change(c, &p.Pushers, given)
		}
		return err
	})
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p, func(v *protectionView) any { return k.show(v.actors(&v.Pushers)) })
}

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/users
//
// ListPushers answers the users that may push. Error: 404.
func (api *API) ListPushers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.listPushers(w, r, a, pushingUsers)
}

// POST /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/users
//
// AddPushers lets more users push. Errors: 404, 422.
func (api *API) AddPushers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingUsers, addActors)
}

// PUT /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/users
//
// SetPushers lets these users push and no other users. Errors: 404, 422.
func (api *API) SetPushers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingUsers, setActors)
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/users
//
// RemovePushers lets some users push no more. Errors: 404, 422.
func (api *API) RemovePushers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingUsers, removeActors)
}

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/teams
//
// ListPushingTeams answers the teams that may push. Error: 404.
func (api *API) ListPushingTeams(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.listPushers(w, r, a, pushingTeams)
}

// POST /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/teams
//
// AddPushingTeams lets more teams push. Errors: 404, 422.
func (api *API) AddPushingTeams(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingTeams, addActors)
}

// PUT /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/teams
//
// SetPushingTeams lets these teams push and no other teams. Errors: 404, 422.
func (api *API) SetPushingTeams(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingTeams, setActors)
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/teams
//
// RemovePushingTeams lets some teams push no more. Errors: 404, 422.
func (api *API) RemovePushingTeams(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingTeams, removeActors)
}

// GET /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/apps
//
// ListPushingApps answers the Apps that may push. Error: 404.
func (api *API) ListPushingApps(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.listPushers(w, r, a, pushingApps)
}

// POST /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/apps
//
// AddPushingApps lets more Apps push. Errors: 404, 422.
func (api *API) AddPushingApps(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingApps, addActors)
}

// PUT /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/apps
//
// SetPushingApps lets these Apps push and no other Apps. Errors: 404, 422.
func (api *API) SetPushingApps(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingApps, setActors)
}

// DELETE /repos/{owner}/{repo}/branches/{branch...}/protection/restrictions/apps
//
// RemovePushingApps lets some Apps push no more. Errors: 404, 422.
func (api *API) RemovePushingApps(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changePushers(w, r, a, pushingApps, removeActors)
}
