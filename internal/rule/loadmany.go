package rule

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Rules are the rulesets and protections of a repository and the rulesets of its owner, the oldest first.
type Rules struct {
	In    *repo.Access
	Sets  []*Ruleset
	Known *Known // whom they name; nil: there are none

	book *rulebook
}

// Find returns the ruleset or protection of an id that is about the repository, or nil.
func (r *Rules) Find(id int64, protection bool) *Ruleset {
	for _, s := range r.Sets {
		if s.ID == id && s.Protection == protection && s.appliesIn(r.In.Name) {
			return s
		}
	}
	return nil
}

// Protection returns the protection that counts for a branch, or nil.
func (r *Rules) Protection(branch string) *Ruleset {
	if r.book != nil {
		for _, s := range r.book.on(git.Heads + branch) {
			if s.Protection {
				return s
			}
		}
	}
	return nil
}

// Conflicting returns the other protections that match a branch, if a protection does.
func (r *Rules) Conflicting(with *Ruleset, branch string) (list []*Ruleset) {
	if !matchName(with.Name, branch) {
		return nil
	}
	for _, s := range r.Sets {
		if s.Protection && s != with && matchName(s.Name, branch) {
			list = append(list, s)
		}
	}
	return list
}

// Names reports whether the caller is one of the actors. of may be nil.
func (r *Rules) Names(of *Actors) bool { return r.Known.NamesCaller(r.In, of) }

// RulesOf loads the rules of repositories with a fixed number of statements.
func (s *Service) RulesOf(ctx context.Context, list []*repo.Access) (map[repo.ID]*Rules, error) {
	found := map[repo.ID]*Rules{}
	var ids []repo.ID
	for _, a := range list {
		if found[a.ID] = (&Rules{In: a}); a.Ruled {
			ids = append(ids, a.ID)
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	return found, s.db.Read(ctx, func(tx *db.Tx) error {
		sets, places, err := readRulesets(tx, db.Unique(ids))
		if err != nil {
			return err
		}
		var actors []*Actors
		for id, of := range sets {
			found[id].Sets, found[id].book = of, newRulebook(places[id], of)
			for _, set := range of {
				if set.Protection {
					actors = append(actors, append(AsProtection(set).actors(), AsProtection(set).reporters())...)
				}
				actors = append(actors, set.bypassers())
			}
		}
		known, err := know(tx, list[0].Caller, actors)
		for id := range sets {
			found[id].Known = known
		}
		return err
	})
}

// Places returns the repositories of rulesets and protections, without those of organizations.
func Places(tx *db.Tx, ids []int64) (map[int64]repo.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found := map[int64]repo.ID{}
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var id int64
		var in repo.ID
		err := row.Scan(&id, &in)
		found[id] = in
		return err
	}, `SELECT s.id, s.repo_id FROM rulesets s WHERE s.repo_id IS NOT NULL AND s.id IN `+db.Values(1, len(ids)),
		db.Args(ids)...)
}

// OfOrgs returns the rulesets of organizations, the oldest first.
func (s *Service) OfOrgs(ctx context.Context, orgs []account.ID) (found map[account.ID][]*Ruleset, err error) {
	if len(orgs) == 0 {
		return nil, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, err := ofOrgs(tx, orgs)
		found = map[account.ID][]*Ruleset{}
		for _, r := range list {
			found[r.OrgID] = append(found[r.OrgID], r)
		}
		return err
	})
	return found, err
}

// OrgPlaces returns the organizations of rulesets.
func OrgPlaces(tx *db.Tx, ids []int64) (map[int64]account.ID, error) {
	return db.QueryMap[int64, account.ID](tx, `SELECT id, org_id FROM rulesets WHERE org_id IS NOT NULL AND id IN `+
		db.Values(1, len(ids)), db.Args(ids)...)
}

// reporters returns the Apps that must report required checks.
func (p *Protection) reporters() *Actors {
	of := &Actors{}
	if p.Checks != nil {
		for _, c := range p.Checks.Checks {
			if c.App != 0 {
				of.Apps = append(of.Apps, c.App)
			}
		}
	}
	return of
}
