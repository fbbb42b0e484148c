package external

import (
	"context"
	"errors"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/errs"
)

const selectGroups = `SELECT g.id, COALESCE(g.external_id, ''), g.name, g.created_at, g.updated_at FROM scim_groups g`

func scanGroup(row db.Scanner) (*Group, error) {
	g := &Group{}
	err := row.Scan(&g.ID, &g.ExternalID, &g.Name, &g.CreatedAt, &g.UpdatedAt)
	return g, err
}

// ListGroups returns groups of a source by id, from the given place on, and how many match. With members there may be
// fewer groups than asked for, so that an answer has a size.
func (s *Service) ListGroups(
	ctx context.Context, of *Source, conditions []Condition, from, most int64, members bool,
) (list []*Group, total int64, err error) {
	err = s.o.DB.Read(ctx, func(tx *db.Tx) error {
		args := []any{of.Issuer}
		match := ` WHERE g.issuer = $1` + where("g", conditions, &args)
		if err := tx.QueryRow(`SELECT count(*) FROM scim_groups g`+match, args...).Scan(&total); err != nil {
			return err
		}
		n := len(args)
		list, err = db.QueryList(tx, scanGroup, selectGroups+match+` ORDER BY g.id LIMIT $`+strconv.Itoa(n+1)+
			` OFFSET $`+strconv.Itoa(n+2), append(args, most, from)...)
		if err != nil || !members {
			return err
		}
		list, err = readMembers(tx, list)
		return err
	})
	return list, total, err
}

// Group returns a group of a source, with members if asked for. Error: 404.
func (s *Service) Group(ctx context.Context, of *Source, id int64, members bool) (*Group, error) {
	list, _, err := s.ListGroups(ctx, of, []Condition{{ByID, id}}, 0, 1, members)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errs.Absent()
	}
	return list[0], nil
}

// readMembers reads the members of groups in one statement. It drops the groups at the end that would make more than
// MaxMembers.
func readMembers(tx *db.Tx, list []*Group) ([]*Group, error) {
	if len(list) == 0 {
		return list, nil
	}
	at, args := map[int64]int{}, []any{}
	for n, g := range list {
		at[g.ID] = n
		args = append(args, g.ID)
	}
	read, last := 0, 0
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var group int64
		var p Person
		if err := row.Scan(&group, &p.ID, &p.UserName); err != nil {
			return err
		}
		read, last = read+1, at[group]
		list[last].Members = append(list[last].Members, p)
		return nil
	}, `SELECT m.group_id, u.id, u.user_name FROM scim_members m JOIN scim_users u ON u.id = m.person_id
		WHERE m.group_id IN `+db.Values(1, len(args))+` ORDER BY m.group_id, m.person_id LIMIT `+strconv.Itoa(MaxMembers+1),
		args...)
	if err == nil && read > MaxMembers {
		list = list[:max(last, 1)]
	}
	return list, err
}

// readGroupsOf reads the groups of people in one statement for each 500 of them.
func readGroupsOf(tx *db.Tx, list []*Person) error {
	of, ids := map[int64]*Person{}, []int64{}
	for _, p := range list {
		p.Groups = nil
		of[p.ID] = p
		ids = append(ids, p.ID)
	}
	return byPages(ids, MaxMembers, func(in string, args []any) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			var person int64
			var g Group
			if err := row.Scan(&person, &g.ID, &g.Name); err != nil {
				return err
			}
			of[person].Groups = append(of[person].Groups, g)
			return nil
		}, `SELECT m.person_id, g.id, g.name FROM scim_members m JOIN scim_groups g ON g.id = m.group_id
			WHERE m.person_id IN `+in+` ORDER BY m.person_id, g.id LIMIT $1`, args...)
	})
}

// holdGroup reads a group, and holds the row until the transaction ends. Error: 404.
func holdGroup(tx *db.Tx, of *Source, id int64) (*Group, error) {
	n, err := tx.Exec(`UPDATE scim_groups SET name = name WHERE id = $1 AND issuer = $2`, id, of.Issuer)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return scanGroup(tx.QueryRow(selectGroups+` WHERE g.id = $1`, id))
}

func groupTaken() error {
	return Refusal(errs.Conflict, Uniqueness, "a group with this displayName or externalId exists")
}

// insertGroup stores a group, and sets the id and the times. Error: 409.
func insertGroup(tx *db.Tx, of *Source, g *Group) error {
	g.CreatedAt, g.UpdatedAt = tx.Now, tx.Now
	err := tx.QueryRow(`INSERT INTO scim_groups (issuer, external_id, name, name_folded, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING RETURNING id`, of.Issuer, db.OrNull(g.ExternalID), g.Name,
		fold(g.Name), tx.Now).Scan(&g.ID)
	if errors.Is(err, db.ErrNoRows) {
		return groupTaken()
	}
	return err
}

// updateGroup stores the name and the externalId of a group. Error: 409.
func updateGroup(tx *db.Tx, of *Source, g *Group) error {
	g.UpdatedAt = tx.Now
	var taken bool
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM scim_groups WHERE issuer = $1 AND id <> $2 AND
		(name_folded = $3 OR external_id = $4))`, of.Issuer, g.ID, fold(g.Name), db.OrNull(g.ExternalID)).Scan(&taken)
	if err == nil && !taken {
		err = tx.Run(`UPDATE scim_groups SET name = $2, name_folded = $3, external_id = $4, updated_at = $5 WHERE id = $1`,
			g.ID, g.Name, fold(g.Name), db.OrNull(g.ExternalID), tx.Now)
	}
	if taken || errors.Is(err, db.ErrUnique) {
		return groupTaken()
	}
	return err
}

// memberIDs lists the ids of a group's members in order.
func memberIDs(tx *db.Tx, group int64) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT person_id FROM scim_members WHERE group_id = $1 ORDER BY person_id`, group)
}

// deleteMembers takes people from a group.
func deleteMembers(tx *db.Tx, group int64, ids []int64) error {
	return byPages(ids, group, func(in string, args []any) error {
		return tx.Run(`DELETE FROM scim_members WHERE group_id = $1 AND person_id IN `+in, args...)
	})
}

// insertMembers adds people of a source to a group. Error: 400 for ids that are none.
func insertMembers(tx *db.Tx, of *Source, group int64, ids []int64) error {
	return byPages(ids, group, func(in string, args []any) error {
		args = append(args, of.Issuer)
		n, err := tx.Exec(`INSERT INTO scim_members (group_id, person_id) SELECT CAST($1 AS BIGINT), id FROM scim_users
			WHERE issuer = $`+strconv.Itoa(len(args))+` AND id IN `+in, args...)
		if err == nil && n != int64(len(args)-2) {
			err = Refusal(errs.Invalid, BadValue, "members has a value that is not the id of a user")
		}
		return err
	})
}
