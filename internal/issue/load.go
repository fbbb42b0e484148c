package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/reaction"
)

// references holds the distinct ids that the issues of a page refer to.
type references struct {
	labels, milestones []int64
	people, authors    []account.ID
	reacted            []ID // issues with reactions
}

func (p *page) references() (r references) {
	for _, i := range p.issues {
		r.labels = append(r.labels, i.Labels...)
		if i.MilestoneID != 0 {
			r.milestones = append(r.milestones, i.MilestoneID)
		}
		r.people = append(append(r.people, i.AuthorID), i.Assignees...)
		if p.full && i.ClosedBy != 0 {
			r.people = append(r.people, i.ClosedBy)
		}
		r.authors = append(r.authors, i.AuthorID)
		if i.Reacted && p.reactions {
			r.reacted = append(r.reacted, i.ID)
		}
	}
	r.labels, r.milestones = db.Unique(r.labels), db.Unique(r.milestones)
	r.people, r.authors = db.Unique(r.people), db.Unique(r.authors)
	return r
}

// load reads everything that the issues refer to.
func (p *page) load(tx *db.Tx) (err error) {
	r := p.references()
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
	if p.roles, err = associations(tx, p.accesses(), r.authors); err != nil {
		return err
	}
	if len(r.reacted) > 0 {
		p.rollups, err = reaction.Rollups(tx, reaction.Issue, r.reacted)
	}
	return err
}
