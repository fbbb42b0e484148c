package migration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/rule"
)

// The body of a ruleset is that of GitHub's API, with names in the place of ids: logins of users, slugs of teams and of
// Apps. actorNames has what they are called.
type actorNames struct {
	users, teams, apps map[int64]string
}

// eachActor calls fn for every list of actors in the body of a ruleset, and for each App that must set a status, and
// puts what fn returns in its place. kind is users, teams or apps. An actor for which fn returns nil is left out.
func eachActor(v any, fn func(kind string, actor any) any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, one := range v {
			if one = eachActor(one, fn); one != nil {
				list = append(list, one)
			}
		}
		return list
	case map[string]any:
		kind := map[any]string{"User": "users", "Team": "teams", "Integration": "apps"}[v["actor_type"]]
		if _, bypasses := v["actor_id"]; bypasses && kind != "" {
			if v["actor_id"] = fn(kind, v["actor_id"]); v["actor_id"] == nil {
				return nil
			}
			return v
		}
		for key, value := range v {
			list, isList := value.([]any)
			switch {
			case (key == "users" || key == "teams" || key == "apps") && isList:
				actors := []any{}
				for _, one := range list {
					if one = fn(key, one); one != nil {
						actors = append(actors, one)
					}
				}
				v[key] = actors
			case key == "integration_id" && value != nil:
				if v[key] = fn("apps", value); v[key] == nil {
					delete(v, key)
				}
			default:
				v[key] = eachActor(value, fn)
			}
		}
	}
	return v
}

// decodeBody reads the body of a ruleset without losing digits.
func decodeBody(body []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return v, d.Decode(&v)
}

// namedBody is a stored body with names in the place of ids. Actors that are gone are left out.
func (e *exporter) namedBody(body string) (json.RawMessage, error) {
	v, err := decodeBody([]byte(body))
	if err != nil {
		return nil, err
	}
	v = eachActor(v, func(kind string, actor any) any {
		id, err := number(actor)
		name := map[string]map[int64]string{"users": e.actors.users, "teams": e.actors.teams, "apps": e.actors.apps}[kind][id]
		if err != nil || name == "" {
			return nil
		}
		if kind == "users" {
			e.named(&name)
		}
		return name
	})
	return json.Marshal(v)
}

func number(v any) (int64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, fmt.Errorf("%v is not a number", v)
	}
	return n.Int64()
}

// idBody is the inverse of nameActors: it replaces names with ids. Actors here are the users who were
// matched by the map or by an address, and teams of the owner. Actors without a match are left out, so nobody may
// do more than at the source. An App counts only where a rule requires it to set a status.
func (b *batch) idBody(r *Ruleset, teams, apps map[string]int64) (body rule.Body, err error) {
	v, err := decodeBody(r.Body)
	if err != nil {
		return body, err
	}
	var left []string
	v = eachActor(v, func(kind string, actor any) any {
		name, _ := actor.(string)
		var id int64
		switch kind {
		case "users":
			if b.im.people.matched(name) {
				id = int64(b.im.people.id(name))
			}
		case "teams":
			id = teams[account.Fold(name)]
		case "apps":
			id = apps[account.Fold(name)]
		}
		if id == 0 {
			left = append(left, clip(name))
			return nil
		}
		return id
	})
	if len(left) > 0 {
		b.note("%s: %q do not exist here and were left out", describe(r), left)
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	return body, err
}

// createRules creates rulesets and protections by the same operation as users. Each is created in its own
// transaction, before the transaction of the batch. If the import is killed between the two, the next run finds the
// ruleset by name.
func (b *batch) createRules(ctx context.Context, list []*row) error {
	b.made = map[*row]int64{}
	var teams, apps map[string]int64
	err := b.im.s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if teams, err = teamsBySlug(tx, b.im.a.OwnerID); err != nil {
			return err
		}
		apps, err = appsBySlug(tx, b.im.a.OwnerID)
		return err
	})
	if err != nil {
		return err
	}
	if b.im.o.ByMap { // who asks might not see them
		clear(teams)
		clear(apps)
	}
	for _, r := range newRows(list) {
		rec := r.Record.(*Ruleset)
		set, err := b.rulesetOf(rec, teams, apps)
		if err == nil {
			err = b.im.s.Rules.Create(ctx, rule.OfRepository(b.im.a), set)
		}
		if errs.Is(err, errs.Invalid) && set != nil {
			set.ID, err = b.rulesetNamed(ctx, rec, err)
		}
		if err != nil {
			b.refused[r] = err
			continue
		}
		b.made[r] = set.ID
	}
	for _, r := range changedRows(list) {
		b.refused[r] = errs.New(errs.Invalid, "it has changed at the source, and was not changed here")
	}
	return nil
}

func (b *batch) rulesetOf(r *Ruleset, teams, apps map[string]int64) (*rule.Ruleset, error) {
	target, known := rule.ParseTarget(r.Target)
	enforcement, ok := rule.ParseEnforcement(r.Enforcement)
	if !known || !ok {
		return nil, fmt.Errorf("unknown target %q or enforcement %q", r.Target, r.Enforcement)
	}
	body, err := b.idBody(r, teams, apps)
	if err != nil {
		return nil, err
	}
	body.Repos = nil
	return &rule.Ruleset{Protection: r.Protection, Name: r.Name, Target: target, Enforcement: enforcement, Body: body}, nil
}

// rulesetNamed returns the id of the ruleset with the same name, which an earlier run has created; if there is
// none, why.
func (b *batch) rulesetNamed(ctx context.Context, r *Ruleset, why error) (id int64, err error) {
	id, err = db.Get(ctx, b.im.s.DB, func(tx *db.Tx) (int64, error) { return rulesetID(tx, b.im.a.ID, r) })
	if err == nil && id == 0 {
		err = why
	}
	return id, err
}
