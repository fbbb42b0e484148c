package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// references are the ids of what the issues of a page refer to and memory does not hold, each once.
type references struct {
	labels, milestones []int64
	people, authors    []account.ID
	reacted            []ID // issues whose reactions are shown
}

// references takes from memory what the issues refer to, and gives the ids of the rest.
func (p *page) references() (r references) {
	for _, i := range p.issues {
		for _, id := range i.Labels {
			r.labels = want(p, r.labels, cachedLabel, p.labelJSON, id)
		}
		if i.MilestoneID != 0 {
			r.milestones = want(p, r.milestones, cachedMilestone, p.milestone, i.MilestoneID)
		}
		r.people = want(p, r.people, cachedUser, p.users, i.AuthorID)
		for _, id := range i.Assignees {
			r.people = want(p, r.people, cachedUser, p.users, id)
		}
		if p.full && i.ClosedBy != 0 {
			r.people = want(p, r.people, cachedUser, p.users, i.ClosedBy)
		}
		if !p.takeRole(i) {
			r.authors = append(r.authors, i.AuthorID)
		}
		if i.Reacted && p.info.Media.Preview(web.Reactions) {
			r.reacted = append(r.reacted, i.ID)
		}
	}
	r.labels, r.milestones = db.Unique(r.labels), db.Unique(r.milestones)
	r.people, r.authors = db.Unique(r.people), db.Unique(r.authors)
	return r
}

// want adds an id to those that are to be read, unless the page has what it names, or takes
// that from memory.
func want[ID ~int64](p *page, ids []ID, kind cacheKind, have map[ID]*piece, id ID) []ID {
	if have[id] != nil {
		return ids
	}
	if p.kept != nil {
		if b, ok := p.kept.get(p.kept.keyOf(kind, int64(id))); ok {
			have[id] = b.(*piece)
			return ids
		}
	}
	return append(ids, id)
}

// takeRole takes the author's role from memory. It reports whether the page has it.
func (p *page) takeRole(i *Issue) bool {
	if p.kept == nil {
		return false
	}
	if _, ok := p.roles[roleKey{i.RepoID, i.AuthorID}]; ok {
		return true
	}
	role, ok := p.kept.get(p.kept.keyOf(p.kept.roleKind(), int64(i.AuthorID)))
	if ok {
		p.roles[roleKey{i.RepoID, i.AuthorID}] = role.(string)
	}
	return ok
}

// load takes from memory what the issues refer to, and reads the rest. Without a
// transaction it fails with errNotKept where it needs one.
func (p *page) load(tx *db.Tx) (err error) {
	r := p.references()
	if tx == nil {
		if len(r.labels)+len(r.milestones)+len(r.people)+len(r.authors)+len(r.reacted) > 0 {
			return errNotKept
		}
		return nil
	}
	if len(r.milestones) == 0 { // whose creators are asked for with the people
		account.ByIDsAhead(tx, r.people)
	}
	repo.BelongingAhead(tx, p.accesses(), r.authors)
	if p.labels, err = label.OfIssues(tx, r.labels); err != nil {
		return err
	}
	if p.milestones, err = milestone.ByIDs(tx, r.milestones); err != nil {
		return err
	}
	people := r.people
	for _, m := range p.milestones {
		people = append(people, m.CreatorID)
	}
	if p.people, err = account.ByIDs(tx, people); err != nil {
		return err
	}
	roles, err := associations(tx, p.accesses(), r.authors)
	if err != nil {
		return err
	}
	for k, role := range roles {
		p.roles[k] = role
	}
	if len(r.reacted) > 0 {
		if p.rollups, err = reaction.Rollups(tx, reaction.Issue, r.reacted); err != nil {
			return err
		}
	}
	p.keep(r)
	return nil
}

// keyOf is what something that the issues refer to is kept under.
func (k *kept) keyOf(kind cacheKind, id int64) cacheKey {
	switch kind {
	case cachedUser:
		return cacheKey{kind: kind, id: id, text: k.host}
	case cachedRole, cachedInsideRole:
		return cacheKey{kind: kind, repo: k.repo.ID, id: id}
	}
	return cacheKey{kind: kind, id: id, text: k.place}
}

// roleKind is the kind of roles that the caller may see.
func (k *kept) roleKind() cacheKind {
	if k.repo.Insider() {
		return cachedInsideRole
	}
	return cachedRole
}

// keep leaves in memory what was read.
func (p *page) keep(r references) {
	if p.kept == nil {
		return
	}
	at := p.places[p.kept.repo.ID]
	putEach(p.kept, cachedLabel, r.labels, func(id int64) any { return p.label(at, id) })
	putEach(p.kept, cachedMilestone, r.milestones, func(id int64) any { return p.milestoneOf(at, id) })
	putEach(p.kept, cachedUser, r.people, func(id account.ID) any { return p.user(id) })
	putEach(p.kept, p.kept.roleKind(), r.authors, func(id account.ID) any {
		return p.roles[roleKey{p.kept.repo.ID, id}]
	})
}

// putEach leaves in memory what render makes of each id.
func putEach[ID ~int64](k *kept, kind cacheKind, ids []ID, render func(id ID) any) {
	for _, id := range ids {
		k.put(k.keyOf(kind, int64(id)), render(id))
	}
}
