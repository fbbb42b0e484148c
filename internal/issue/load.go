package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/reaction"
	"arbor/internal/web"
)

// references are the ids of what the issues of a page refer to, each once.
type references struct {
	labels, milestones []int64
	people, authors    []account.ID
	reacted            []ID // issues whose reactions are shown
}

func (p *page) references() (r references) {
	for _, i := range p.issues {
		r.labels = append(r.labels, i.Labels...)
		r.people = append(append(r.people, i.AuthorID), i.Assignees...)
		if i.MilestoneID != 0 {
			r.milestones = append(r.milestones, i.MilestoneID)
		}
		if p.full && i.ClosedBy != 0 {
			r.people = append(r.people, i.ClosedBy)
		}
		if i.Reacted && p.info.Media.Preview(web.Reactions) {
			r.reacted = append(r.reacted, i.ID)
		}
	}
	r.labels, r.milestones, r.people = db.Unique(r.labels), db.Unique(r.milestones), db.Unique(r.people)
	r.authors = p.authors()
	return r
}

// load takes from memory what the issues refer to, and reads the rest. Without a
// transaction it fails with errNotKept where it needs one.
func (p *page) load(tx *db.Tx) (err error) {
	r := p.takeKept(p.references())
	if tx == nil {
		if len(r.labels)+len(r.milestones)+len(r.people)+len(r.authors)+len(r.reacted) > 0 {
			return errNotKept
		}
		return nil
	}
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
	roles, err := associations(tx, p.repos, r.authors)
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

// takeKept takes from memory all that it holds, and gives the references to the rest.
func (p *page) takeKept(r references) references {
	if p.kept == nil {
		return r
	}
	r.labels = takeEach(p.kept, cachedLabel, r.labels, func(id int64, b []byte) { p.labelJSON[id] = b })
	r.milestones = takeEach(p.kept, cachedMilestone, r.milestones, func(id int64, b []byte) { p.milestone[id] = b })
	r.people = takeEach(p.kept, cachedUser, r.people, func(id account.ID, b []byte) { p.users[id] = b })
	r.authors = takeEach(p.kept, p.kept.roleKind(), r.authors, func(id account.ID, b []byte) {
		if len(b) > 0 {
			p.roles[roleKey{p.kept.repo.ID, id}] = string(b)
		}
	})
	return r
}

// takeEach hands over what memory holds of the ids, and gives those that are missing.
func takeEach[ID ~int64](k *kept, kind cacheKind, ids []ID, use func(id ID, b []byte)) (missing []ID) {
	for _, id := range ids {
		if b, ok := k.get(k.keyOf(kind, int64(id))); ok {
			use(id, b.([]byte))
		} else {
			missing = append(missing, id)
		}
	}
	return missing
}

// keep leaves in memory what was read.
func (p *page) keep(r references) {
	if p.kept == nil {
		return
	}
	at := p.places[p.kept.repo.ID]
	putEach(p.kept, cachedLabel, r.labels, func(id int64) []byte { return p.label(at, id) })
	putEach(p.kept, cachedMilestone, r.milestones, func(id int64) []byte { return p.milestoneOf(at, id) })
	putEach(p.kept, cachedUser, r.people, p.user)
	putEach(p.kept, p.kept.roleKind(), r.authors, func(id account.ID) []byte {
		return []byte(p.roles[roleKey{p.kept.repo.ID, id}])
	})
}

// putEach leaves in memory what render makes of each id.
func putEach[ID ~int64](k *kept, kind cacheKind, ids []ID, render func(id ID) []byte) {
	for _, id := range ids {
		k.put(k.keyOf(kind, int64(id)), render(id))
	}
}
