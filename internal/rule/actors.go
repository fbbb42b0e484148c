package rule

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// Actors are users, teams and Apps that a protection names. A team stands for its members and for those of teams
// below it, as they are when an update is judged, and only while it belongs to the owner of the repository.
type Actors struct {
	Users []account.ID    `json:"users"`
	Teams []team.ID       `json:"teams,omitempty"`
	Apps  []account.AppID `json:"apps"`
}

// Empty reports whether nobody is named. a may be nil.
func (a *Actors) Empty() bool { return a == nil || len(a.Users)+len(a.Teams)+len(a.Apps) == 0 }

// problem returns what is wrong with the actors, or "". a may be nil.
func (a *Actors) problem(field string) string {
	if a != nil && len(a.Users)+len(a.Teams)+len(a.Apps) > maxActors {
		return fmt.Sprintf("%s can name at most %d users, teams and apps in total", field, maxActors)
	}
	return ""
}

// orEmpty returns the actors with lists that are not nil in JSON.
func (a Actors) orEmpty() Actors {
	a.Users, a.Apps = append([]account.ID{}, a.Users...), append([]account.AppID{}, a.Apps...)
	return a
}

// person is somebody who may be one of the actors.
type person struct {
	id    account.ID
	app   account.AppID // whose bot it is; 0: none
	teams func([]team.ID) bool
}

// belonging returns a function that reports whether one of some teams is among those that somebody is in, and belongs
// to the owner of a repository.
func belonging(in map[team.ID]account.ID, owner account.ID) func([]team.ID) bool {
	return func(ids []team.ID) bool {
		return slices.ContainsFunc(ids, func(id team.ID) bool { return in[id] != 0 && in[id] == owner })
	}
}

// has reports whether a person is one of the actors. a may be nil.
func (a *Actors) has(p person) bool {
	return a != nil && (slices.Contains(a.Users, p.id) || p.app != 0 && slices.Contains(a.Apps, p.app) ||
		len(a.Teams) > 0 && p.teams(a.Teams))
}

// ActorNames are actors by their names: logins, slugs of teams, and slugs of Apps.
type ActorNames struct{ Users, Teams, Apps []string }

// ParseActors reads names as a person writes them: LOGIN, ORGANIZATION/TEAM, or APP[bot].
func ParseActors(words []string) (n ActorNames) {
	for _, word := range words {
		word = strings.TrimPrefix(word, "@")
		if _, slug, is := strings.Cut(word, "/"); is {
			n.Teams = append(n.Teams, slug)
		} else if slug, is := strings.CutSuffix(word, "[bot]"); is {
			n.Apps = append(n.Apps, slug)
		} else {
			n.Users = append(n.Users, word)
		}
	}
	return n
}

// seesTeams reports whether the caller may know of teams of the repository's owner: as a member of the organization,
// or as an App that administers the repository.
func seesTeams(a *repo.Access) bool {
	return a.Insider() || a.Caller != nil && a.Caller.App != 0 && a.Role >= account.Admin
}

// resolve returns actors by their names: any users, teams that the caller sees, and Apps that are installed on the
// repository's owner. Error: 422 for others.
func (n ActorNames) resolve(tx *db.Tx, a *repo.Access, field string) (*Actors, error) {
	out := &Actors{Users: []account.ID{}, Apps: []account.AppID{}}
	unknown := func(what, name string) error {
		f := web.Faults{Resource: protectionResource}
		f.Wrong(field, errs.Custom, "unknown "+what+": "+clip(name))
		return f.Err()
	}
	users, err := account.ByLogins(tx, n.Users)
	if err != nil {
		return nil, err
	}
	for _, login := range n.Users {
		user := users[account.Fold(login)]
		if user == nil || user.Kind != account.User {
			return nil, unknown("user", login)
		}
		out.Users = append(out.Users, user.ID)
	}
	teams := map[string]*team.Team{}
	if seesTeams(a) {
		if teams, err = team.SeenBySlug(tx, a.Caller, a.OwnerID, n.Teams); err != nil {
			return nil, err
		}
	}
	for _, slug := range n.Teams {
		t := teams[account.Fold(slug)]
		if t == nil {
			return nil, unknown("team", slug)
		}
		out.Teams = append(out.Teams, t.ID)
	}
	apps, err := app.InstalledBySlug(tx, a.OwnerID, n.Apps)
	if err != nil {
		return nil, err
	}
	for _, slug := range n.Apps {
		one := apps[account.Fold(slug)]
		if one == nil {
			return nil, unknown("app", slug)
		}
		out.Apps = append(out.Apps, one.ID)
	}
	out.Users, out.Teams, out.Apps = db.Unique(out.Users), db.Unique(out.Teams), db.Unique(out.Apps)
	return out, nil
}

// CheckIDs checks actors as ActorNames.resolve does. Error: 422 for unknown ones.
func (s *Service) CheckIDs(ctx context.Context, a *repo.Access, field string, of *Actors) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		k, err := know(tx, a.Caller, []*Actors{of})
		if err != nil {
			return err
		}
		shown := k.Show(a, of)
		var n ActorNames
		for _, one := range shown.Users {
			n.Users = append(n.Users, one.Login)
		}
		for _, one := range shown.Apps {
			n.Apps = append(n.Apps, one.Slug)
		}
		if _, err := n.resolve(tx, a, field); err != nil {
			return err
		}
		if len(shown.Users) < len(of.Users) || len(shown.Teams) < len(of.Teams) || len(shown.Apps) < len(of.Apps) {
			f := web.Faults{Resource: protectionResource}
			f.Wrong(field, errs.Custom, "unknown user, team or app")
			return f.Err()
		}
		return nil
	})
}

// Resolve returns the actors of names. Error: 422 for unknown ones.
func (s *Service) Resolve(ctx context.Context, a *repo.Access, field string, n ActorNames) (out *Actors, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Actors, error) { return n.resolve(tx, a, field) })
}

// Known are the accounts, teams and Apps that protections name.
type Known struct {
	users map[account.ID]*account.Account
	teams map[team.ID]*team.Team
	apps  map[account.AppID]*app.App
	mine  map[team.ID]account.ID // teams that the caller is in
	me    *account.Caller
}

// know loads the actors of some lists, with a fixed number of statements.
func know(tx *db.Tx, caller *account.Caller, lists []*Actors) (*Known, error) {
	var all Actors
	for _, a := range lists {
		all.Users, all.Teams, all.Apps = append(all.Users, a.Users...), append(all.Teams, a.Teams...),
			append(all.Apps, a.Apps...)
	}
	k, err := &Known{me: caller}, error(nil)
	if k.users, err = account.ByIDs(tx, db.Unique(all.Users)); err != nil {
		return nil, err
	}
	if k.apps, err = app.ByIDs(tx, db.Unique(all.Apps)); err != nil {
		return nil, err
	}
	if k.teams, err = team.SeenBy(tx, caller, all.Teams); err != nil {
		return nil, err
	}
	k.mine, err = team.Joined(tx, account.IDOf(caller), all.Teams)
	return k, err
}

// Known loads whom protections of a repository name.
func (s *Service) Known(ctx context.Context, a *repo.Access, protections []*Ruleset) (k *Known, err error) {
	var actors []*Actors
	for _, r := range protections {
		actors = append(actors, AsProtection(r).actors()...)
	}
	return k, s.db.Read(ctx, func(tx *db.Tx) error {
		k, err = know(tx, a.Caller, actors)
		return err
	})
}

// actors returns all lists of actors of the protection.
func (p *Protection) actors() []*Actors {
	list := []*Actors{&p.Pushers}
	if p.ForcePushers != nil {
		list = append(list, p.ForcePushers)
	}
	if r := p.Reviews; r != nil && r.Exempt != nil {
		list = append(list, r.Exempt)
	}
	if r := p.Reviews; r != nil && r.Dismissers != nil {
		list = append(list, r.Dismissers)
	}
	return list
}

// bypassers returns the users, teams and Apps that may bypass the ruleset.
func (r *Ruleset) bypassers() *Actors {
	var list Actors
	for _, a := range r.Bypass {
		one := a.asActors()
		list.Users, list.Teams, list.Apps = append(list.Users, one.Users...), append(list.Teams, one.Teams...),
			append(list.Apps, one.Apps...)
	}
	return &list
}

// asActors returns the actor in the form of protections; empty: it is none of a user, a team and an App.
func (a Actor) asActors() (one Actors) {
	switch a.Type {
	case ByUser:
		one.Users = []account.ID{account.ID(a.ID)}
	case ByTeam:
		one.Teams = []team.ID{team.ID(a.ID)}
	case ByApp:
		one.Apps = []account.AppID{account.AppID(a.ID)}
	}
	return one
}

// ShowBypasser is Show of one of those who may bypass a ruleset.
func (k *Known) ShowBypasser(in *repo.Access, a Actor) Shown { return k.Show(in, new(a.asActors())) }

// Shown are actors as a caller may see them.
type Shown struct {
	Users []*account.Account
	Teams []*team.Team
	Apps  []*app.App
}

// Show returns the actors without those that were deleted, and without teams that the caller does not see or that
// belong to another organization than the repository. of may be nil.
func (k *Known) Show(a *repo.Access, of *Actors) (s Shown) {
	if of == nil {
		return s
	}
	for _, id := range of.Users {
		if one := k.users[id]; one != nil {
			s.Users = append(s.Users, one)
		}
	}
	for _, id := range of.Teams {
		if one := k.teams[id]; one != nil && one.Org.ID == a.OwnerID && seesTeams(a) {
			s.Teams = append(s.Teams, one)
		}
	}
	for _, id := range of.Apps {
		if one := k.apps[id]; one != nil {
			s.Apps = append(s.Apps, one)
		}
	}
	return s
}

// Words returns the actors as ParseActors reads them.
func (s Shown) Words() (list []string) {
	for _, one := range s.Users {
		list = append(list, one.Login)
	}
	for _, one := range s.Teams {
		list = append(list, one.Org.Login+"/"+one.Slug)
	}
	for _, one := range s.Apps {
		list = append(list, account.BotLogin(one.Slug))
	}
	return list
}

// NamesCaller reports whether the caller is one of the actors. of may be nil.
func (k *Known) NamesCaller(a *repo.Access, of *Actors) bool {
	p := person{id: account.IDOf(k.me), teams: belonging(k.mine, a.OwnerID)}
	if k.me != nil {
		p.app = k.me.App
	}
	return p.id != 0 && of.has(p)
}
