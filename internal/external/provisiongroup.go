package external

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Group is a group that a provider provisioned.
type Group struct {
	ID         int64
	ExternalID string // may be empty
	Name       string // by which the file names it
	Members    []Person
	CreatedAt  db.Time
	UpdatedAt  db.Time
}

// GroupEdit is what a group becomes.
type GroupEdit struct {
	ExternalID string
	Name       string
	Members    map[int64]bool // ids of people
}

// AddGroup stores a new group, and has its members followed. Errors: 400 for members that are not users of the
// source; 409 for a taken name or externalId.
func (s *Service) AddGroup(ctx context.Context, by *account.Caller, of *Source, e GroupEdit) (g *Group, err error) {
	var marked []int64
	err = s.o.DB.WriteAs(ctx, by, func(tx *db.Tx) error {
		g, marked = &Group{ExternalID: e.ExternalID, Name: e.Name}, nil
		if err := insertGroup(tx, of, g); err != nil {
			return err
		}
		marked, err = s.putMembers(tx, of, g, e, nil)
		if err != nil {
			return err
		}
		return g.record(tx, audit.GroupProvision, of, len(e.Members), 0)
	})
	if err != nil {
		return nil, err
	}
	return g, s.followNow(ctx, of, marked)
}

// ChangeGroup changes a group by a function, which may be called twice, and has the people followed for whom that
// makes a difference. Errors: 404, those of AddGroup and of the function.
func (s *Service) ChangeGroup(
	ctx context.Context, by *account.Caller, of *Source, id int64, change func(*GroupEdit) error,
) error {
	var marked []int64
	err := s.o.DB.WriteAs(ctx, by, func(tx *db.Tx) error {
		marked = nil
		g, err := holdGroup(tx, of, id)
		if err != nil {
			return err
		}
		has, err := memberIDs(tx, id)
		if err != nil {
			return err
		}
		e := GroupEdit{ExternalID: g.ExternalID, Name: g.Name, Members: map[int64]bool{}}
		for _, member := range has {
			e.Members[member] = true
		}
		if err := change(&e); err != nil {
			return err
		}
		marked, err = s.putMembers(tx, of, g, e, has)
		return err
	})
	if err != nil {
		return err
	}
	return s.followNow(ctx, of, marked)
}

// putMembers makes a group, whose row is held and which has some members, what an edit says. It returns the people
// who are to be followed.
func (s *Service) putMembers(tx *db.Tx, of *Source, g *Group, e GroupEdit, has []int64) (marked []int64, err error) {
	if len(e.Members) > MaxMembers {
		return nil, errs.Newf(errs.TooLarge, "a group has at most %d members", MaxMembers)
	}
	var add, drop []int64
	was := make(map[int64]bool, len(has))
	for _, id := range has {
		if was[id] = true; !e.Members[id] {
			drop = append(drop, id)
		}
	}
	for id := range e.Members {
		if !was[id] {
			add = append(add, id)
		}
	}
	slices.Sort(add)
	fresh, renamed := g.CreatedAt == tx.Now && len(has) == 0, e.Name != g.Name
	if !renamed && e.ExternalID == g.ExternalID && len(add)+len(drop) == 0 {
		return nil, nil
	}
	before := g.Name
	g.Name, g.ExternalID = e.Name, e.ExternalID
	if err := updateGroup(tx, of, g); err != nil {
		return nil, err
	}
	if err := deleteMembers(tx, g.ID, drop); err != nil {
		return nil, err
	}
	if err := insertMembers(tx, of, g.ID, add); err != nil {
		return nil, err
	}
	if !fresh {
		if err := g.record(tx, audit.GroupUpdate, of, len(add), len(drop)); err != nil {
			return nil, err
		}
	}
	if !of.names(before) && !of.names(g.Name) {
		return nil, nil // it gives nothing
	}
	marked = append(add, drop...)
	if renamed {
		marked = append(marked, has...)
	}
	slices.Sort(marked)
	marked = slices.Compact(marked)
	return marked, markStale(tx, marked)
}

// RemoveGroup forgets a group, and has its members followed. Error: 404.
func (s *Service) RemoveGroup(ctx context.Context, by *account.Caller, of *Source, id int64) error {
	var marked []int64
	err := s.o.DB.WriteAs(ctx, by, func(tx *db.Tx) error {
		marked = nil
		g, err := holdGroup(tx, of, id)
		if err != nil {
			return err
		}
		has, err := memberIDs(tx, id)
		if err != nil {
			return err
		}
		if of.names(g.Name) {
			if marked = has; len(has) > 0 {
				if err := markStale(tx, has); err != nil {
					return err
				}
			}
		}
		if err := g.record(tx, audit.GroupDeprovision, of, 0, len(has)); err != nil {
			return err
		}
		return tx.Run(`DELETE FROM scim_groups WHERE id = $1`, id)
	})
	if err != nil {
		return err
	}
	return s.followNow(ctx, of, marked)
}

// record notes what happens to a group.
func (g *Group) record(tx *db.Tx, action audit.Action, of *Source, added, removed int) error {
	return audit.Record(tx, audit.Entry{Action: action, Changes: map[string]any{"provider": of.Name, "group_id": g.ID,
		"name": g.Name, "members_added": added, "members_removed": removed}})
}
