package team

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// SeenBy returns those of the teams that are not secret, and secret ones of which the caller is a member or whose
// organization it owns. Only members of an organization see its teams at all: that is for the caller of SeenBy to ask.
func SeenBy(tx *db.Tx, caller *account.Caller, ids []ID) (map[ID]*Team, error) {
	found := map[ID]*Team{}
	return found, db.InParts(db.Unique(ids), func(part []ID) error {
		list, err := query(tx, `t.id IN `+db.ValuesFrom(2, 1, len(part))+`
			AND `+seenBy(caller, "$1")+` ORDER BY t.id`,
			db.Args(part, account.IDOf(caller))...)
		for _, t := range list {
			found[t.ID] = t
		}
		return err
	})
}

// SeenBySlug returns those teams of an organization with one of the slugs that SeenBy would return, by folded slug.
func SeenBySlug(tx *db.Tx, caller *account.Caller, orgID account.ID, slugs []string) (map[string]*Team, error) {
	found := map[string]*Team{}
	return found, db.InParts(slugs, func(part []string) error {
		args := []any{account.IDOf(caller), orgID}
		for _, slug := range part {
			args = append(args, account.Fold(slug))
		}
		list, err := query(tx, `t.org_id = $2 AND t.slug IN `+db.ValuesFrom(3, 1, len(part))+`
			AND `+seenBy(caller, "$1")+` ORDER BY t.id`, args...)
		for _, t := range list {
			found[t.Slug] = t
		}
		return err
	})
}

// seenBy is the condition of SeenBy on t; who is the caller's id.
func seenBy(caller *account.Caller, who string) string {
	return `(` + Seen("t", caller.SeesAll(), who) + ` OR EXISTS (SELECT 1 FROM members sw
		WHERE sw.org_id = t.org_id AND sw.user_id = ` + who + ` AND sw.owner = TRUE))`
}

// Joined returns those of the teams that an account is in, also as a member of a team below, with their
// organizations.
func Joined(tx *db.Tx, who account.ID, ids []ID) (map[ID]account.ID, error) {
	in := map[ID]account.ID{}
	return in, db.InParts(db.Unique(ids), func(part []ID) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			var id ID
			var org account.ID
			err := row.Scan(&id, &org)
			in[id] = org
			return err
		}, `SELECT t.id, t.org_id FROM teams t WHERE t.id IN `+db.ValuesFrom(2, 1, len(part))+` AND EXISTS (
			SELECT 1 FROM team_members m WHERE m.team_id = t.id AND m.user_id = $1)`, db.Args(part, who)...)
	})
}
